"""Models and counts as files: JSON that people can read and no file can abuse.

`save_model` and `load_model` keep a whole `Model` bit for bit; `save_counts` and
`load_counts` keep one sample counted on a tree, so that rows can be counted where they are
and the tree pruned elsewhere. A file is data, never code: whatever its bytes, loading gives
a valid model or `ModelFileError`. docs/reference/model-file.md describes the format.

    _files      bytes on disk, read and unpacked up to a limit
    _text       bytes as JSON documents, strictly
    _values     arrays, labels and plain values in a document
    _fields     what each name holds, read and written by one table
    _rows       sketches, the samples that shaped the tree, and the ledger
    _prove      that arrays are a tree and fit it
    _write      nouns as documents
    _read       documents, also of older versions, as nouns
"""

from collections.abc import Callable
from copy import deepcopy
from typing import TypeVar

from .._utils.output import PathLike, write_file
from ..core import Model, Sample, Tree
from ..errors import ModelFileError
from ._fields import SCHEMA
from ._files import read_file, unpacked
from ._read import read_counts, read_model
from ._text import Document, from_text, to_text
from ._write import VERSION, counts_document, model_document, tree_fingerprint

__all__ = [
    "VERSION",
    "ModelFileError",
    "dumps_model",
    "json_schema",
    "load_counts",
    "load_model",
    "loads_model",
    "save_counts",
    "save_model",
    "tree_fingerprint",
]

T = TypeVar("T")


def save_model(model: Model, path: PathLike, *, overwrite: bool = True, sketch: bool = True) -> None:
    """Write a model to a file.

    Parameters
    ----------
    model : Model
        Or a fitted estimator. Its parameters and facts must be plain values.
    path : path
        A name in `.gz` is packed.
    overwrite : bool
        Whether a file that is there is replaced.
    sketch : bool
        Whether the file remembers the rows behind the model, by a thousand keyed hashes a sample, so that
        certificates can tell whether rows are fresh. No row can be read from them; who knows a row in
        full can test whether it is likely to be among them. False leaves them out, and later
        certificates say that freshness was not checked.

    Notes
    -----
    The file is written beside its place, made durable, and renamed: an error, a full disk or
    a kill leaves what was there before. Equal models give equal bytes.

    Examples
    --------
    >>> import tempfile
    >>> from secateur import Counts, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 1], [0, 2]])
    >>> model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.json.gz")
    ...     load_model(f"{folder}/model.json.gz") == model
    True
    """
    write_file(path, dumps_model(model, sketch=sketch), overwrite=overwrite)


def load_model(path: PathLike) -> Model:
    """Load a model from a file, compressed or not.

    Raises
    ------
    ModelFileError
        If there is no such file, if it is not a model file, if it is damaged, or if a newer
        secateur wrote it.

    Examples
    --------
    >>> load_model("no-such-file.json")
    Traceback (most recent call last):
    ...
    secateur.errors.ModelFileError: no-such-file.json: it cannot be read (No such file or directory); ...
    """
    return _loaded(path, lambda: read_model(from_text(read_file(path))))


def dumps_model(model: Model, *, sketch: bool = True) -> bytes:
    """Return a model as the text of a model file.

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 1], [0, 2]])
    >>> model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> print(dumps_model(model).decode()[:47])
    {
      "format": "secateur-model",
      "version": 2,
    """
    return _written("model", model_document(getattr(model, "model_", model), sketch=sketch), read_model)


def loads_model(data: bytes | str) -> Model:
    """Load a model from the bytes of a file, compressed or not, or from its text.

    Examples
    --------
    >>> loads_model(b'{"format": "secateur-model", "version": 9}')
    Traceback (most recent call last):
    ...
    secateur.errors.ModelFileError: the data: it is version 9 of the format, and this secateur reads up to version 2...
    """
    return _loaded(
        "the data", lambda: read_model(from_text(unpacked(data.encode() if isinstance(data, str) else bytes(data))))
    )


def save_counts(counts: Sample, path: PathLike, *, overwrite: bool = True, sketch: bool = True) -> None:
    """Write the counts of a sample to a file, with the fingerprint of the tree.

    Parameters
    ----------
    counts : Counts or Moments
    path : path
        A name in `.gz` is packed.
    overwrite : bool
        Whether a file that is there is replaced.
    sketch : bool
        As for `save_model`.

    Examples
    --------
    >>> import tempfile
    >>> from secateur import Counts, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> held_out = Counts.from_leaves(tree, [[3, 1], [0, 2]], sample="prune")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_counts(held_out, f"{folder}/counts.json")
    ...     load_counts(f"{folder}/counts.json", tree)
    Counts('prune', 6 in 2 classes, 3 nodes)
    """
    document = counts_document(counts, sketch=sketch)
    write_file(path, _written("counts", document, lambda read: read_counts(read, None)), overwrite=overwrite)


def load_counts(path: PathLike, tree: Tree | None = None) -> Sample:
    """Load counts from a file.

    Parameters
    ----------
    path : path
    tree : Tree, optional
        The tree they were counted on; counts of any other tree are refused, also where only
        a threshold, a category or a class differs. Without it the counts stand on the bare
        structure of their tree, which fits every tree of that structure.

    Examples
    --------
    >>> import tempfile
    >>> from secateur import Counts, Tree
    >>> tree, other = Tree.from_parents([-1, 0, 0]), Tree.from_parents([-1, 0, 0, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_counts(Counts.from_leaves(tree, [[3, 1], [0, 2]]), f"{folder}/counts.json")
    ...     load_counts(f"{folder}/counts.json", other)
    Traceback (most recent call last):
    ...
    secateur.errors.ModelFileError: ...counts.json: the counts are of another tree, of 3 nodes, than the one given, ...
    """
    return _loaded(path, lambda: read_counts(from_text(read_file(path)), tree))


def json_schema() -> Document:
    """Return the JSON Schema (draft 2020-12) of model files and counts files.

    It says which keys and types there are; that the arrays are a tree is proved on loading.

    Examples
    --------
    >>> json_schema()["title"]
    'secateur model and counts files, version 2'
    """
    return deepcopy(SCHEMA)


def _written(what: str, document: Document, read: Callable[[Document], object]) -> bytes:
    """The text of a document; what could not be loaded is not written."""
    try:
        read(document)
    except ModelFileError as error:
        raise ModelFileError(f"the {what} cannot be saved: {error}") from error
    return to_text(document)


def _loaded(path: PathLike, read: Callable[[], T]) -> T:
    """What `read` returns; its errors name the file."""
    try:
        return read()
    except ModelFileError as error:
        shown = str(path) if str(path).isprintable() else ascii(str(path))
        raise ModelFileError(f"{shown}: {error}") from error.__cause__
