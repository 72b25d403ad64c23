"""Compiled loops: arrays and scalars in, new arrays out.

Nothing here knows a Tree, checks an argument or recurses; callers check once.
"""

from importlib.util import find_spec

if find_spec("secateur._kernels._cyutility") is None:
    raise ImportError("the kernels of secateur are not compiled here; run scripts/install . (or pip install -e .)")
