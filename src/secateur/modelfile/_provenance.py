"""Read and write what a model knows about the rows behind it: sketches, used samples, and evaluations.

A sketch is written with its sample. The part `rows` of a file lists all samples that are named anywhere in the model.
The sketch of a listed sample is written there, unless it is the growing or the held-out sample of the model.
"""

import re
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from .._utils.arrays import Array
from ..core import EvaluationRecord, Model, SampleUsage, Tree
from ..data.sketch import RowKey, Sketch
from ..errors import ModelFileError
from ._fields import REQUIRED_KEYS, check_lengths, keep_unchecked, optional, read_fields, write_fields
from ._json import Document, Json, check_keys, describe
from ._values import MAX_NAME_CHARACTERS, read_int, read_ints, read_list, read_text

MAX_SKETCH_HASHES = 1 << 16
MAX_COLUMN = np.iinfo(np.int32).max  # where the number of columns is not known
MAX_SAMPLES = 4096  # that are named, and evaluations: each evaluation is compared with each sample
ID_BYTES = 16
HASH_DIGITS = 16  # hexadecimal digits of a hash of 64 bits

SampleKey: TypeAlias = tuple[bytes | None, str]  # digest of the sketch, and name


def write_row_key(key: RowKey | None) -> Document | None:
    """Return the key by which rows are hashed; None if it follows from the splits of the tree."""
    if key is None:
        return None
    document = {"salt": key.salt.hex(), "columns": list(key.columns)}
    read_row_key(document, MAX_COLUMN)  # refuses an invalid key
    return document


def read_row_key(part: Json, n_columns: int) -> RowKey | None:
    """Return the key by which the rows of a tree with `n_columns` columns are hashed."""
    if part is None:
        return None
    check_keys(part, "rows.key", REQUIRED_KEYS["key"])
    columns = read_ints(part["columns"], "rows.key.columns").tolist()
    is_ascending = sorted(set(columns)) == columns
    if not is_ascending or (columns and not 0 <= columns[0] <= columns[-1] < n_columns):
        raise ModelFileError(f"rows.key.columns must be column numbers from 0 to {n_columns - 1}, rising")
    return RowKey(_read_bytes(part["salt"], "rows.key.salt"), tuple(columns))


def write_sketch(sketch: Sketch | None, tree: Tree) -> Document | None:
    """Return a sketch as an object for JSON; None if it was made for another tree, whose hashes differ."""
    if sketch is None or sketch.key != tree.row_key:
        return None
    hashes = sketch.hashes.astype(">u8").tobytes().hex()
    document = write_fields(sketch, "sketch", REQUIRED_KEYS["sketch"], size=sketch.size, hashes=hashes)
    read_sketch(document, "sketch")  # refuses an invalid sketch
    return document


def read_sketch(part: Json, location: str) -> Document | None:
    """Return the checked fields of a sketch; None for null."""
    if part is None:
        return None
    fields = read_fields(part, location, REQUIRED_KEYS["sketch"])
    size = read_int(fields["size"], f"{location}.size", minimum=1, maximum=MAX_SKETCH_HASHES)
    digits = read_text(fields["hashes"], f"{location}.hashes", HASH_DIGITS * MAX_SKETCH_HASHES)
    if len(digits) % HASH_DIGITS or len(digits) > HASH_DIGITS * size:
        raise ModelFileError(f"{location}.hashes must be at most {size} numbers of 16 hexadecimal digits")
    data = _read_bytes(digits, f"{location}.hashes", len(digits) // 2)
    fields["hashes"] = np.frombuffer(data, ">u8").astype(np.uint64)
    _check_sketch(fields, location)
    return fields


def _check_sketch(fields: Document, location: str) -> None:
    """Check that hashes rise, and that each belongs to a class that has as many rows."""
    hashes, classes, copies, n_by_class = (fields[name] for name in ("hashes", "classes", "copies", "n_by_class"))
    if (hashes[1:] <= hashes[:-1]).any():
        raise ModelFileError(f"{location}.hashes must rise")
    check_lengths(fields, location, len(hashes), "classes", "copies")
    if len(n_by_class) == 0 or n_by_class.min() < 0 or n_by_class.max() >= 2**53:
        raise ModelFileError(f"{location}.n_by_class must hold numbers of rows, one per class")
    if len(hashes) and not (classes.min() >= 0 and classes.max() < len(n_by_class) and copies.min() >= 1):
        raise ModelFileError(f"{location}: every hash needs a class of n_by_class, and occurs at least once")
    if (np.bincount(classes, copies, len(n_by_class)) > n_by_class).any():
        raise ModelFileError(f"{location} remembers more rows of a class than there are")


def check_number_of_rows(by_class: Array | None, n_rows: int | None, sketch: Document | None, location: str) -> None:
    """Check that the number of rows of a sample, its sketch and its counts agree.

    Parameters
    ----------
    by_class : array of shape (classes, nodes) or None
        The counts; None for moments.
    n_rows : int or None
        The number of rows, if it is known.
    sketch : dict or None
        The fields of the sketch, if there is one.
    location : str
        Where the sample is in the file.
    """
    if n_rows is not None:
        read_int(n_rows, f"{location}.n_rows", maximum=2**53)
    if sketch is not None:
        n_sketched = int(sketch["n_by_class"].sum())
        if n_sketched != n_rows:
            raise ModelFileError(f"{location}.n_rows is {describe(n_rows)}; its sketch is of {n_sketched:,} rows")
    if by_class is None or by_class.dtype.kind != "i" or n_rows is None:
        return  # a sum of weights does not determine the number of rows
    total = by_class[:, 0]
    if n_rows > int(total.sum()):
        raise ModelFileError(f"{location}.n_rows is {n_rows:,}, more than the {total.sum():,} that are counted")
    is_weighted = n_rows != int(total.sum())
    if sketch is None or is_weighted:
        return
    if not np.array_equal(np.trim_zeros(total, "b"), np.trim_zeros(sketch["n_by_class"], "b")):
        raise ModelFileError(f"{location}.sketch.n_by_class differs from the counts of the root")


def write_rows(model: Model, *, sketch: bool) -> Document:
    """Return the part `rows` of the file of a model, without sketches if `sketch` is false."""
    tree = model.tree
    records = tree.evaluation_log.records
    samples = _all_samples(model).samples
    index_of_sample: dict[SampleKey, int] = {}
    for i, sample in enumerate(samples):
        index_of_sample.setdefault((None, sample.name), i)
        if sample.sketch is not None:
            index_of_sample[sample.sketch.digest, sample.name] = i
    written_samples = []
    for sample in samples:
        name = read_text(sample.name, "rows.samples")
        written_samples.append(
            {"sample": name, "sketch": _write_shared_sketch(sample.sketch, model) if sketch else None}
        )
    _check_number(len(samples), "samples")
    _check_number(len(records), "evaluations")
    return {
        "key": write_row_key(tree.key),
        "history": [read_text(name, "rows.history") for name in tree.history],
        "samples": written_samples,
        "evaluations": [
            _write_evaluation(sample_id, record, index_of_sample, model)
            for sample_id, record in sorted(records.items())
        ],
    }


def _all_samples(model: Model) -> SampleUsage:
    """Return all samples that are named in a model."""
    usage = model.tree.history | model.pruning.seen
    usage |= [record.sample for record in model.tree.evaluation_log.records.values()]
    if model.sequence is not None:
        usage |= model.sequence.seen
    if model.selection is not None:
        usage |= model.selection.evaluated_on | model.selection.sequence.seen
    return usage


def _write_shared_sketch(sketch: Sketch | None, model: Model) -> Document | str | None:
    """Return a sketch as JSON holds it: "grown" or "holdout" if it is that of the sample of this name."""
    written = write_sketch(sketch, model.tree)
    if written is None:
        return None
    for name, sample in (("holdout", model.holdout), ("grown", model.grown)):
        if sample is not None and sample.sketch == sketch:
            return name
    return written


def _write_evaluation(
    sample_id: bytes, record: EvaluationRecord, index_of_sample: Mapping[SampleKey, int], model: Model
) -> Document:
    """Return the record of the evaluations of one sample as an object for JSON."""
    name, sketch = record.sample
    is_model_sequence = record.sequence is not None and record.sequence is model.sequence
    is_other_sequence = record.sequence is not None and not is_model_sequence
    return {
        "sample_id": sample_id.hex(),
        "sample": index_of_sample[None if sketch is None else sketch.digest, name],
        "pruning": None if record.pruning is None else record.pruning.hex(),
        "is_sequence": is_model_sequence,
        "is_unrestricted": record.is_unrestricted or is_other_sequence,  # the other sequence is not in the file
        "has_other_sequences": record.has_other_sequences,
    }


def read_rows(part: Json, n_columns: int, sketches: Mapping[str, Document | None], *, has_sequence: bool) -> Document:
    """Return the fields of the part `rows`: the row key, the history, the samples, and the evaluations.

    Parameters
    ----------
    part : value of a parsed file
    n_columns : int
        Number of columns of the tree.
    sketches : dict
        The fields of the sketches of the samples "grown" and "holdout", which listed samples may share.
    has_sequence : bool
        Whether the file has a sequence, which evaluations may refer to.
    """
    fields = read_fields(part, "rows", REQUIRED_KEYS["rows"])
    for key in ("samples", "evaluations"):
        _check_number(len(read_list(fields[key], f"rows.{key}")), key)
    samples = []
    for i, sample in enumerate(fields["samples"]):
        samples.append(_read_sample(sample, f"rows.samples[{i}]", sketches))
    evaluations = []
    for i, evaluation in enumerate(fields["evaluations"]):
        location = f"rows.evaluations[{i}]"
        evaluations.append(_read_evaluation(evaluation, location, len(samples), has_sequence))
    return fields | {
        "key": read_row_key(fields["key"], n_columns), "samples": samples, "evaluations": evaluations
    }  # fmt: skip


def _check_number(n_entries: int, key: str) -> None:
    if n_entries > MAX_SAMPLES:
        raise ModelFileError(f"rows.{key} has {n_entries:,} entries; at most {MAX_SAMPLES:,} are kept")


def _read_sample(part: Json, location: str, sketches: Mapping[str, Document | None]) -> tuple[str, Document | None]:
    """Return the name of a sample and the fields of its sketch, which may be that of a part of the file."""
    fields = read_fields(part, location, ("sample", "sketch"))
    sketch = fields["sketch"]
    if not isinstance(sketch, str):
        return fields["sample"], read_sketch(sketch, f"{location}.sketch")
    if sketch not in sketches:
        raise ModelFileError(f"{location}.sketch is {describe(sketch)}; a sketch, 'grown' or 'holdout' is needed")
    return fields["sample"], sketches[sketch]


def _read_evaluation(part: Json, location: str, n_samples: int, has_sequence: bool) -> Document:
    fields = read_fields(
        part, location, REQUIRED_KEYS["evaluation"],
        sample_id=_read_bytes, sample=keep_unchecked, pruning=optional(_read_bytes),
    )  # fmt: skip
    if not n_samples:
        raise ModelFileError(f"{location}.sample: rows.samples is empty")
    read_int(fields["sample"], f"{location}.sample", maximum=n_samples - 1)
    if fields["is_sequence"] and not has_sequence:
        raise ModelFileError(f"{location}.is_sequence: the file has no sequence")
    return fields


def _read_bytes(value: Json, location: str, n_bytes: int = ID_BYTES) -> bytes:
    """Return bytes from hexadecimal digits."""
    digits = read_text(value, location, 2 * max(n_bytes, MAX_NAME_CHARACTERS))
    if not re.fullmatch(f"[0-9A-Fa-f]{{{2 * n_bytes}}}", digits):
        raise ModelFileError(f"{location} is {describe(value)}; {2 * n_bytes} hexadecimal digits are needed")
    return bytes.fromhex(digits)
