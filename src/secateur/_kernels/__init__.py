"""Compiled loops: they take arrays and scalars, and return new arrays.

No kernel knows a Tree, checks an argument or recurses: the callers check. README.md describes the growing kernels.
"""

from importlib.util import find_spec

if find_spec("secateur._kernels._cyutility") is None:
    raise ImportError("the kernels of secateur are not compiled here; run scripts/install . (or pip install -e .)")
