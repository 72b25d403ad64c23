"""The table of engines: names and abilities. Dispatch, messages, documentation and the command line read this table."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

from .._utils.checks import check_name
from ..errors import Argument, SecateurError, UnsupportedError

# Types of other libraries. They are `Any`, because the libraries are imported only when they are needed.
ExternalData: TypeAlias = Any  # rows: paths, a frame, a lazy frame, a relation, a stream, partitions on a cluster
Lazy: TypeAlias = Any  # a lazy frame of narwhals, its schema, or an expression over its columns
Client: TypeAlias = Any  # a client of Dask
SourceKind = Literal[
    "files", "frame", "polars lazy", "duckdb relation", "lazy", "stream", "dask", "partitions", "spark"
]

MAX_MESSAGE_CHARACTERS = 500  # of the part of an error message that comes from an engine


@dataclass(frozen=True)
class Engine:
    """The abilities of an engine.

    Parameters
    ----------
    name : str
    source_kinds : tuple of str
        The kinds of sources that the engine reads.
    packages : tuple of str
        The packages that must be installed.
    extra : str
        The extra of secateur that installs the packages: `pip install 'secateur[EXTRA]'`.
    min_version : tuple of int
        The oldest supported version of the first of `packages`; empty if all versions are supported.
    can_grow : bool
        Whether the engine can grow trees.
    sketches_rows : bool
        Whether the rows pass through Python, so that the counts get a sketch of them. A database returns only counts.
    is_cluster : bool
        Whether the work is sent to other machines. For files, `engine="auto"` never chooses such an engine.
    """

    name: str
    source_kinds: tuple[SourceKind, ...]
    packages: tuple[str, ...] = ()
    extra: str = "arrow"
    min_version: tuple[int, ...] = ()
    can_grow: bool = True
    sketches_rows: bool = True
    is_cluster: bool = False

    @property
    def is_installed(self) -> bool:
        """Whether the packages of the engine are installed, in supported versions."""
        return all(find_spec(package) is not None for package in self.packages) and not self.is_too_old

    @property
    def is_too_old(self) -> bool:
        """Whether the first package of the engine is installed in a version before `min_version`."""
        if not self.min_version or find_spec(self.packages[0]) is None:
            return False
        parts = version(self.packages[0]).split(".")[: len(self.min_version)]
        return tuple(int(part) for part in parts if part.isdigit()) < self.min_version


# In order of preference: if several engines read a source, "auto" takes the first.
ENGINES = {
    engine.name: engine
    for engine in (
        Engine("memory", ("frame",)),
        Engine("duckdb", ("files", "duckdb relation"), ("duckdb", "pyarrow"), "duckdb"),
        Engine("polars", ("files", "polars lazy"), ("polars",), min_version=(1, 34)),  # for LazyFrame.collect_batches
        Engine("pyarrow", ("files", "stream"), ("pyarrow",)),
        Engine("dask", ("files", "dask", "partitions"), ("distributed",), "dask", is_cluster=True),
        Engine("spark", ("spark",), ("pyspark",), "spark", can_grow=False, is_cluster=True),
        Engine(
            "narwhals", ("polars lazy", "duckdb relation", "lazy", "spark"), (), can_grow=False, sketches_rows=False
        ),
    )
}
SCANNING_ENGINES = tuple(e.name for e in ENGINES.values() if "files" in e.source_kinds and not e.is_cluster)
COMMAND_LINE_ENGINES = ("auto", "memory", *SCANNING_ENGINES)  # the command line has no cluster

_ADVICE_FOR_FILES = {  # for engines that do not read files: how their users can read files first
    "memory": "read them with pandas, polars or pyarrow",
    "narwhals": "pass a lazy frame, such as polars.scan_parquet(...)",
    "spark": "pass spark.read.parquet(...)",
}


@contextmanager
def translate_errors(translate: Callable[[Exception, str], SecateurError]) -> Iterator[None]:
    """Raise the errors of an engine, which have no common base class, as errors of this package.

    `translate(error, message)` returns the error to raise; `message` is the engine's own message in one line.
    """
    try:
        yield
    except SecateurError:
        raise
    except Exception as error:
        raise translate(error, " ".join(str(error).split())[:MAX_MESSAGE_CHARACTERS]) from error


def check_engine(name: object, *, to_grow: bool = False) -> None:
    """Raise `ParameterError` unless `name` is an engine or "auto"; with `to_grow`, an engine that can grow trees."""
    names = [engine.name for engine in ENGINES.values() if engine.can_grow or not to_grow]
    check_name("engine", name, ["auto", *names])


def engine_for(source: ExternalData, kind: SourceKind, engine: str) -> str:
    """Return the name of the engine that reads a source of this kind, if the user has asked for `engine` or "auto"."""
    if kind == "stream" and engine in SCANNING_ENGINES:
        engine = "pyarrow"  # reads the batches of a stream for every scanning engine
    candidates = [candidate for candidate in ENGINES.values() if kind in candidate.source_kinds]
    if engine == "auto":
        return _preferred_engine(candidates, kind)
    if engine not in [candidate.name for candidate in candidates]:
        if kind == "files":
            obstacle = f"files; {_ADVICE_FOR_FILES[engine]}, or use"
        else:
            alternatives = " or ".join(repr(candidate.name) for candidate in candidates)
            obstacle = f"a {type(source).__name__}; {alternatives} can, or"
        raise UnsupportedError(Argument("engine", engine), f" cannot read {obstacle} ", Argument("engine", "auto"))
    _check_installed(ENGINES[engine], kind)
    return engine


def _preferred_engine(candidates: list[Engine], kind: SourceKind) -> str:
    """Return the name of the first engine that can be used; for files, one that does not need a cluster."""
    if kind != "files":
        return next((engine.name for engine in candidates if not engine.is_too_old), candidates[0].name)
    local = [engine for engine in candidates if not engine.is_cluster]
    for engine in local:
        if engine.is_installed:
            return engine.name
    needed = ", ".join(" with ".join(engine.packages) for engine in local)
    raise UnsupportedError(Argument("engine", "auto"), f" needs one of {needed}; pip install 'secateur[arrow]'")


def _check_installed(engine: Engine, kind: SourceKind) -> None:
    """Raise `UnsupportedError` if the engine's packages are too old or, for files, not installed."""
    if engine.is_too_old:
        package, needed = engine.packages[0], ".".join(map(str, engine.min_version))
        raise UnsupportedError(
            Argument("engine", engine.name),
            f" needs {package} {needed} or later; {version(package)} is installed: upgrade it, or use another engine",
        )
    if kind == "files" and not engine.is_installed:
        raise UnsupportedError(
            Argument("engine", engine.name),
            f" needs {' and '.join(engine.packages)}, which is not installed; pip install 'secateur[{engine.extra}]'",
        )


def source_kind_of(source: ExternalData) -> SourceKind:
    """Return the kind of a source, recognised by the module of its class, so that nothing needs to be imported."""
    from ..data.files import is_path_or_paths

    if is_path_or_paths(source):
        return "files"
    packages = {cls.__module__.partition(".")[0] for cls in type(source).__mro__}
    if packages & {"dask", "dask_expr"}:
        return "dask"
    if "pyspark" in packages:
        return "spark"
    if isinstance(source, list) and source and type(source[0]).__module__.startswith(("dask", "distributed")):
        return "partitions"
    if packages & {"duckdb", "_duckdb"}:
        return "duckdb relation"
    if type(source).__name__ == "LazyFrame" and packages & {"polars", "narwhals"}:
        return "polars lazy" if "polars" in packages else "lazy"
    if "ibis" in packages:
        return "lazy"
    return "stream" if _is_stream(source, packages) else "frame"


def _is_stream(source: ExternalData, packages: set[str]) -> bool:
    """Return whether a source is read in batches: a reader or dataset of pyarrow, or a stream of another library."""
    if "pyarrow" in packages and type(source).__name__ in (
        "RecordBatchReader", "Dataset", "FileSystemDataset", "Scanner",
    ):  # fmt: skip
        return True
    is_frame = packages & {"pandas", "polars", "pyarrow", "numpy", "modin", "cudf", "narwhals", "secateur"}
    return hasattr(source, "__arrow_c_stream__") and not is_frame
