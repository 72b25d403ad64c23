"""The benchmark of choosing a tree, `selection.py`, under its other name.

The standard library has a `select` too, which others in this folder import without knowing:
Python looks into the folder of a script first. So this file steps aside for it.
"""

import sys
from pathlib import Path

folder = Path(__file__).resolve().parent
outside = [place for place in sys.path if Path(place).resolve() != folder]
sys.path, inside = outside, sys.path

if __name__ == "__main__":
    import selectors  # noqa: F401 it takes the standard library's `select` while that is the only one

    sys.path = inside
    from selection import main

    main()
else:
    del sys.modules["select"]
    import select as of_the_standard_library

    sys.path = inside
    sys.modules["select"] = of_the_standard_library
