"""The one decorator through which every kernel is compiled.

Numba's cache needs a directory it may write. Where there is none (a read-only
installation, a user without a home) numba refuses to create the function at all and
the import of the package would fail; we fall back to compiling without a cache.
A cached kernel is used only while no kernel file has changed.
"""

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])

_warned = False
_SOURCES = tuple(
    (file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in sorted(Path(__file__).parent.glob("*.py"))
)


def njit(function: F) -> F:
    """Compile `function` on first call, without the GIL, cached on disk where possible.

    A division by zero gives inf or NaN, as in NumPy: no branch in the inner loops.
    """
    return _compiled(function, nogil=True, error_model="numpy")


INNER: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def njit_inner(function: F) -> F:
    """`njit` for kernels that allocate nothing and are called only by other kernels, many times.

    Numba then counts no references to their arrays, an atomic operation each at every call,
    and does not compile what would make them callable from Python.
    """
    return _compiled(function, **INNER)


def _compiled(function: F, **options: Any) -> F:
    global _warned  # noqa: PLW0603 one warning a process
    try:
        kernel = numba.njit(cache=True, **options)(function)
        _guard_cache(getattr(getattr(kernel, "_cache", None), "_cache_file", None))
        return kernel  # type: ignore[no-any-return]  # noqa: TRY300
    except RuntimeError as error:  # numba: "no locator available"
        if not _warned:
            _warned = True
            warnings.warn(
                f"kernels will be compiled anew in every process ({error}); "
                "set NUMBA_CACHE_DIR to a directory you can write to keep them",
                RuntimeWarning,
                stacklevel=3,
            )
        return numba.njit(**options)(function)  # type: ignore[no-any-return]


def _guard_cache(cache: Any) -> None:
    """Make a kernel's cache stale when any kernel file changes, and an unreadable cache an empty one.

    Numba looks at the kernel's own file only, not at those it calls into; and it fails on an
    index that names classes which a newer version has moved, or that was cut off in writing.
    """
    if cache is None:
        return
    load = cache._load_index  # noqa: SLF001

    def load_or_nothing() -> Any:
        try:
            return load()
        except Exception:  # noqa: BLE001 whatever unpickling meets, the answer is to compile again
            return {}

    cache._source_stamp = _SOURCES  # noqa: SLF001
    cache._load_index = load_or_nothing  # noqa: SLF001


class _FirstUse(event.Listener):  # type: ignore[misc]
    """Says once, on a terminal, why the first call of an installation is slow."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.said = False
        self.started: list[float] = []

    def on_start(self, event: Any) -> None:
        if _is_ours(event):
            self.started.append(time.perf_counter())

    def on_end(self, event: Any) -> None:
        if not (_is_ours(event) and self.started):
            return
        began = self.started.pop()
        if self.started:  # a kernel compiled on behalf of another one: counted there
            return
        self.seconds += time.perf_counter() - began
        if self.seconds > 1 and not self.said and sys.stderr.isatty():
            self.said = True
            print("secateur: compiling kernels (first use of this installation)", file=sys.stderr)  # noqa: T201


def _is_ours(event: Any) -> bool:
    function = getattr(event.data.get("dispatcher"), "py_func", None)
    return (getattr(function, "__module__", None) or "").startswith("secateur.")


event.register("numba:compile", _FirstUse())
