"""What the page shows of the prunings that are about as good as the best on the held-out rows."""

import base64
from typing import Any

import numpy as np

from .._utils.arrays import Array
from ..analysis import Alternatives
from ..core import Counts, Model, Pruning
from ..core.class_names import as_one_line
from ..errors import SecateurError
from ..inspection.currency import holdout_role
from ..model_selection.alternatives import alternatives_of

WITHIN = 0.01  # one percentage point of the held-out rows
MAX_PRODUCTS = 10**9  # rows times errors allowed; more would take longer than the rest of the page
MAX_DRAWS = 50
MAX_PACKED_BYTES = 60_000  # of all prunings that the page stores
MAX_COLUMNS = 40
RANDOM_STATE = 0
PER_MILLE = 1000

Entries = dict[str, Any]


def alternative_entries(model: Model, *, is_estimator: bool) -> Entries | None:
    """Return the shares of nodes and columns and some members; None if the model has no such set.

    A share is in thousandths; 0 and 1000 mean exactly none and all. A pruning is the bits of the internal nodes of the
    grown tree that it keeps, in base64.
    """
    holdout = model.holdout
    if not isinstance(holdout, Counts) or not 0 < WITHIN * float(holdout.total[0]) ** 2 <= MAX_PRODUCTS:
        return None
    role = holdout_role(model)
    if role is not None and role.use == "grew":  # the tree has learnt these rows, so they do not compare prunings
        return None
    try:
        members = alternatives_of(model, within=WITHIN)
    except SecateurError:  # the rows have weights, or another cost than the error chose the tree
        return None
    code = f"model.alternatives(within={WITHIN})"
    if not is_estimator:
        samples = "model.tree, model.grown, model.holdout"
        code = f"secateur.alternatives({samples}, within={WITHIN}, labels=model.pruning.node_labels)"
    dispensable = members.dispensable_columns[:MAX_COLUMNS]
    n_bytes = -(-len(model.tree.internal) // 8)
    n_draws = max(1, min(MAX_DRAWS, MAX_PACKED_BYTES // max(1, n_bytes) - len(dispensable) - 2))
    return {
        "sentence": as_one_line(str(members)),
        "code": code,
        "shares": _per_mille(members.node_shares[model.tree.internal]),
        "columns": _column_entries(members, dispensable),
        "best": _pack(members.best),
        "smallest": _pack(members.smallest()),
        "draws": [_pack(member) for member in members.sample(n_draws, RANDOM_STATE)],
    }


def _column_entries(members: Alternatives, dispensable: list[str]) -> list[list[Any]]:
    """Return name, share and, where there is one, the best pruning without the column, for each column."""
    listed = list(members.column_shares.items())[:MAX_COLUMNS]
    shares = _per_mille(np.array([share for _, share in listed]))
    return [
        [as_one_line(name), share, _pack(members.without(name)) if name in dispensable else None, name]
        for (name, _), share in zip(listed, shares, strict=True)
    ]


def _per_mille(shares: Array) -> list[int]:
    """Return shares in thousandths, of which only exact ones are 0 and 1000."""
    rounded = np.clip(np.rint(PER_MILLE * shares), 1, PER_MILLE - 1)
    exact = np.where(shares == 0, 0, np.where(shares == 1, PER_MILLE, rounded))
    return [int(share) for share in exact]


def _pack(pruning: Pruning) -> str:
    """Return the bits of the internal nodes of the grown tree that a pruning keeps, in base64."""
    bits = np.packbits(pruning.is_kept[pruning.tree.internal])
    return base64.b64encode(bits.tobytes()).decode("ascii")
