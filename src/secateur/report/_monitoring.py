"""The part "Monitoring" of the page: what a monitor has found, as plain values and as HTML without scripts."""

import math
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from ..core import Model
from ..core.class_names import as_one_line
from ..errors import Argument, ModelFileError, ParameterError
from ..inspection.wording import format_measure, round_values
from ..modelfile import model_hash
from ..monitoring import LeafStatus, Monitor
from ..statistics.monitor_status import format_limit

MIN_SHOWN_LOG_EVIDENCE, MAX_SHOWN_LOG_EVIDENCE = -3.0, 12.0  # powers of ten; evidence outside is drawn at the ends


def monitor_of(model: Model, monitor: Any) -> Monitor | None:
    """Return a monitor, or that in a state file; refuse the monitor of another model."""
    if monitor is None:
        return None
    if isinstance(monitor, str | PathLike):
        return Monitor.load(monitor, model)
    if not isinstance(monitor, Monitor):
        raise ParameterError(Argument("monitor", monitor), "; a Monitor, or the path of its state file, is needed")
    if model_hash(monitor.model) != model_hash(model):
        raise ModelFileError("the monitor is that of another model; pass the monitor of the model that is documented")
    return monitor


def monitoring_entries(monitor: Monitor | None) -> dict[str, Any] | None:
    """Return what the page shows of a monitor; None without one.

    Leaves are listed by their evidence, divided by the evidence that would contradict their limits, the largest first.
    """
    if monitor is None:
        return None
    status = monitor.status()
    shares = status.shares
    rows_before = dict(zip(status.plan.leaves.tolist(), shares.before.tolist(), strict=True))
    log_evidence = np.clip(status.looks[:, 2] / math.log(10), MIN_SHOWN_LOG_EVIDENCE, MAX_SHOWN_LOG_EVIDENCE)
    leaves = sorted(status.leaves, key=_relative_log_evidence, reverse=True)
    return {
        "sentence": as_one_line(str(status)),
        "shares": as_one_line(str(shares)) if status.n else "",
        "sample": as_one_line(shares.sample),
        "is_alarm": status.is_alarm,
        "batches": monitor.n_batches,
        "n": status.n,
        "n_before": int(shares.before.sum()),
        "needed": math.log10(status.needed_evidence),
        "needed_text": format_measure(status.needed_evidence),
        "looks": status.looks[:, 0].astype(int).tolist(),
        "evidence": round_values(log_evidence, 4),
        "leaf_note": as_one_line(status.plan.leaf_note),
        "leaves": [
            {
                "node": leaf.leaf,
                "rule": as_one_line(leaf.rule),
                "rows": leaf.n,
                "errors": leaf.errors,
                "limit": "" if leaf.limit is None else format_limit(leaf.limit),
                "evidence": "" if leaf.limit is None else _evidence_text(leaf),
                "is_broken": leaf.is_contradicted,
                "before": rows_before[leaf.leaf],
            }
            for leaf in leaves
        ],
    }


def _evidence_text(leaf: LeafStatus) -> str:
    return f"{format_measure(leaf.evidence)} of {format_measure(1 / leaf.alpha)}"


def _relative_log_evidence(leaf: LeafStatus) -> float:
    return -math.inf if leaf.limit is None else leaf.log_evidence + math.log(leaf.alpha)


def static_monitoring(monitor: Monitor | None) -> str:
    """Return the sentence of a monitor and the rules that have broken, as HTML without scripts; empty without one."""
    if monitor is None:
        return ""
    status = monitor.status()
    sentences = [as_one_line(str(status))] + ([as_one_line(str(status.shares))] if status.n else [])
    return f"<h2>Monitoring</h2>{''.join(f'<p>{escape(text)}</p>' for text in sentences)}"
