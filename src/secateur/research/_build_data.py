"""build: a folder of data sets for the experiments, made where it can be made and fetched where not.

What a rule or a game defines is generated: those rows are exactly the published ones. Samples
of a generator (led24, waveform) are ours, by seed. Some sets come with scikit-learn. The rest come
from OpenML by number. Each set that is not a sample of ours has a checksum, taken from the copy
that the reproductions were computed from: it does not depend on the order of rows or on how
numbers are written. A set that is not there is listed with the reason.
"""

import csv
import hashlib
import io
import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.arrays import Array
from .._utils.checks import check_name
from .._utils.output import write_file
from ..data.encoding import encode
from ..data.table import Table
from ..datasets._concepts import balance_scale, car, monks, nursery
from ..datasets._games import krk_depth, krk_legality, tic_tac_toe
from ..datasets._noisy import led24, waveform
from ..datasets._real import TARGET, fetch
from ..errors import DataError, OutputError

GENERATED: dict[str, Callable[[], Table]] = {
    "balance-scale": balance_scale,
    "car": car,
    "krk-legality": krk_legality,
    "kropt": krk_depth,
    "led24": lambda: led24(3_200),
    **{f"monks-{problem}-test": partial(monks, problem) for problem in (1, 2, 3)},
    "nursery": nursery,
    "tic-tac-toe": tic_tac_toe,
    "waveform": lambda: waveform(5_000),
}
BUNDLED = {"breast-cancer-wdbc": "breast_cancer", "digits": "digits", "iris": "iris", "wine": "wine"}
# The number of a set at OpenML, if it comes from there, and its checksum, if it has one.
with Path(__file__).with_name("sets.csv").open(encoding="utf-8", newline="") as _file:
    _SETS = list(csv.reader(_file))[1:]
OPENML = {name: int(number) for name, number, _ in _SETS if number}
CHECKSUMS = {name: checksum for name, _, checksum in _SETS if checksum}
NAMES = tuple(sorted([*GENERATED, *BUNDLED, *OPENML]))


Manifest = dict[str, dict[str, Any]]  # what was written of each set


@dataclass(frozen=True)
class Built:
    """The result of building one data set.

    Parameters
    ----------
    name : str
    how : str
        "generated", "scikit-learn", or "OpenML" with its number.
    rows : int
        0 if the set is not there.
    checked : str
        "yes" if its rows are those of the checksum, "no" if they differ, "" if there is no checksum.
    note : str
        Why the set is not there, or what differs.
    """

    name: str
    how: str
    rows: int = 0
    checked: str = ""
    note: str = ""


def build_data(
    folder: str | os.PathLike[str],
    *,
    only: Sequence[str] = (),
    network: bool = True,
    progress: Callable[[int, int], object] | None = None,
) -> list[Built]:
    """Write data sets into a folder, as `load` reads them.

    Parameters
    ----------
    folder : path
        `NAME.csv.gz` for each set, SCHEMA.json and MANIFEST.json. Sets that are there already are kept.
    only : sequence of str
        Names; all by default.
    network : bool
        Whether to ask OpenML. After one failure no further set is asked for.
    progress : callable, optional
        Called with (sets done, sets in all).

    Returns
    -------
    list of Built
        One per set, in the order of the names.

    Examples
    --------
    >>> import tempfile
    >>> from secateur import datasets, research
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     research.build_data(folder, only=["tic-tac-toe", "vote"], network=False)
    ...     datasets.load("tic-tac-toe", folder)
    [Built(name='tic-tac-toe', how='generated', rows=958, checked='yes', note=''), \
Built(name='vote', how='OpenML 56', rows=0, checked='', note='not asked for: no network')]
    Table(958 rows, 9 nominal and 0 numeric columns, 2 classes)
    """
    place = Path(folder)
    for name in only:
        check_name("only", name, NAMES)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the folder {place} cannot be created ({error.strerror or error})") from error
    known = _known(place)
    names = [name for name in NAMES if not only or name in only]
    made = []
    silence = "" if network else "not asked for: no network"
    for i, name in enumerate(names):
        one = _kept(name, place, known) or _built(name, place, known, silence)
        if one.note.startswith("OpenML did not answer"):
            silence = "not asked for: OpenML did not answer before"
        made.append(one)
        if progress is not None:
            progress(i + 1, len(names))
    return made


def checksum(table: Table) -> str:
    """Return a checksum of the rows of a table that ignores their order and how numbers are written.

    Examples
    --------
    >>> from secateur import datasets, research
    >>> research.checksum(datasets.car())[:16]
    '52235f455175fc77'
    """
    lines = sorted("\x1f".join(row) for row in _cells(table))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _cells(table: Table) -> Iterator[tuple[str, ...]]:
    assert table.schema.classes is not None
    columns = [_texts(table.values(j)) for j in range(table.n_columns)]
    return zip(*columns, np.array([str(c) for c in table.schema.classes], object)[table.required_target], strict=True)


def _texts(values: Array) -> Array:
    """Cells as text, each value written once; a missing one is empty."""
    if values.dtype.kind == "f":
        distinct, where = np.unique(values, return_inverse=True)
        return np.array(["" if np.isnan(v) else f"{v:.10g}" for v in distinct], object)[where]
    return np.array(["" if v is None else str(v) for v in values], object)


def _built(name: str, place: Path, known: Manifest, silence: str) -> Built:
    how = "generated" if name in GENERATED else "scikit-learn" if name in BUNDLED else f"OpenML {OPENML[name]}"
    if name in OPENML and silence:
        return Built(name, how, note=silence)
    try:
        table = _table(name)
    except DataError as error:
        return Built(name, how, note=f"OpenML did not answer: {error.__cause__ or error}")
    checked = "" if name not in CHECKSUMS else "yes" if checksum(table) == CHECKSUMS[name] else "no"
    note = "the rows differ from those the reproductions were computed from" if checked == "no" else ""
    one = Built(name, how, table.n_rows, checked, note)
    _write(table, one, place, known)
    return one


def _table(name: str) -> Table:
    if name in GENERATED:
        return GENERATED[name]()
    if name in OPENML:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its retries
            return fetch(OPENML[name], n_retries=1, delay=0.1)
    from sklearn import datasets

    found = getattr(datasets, f"load_{BUNDLED[name]}")(as_frame=True)
    return encode(found.data, target=np.asarray(found.target_names)[found.target])


def _kept(name: str, place: Path, known: Manifest) -> Built | None:
    """What an earlier call wrote, if the file is still that file."""
    entry = known.get(name)
    file = place / f"{name}.csv.gz"
    if entry is None or not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != entry["sha256"]:
        return None
    return Built(**{key: entry[key] for key in ("name", "how", "rows", "checked", "note")})


def _known(place: Path) -> Manifest:
    try:
        return dict(json.loads((place / "MANIFEST.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _write(table: Table, one: Built, place: Path, known: Manifest) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.names, TARGET])
    writer.writerows(_cells(table))
    file = place / f"{one.name}.csv.gz"
    write_file(file, text.getvalue(), overwrite=True)
    path = place / "SCHEMA.json"
    schema = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    schema[one.name] = {"columns": {name: _kind(table, j) for j, name in enumerate(table.names)}}
    known[one.name] = {**asdict(one), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    write_file(path, json.dumps(schema, indent=1) + "\n", overwrite=True)
    write_file(place / "MANIFEST.json", json.dumps(known, indent=1) + "\n", overwrite=True)


def _kind(table: Table, j: int) -> str | dict[str, list[str]]:
    if table.kinds[j] == "numeric":
        return "numeric"
    present = np.unique(table.columns[j])
    return {"nominal": [str(c) for i, c in enumerate(table.categories[j]) if i in present]}
