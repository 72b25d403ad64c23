"""Small archives with large contents, and very long lines and cells, are refused in little memory."""

import gzip
import subprocess
import sys
import zipfile

import pytest

from secateur import encode

MAX_GROWTH_MB = 150
MEBIBYTE = 1 << 20

PEAK = """
import resource, sys, warnings
import pyarrow, secateur
warnings.simplefilter("ignore")
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    secateur.encode(sys.argv[1], **eval(sys.argv[2]))
except secateur.SecateurError as error:
    print(type(error).__name__, error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) // 1024)
"""


def write(path, head, block, n_blocks, tail=b"\n"):
    """Write a file, compressed as its name says."""
    with path.open("wb") as plain:
        if path.suffix == ".zip":
            with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.csv", "w") as file:
                file.writelines([head, *[block] * n_blocks, tail])
        elif path.suffix == ".gz":
            with gzip.open(plain, "wb") as file:
                file.writelines([head, *[block] * n_blocks, tail])
        else:
            plain.writelines([head, *[block] * n_blocks, tail])


@pytest.mark.large
@pytest.mark.parametrize("options", [{}, {"encoding": "utf-8"}], ids=["detected", "given"])
@pytest.mark.parametrize(
    ("name", "head", "block", "n_blocks", "says"),
    [
        ("rows.zip", b"a,b\n", b"1,2\n" * (MEBIBYTE // 4), 120, "times its own size; unpack it"),
        ("rows.csv.gz", b"a,b\n", b"1,2\n" * (MEBIBYTE // 4), 120, "times its own size; unpack it"),
        ("blank.zip", b"a,b\n1,2\n", b"\n" * MEBIBYTE, 120, "times its own size; unpack it"),
        ("line.zip", b"a,b\n1,2\n", b"x" * MEBIBYTE, 120, "has a line of more than"),
        ("zeros.csv.gz", b"", bytes(MEBIBYTE), 120, "has a line of more than"),
        ("cell.csv", b"a,b\n1,2\n3,", b"x" * MEBIBYTE, 200, "has a line of more than"),
        ("name.csv", b"a,", b"x" * MEBIBYTE, 200, "has a line of more than"),
        ("old-mac.csv", b"a,b\r1,2\r3,", b"x" * MEBIBYTE, 200, "has a line of more than"),
        ("quoted.csv", b'a,b\n1,2\n3,"', (b"x" * 127 + b"\n") * (MEBIBYTE // 128), 100, "has a cell of more than"),
    ],
)
def test_large_contents_are_refused_in_little_memory(name, head, block, n_blocks, says, options, tmp_path):
    write(tmp_path / name, head, block, n_blocks, b'"\n' if name == "quoted.csv" else b"\n")

    process = subprocess.run(
        [sys.executable, "-c", PEAK, str(tmp_path / name), repr(options)], capture_output=True, text=True, check=True
    )
    message, growth = process.stdout.splitlines()

    assert message.startswith("DataError")
    assert says in message
    assert int(growth) < MAX_GROWTH_MB


@pytest.mark.parametrize("name", ["rows.zip", "rows.csv.gz"])
def test_an_archive_of_ordinary_size_may_be_of_any_ratio(name, tmp_path):
    write(tmp_path / name, b"a,b\n", b"1,2\n" * 1000, 100, b"")

    assert encode(tmp_path / name).n_rows == 100_000


def test_a_wide_table_is_no_long_line(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{j}" for j in range(20_000)) + "\n" + ",".join(["1"] * 20_000) + "\n")

    assert encode(path).n_columns == 20_000
