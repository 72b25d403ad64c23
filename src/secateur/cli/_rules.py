"""secateur rules: the names for --rule."""

import inspect
from typing import Any

from . import _common as common


@common.command("secateur rules")
@common.output_options
def rules(**options: Any) -> int:
    """List the pruning rules and what they return."""
    from .. import pruners

    found = {}
    for name, rule in pruners.RULES.items():
        words = inspect.getdoc(getattr(pruners, rule.function)) or ""
        sentence = " ".join(words.split("\n\n")[0].split()).removeprefix("Return ")
        found[name] = {"samples": list(rule.samples), "returns": rule.returns, "does": sentence}
    rows = [[name, "yes" if "holdout" in r["samples"] else "", str(r["does"])] for name, r in found.items()]
    common.show(options, {"rules": found}, [common.grid(["rule", "held-out rows", "result"], rows, left=3)])
    return 0
