"""Choosing one tree of a sequence: on a held-out sample, or by cross-validation.

`select` looks at a sample that the sequence has not seen. `cross_validate` grows a tree for
each fold, scores every member of its path in one pass, and carries the choice over to the
path of all rows; it can also choose how to grow. Both return the table they chose from.
"""

from ._cross_validate import auto_repeats, cross_validate
from ._rules import choose
from ._select import select

__all__ = ["auto_repeats", "choose", "cross_validate", "select"]
