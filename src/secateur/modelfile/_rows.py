"""What a model knows of the rows behind it: sketches, the samples that shaped it, the ledger.

A sketch is written where its sample is. `samples` lists all samples that are named anywhere; those
that the model holds no counts of bring their sketch there.
"""

import numpy as np

from ..data.sketch import RowKey, Sketch
from ..errors import ModelFileError
from ..nouns import Ledger, Look, Model, PruningSequence, Seen, SeenSample, Tree
from ._text import Document, Json, check_keys, described
from ._values import MOST_NAME, list_in, numbers_out, text_in, truth_in, whole_in, whole_number_in

_SKETCH_KEYS = ("size", "hashes", "classes", "copies", "n_by_class")
_LARGEST = 1 << 16
_MOST_SAMPLES = 4096  # that are named, and looks at them: each look is compared with each sample


def key_out(key: RowKey | None) -> Document | None:
    """How rows are told apart; None where it follows from the tests."""
    return None if key is None else {"salt": key.salt.hex(), "columns": list(key.columns)}


def key_in(part: Json, n_columns: int) -> RowKey | None:
    """The key of a tree."""
    if part is None:
        return None
    check_keys(part, "rows.key", ("salt", "columns"))
    columns = whole_in(part["columns"], "rows.key.columns").tolist()
    if sorted(set(columns)) != columns or (columns and not 0 <= columns[0] <= columns[-1] < n_columns):
        raise ModelFileError(f"rows.key.columns must be column numbers from 0 to {n_columns - 1}, rising")
    return RowKey(_bytes(part["salt"], "rows.key.salt", 16), tuple(columns))


def sketch_out(sketch: Sketch | None, tree: Tree) -> Document | None:
    """The sketch of a sample; one that was made for another tree says nothing here."""
    if sketch is None or sketch.key != tree.row_key:
        return None
    about = {name: numbers_out(getattr(sketch, name)) for name in ("classes", "copies", "n_by_class")}
    return {"size": sketch.size, "hashes": sketch.hashes.astype(">u8").tobytes().hex(), **about}


def sketch_in(part: Json, key: RowKey, where: str) -> Sketch | None:
    """A sketch, proved to be one."""
    if part is None:
        return None
    check_keys(part, where, _SKETCH_KEYS)
    size = whole_number_in(part["size"], f"{where}.size", least=1, most=_LARGEST)
    text = text_in(part["hashes"], f"{where}.hashes", 16 * _LARGEST)
    if len(text) % 16 or len(text) > 16 * size:
        raise ModelFileError(f"{where}.hashes must be at most {size} numbers of 16 hexadecimal digits")
    hashes = np.frombuffer(_bytes(text, f"{where}.hashes", len(text) // 2), ">u8").astype(np.uint64)
    if (hashes[1:] <= hashes[:-1]).any():
        raise ModelFileError(f"{where}.hashes must rise")
    classes, copies = (whole_in(part[n], f"{where}.{n}", len(hashes), np.int64) for n in ("classes", "copies"))
    n_by_class = whole_in(part["n_by_class"], f"{where}.n_by_class", dtype=np.int64)
    if len(n_by_class) == 0 or n_by_class.min() < 0 or n_by_class.max() >= 2**53:
        raise ModelFileError(f"{where}.n_by_class must hold numbers of rows, one per class")
    if len(hashes) and not (classes.min() >= 0 and classes.max() < len(n_by_class) and copies.min() >= 1):
        raise ModelFileError(f"{where}: every hash needs a class of n_by_class, and occurs at least once")
    if (np.bincount(classes, copies, len(n_by_class)) > n_by_class).any():
        raise ModelFileError(f"{where} remembers more rows of a class than there are")
    return Sketch(key, hashes, classes, copies, n_by_class, size)


def rows_out(model: Model, *, sketch: bool) -> Document:
    """All that is known of rows besides the samples that the model holds."""
    tree, ledger = model.tree, model.tree.ledger
    seen = tree.history | model.pruning.seen | [look.sample for look in ledger.looks.values()]
    if model.sequence is not None:
        seen = seen | model.sequence.seen
    if model.selection is not None:
        seen = seen | model.selection.judges | model.selection.sequence.seen
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
        "looks": [_look_out(mark, look, places, model) for mark, look in sorted(ledger.looks.items())],
    }


def _look_out(mark: bytes, look: Look, places: dict[tuple[bytes | None, str], int], model: Model) -> Document:
    name, sketch = look.sample
    is_path = look.sequence is not None and look.sequence is model.sequence
    return {
        "mark": mark.hex(),
        "sample": places[None if sketch is None else sketch.digest, name],
        "pruning": None if look.pruning is None else look.pruning.hex(),
        "is_sequence": is_path,
        "is_open": look.is_open or (look.sequence is not None and not is_path),
        "is_several": look.is_several,
    }


class Rows:
    """The part `rows` of a file, as the other parts need it while they are read."""

    def __init__(self, part: Json, tree: Tree, held: dict[str, Sketch | None]) -> None:
        self.samples: list[SeenSample] = []
        for name in ("samples", "looks"):
            if (n := len(list_in(part[name], f"rows.{name}"))) > _MOST_SAMPLES:
                raise ModelFileError(f"rows.{name} has {n:,} entries; at most {_MOST_SAMPLES:,} are kept")
        for i, one in enumerate(part["samples"]):
            where = f"rows.samples[{i}]"
            check_keys(one, where, ("sample", "sketch"))
            place = one["sketch"]
            if isinstance(place, str) and place not in held:
                raise ModelFileError(f"{where}.sketch is {described(place)}; a sketch, 'grown' or 'holdout' is needed")
            found = held[place] if isinstance(place, str) else sketch_in(place, tree.row_key, f"{where}.sketch")
            self.samples.append(SeenSample(text_in(one["sample"], f"{where}.sample"), found))
        self.history = self.seen(list_in(part["history"], "rows.history"), "rows.history")
        self.looks = part["looks"]

    def seen(self, names: list[Json], where: str) -> Seen:
        """The samples of these names, with their rows."""
        texts = [text_in(name, f"{where}[{i}]") for i, name in enumerate(names)]
        if len(set(texts)) < len(texts):
            raise ModelFileError(f"{where} holds a name twice")
        wanted = set(texts)
        return Seen([*texts, *(sample for sample in self.samples if sample.name in wanted)])

    def fill(self, ledger: Ledger, sequence: PruningSequence | None) -> None:
        """Enter the looks of the file into the ledger of a tree."""
        for i, look in enumerate(self.looks):
            where = f"rows.looks[{i}]"
            check_keys(look, where, ("mark", "sample", "pruning", "is_sequence", "is_open", "is_several"))
            if not self.samples:
                raise ModelFileError(f"{where}.sample: rows.samples is empty")
            place = whole_number_in(look["sample"], f"{where}.sample", most=len(self.samples) - 1)
            is_path = truth_in(look["is_sequence"], f"{where}.is_sequence")
            if is_path and sequence is None:
                raise ModelFileError(f"{where}.is_sequence: the file has no sequence")
            ledger.looks[_bytes(look["mark"], f"{where}.mark", 16)] = Look(
                self.samples[place],
                None if look["pruning"] is None else _bytes(look["pruning"], f"{where}.pruning", 16),
                sequence if is_path else None,
                truth_in(look["is_open"], f"{where}.is_open"),
                truth_in(look["is_several"], f"{where}.is_several"),
            )


def _bytes(value: Json, where: str, length: int) -> bytes:
    text = text_in(value, where, 2 * max(length, MOST_NAME))
    try:
        found = bytes.fromhex(text) if len(text) == 2 * length and text.isalnum() else b""
    except ValueError:
        found = b""
    if len(found) != length:
        raise ModelFileError(f"{where} is {described(value)}; {2 * length} hexadecimal digits are needed")
    return found
