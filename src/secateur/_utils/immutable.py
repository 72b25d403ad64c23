"""Noun: what all frozen things share, so that each states only which of its fields make no difference."""

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import frozen, rebuilt, same


class Noun:
    """Equal by its fields but those with `compare=False`, of which the first makes the hash; pickled by its fields."""

    __reduce__ = rebuilt

    @property
    def _told(self) -> list[Any]:
        """What makes two of a kind differ."""
        return [getattr(self, field.name) for field in fields(self) if field.compare]  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self is other or all(map(same, self._told, other._told))

    def __hash__(self) -> int:
        first = self._told[0]
        return hash(first.tobytes() if isinstance(first, np.ndarray) else first)

    def _freeze(self, **dtypes: npt.DTypeLike | None) -> None:
        """Make these fields read-only arrays; None stays None."""
        for name, dtype in dtypes.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), dtype))


class Tabled(Noun):
    """A noun that is also a table, by its `to_dict`."""

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a dict of columns."""
        raise NotImplementedError

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the table as a data frame of the named library (pandas, polars, pyarrow)."""
        import narwhals.stable.v2 as nw

        return nw.from_dict(self.to_dict(), backend=backend).to_native()
