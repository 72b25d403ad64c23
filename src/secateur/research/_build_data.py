"""Fill a folder with the data sets of the experiments.

A data set comes from one of three sources. Sets that a rule or a game defines are generated, with exactly the
published rows; led24 and waveform are random samples, drawn with a fixed seed. A few sets are part of scikit-learn. All
others are downloaded from OpenML. A checksum shows whether a set has the rows from which the reproductions were
computed. The checksum does not depend on the order of the rows or on how numbers are written.
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
from ..datasets import (
    balance_scale,
    car,
    fetch,
    krk_depth,
    krk_legality,
    led24,
    monks,
    nursery,
    tic_tac_toe,
    waveform,
)
from ..datasets.tables import TARGET_COLUMN
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
# Each line of sets.csv has the name of a set, its number at OpenML or nothing, and its checksum or nothing.
with Path(__file__).with_name("sets.csv").open(encoding="utf-8", newline="") as _file:
    _SETS = list(csv.reader(_file))[1:]
OPENML = {name: int(number) for name, number, _ in _SETS if number}
CHECKSUMS = {name: checksum for name, _, checksum in _SETS if checksum}
NAMES = tuple(sorted([*GENERATED, *BUNDLED, *OPENML]))
NO_ANSWER = "OpenML did not answer"  # beginning of the note of a set whose download failed

Manifest = dict[str, dict[str, Any]]  # the content of MANIFEST.json: for each set, the fields of `Built` and "sha256"


@dataclass(frozen=True)
class Built:
    """The result of building one data set.

    Parameters
    ----------
    name : str
    how : str
        The source: "generated", "scikit-learn", or "OpenML" followed by the number of the set.
    rows : int
        Number of rows; 0 if the set could not be built.
    checked : str
        "yes" if the rows have the expected checksum, "no" if they do not, "" if no checksum is known.
    note : str
        Why the set could not be built, or why its checksum differs; otherwise "".
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
    """Write data sets into a folder from which `datasets.load` reads them.

    Parameters
    ----------
    folder : path
        Gets a file `NAME.csv.gz` for each set, SCHEMA.json and MANIFEST.json. A set that an earlier call has written
        is kept.
    only : sequence of str
        Names of the sets to write; by default, all.
    network : bool
        Whether to download sets from OpenML. After one failed download no other is tried.
    progress : callable, optional
        Called with the number of sets done and the number of all sets.

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
    data_dir = Path(folder)
    for name in only:
        check_name("only", name, NAMES)
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the folder {data_dir} cannot be created ({error.strerror or error})") from error
    manifest = _read_manifest(data_dir)
    names = [name for name in NAMES if not only or name in only]
    results = []
    why_no_download = "" if network else "not asked for: no network"
    for i, name in enumerate(names):
        result = _find_written_set(name, data_dir, manifest)
        if result is None:
            result = _build_set(name, data_dir, manifest, why_no_download)
        if result.note.startswith(NO_ANSWER):
            why_no_download = f"not asked for: {NO_ANSWER} before"
        results.append(result)
        if progress is not None:
            progress(i + 1, len(names))
    return results


def checksum(table: Table) -> str:
    """Return a checksum of a table that does not depend on the order of the rows or on how numbers are written.

    Examples
    --------
    >>> from secateur import datasets, research
    >>> research.checksum(datasets.car())[:16]
    '52235f455175fc77'
    """
    lines = sorted("\x1f".join(row) for row in _rows_as_text(table))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _rows_as_text(table: Table) -> Iterator[tuple[str, ...]]:
    """Return the cells of each row as text: the columns in order, then the class."""
    assert table.schema.classes is not None
    columns = [_cells_as_text(table.values(j)) for j in range(table.n_columns)]
    class_names = np.array([str(c) for c in table.schema.classes], object)
    return zip(*columns, class_names[table.required_target], strict=True)


def _cells_as_text(values: Array) -> Array:
    """Return the values of a column as text; a missing value is an empty string."""
    if values.dtype.kind == "f":
        # Formatting is slow, so each distinct number is formatted once.
        distinct, position = np.unique(values, return_inverse=True)
        return np.array(["" if np.isnan(v) else f"{v:.10g}" for v in distinct], object)[position]
    return np.array(["" if v is None else str(v) for v in values], object)


def _build_set(name: str, data_dir: Path, manifest: Manifest, why_no_download: str) -> Built:
    """Generate or download a data set, write it, and return the result.

    If `why_no_download` is not empty, sets of OpenML are not downloaded, and their results have it as note.
    """
    source = _source_of(name)
    if name in OPENML and why_no_download:
        return Built(name, source, note=why_no_download)
    try:
        table = _make_table(name)
    except DataError as error:
        return Built(name, source, note=f"{NO_ANSWER}: {error.__cause__ or error}")
    checked, note = "", ""
    if name in CHECKSUMS:
        checked = "yes" if checksum(table) == CHECKSUMS[name] else "no"
    if checked == "no":
        note = "the rows differ from those the reproductions were computed from"
    result = Built(name, source, table.n_rows, checked, note)
    _write_set(table, result, data_dir, manifest)
    return result


def _source_of(name: str) -> str:
    """Return where a data set comes from, as `Built.how` states it."""
    if name in GENERATED:
        return "generated"
    return "scikit-learn" if name in BUNDLED else f"OpenML {OPENML[name]}"


def _make_table(name: str) -> Table:
    """Generate or download a data set; raise `DataError` if OpenML does not answer."""
    if name in GENERATED:
        return GENERATED[name]()
    if name in OPENML:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn warns about every retry
            return fetch(OPENML[name], n_retries=1, delay=0.1)
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{BUNDLED[name]}")(as_frame=True)
    return encode(bunch.data, target=np.asarray(bunch.target_names)[bunch.target])


def _find_written_set(name: str, data_dir: Path, manifest: Manifest) -> Built | None:
    """Return the result of an earlier call; None if the file has changed since then, or there is none."""
    entry = manifest.get(name)
    file = data_dir / f"{name}.csv.gz"
    if entry is None or not file.is_file() or _sha256(file) != entry["sha256"]:
        return None
    return Built(**{key: entry[key] for key in ("name", "how", "rows", "checked", "note")})


def _sha256(file: Path) -> str:
    """Return the SHA-256 of the content of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _read_manifest(data_dir: Path) -> Manifest:
    """Return the content of MANIFEST.json, empty if the file is missing or damaged."""
    try:
        return dict(json.loads((data_dir / "MANIFEST.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _write_set(table: Table, result: Built, data_dir: Path, manifest: Manifest) -> None:
    """Write the rows of a data set, and add it to SCHEMA.json, `manifest` and MANIFEST.json."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.names, TARGET_COLUMN])
    writer.writerows(_rows_as_text(table))
    file = data_dir / f"{result.name}.csv.gz"
    write_file(file, text.getvalue(), overwrite=True)
    path = data_dir / "SCHEMA.json"
    schema = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    schema[result.name] = {"columns": {name: _column_kind(table, j) for j, name in enumerate(table.names)}}
    manifest[result.name] = {**asdict(result), "sha256": _sha256(file)}
    write_file(path, json.dumps(schema, indent=1) + "\n", overwrite=True)
    write_file(data_dir / "MANIFEST.json", json.dumps(manifest, indent=1) + "\n", overwrite=True)


def _column_kind(table: Table, j: int) -> str | dict[str, list[str]]:
    """Return the kind of a column as SCHEMA.json states it: "numeric", or the categories that occur."""
    if table.kinds[j] == "numeric":
        return "numeric"
    present = np.unique(table.columns[j])
    return {"nominal": [str(c) for i, c in enumerate(table.categories[j]) if i in present]}
