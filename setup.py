"""Compile the kernels: every file of `_kernels` that imports cython becomes an extension module of the same name.

The code that all memoryviews need is compiled once, into `_kernels/_cyutility`, so that a kernel takes two seconds
instead of ten. SECATEUR_KERNELS=checked compiles with bounds checks, for scripts/bounds. SECATEUR_KERNELS=sanitized
compiles with little optimization, for scripts/sanitize. The generated C is in build/.
"""

import os
import re
import runpy
import sysconfig
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
    "freethreading_compatible": True,  # kernels keep no state between calls
}
# Sums are the same on every machine: no contraction to fused operations, no instructions above the baseline.
LEVEL = {"checked": "-O0", "sanitized": "-O1"}.get(os.environ.get("SECATEUR_KERNELS", ""), "-O3")
GCC = [LEVEL, "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
OPTIONS = ["/O2", "/fp:precise"] if os.name == "nt" else GCC


def extensions():
    sources = [path for path in sorted(KERNELS.glob("*.py")) if "\nimport cython\n" in path.read_text(encoding="utf-8")]
    found = {f"secateur._kernels.{path.stem}": path for path in sources} | {UTILITY: KERNELS / "_cyutility.c"}
    return [
        Extension(name, [path.as_posix()], depends=["setup.py", *declared_in(path)], extra_compile_args=OPTIONS)
        for name, path in found.items()
    ]


def declared_in(path):
    """Return the .pxd files that a kernel depends on: that of the array types, or all if it calls another kernel."""
    text = path.read_text(encoding="utf-8") if path.suffix == ".py" else ""
    named = re.findall(r"cython\.cimports\.secateur\._kernels(.*) import", text)
    pattern = "views.pxd" if set(named) == {".views"} else "*.pxd"
    return [declared.as_posix() for declared in KERNELS.glob(pattern)] if named else []


def has_views(extension):
    """Return whether an extension takes memoryviews, such as `x: cython.int[::1]`."""
    source = Path(extension.sources[0])
    return extension.name == UTILITY or re.search(r"\[:(:1)?[,\]]", source.read_text(encoding="utf-8")) is not None


def is_checkable(extension):
    """Return whether bounds checks change an extension: it takes memoryviews, or it has a stub."""
    return has_views(extension) or Path(extension.sources[0]).with_suffix(".pyi").exists()


class BuildKernels(build_ext):
    """Run Cython, and then the C compiler, but only when something is built: reading the metadata needs neither."""

    def run(self):
        import Cython
        from Cython.Build import cythonize

        os.environ["CC"] = COMPILER or zig()
        generated = f"build/{'checked' if IS_CHECKED else 'plain'}-cython-{Cython.__version__}"
        # A kernel that only kernels call takes pointers, which are never checked: its compiled file is copied.
        self.copied = {e.name for e in extensions() if IS_CHECKED and not is_checkable(e) and not is_stale(e)}
        # Compare the times of the kernels only: cythonize would compare its own files too, which every build by pip
        # renews.
        stale = []
        for extension in extensions():
            [source] = extension.sources
            generated_c = Path(generated, source).with_suffix(".c")
            if extension.name not in self.copied and any(
                is_older(generated_c, p) for p in (source, *extension.depends)
            ):
                stale.append(extension)
            next(e for e in self.extensions if e.name == extension.name).sources = [generated_c.as_posix()]
        options = {"build_dir": generated, "compiler_directives": DIRECTIVES, "force": True}
        cythonize([e for e in stale if has_views(e)], shared_utility_qualified_name=UTILITY, **options)
        # Without memoryviews nothing is shared: Cython 3.3 would write C that does not compile for fused types.
        cythonize([e for e in stale if not has_views(e)], **options)
        if self.inplace:  # an editable installation compiles only what has changed
            remove_orphans()
            self.extensions = [extension for extension in self.extensions if is_stale(extension)]
        self.parallel = self.parallel or os.cpu_count()
        super().run()

    def build_extension(self, ext):
        if ext.name in self.copied:
            self.copy_file(in_place(ext), self.get_ext_fullpath(ext.name))
        else:
            super().build_extension(ext)


def in_place(extension):
    compiled = Path("src", *extension.name.split("."))
    return compiled.with_name(compiled.name + sysconfig.get_config_var("EXT_SUFFIX"))


def remove_orphans():
    """Delete compiled kernels whose source has been removed or renamed: they cannot be imported any more."""
    current = {in_place(extension) for extension in extensions()}
    for compiled in KERNELS.glob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}"):
        if compiled not in current:
            compiled.unlink()


def is_stale(extension):
    return any(is_older(in_place(extension), source) for source in (*extension.sources, *extension.depends))


def is_older(target, source):
    if not Path(target).exists():
        return True
    return Path(source).exists() and Path(target).stat().st_mtime < Path(source).stat().st_mtime


def zig():
    import ziglang

    # Without this option zig compiles for the CPU on which it runs.
    return f"'{Path(ziglang.__file__).parent / 'zig'}' cc -mcpu=baseline"


COMPILER = runpy.run_path("scripts/compiler.py")["compiler"]
setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildKernels},
    setup_requires=[] if COMPILER else ["ziglang>=0.13"],
)
