"""Build the sdist and the wheel twice, from clean copies of the last commit, and compare them byte for byte.

scripts/reproducible [folder]: what was built stays there (dist/ by default). An sdist gets the times of the commit.
"""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from contents import check

ROOT = Path(__file__).resolve().parents[2]


def even(path: Path, time: int) -> None:
    """Write an sdist again: members by name, of nobody, with one time."""
    out = io.BytesIO()
    with tarfile.open(path) as old, tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime, member.pax_headers = time, {}
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    path.write_bytes(gzip.compress(out.getvalue(), mtime=time))


def build(source: Path, into: Path, time: int) -> dict[str, bytes]:
    """Build both in a fresh copy at `source`, which has the same name each time: compilers write names down."""
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(source, filter="data")
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(time), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "setup.py", "-q", "sdist", "-d", str(into), "bdist_wheel", "-d", str(into)]
    subprocess.run(command, cwd=source, env=environment, check=True)
    even(next(into.glob("*.tar.gz")), time)
    return {path.name: path.read_bytes() for path in sorted(into.iterdir())}


def main() -> int:
    time = int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True).stdout)
    dist = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as folder:
        first, second = (build(Path(folder, "source"), Path(folder, f"dist{i}"), time) for i in range(2))
        shutil.copytree(Path(folder, "dist0"), dist, dirs_exist_ok=True)
    for name in sorted(first | second):
        is_same = first.get(name) == second.get(name)
        print(f"{name}: {len(first.get(name, b'')):,} bytes, {'the same twice' if is_same else 'DIFFERENT'}")
        if name.endswith(".whl"):
            check(dist / name)
    return int(first != second)


if __name__ == "__main__":
    sys.exit(main())
