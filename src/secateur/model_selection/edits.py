"""Edits: what a user changes in a grown tree by hand, as values and as a file.

An edit names a node of the grown tree in one of two ways. `node` is its number in the tree that the edits were made
for, whatever the other edits of the list do. `path` leads to it from the root of the tree as it is when the edit is
applied: the number of the child at each split. Edits are applied in their order.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from .._utils.arrays import Category
from .._utils.checks import check_int, check_name
from ..core import Tree
from ..data.sketch import RowKey
from ..errors import ParameterError, show

Action = Literal["split", "forbid", "leaf", "regrow"]
ACTIONS: tuple[Action, ...] = get_args(Action)
GROWING = "growing"
HELD_OUT = "held-out"
FILE_FORMAT = "secateur edits"
FILE_VERSION = 1
MAX_FILE_BYTES = 1 << 24


@dataclass(frozen=True)
class Edit:
    """One change of a grown tree by hand.

    Parameters
    ----------
    action : str
        "split": split the node by a stated column, and grow anew below. "forbid": no test on the column at and below
        the node; nodes that test it are grown anew without it, the others stay. "leaf": make the node a leaf of the
        grown tree. "regrow": grow the node and all below it anew by the usual rules.
    node : int, optional
        Number of the node in the tree that the edits were made for; the root is 0.
    path : tuple of int, optional
        In place of `node`: the child to follow at each split, from the root of the tree as the edits before this one
        leave it. The path of the root is ().
    column : str, optional
        Name of the column, for "split" and "forbid".
    threshold : float, optional
        For "split" by a numeric column: rows up to the threshold go to the first child. By default, the best one.
    categories : tuple, optional
        For "split" by a nominal column: the categories that go to the first child; None stands for missing values. By
        default, the best set.
    looked_at : str
        The rows that were looked at to make the edit: "growing", "held-out", or the name of another sample. The rows of
        any sample but the growing one cannot certify the edited tree.

    Examples
    --------
    >>> Edit("split", node=0, column="income")
    Edit(action='split', node=0, path=None, column='income', threshold=None, categories=None, looked_at='growing')
    """

    action: Action
    node: int | None = None
    path: tuple[int, ...] | None = None
    column: str | None = None
    threshold: float | None = None
    categories: tuple[Category, ...] | None = None
    looked_at: str = GROWING

    def __post_init__(self) -> None:
        check_name("action", self.action, ACTIONS)
        if (self.node is None) == (self.path is None):
            raise ParameterError(f"the edit {show(self.action)} needs a node or a path, and not both")
        if self.node is not None:
            object.__setattr__(self, "node", check_int("node", self.node, 0))
        if self.path is not None:
            path = _as_tuple("path", self.path, "a list with the number of the child at each split")
            object.__setattr__(self, "path", tuple(check_int("path", child, 0) for child in path))
        if (self.column is not None) != (self.action in ("split", "forbid")):
            needs = "needs a column" if self.column is None else "has no column"
            raise ParameterError(f"the edit {show(self.action)} {needs}; splits and forbidden columns name one")
        if self.action != "split" and (self.threshold is not None or self.categories is not None):
            raise ParameterError(f"the edit {show(self.action)} has no threshold and no categories; only a split has")
        if self.threshold is not None:
            self._check_threshold()
        if self.categories is not None:
            categories = _as_tuple("categories", self.categories, "a list of categories")
            object.__setattr__(self, "categories", categories)
        if not isinstance(self.looked_at, str) or not self.looked_at:
            raise ParameterError(f"looked_at is {show(self.looked_at)}; 'growing' or the name of a sample is needed")

    def _check_threshold(self) -> None:
        """Raise `ParameterError` unless the threshold is a number, and the only statement about the split."""
        given: Any = self.threshold
        value = np.inf if given == "inf" else given  # JSON has no infinite numbers
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not is_number or np.isnan(value):
            raise ParameterError(f"threshold is {show(value)}; a number is needed")
        if self.categories is not None:
            raise ParameterError("the edit 'split' has a threshold and categories; a column has one of them")
        object.__setattr__(self, "threshold", float(value))

    @property
    def place(self) -> str:
        """The node in words, for messages."""
        return f"node {self.node}" if self.path is None else f"path {list(self.path)}"

    @property
    def text(self) -> str:
        """The edit in words."""
        if self.action == "forbid":
            return f"forbid {self.column} at and below {self.place}"
        if self.action != "split":
            return f"make {self.place} a leaf" if self.action == "leaf" else f"regrow {self.place}"
        stated = "" if self.threshold is None else f" <= {self.threshold:g}"
        if self.categories is not None:
            stated = f" in {{{', '.join('missing' if c is None else str(c) for c in self.categories)}}}"
        return f"split {self.place} by {self.column}{stated}"

    def to_dict(self) -> dict[str, Any]:
        """Return the edit as plain values, without those that are not stated."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        if self.threshold is not None and np.isinf(self.threshold):
            plain["threshold"] = "inf"
        return {name: value for name, value in plain.items() if value is not None}

    @classmethod
    def of(cls, value: Any) -> "Edit":
        """Return an edit, given as such or as a dict with the names of its fields."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise ParameterError(f"an edit is {show(value)}; an Edit, or a dict such as "
                                 '{"action": "forbid", "node": 0, "column": "age"}, is needed')  # fmt: skip
        names = [one.name for one in fields(cls)]
        for name in value:
            check_name("edit", name, names)
        if "action" not in value:
            raise ParameterError(f"an edit has no action; one of {', '.join(ACTIONS)} is needed")
        return cls(**value)


def _as_tuple(name: str, value: Any, needed: str) -> tuple[Any, ...]:
    """Return a list as a tuple; raise `ParameterError` for anything else."""
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(value)
    raise ParameterError(f"{name} is {show(value)}; {needed} is needed")


def tree_key(tree: Tree) -> str:
    """Return a fingerprint of the splits of a tree, which a file of edits contains."""
    return RowKey.of(tree.feature, tree.parent, tree.threshold, tree.branch_start, tree.branch).salt.hex()


def read_edits(edits: Any, tree: Tree) -> list[Edit]:
    """Return edits that are given as a list, or in a file that was made for this tree.

    Parameters
    ----------
    edits : list of Edit or dict, dict, or path
        A dict, and a JSON file, has the keys "format", "version", "edits", and "tree", the fingerprint of the tree.
    tree : Tree
        The tree to edit.
    """
    if isinstance(edits, Edit):
        return [edits]
    if isinstance(edits, str | os.PathLike):
        edits = _read_json(Path(edits))
        if not isinstance(edits, Mapping):
            raise ParameterError(f"the file of edits holds {show(edits)}; an object with the key 'edits' is needed")
    if isinstance(edits, Mapping) and "action" in edits:
        return [Edit.of(edits)]
    if isinstance(edits, Mapping):
        edits = _edits_of_document(edits, tree)
    if not isinstance(edits, Iterable):
        raise ParameterError(f"edits={show(edits)}; a list of edits, or the path of a file of edits, is needed")
    found = [Edit.of(value) for value in edits]
    if not found:
        raise ParameterError("there are no edits; at least one is needed")
    return found


def _read_json(path: Path) -> Any:
    """Return the contents of a JSON file."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ParameterError(f"{path} has {path.stat().st_size:,} bytes; a file of edits has at most 16 MiB")
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ParameterError(f"the file of edits {path} cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, ParameterError):
            raise
        raise ParameterError(f"{path} is no file of edits: {error}") from error


def _edits_of_document(document: Mapping[str, Any], tree: Tree) -> Any:
    """Return the list of edits of a parsed file; raise `ParameterError` if it was made for another tree."""
    unknown = set(document) - {"format", "version", "tree", "edits"}
    if unknown or document.get("format") != FILE_FORMAT or not isinstance(document.get("edits"), list):
        raise ParameterError(
            f'the edits are an object with the keys {show(sorted(map(str, document)))}; "format": '
            f'{show(FILE_FORMAT)}, "version": {FILE_VERSION} and a list "edits" are needed'
        )
    if document.get("version") != FILE_VERSION:
        raise ParameterError(f"the edits have version {show(document.get('version'))}; {FILE_VERSION} is supported")
    fingerprint = document.get("tree")
    if fingerprint is not None and fingerprint != tree_key(tree):
        raise ParameterError(
            f"the edits were made for another tree (fingerprint {show(fingerprint)}, this tree has "
            f"{show(tree_key(tree))}), in which nodes have other numbers; make them for this model"
        )
    return document["edits"]


def edits_document(edits: Iterable[Edit], tree: Tree) -> dict[str, Any]:
    """Return the contents of a file of edits for a tree, as plain values for JSON.

    Examples
    --------
    >>> import secateur
    >>> tree, _ = secateur.grow([[1.0], [2.0]], ["no", "yes"])
    >>> edits_document([Edit("leaf", node=0)], tree)["edits"]
    [{'action': 'leaf', 'node': 0, 'looked_at': 'growing'}]
    """
    return {
        "format": FILE_FORMAT,
        "version": FILE_VERSION,
        "tree": tree_key(tree),
        "edits": [edit.to_dict() for edit in edits],
    }
