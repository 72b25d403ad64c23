"""The engines: one table of names and facts, which dispatch, messages and the command line read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

from .._utils.checks import check_name
from ..errors import Argument, SecateurError, UnsupportedError

# Objects of libraries that are imported when first needed.
ExternalData: TypeAlias = Any  # rows: paths, a frame, a lazy frame, a relation, a stream, partitions on a cluster
Lazy: TypeAlias = Any  # a lazy frame of narwhals, its schema, or an expression over its columns
Client: TypeAlias = Any  # of Dask
SourceKind = Literal[
    "files", "frame", "polars lazy", "duckdb relation", "lazy", "stream", "dask", "partitions", "spark"
]


@dataclass(frozen=True)
class Engine:
    """What an engine can do.

    Parameters
    ----------
    name : str
    reads : tuple of str
        The kinds of sources it reads.
    needs : tuple of str
        The packages it needs.
    extra : str
        The extra of the installation that brings them.
    min_version : tuple of int
        The oldest version of the first package that can serve as an engine; empty if any can.
    can_grow : bool
        Whether trees can be grown with it.
    sketches_rows : bool
        Whether rows pass through Python, so that a sample remembers them; a database counts by itself.
    is_cluster : bool
        Whether work is sent elsewhere: such an engine is never taken for files without being asked for.
    """

    name: str
    reads: tuple[SourceKind, ...]
    needs: tuple[str, ...] = ()
    extra: str = "arrow"
    min_version: tuple[int, ...] = ()
    can_grow: bool = True
    sketches_rows: bool = True
    is_cluster: bool = False

    @property
    def is_installed(self) -> bool:
        """Whether its packages are installed, in versions that are new enough."""
        return all(find_spec(package) is not None for package in self.needs) and not self.is_too_old

    @property
    def is_too_old(self) -> bool:
        """Whether its first package is installed in a version before `min_version`."""
        if not self.min_version or find_spec(self.needs[0]) is None:
            return False
        parts = version(self.needs[0]).split(".")[: len(self.min_version)]
        return tuple(int(part) for part in parts if part.isdigit()) < self.min_version


# In order of preference: where several read a source, "auto" takes the first.
ENGINES = {
    engine.name: engine
    for engine in (
        Engine("memory", ("frame",)),
        Engine("duckdb", ("files", "duckdb relation"), ("duckdb", "pyarrow"), "duckdb"),
        Engine("polars", ("files", "polars lazy"), ("polars",), min_version=(1, 34)),  # has LazyFrame.collect_batches
        Engine("pyarrow", ("files", "stream"), ("pyarrow",)),
        Engine("dask", ("files", "dask", "partitions"), ("distributed",), "dask", is_cluster=True),
        Engine("spark", ("spark",), ("pyspark",), "spark", can_grow=False, is_cluster=True),
        Engine(
            "narwhals", ("polars lazy", "duckdb relation", "lazy", "spark"), (), can_grow=False, sketches_rows=False
        ),
    )
}
SCANNING_ENGINES = tuple(e.name for e in ENGINES.values() if "files" in e.reads and not e.is_cluster)
COMMAND_LINE_ENGINES = ("auto", "memory", *SCANNING_ENGINES)  # of the command line, which has no cluster


@contextmanager
def translate_errors(told: Callable[[Exception, str], SecateurError]) -> Iterator[None]:
    """Raise the errors of an engine, which have no common base, as ours: `told(error, its words)`."""
    try:
        yield
    except SecateurError:
        raise
    except Exception as error:
        raise told(error, " ".join(str(error).split())[:500]) from error


def check_engine(name: object, *, to_grow: bool = False) -> None:
    """Refuse a name that is no engine (`to_grow`: or that cannot grow), with the nearest that is."""
    check_name("engine", name, ["auto", *(one.name for one in ENGINES.values() if one.can_grow or not to_grow)])


def engine_for(source: ExternalData, kind: SourceKind, engine: str) -> str:
    """Return the name of the engine that will read a source of this kind."""
    if kind == "stream" and engine in SCANNING_ENGINES:
        engine = "pyarrow"  # which hands streams on, whoever makes them
    fitting = [one for one in ENGINES.values() if kind in one.reads]
    if engine == "auto" and kind == "files":
        fitting = [one for one in fitting if not one.is_cluster]
        found = next((one.name for one in fitting if one.is_installed), None)
        if found is None:
            wanted = ", ".join(" with ".join(one.needs) for one in fitting)
            raise UnsupportedError(Argument("engine", "auto"), f" needs one of {wanted}; pip install 'secateur[arrow]'")
        return found
    if engine == "auto":
        return next((one.name for one in fitting if not one.is_too_old), fitting[0].name)
    if engine not in [one.name for one in fitting]:
        able = " or ".join(repr(one.name) for one in fitting)
        what = f"files; {_WAYS[engine]}, or use" if kind == "files" else f"a {type(source).__name__}; {able} can, or"
        raise UnsupportedError(Argument("engine", engine), f" cannot read {what} ", Argument("engine", "auto"))
    chosen = ENGINES[engine]
    if chosen.is_too_old:
        package, needed = chosen.needs[0], ".".join(map(str, chosen.min_version))
        raise UnsupportedError(
            Argument("engine", engine),
            f" needs {package} {needed} or later; {version(package)} is installed: upgrade it, or use another engine",
        )
    if kind == "files" and not chosen.is_installed:
        needs = " and ".join(chosen.needs)
        raise UnsupportedError(
            Argument("engine", engine),
            f" needs {needs}, which is not installed; pip install 'secateur[{chosen.extra}]'",
        )
    return engine


_WAYS = {  # to have files read after all
    "memory": "read them with pandas, polars or pyarrow",
    "narwhals": "pass a lazy frame, such as polars.scan_parquet(...)",
    "spark": "pass spark.read.parquet(...)",
}


def source_kind_of(source: ExternalData) -> SourceKind:
    """What a source is, told by where its class is defined, so that nothing need be imported."""
    from ..data.files import is_path_or_paths

    if is_path_or_paths(source):
        return "files"
    packages = {cls.__module__.partition(".")[0] for cls in type(source).__mro__}
    name = type(source).__name__
    if packages & {"dask", "dask_expr"}:
        return "dask"
    if "pyspark" in packages:
        return "spark"
    if isinstance(source, list) and source and type(source[0]).__module__.startswith(("dask", "distributed")):
        return "partitions"
    if "polars" in packages and name == "LazyFrame":
        return "polars lazy"
    if packages & {"duckdb", "_duckdb"}:
        return "duckdb relation"
    if "ibis" in packages or (name == "LazyFrame" and "narwhals" in packages):
        return "lazy"
    if name in ("RecordBatchReader", "Dataset", "FileSystemDataset", "Scanner") and "pyarrow" in packages:
        return "stream"
    is_frame = packages & {"pandas", "polars", "pyarrow", "numpy", "modin", "cudf", "narwhals", "secateur"}
    return "stream" if hasattr(source, "__arrow_c_stream__") and not is_frame else "frame"
