"""The state of a monitor as a small JSON file, which contains data and no code.

The state holds the plan (limits and how alpha is divided), the counts of wrong and of all rows in each leaf, the
largest evidence so far, some of the looks for a figure, and what recognises rows that are handed in twice: hashes of
ids and digests of batches. It contains no rows. A file is checked completely before anything is made of it.
"""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Never

import numpy as np

from .._utils.arrays import Floats, Longs
from .._utils.output import PathLike, error_reason, printable_path, write_file
from ..core import Model
from ..errors import Argument, ModelFileError, ParameterError, show
from ..modelfile import model_hash
from ..statistics.monitor_status import MonitorPlan
from ._seen import MAX_DIGESTS, MAX_IDS, SeenRows

FORMAT = "secateur-monitor"
VERSION = 1
MAX_FILE_BYTES = 1 << 26
MAX_LOOKS = 1_000  # kept for the figure; of more looks, every second one is dropped
MAX_COUNT = 1 << 53
ID_DIGITS = 16  # hexadecimal digits of the hash of an id
_KEYS = (
    "format", "version", "model", "model_file", "limit", "delta", "alpha", "overall_alpha", "leaf_note", "reference",
    "leaves", "leaf_limit", "leaf_alpha", "reference_rows", "n_batches", "rows", "errors", "log_evidence",
    "leaf_log_evidence", "looks", "batches", "ids",
)  # fmt: skip


@dataclass
class MonitorState:
    """Everything that a monitor knows: its plan, and what it has counted.

    Parameters
    ----------
    plan : MonitorPlan
    leaf_rows, leaf_errors : arrays of int
        Number of rows in each leaf, and of wrong ones among them.
    log_evidence, leaf_log_evidence : float, array of float
        ln of the largest evidence at any look, for the limit and for that of each leaf.
    n_batches : int
    model_file : str
        The file of the model; empty for a model that was in memory.
    looks : list of (n, errors, log_evidence)
    seen : SeenRows
    """

    plan: MonitorPlan
    leaf_rows: Longs
    leaf_errors: Longs
    log_evidence: float
    leaf_log_evidence: Floats
    n_batches: int = 0
    model_file: str = ""
    looks: list[tuple[float, float, float]] = field(default_factory=list)
    seen: SeenRows = field(default_factory=SeenRows)

    @classmethod
    def empty(cls, plan: MonitorPlan, model_file: str = "") -> "MonitorState":
        """Return the state before the first row."""
        n_leaves = len(plan.leaves)
        zeros = np.zeros(n_leaves, np.int64)
        return cls(plan, zeros, zeros.copy(), 0.0, np.zeros(n_leaves), model_file=model_file)

    def add_look(self, n: int, errors: int, log_evidence: float) -> None:
        """Keep a look for the figure; drop every second earlier one if there are too many."""
        if len(self.looks) >= MAX_LOOKS:
            self.looks = self.looks[1::2]
        self.looks.append((n, errors, log_evidence))


def write_state(state: MonitorState, model: Model, path: PathLike) -> None:
    """Write a state to a file, which is replaced only when the new contents are complete."""
    plan = state.plan
    document = {
        "format": FORMAT,
        "version": VERSION,
        "model": model_hash(model),
        "model_file": state.model_file,
        **{
            name: getattr(plan, name) for name in ("limit", "delta", "alpha", "overall_alpha", "leaf_note", "reference")
        },
        "leaves": plan.leaves.tolist(),
        "leaf_limit": [None if math.isnan(limit) else limit for limit in plan.leaf_limit.tolist()],
        "leaf_alpha": plan.leaf_alpha.tolist(),
        "reference_rows": plan.reference_rows.tolist(),
        "n_batches": state.n_batches,
        "rows": state.leaf_rows.tolist(),
        "errors": state.leaf_errors.tolist(),
        "log_evidence": state.log_evidence,
        "leaf_log_evidence": state.leaf_log_evidence.tolist(),
        "looks": [list(look) for look in state.looks],
        "batches": state.seen.digests,
        "ids": "".join(f"{value:016x}" for value in state.seen.ids),
    }
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in document.items())
    write_file(path, f"{{\n{lines}\n}}\n", overwrite=True)


def model_file_of(path: PathLike) -> str:
    """Return the model file that the monitor of a state file was started with; raise `ParameterError` without one."""
    name = printable_path(path)
    model_file = _Reader(_parse(path, name), name).text("model_file")
    if not model_file:
        raise ParameterError(
            f"{name} does not name the file of its model, which was in memory when the monitor was started; pass ",
            Argument("model"),
        )
    return model_file


def read_state(path: PathLike, model: Model) -> MonitorState:
    """Return the state in a file; raise `ModelFileError` if it is invalid or belongs to another model."""
    name = printable_path(path)
    document = _parse(path, name)
    reader = _Reader(document, name)
    expected = model_hash(model)
    if document["model"] != expected:
        raise ModelFileError(
            f"{name} is the state of a monitor of another model ({show(str(document['model'])[7:19])}, not "
            f"{show(expected[7:19])}); load it with the model it was started with, or start a new state file"
        )
    leaves = model.pruning.leaves
    if document["leaves"] != leaves.tolist():
        raise reader.error("leaves", "they are not those of the model")
    plan = MonitorPlan(
        limit=reader.probability("limit"),
        delta=reader.probability("delta", can_be_zero=True),
        alpha=reader.probability("alpha"),
        overall_alpha=reader.probability("overall_alpha"),
        leaves=leaves,
        leaf_limit=reader.numbers("leaf_limit", len(leaves), maximum=1.0, has_null=True),
        leaf_alpha=reader.numbers("leaf_alpha", len(leaves), maximum=1.0),
        reference_rows=reader.counts("reference_rows", len(leaves)),
        reference=reader.text("reference"),
        leaf_note=reader.text("leaf_note"),
    )
    is_tested = ~np.isnan(plan.leaf_limit)
    if not ((plan.leaf_alpha > 0) == is_tested).all() or (plan.leaf_limit[is_tested] <= 0).any():
        raise reader.error("leaf_alpha", "a leaf with a limit, and no other, must have a part of alpha")
    if plan.overall_alpha + plan.leaf_alpha.sum() > plan.alpha * (1 + 1e-9):
        raise reader.error("alpha", "its parts add up to more")
    state = MonitorState(
        plan,
        leaf_rows=reader.counts("rows", len(leaves)),
        leaf_errors=reader.counts("errors", len(leaves)),
        log_evidence=reader.number("log_evidence"),
        leaf_log_evidence=reader.numbers("leaf_log_evidence", len(leaves), maximum=math.inf),
        n_batches=reader.count("n_batches"),
        model_file=reader.text("model_file"),
        looks=reader.looks(),
        seen=SeenRows(reader.ids(), reader.batches()),
    )
    if (state.leaf_errors > state.leaf_rows).any():
        raise reader.error("errors", "a leaf has more errors than rows")
    return state


def _parse(path: PathLike, name: str) -> dict[str, Any]:
    """Return the JSON object in a file with all keys of a state and no other."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"{name} cannot be read ({error_reason(error)}); check its name and permissions"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise ModelFileError(f"{name} has more than {MAX_FILE_BYTES:,} bytes; no state of a monitor has so many")
    try:
        document = json.loads(data.decode(), object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except (ValueError, RecursionError, MemoryError) as error:
        raise ModelFileError(f"{name} is not the state of a monitor, or it is damaged ({error})") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(
            f'{name} is not the state of a monitor: its "format" is not {show(FORMAT)}; a monitor writes such files'
        )
    if document.get("version") != VERSION:
        raise ModelFileError(
            f"{name} is version {show(document.get('version'))} of the format; this secateur reads version {VERSION}"
        )
    missing, unknown = [key for key in _KEYS if key not in document], [key for key in document if key not in _KEYS]
    if missing or unknown:
        problem = f"lacks the key {show(missing[0])}" if missing else f"has the unknown key {show(unknown[0])}"
        raise ModelFileError(f"{name} {problem}; it is damaged")
    return document


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return document


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"it holds {name}, which is not JSON")


class _Reader:
    """Read the values of a document; raise `ModelFileError` with the key of a value that is invalid."""

    def __init__(self, document: dict[str, Any], name: str) -> None:
        self.document = document
        self.name = name

    def error(self, key: str, problem: str) -> ModelFileError:
        return ModelFileError(f"{self.name}: the value of {show(key)} is invalid ({problem}); the file is damaged")

    def text(self, key: str) -> str:
        value = self.document[key]
        if not isinstance(value, str):
            raise self.error(key, "text is needed")
        return value

    def number(self, key: str) -> float:
        return self._number(key, self.document[key], math.inf)

    def probability(self, key: str, *, can_be_zero: bool = False) -> float:
        value = self.number(key)
        if value >= 1 or (value == 0 and not can_be_zero):
            raise self.error(key, "a number between 0 and 1 is needed")
        return value

    def count(self, key: str) -> int:
        return self._count(key, self.document[key])

    def counts(self, key: str, length: int) -> Longs:
        return np.array([self._count(key, value) for value in self._list(key, length)], np.int64)

    def numbers(self, key: str, length: int, maximum: float, *, has_null: bool = False) -> Floats:
        values = self._list(key, length)
        return np.array(
            [math.nan if has_null and value is None else self._number(key, value, maximum) for value in values], float
        )

    def looks(self) -> list[tuple[float, float, float]]:
        """Return the looks: numbers of rows and errors, and ln of the evidence, which may be negative."""
        looks = []
        for item in self._list("looks", None, MAX_LOOKS):
            if not isinstance(item, list) or len(item) != 3 or not all(_is_finite(value) for value in item):
                raise self.error("looks", "three numbers are needed for each look")
            looks.append((float(item[0]), float(item[1]), float(item[2])))
        return looks

    def batches(self) -> dict[str, int]:
        """Return the number of the batch of each digest."""
        batches = self.document["batches"]
        if not isinstance(batches, dict) or len(batches) > MAX_DIGESTS:
            raise self.error("batches", f"an object of at most {MAX_DIGESTS:,} digests is needed")
        return {digest: self._count("batches", number) for digest, number in batches.items()}

    def ids(self) -> list[int]:
        """Return the hashes of the ids of rows."""
        digits = self.text("ids")
        if len(digits) % ID_DIGITS or len(digits) > ID_DIGITS * MAX_IDS:
            raise self.error("ids", f"{ID_DIGITS} hexadecimal digits for each of at most {MAX_IDS:,} ids are needed")
        try:
            hashes: list[int] = np.frombuffer(bytes.fromhex(digits), ">u8").tolist()
        except ValueError as error:
            raise self.error("ids", "hexadecimal digits are needed") from error
        return hashes

    def _list(self, key: str, length: int | None, maximum: int | None = None) -> list[Any]:
        values = self.document[key]
        if not isinstance(values, list) or (length is not None and len(values) != length):
            raise self.error(
                key, "a list of one value per leaf is needed" if length is not None else "a list is needed"
            )
        if maximum is not None and len(values) > maximum:
            raise self.error(key, f"at most {maximum:,} values are kept")
        return values

    def _number(self, key: str, value: Any, maximum: float) -> float:
        if not _is_finite(value) or not 0 <= value <= maximum:
            raise self.error(
                key, "a number of 0 or more is needed" if maximum > 1 else "a number from 0 to 1 is needed"
            )
        return float(value)

    def _count(self, key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < MAX_COUNT:
            raise self.error(key, "whole numbers of 0 or more are needed")
        return value


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
