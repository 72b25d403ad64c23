"""Base classes of immutable values: equality, hashing and pickling by the fields of a dataclass."""

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import equal_values, immutable_array, reduce_to_fields


class Immutable:
    """Base class of frozen dataclasses with array fields.

    Two values are equal if all fields are equal, except those declared with `compare=False`. The hash is the hash
    of the first compared field.
    """

    __reduce__ = reduce_to_fields

    @property
    def _compared_values(self) -> list[Any]:
        """The values of the fields that decide whether two instances are equal."""
        return [getattr(self, field.name) for field in fields(self) if field.compare]  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self is other or all(map(equal_values, self._compared_values, other._compared_values))

    def __hash__(self) -> int:
        first = self._compared_values[0]
        return hash(first.tobytes() if isinstance(first, np.ndarray) else first)

    def _freeze_arrays(self, **dtypes: npt.DTypeLike | None) -> None:
        """Replace the named fields by read-only arrays of the given types. A field that is None stays None."""
        for name, dtype in dtypes.items():
            if getattr(self, name) is not None:
                object.__setattr__(self, name, immutable_array(getattr(self, name), dtype))


class ImmutableTable(Immutable):
    """An immutable value that can be shown as a table of columns."""

    def to_dict(self) -> dict[str, Any]:
        """Return the table as a dict of columns."""
        raise NotImplementedError

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the table as a data frame of the named library (pandas, polars, pyarrow)."""
        import narwhals.stable.v2 as nw

        return nw.from_dict(self.to_dict(), backend=backend).to_native()
