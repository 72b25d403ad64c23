"""Models and counts as files: JSON that people can read, and that is safe to load from any source.

`save_model` and `load_model` keep a `Model` bit for bit. `save_counts` and `load_counts` keep one sample counted on a
tree, so that rows can be counted on one machine and the tree pruned on another. A file contains data and no code:
whatever its bytes, loading gives a valid model or `ModelFileError`. docs/reference/model-file.md describes the format.

    _file          the bytes of a file as a JSON document, parsed strictly and up to limits of size
    _values        the values in a document, and the kind of value under each key
    _checks        whether the parts of a model fit its tree
    _certificate   whether the choice and the certificate follow from the counts
    _write         models and counts as documents
    _read          documents as models and counts
    _versions      documents of earlier versions as documents of the current one
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy

from .._utils.output import PathLike, write_file
from ..core import Model, Sample, Tree
from ..errors import ModelFileError
from ._file import decompress, parse_json, read_file, write_json
from ._read import read_counts, read_model
from ._values import SCHEMA, Document
from ._write import VERSION, model_hash, tree_fingerprint, write_counts_document, write_model_document

MAX_SHOWN_PATH_CHARACTERS = 1000

__all__ = [
    "VERSION",
    "ModelFileError",
    "dumps_model",
    "json_schema",
    "load_counts",
    "load_model",
    "loads_model",
    "model_hash",
    "save_counts",
    "save_model",
    "tree_fingerprint",
]


def save_model(model: Model, path: PathLike, *, overwrite: bool = True, sketch: bool = True) -> None:
    """Write a model to a file.

    Parameters
    ----------
    model : Model or fitted estimator
        Its parameters and metadata must be plain values.
    path : path
        Name of the file. If it ends in `.gz`, the file is compressed.
    overwrite : bool
        Whether an existing file is replaced.
    sketch : bool
        Whether the file contains sketches of the rows behind the model, about a thousand keyed hashes for each
        sample, so that certificates can tell whether rows are fresh. Rows cannot be recovered from a sketch, but
        somebody who knows a row completely can test whether it is likely to be among them. For a numeric target, the
        file then also contains the targets of the held-out rows, with their leaves. Without sketches, later
        certificates state that freshness was not checked.

    Notes
    -----
    The file is written under another name in the same folder, synced, and renamed: after an error, a full disk or
    a kill, the previous file is unchanged. Equal models give equal bytes.

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
        If the file does not exist, is not a model file, is damaged, or was written by a newer secateur.

    Examples
    --------
    >>> load_model("no-such-file.json")
    Traceback (most recent call last):
    ...
    secateur.errors.ModelFileError: no-such-file.json: it cannot be read (No such file or directory); ...
    """
    with _errors_naming(path):
        return read_model(parse_json(read_file(path)))


def dumps_model(model: Model, *, sketch: bool = True) -> bytes:
    """Return the contents of a model file as bytes.

    Parameters
    ----------
    model : Model or fitted estimator
    sketch : bool
        As for `save_model`.

    Examples
    --------
    >>> from secateur import Counts, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[3, 1], [0, 2]])
    >>> model = Model(Pruning.from_cuts(tree, [], node_labels=grown.majority), grown)
    >>> print(dumps_model(model).decode()[:47])
    {
      "format": "secateur-model",
      "version": 3,
    """
    with _errors_beginning("the model cannot be saved"):
        return write_json(write_model_document(getattr(model, "model_", model), sketch=sketch))


def loads_model(data: bytes | str) -> Model:
    """Load a model from the contents of a file: bytes, compressed or not, or text.

    Examples
    --------
    >>> loads_model(b'{"format": "secateur-model", "version": 9}')
    Traceback (most recent call last):
    ...
    secateur.errors.ModelFileError: the data: it is version 9 of the format, and this secateur reads up to version 3...
    """
    contents = data.encode() if isinstance(data, str) else bytes(data)
    with _errors_naming("the data"):
        return read_model(parse_json(decompress(contents)))


def save_counts(counts: Sample, path: PathLike, *, overwrite: bool = True, sketch: bool = True) -> None:
    """Write the counts of a sample to a file, with a fingerprint of the tree.

    Parameters
    ----------
    counts : Counts or Moments
    path : path
        Name of the file. If it ends in `.gz`, the file is compressed.
    overwrite : bool
        Whether an existing file is replaced.
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
    with _errors_beginning("the counts cannot be saved"):
        data = write_json(write_counts_document(counts, sketch=sketch))
    write_file(path, data, overwrite=overwrite)


def load_counts(path: PathLike, tree: Tree | None = None) -> Sample:
    """Load counts from a file.

    Parameters
    ----------
    path : path
    tree : Tree, optional
        The tree on which the rows were counted. Counts of any other tree are refused, even if only a threshold,
        a category or a class differs. Without a tree, the counts refer to a tree that has
        the nodes of their tree but no splits, and can be used with every tree of the same structure.

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
    with _errors_naming(path):
        return read_counts(parse_json(read_file(path)), tree)


def json_schema() -> Document:
    """Return the JSON Schema (draft 2020-12) of model files and counts files.

    The schema states the keys and the types of values. Loading checks in addition that the arrays are a tree.

    Examples
    --------
    >>> json_schema()["title"]
    'secateur model and counts files, version 3'
    """
    return deepcopy(SCHEMA)


@contextmanager
def _errors_beginning(text: str) -> Iterator[None]:
    """Prepend a text to the message of a `ModelFileError`."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{text}: {error}") from error.__cause__


def _errors_naming(path: PathLike) -> AbstractContextManager[None]:
    """Prepend the name of a file to the message of a `ModelFileError`."""
    name = str(path)
    return _errors_beginning((name if name.isprintable() else ascii(name))[:MAX_SHOWN_PATH_CHARACTERS])
