"""Updates of a deployed tree that change as little as possible.

    _update    update: the errors on new rows for every number of changes, the choice of one, its certificate
    _fronts    the front of the grown tree, or with new subtrees below leaves
    _choice    how many changes: by cross-validation on the new rows, or below a target
    _words     the changes in words

The mathematics is in `pruners/_fewest_changes.py`; certificates on fresh rows are those of `certifiers.fixed_sequence`.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr

if TYPE_CHECKING:
    from ._update import Update as Update
    from ._update import update as update
    from ._words import Change as Change
    from ._words import describe_changes as describe_changes

__all__ = ["Change", "Update", "describe_changes", "update"]

__getattr__ = lazy_getattr(
    __name__,
    {
        "Change": "._words",
        "Update": "._update",
        "describe_changes": "._words",
        "update": "._update",
    },
)
