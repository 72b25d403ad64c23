"""What a wheel must contain, and nothing else: scripts/contents.py WHEEL."""

import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"
BUILT = (".so", ".pyd")  # of kernels, beside their source


def expected() -> tuple[set[str], set[str]]:
    """The files of the package, and the names of the compiled modules."""
    files = {path.relative_to(SOURCE).as_posix() for path in SOURCE.glob("secateur/**/*") if path.is_file()}
    files = {name for name in files if not name.endswith((*BUILT, ".pyc")) and "__pycache__" not in name}
    kernels = {
        name.removesuffix(".py")
        for name in files
        if "/_kernels/" in name and name.endswith(".py") and "\nimport cython" in (SOURCE / name).read_text("utf-8")
    }
    return files, kernels


def problems(names: list[str]) -> list[str]:
    """What is missing from these names, and what should not be there."""
    files, kernels = expected()
    about = {name for name in names if name.split("/")[0].endswith(".dist-info")}
    built = {name for name in names if name.endswith(BUILT)}
    compiled = {name.split(".")[0] for name in built}
    found = [f"{name} is missing" for name in sorted(files - set(names))]
    found += [f"{name} is not compiled" for name in sorted(kernels - compiled)]
    found += [f"{name} should not be there" for name in sorted(set(names) - files - about - built)]
    found += [f"{name} is of no kernel" for name in sorted(compiled - kernels) if not name.endswith("/_cyutility")]
    return found


def check(wheel: Path) -> None:
    """Refuse a wheel with other contents."""
    with zipfile.ZipFile(wheel) as archive:
        found = problems([name for name in archive.namelist() if not name.endswith("/")])
    if found:
        raise SystemExit(f"{wheel.name}:\n" + "\n".join(found))
    print(f"{wheel.name} contains what it must")


if __name__ == "__main__":
    check(Path(sys.argv[1]))
