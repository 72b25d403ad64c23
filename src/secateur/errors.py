"""The exceptions of the package.

    SecateurError
    ├── DataError          (ValueError)  rows, columns, labels, weights that cannot be used
    │   └── SchemaError    (ValueError)  data that does not meet the growing table
    ├── TreeError          (ValueError)  arrays that are not a tree
    ├── CountsError        (ValueError)  counts that do not fit their tree
    ├── PruningError       (ValueError)  a pruning that does not exist or does not fit
    ├── ParameterError     (ValueError)  a parameter outside its range
    ├── LeakageError       (ValueError)  a sample used twice where it must be fresh
    ├── ModelFileError     (ValueError)  a model or counts file that cannot be read
    ├── OutputError        (ValueError)  a file that cannot be written
    └── UnsupportedError   (TypeError)   a kind of input we do not take, with the way out

Each message names the thing, the value found, what was needed, and the way out.
"""


class SecateurError(Exception):
    """Base of every error that secateur raises on purpose.

    Examples
    --------
    >>> import secateur
    >>> try:
    ...     secateur.Tree.from_parents([-1, 0])
    ... except secateur.SecateurError as error:
    ...     print(error)
    node 0 has 1 child; a node has none or at least two
    """


class DataError(SecateurError, ValueError):
    """Rows, columns, labels or weights that cannot be used."""


class SchemaError(DataError):
    """Data whose columns do not meet those the tree was grown on."""


class TreeError(SecateurError, ValueError):
    """Arrays that do not describe a tree."""


class CountsError(SecateurError, ValueError):
    """Counts that do not fit their tree."""


class PruningError(SecateurError, ValueError):
    """A pruning that does not exist, or that does not fit its tree."""


class ParameterError(SecateurError, ValueError):
    """A parameter outside the range it may take."""


class LeakageError(SecateurError, ValueError):
    """A sample used where only a sample never seen before gives a true answer."""


class ModelFileError(SecateurError, ValueError):
    """A model or counts file that cannot be read, or is not what it says."""


class OutputError(SecateurError, ValueError):
    """A file that cannot be written; what was there before is unchanged."""


class UnsupportedError(SecateurError, TypeError):
    """A kind of input that is not taken; the message names the way out."""
