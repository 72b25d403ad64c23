"""Compile the kernels: a file of `_kernels` that imports cython becomes an extension module of the same name.

What `cython.compile` would do, with our settings in one place. The code that all memoryviews need is compiled once,
into `_kernels/_cyutility`, so that a kernel costs two seconds and not ten. SECATEUR_KERNELS=checked compiles with
bounds checks, for tests/test_lanes.py; generated C is kept in build/.
"""

import os
import re
import runpy
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/secateur/_kernels")
UTILITY = "secateur._kernels._cyutility"
IS_CHECKED = os.environ.get("SECATEUR_KERNELS") == "checked"
DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,
    "boundscheck": IS_CHECKED,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": IS_CHECKED,
    "freethreading_compatible": True,  # a kernel has no state of its own
}
# The same sums on every machine: no contraction to fused operations, no CPU level above the baseline.
OPTIONS = (
    ["/O2", "/fp:precise"]
    if os.name == "nt"
    else ["-O1" if IS_CHECKED else "-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
)


def extensions():
    sources = [path for path in sorted(KERNELS.glob("*.py")) if "\nimport cython\n" in path.read_text(encoding="utf-8")]
    found = {f"secateur._kernels.{path.stem}": path for path in sources} | {UTILITY: KERNELS / "_cyutility.c"}
    return [
        Extension(name, [path.as_posix()], depends=["setup.py"], extra_compile_args=OPTIONS)
        for name, path in found.items()
    ]


def has_views(extension):
    """Whether an extension takes memoryviews: `x: cython.int[::1]`."""
    source = Path(extension.sources[0])
    return extension.name == UTILITY or re.search(r"\[:(:1)?[,\]]", source.read_text(encoding="utf-8")) is not None


class BuildKernels(build_ext):
    """Cython first, when something is built and not whenever somebody asks for metadata; then the C compiler."""

    def run(self):
        from Cython.Build import cythonize

        os.environ["CC"] = COMPILER or zig()
        generated = f"build/cython-{'checked' if IS_CHECKED else 'plain'}-{sys.implementation.cache_tag}"
        options = {"build_dir": generated, "compiler_directives": DIRECTIVES, "force": self.force}
        # Cython 3.3 writes C that does not compile for a file that has fused types and shares what it never uses.
        plain = [extension for extension in extensions() if not has_views(extension)]
        shared = [extension for extension in extensions() if has_views(extension)]
        made = cythonize(shared, shared_utility_qualified_name=UTILITY, **options) + cythonize(plain, **options)
        sources = {extension.name: extension.sources for extension in made}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        super().run()


def zig():
    import ziglang

    # Without the option it compiles for the CPU it runs on.
    return f"'{Path(ziglang.__file__).parent / 'zig'}' cc -mcpu=baseline"


COMPILER = runpy.run_path("scripts/compiler")["compiler"]
setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildKernels},
    setup_requires=[] if COMPILER else ["ziglang>=0.13"],
)
