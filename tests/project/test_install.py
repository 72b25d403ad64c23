"""What the set-up says without a compiler or headers; and a user who may write nowhere: no home, a read-only installation."""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import secateur

SOURCE = Path(secateur.__file__).parent
NOBODY = 65534

# Says what was warned of while every module is imported and a few kernels are run.
PROGRAM = """
import importlib, pkgutil, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import secateur
    for module in pkgutil.walk_packages(secateur.__path__, "secateur."):
        importlib.import_module(module.name)
    tree = secateur.Tree.from_parents([-1, 0, 0])
    counts = secateur.Counts.from_leaves(tree, [[3, 1], [0, 2]])
    assert secateur._kernels.presort.sorted_rows(counts.total[1:].astype(float)).tolist() == [1, 0]
assert counts.by_class.tolist() == [[3, 3], [3, 1], [0, 2]]
print(secateur.__file__)
for told in caught:
    print(told.category.__name__, told.message)
"""


class User:
    """Runs programs in a read-only copy of the package, as someone who cannot write there."""

    def __init__(self, folder):
        self.folder = folder
        self.is_nobody = os.geteuid() == 0
        self.environment = {}  # nobody has no home, not even in the password file
        if self.is_nobody and not self._reaches_python():
            # It lies where only root can read: stay root, without the power to ignore permissions.
            self.is_nobody = False
        if not self.is_nobody:
            self.environment = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home" / "cache")}

    def run(self, program, **environment):
        return subprocess.run(
            [sys.executable, "-c", program],
            env={"PATH": os.defpath, "PYTHONPATH": str(self.folder / "lib"), **self.environment, **environment},
            cwd="/",
            preexec_fn=self._lose_powers,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def _reaches_python(self):
        try:
            return self.run("import numpy").returncode == 0
        except (OSError, subprocess.SubprocessError):
            return False

    def _lose_powers(self):
        if self.is_nobody:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        elif os.geteuid() == 0:
            for capability in (1, 2, 3):  # DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER
                ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.fixture(scope="module")
def user():
    if sys.platform != "linux":
        pytest.skip("needs the permissions of Linux")
    top = Path(tempfile.mkdtemp(prefix="secateur-"))  # not tmp_path, which only its owner can enter
    shutil.copytree(SOURCE, top / "lib" / "secateur")  # with what is compiled, as an installer leaves it
    for name in ("home", "cache"):
        (top / name).mkdir()
    for path in [top, *top.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    (top / "cache").chmod(0o777)
    try:
        someone = User(top)
        if "PermissionError" not in someone.run(f"open({str(top / 'lib' / 'x')!r}, 'w')").stderr:
            pytest.skip("this machine lets us write whatever the permissions say")
        yield someone
    finally:
        for path in [top, *top.rglob("*")]:
            path.chmod(path.stat().st_mode | stat.S_IRWXU)
        shutil.rmtree(top)


def test_without_a_compiler_the_set_up_says_what_it_takes(tmp_path):
    process = run_compiler_script(PATH=str(tmp_path), CC="")

    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("no C compiler found; compiling with the one in the package ziglang")


def test_without_headers_the_set_up_names_the_package_to_install():
    process = run_compiler_script("import sysconfig; sysconfig.get_path = lambda name: '/nowhere'")

    assert process.returncode == 1
    assert process.stderr.startswith("Python.h is missing: install python3.")
    assert len(process.stderr.splitlines()) == 1


def run_compiler_script(before="", **environment):
    script = Path(__file__).parents[2] / "scripts" / "compiler.py"
    program = f"import runpy; {before}\nrunpy.run_path({str(script)!r}, run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_where_nothing_may_be_written_it_works_and_says_nothing(user):
    process = user.run(PROGRAM)

    assert process.returncode == 0, process.stderr
    [where] = process.stdout.splitlines()
    assert Path(where).is_relative_to(user.folder)
