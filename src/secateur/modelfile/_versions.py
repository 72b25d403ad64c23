"""Convert documents of earlier versions of the format to the current one.

version 1   has no numbers of rows, no sketches and no record of evaluations
version 2   has other names for some keys, and no provenance of rules
version 3   is the current version
"""

from collections.abc import Callable
from functools import partial

from ..errors import ModelFileError
from ._values import Document, shorten
from ._write import MODEL_FORMAT

# For each part of a document: the keys that version 2 has and version 1 lacks, and the values that they get.
ADDED_IN_VERSION_2: dict[str, Document] = {
    "model": {"rows": {"key": None, "history": [], "samples": [], "looks": []}},
    "counts file": {"key": None},
    "sample": {"n_rows": None, "sketch": None},
    "certificate": {"quantity": "error", "scale": 1.0, "freshness": "", "is_checked": True},
}
# Part of a document: {key in version 2: key in version 3}.
RENAMED_IN_VERSION_3: dict[str, dict[str, str]] = {
    "model": {"facts": "metadata"},
    "tree": {"birth": "split_order"},
    "sample": {"spread": "sse"},
    "selection": {"judges": "evaluated_on"},
    "rows": {"looks": "evaluations"},
    "evaluation": {"mark": "sample_id", "is_open": "is_unrestricted", "is_several": "has_other_sequences"},
}
ADDED_IN_VERSION_3: dict[str, Document] = {"pruning": {"provenance": None}, "sequence": {"provenance": None}}


def upgrade(document: Document) -> Document:
    """Return a document of any version as one of the current version; the given document does not change."""
    if document["version"] == 1:
        document = _upgrade_version_1(document)
    if document["version"] == 2:
        document = _upgrade_version_2(document)
    return document


def _upgrade_version_1(document: Document) -> Document:
    is_model = document["format"] == MODEL_FORMAT
    upgraded = ADDED_IN_VERSION_2["model" if is_model else "counts file"] | document | {"version": 2}
    for key in ("grown", "holdout", "counts"):
        _convert(upgraded, key, _add_unknown_rows)
    _convert(upgraded, "selection", _upgrade_selection_of_version_1)
    _convert(upgraded, "certificate", lambda part: ADDED_IN_VERSION_2["certificate"] | part)
    return upgraded


def _add_unknown_rows(sample: Document) -> Document:
    return sample | ADDED_IN_VERSION_2["sample"]


def _upgrade_selection_of_version_1(selection: Document) -> Document:
    sample = selection.get("sample")
    upgraded = {"judges": [] if sample == "cross-validation" else [sample]} | selection
    _convert(upgraded, "counts", _add_unknown_rows)
    return upgraded


def _upgrade_version_2(document: Document) -> Document:
    upgraded = document | {"version": 3}
    if document["format"] == MODEL_FORMAT:
        upgraded = _rename_keys(upgraded, "model")
    for key in ("grown", "holdout", "counts"):
        _convert(upgraded, key, partial(_rename_keys, name="sample"))
    for key in ("tree", "pruning", "sequence"):
        _convert(upgraded, key, partial(_rename_keys, name=key))
    _convert(upgraded, "selection", _upgrade_selection_of_version_2)
    _convert(upgraded, "rows", _upgrade_rows_of_version_2)
    return upgraded


def _upgrade_selection_of_version_2(selection: Document) -> Document:
    upgraded = _rename_keys(selection, "selection")
    _convert(upgraded, "counts", partial(_rename_keys, name="sample"))
    _convert(upgraded, "sequence", partial(_rename_keys, name="sequence"))
    return upgraded


def _upgrade_rows_of_version_2(rows: Document) -> Document:
    upgraded = _rename_keys(rows, "rows")
    evaluations = upgraded.get("evaluations")
    if isinstance(evaluations, list):
        upgraded["evaluations"] = [
            _rename_keys(item, "evaluation") if isinstance(item, dict) else item for item in evaluations
        ]
    return upgraded


def _convert(document: Document, key: str, convert: Callable[[Document], Document]) -> None:
    """Replace the value of a key by its conversion, if it is an object; values of other types are refused later."""
    if isinstance(document.get(key), dict):
        document[key] = convert(document[key])


def _rename_keys(part: Document, name: str) -> Document:
    """Return a part of a document of version 2 with the keys of version 3; `name` is its key in the tables above."""
    new_names = RENAMED_IN_VERSION_3.get(name, {})
    upgraded: Document = dict(ADDED_IN_VERSION_3.get(name, {}))
    for key, value in part.items():
        if key in new_names.values() or key in upgraded:
            raise ModelFileError(f"the {name} has the unknown key {shorten(key)}; version 2 of the format has none")
        upgraded[new_names.get(key, key)] = value
    return upgraded
