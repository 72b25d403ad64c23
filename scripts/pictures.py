#!/usr/bin/env python
"""Draw the pictures of the README and the docs into docs/images."""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).parent.parent / "docs" / "images" / "draw.py"), run_name="__main__")
