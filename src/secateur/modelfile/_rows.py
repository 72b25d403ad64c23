"""What a model knows of the rows behind it: sketches, the samples that shaped it, the ledger.

A sketch is written where its sample is. `samples` lists all samples that are named anywhere; those
that the model holds no counts of bring their sketch there.
"""

import re

import numpy as np

from ..core import EvaluationRecord, Model, Tree
from ..data.sketch import RowKey, Sketch
from ..errors import ModelFileError
from ._fields import NAMES_OF, as_it_is, check_lengths, maybe, read_fields, write_fields
from ._text import Document, Json, check_keys, described
from ._values import MOST_NAME, list_in, text_in, whole_in, whole_number_in

_LARGEST = 1 << 16
_MOST_SAMPLES = 4096  # that are named, and looks at them: each look is compared with each sample


def key_out(key: RowKey | None) -> Document | None:
    """How rows are told apart; None where it follows from the tests."""
    return None if key is None else {"salt": key.salt.hex(), "columns": list(key.columns)}


def key_in(part: Json, n_columns: int) -> RowKey | None:
    """The key of a tree."""
    if part is None:
        return None
    check_keys(part, "rows.key", NAMES_OF["key"])
    columns = whole_in(part["columns"], "rows.key.columns").tolist()
    if sorted(set(columns)) != columns or (columns and not 0 <= columns[0] <= columns[-1] < n_columns):
        raise ModelFileError(f"rows.key.columns must be column numbers from 0 to {n_columns - 1}, rising")
    return RowKey(_mark_in(part["salt"], "rows.key.salt"), tuple(columns))


def sketch_out(sketch: Sketch | None, tree: Tree) -> Document | None:
    """The sketch of a sample; one that was made for another tree says nothing here."""
    if sketch is None or sketch.key != tree.row_key:
        return None
    hashes = sketch.hashes.astype(">u8").tobytes().hex()
    return write_fields(sketch, "sketch", NAMES_OF["sketch"], size=sketch.size, hashes=hashes)


def sketch_in(part: Json, where: str) -> Document | None:
    """The arrays of a sketch, proved to be one."""
    if part is None:
        return None
    read = read_fields(part, where, NAMES_OF["sketch"])
    size = whole_number_in(read["size"], f"{where}.size", least=1, most=_LARGEST)
    text = text_in(read["hashes"], f"{where}.hashes", 16 * _LARGEST)
    if len(text) % 16 or len(text) > 16 * size:
        raise ModelFileError(f"{where}.hashes must be at most {size} numbers of 16 hexadecimal digits")
    hashes = np.frombuffer(_mark_in(text, f"{where}.hashes", len(text) // 2), ">u8").astype(np.uint64)
    if (hashes[1:] <= hashes[:-1]).any():
        raise ModelFileError(f"{where}.hashes must rise")
    check_lengths(read, where, len(hashes), "classes", "copies")
    classes, copies, n_by_class = read["classes"], read["copies"], read["n_by_class"]
    if len(n_by_class) == 0 or n_by_class.min() < 0 or n_by_class.max() >= 2**53:
        raise ModelFileError(f"{where}.n_by_class must hold numbers of rows, one per class")
    if len(hashes) and not (classes.min() >= 0 and classes.max() < len(n_by_class) and copies.min() >= 1):
        raise ModelFileError(f"{where}: every hash needs a class of n_by_class, and occurs at least once")
    if (np.bincount(classes, copies, len(n_by_class)) > n_by_class).any():
        raise ModelFileError(f"{where} remembers more rows of a class than there are")
    return read | {"hashes": hashes}


def rows_out(model: Model, *, sketch: bool) -> Document:
    """All that is known of rows besides the samples that the model holds."""
    tree, ledger = model.tree, model.tree.evaluation_log
    seen = tree.history | model.pruning.seen | [look.sample for look in ledger.records.values()]
    if model.sequence is not None:
        seen = seen | model.sequence.seen
    if model.selection is not None:
        seen = seen | model.selection.evaluated_on | model.selection.sequence.seen
    samples = []
    for sample in seen.samples:
        place: Json = sketch_out(sample.sketch, tree) if sketch else None
        for name, counts in (("grown", model.grown), ("holdout", model.holdout)):
            if place is not None and counts is not None and counts.sketch == sample.sketch:
                place = name
        samples.append({"sample": text_in(sample.name, "rows.samples"), "sketch": place})
    places: dict[tuple[bytes | None, str], int] = {
        (None, s.name): i for i, s in reversed(list(enumerate(seen.samples)))
    }
    places |= {(s.sketch.digest, s.name): i for i, s in enumerate(seen.samples) if s.sketch is not None}
    return {
        "key": key_out(tree.key),
        "history": [text_in(name, "rows.history") for name in tree.history],
        "samples": samples,
        "looks": [_look_out(mark, look, places, model) for mark, look in sorted(ledger.records.items())],
    }


def _look_out(
    mark: bytes, look: EvaluationRecord, places: dict[tuple[bytes | None, str], int], model: Model
) -> Document:
    name, sketch = look.sample
    is_path = look.sequence is not None and look.sequence is model.sequence
    return {
        "mark": mark.hex(),
        "sample": places[None if sketch is None else sketch.digest, name],
        "pruning": None if look.pruning is None else look.pruning.hex(),
        "is_sequence": is_path,
        "is_open": look.is_unrestricted or (look.sequence is not None and not is_path),
        "is_several": look.has_other_sequences,
    }


def rows_in(part: Json, n_columns: int, held: Document, *, has_sequence: bool) -> Document:
    """The part `rows` of a file: the key, and names, sketches and looks of samples."""
    if part is None:  # version 1
        part = {"key": None, "history": [], "samples": [], "looks": []}
    read = read_fields(part, "rows", NAMES_OF["rows"])
    for name in ("samples", "looks"):
        if (n := len(list_in(read[name], f"rows.{name}"))) > _MOST_SAMPLES:
            raise ModelFileError(f"rows.{name} has {n:,} entries; at most {_MOST_SAMPLES:,} are kept")
    samples = [_sample_in(one, f"rows.samples[{i}]", held) for i, one in enumerate(read["samples"])]
    records = [_look_in(one, f"rows.looks[{i}]", len(samples), has_sequence) for i, one in enumerate(read["looks"])]
    return read | {"key": key_in(read["key"], n_columns), "samples": samples, "looks": records}


def _sample_in(part: Json, where: str, held: Document) -> tuple[str, Document | None]:
    """The name of a sample, and its sketch, which may be that of a part that holds it."""
    read = read_fields(part, where, ("sample", "sketch"))
    place = read["sketch"]
    if isinstance(place, str) and place not in held:
        raise ModelFileError(f"{where}.sketch is {described(place)}; a sketch, 'grown' or 'holdout' is needed")
    return read["sample"], held[place] if isinstance(place, str) else sketch_in(place, f"{where}.sketch")


def _look_in(part: Json, where: str, n_samples: int, has_sequence: bool) -> Document:
    read = read_fields(part, where, NAMES_OF["look"], mark=_mark_in, sample=as_it_is, pruning=maybe(_mark_in))
    if not n_samples:
        raise ModelFileError(f"{where}.sample: rows.samples is empty")
    whole_number_in(read["sample"], f"{where}.sample", most=n_samples - 1)
    if read["is_sequence"] and not has_sequence:
        raise ModelFileError(f"{where}.is_sequence: the file has no sequence")
    return read


def _mark_in(value: Json, where: str, length: int = 16) -> bytes:
    text = text_in(value, where, 2 * max(length, MOST_NAME))
    if not re.fullmatch(f"[0-9A-Fa-f]{{{2 * length}}}", text):
        raise ModelFileError(f"{where} is {described(value)}; {2 * length} hexadecimal digits are needed")
    return bytes.fromhex(text)
