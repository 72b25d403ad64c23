"""Text files broken in every way: each gives a table or an error of ours, and so do all that were found before.

The same few hundred cases on every run; `scripts/fuzz csv` looks further.
"""

import random
import warnings
from pathlib import Path

import pytest

from secateur import encode
from secateur.data import files
from secateur.data.files import READERS, read_small_file
from secateur.data.text_file import open_text_file
from secateur.data.text_options import TextOptions
from secateur.errors import SecateurError

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
SEEDS = [
    b"size,colour,y\n1.5,red,a\n2,,b\n-3e5,blue,a\n",
    "\ufeffgr\u00f6\u00dfe;farbe\n1,5;rot\n2,5;\u00e9\n".encode(),
    b'a\tb\n"1"\t"x\ny"\n2\t"""q"""\n',
    "a,b\n1,é\n2,NA\n".encode("utf-16"),
    b"x y z\n1 2 3\n4 5 6\n7 8 9\n",
]
PIECES = [
    b",", b";", b"\t", b" ", b'"', b'""', b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"NA", b"nan", b"inf",
    b"1e999", b"-0", b"0x10", b"1_000", b"1,5", b"9223372036854775808", b"2020-01-01", b"true", b"'", b"#", b"\\",
    b"\xc3\xa9", b"\xe9", b"=1+1", b"a" * 300, b"",
]  # fmt: skip


def mutated_text(data, rng):
    """A file with cells, marks and line ends put in, taken out, doubled or exchanged."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        what = rng.random()
        if what < 0.4:
            data = data[:a] + rng.choice(PIECES) + data[a:]
        elif what < 0.6:
            data = data[:a] + rng.choice(PIECES) + data[min(b, a + 4) :]
        elif what < 0.7:
            data = data[:a] + data[b:]
        elif what < 0.85:
            lines = data.split(b"\n")
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
            data = b"\n".join(lines)
        else:
            data = bytearray(data)
            if data:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            data = bytes(data)
    return data


def is_table(data, path):
    """Whether bytes are read as a table; anything but that and an error of ours is a fault."""
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return encode(path).n_rows > 0
        except SecateurError:
            return False


def is_opened(data, path):
    """Whether our own part of the reader, without a library, takes bytes for a table."""
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            opened = open_text_file(path, TextOptions())
            read_small_file(opened, [])
        except SecateurError:
            return False
    return len(opened.names) > 0


@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_a_broken_text_file_gives_a_table_or_our_error(seed, tmp_path):
    rng = random.Random(seed)
    found = [is_table(mutated_text(SEEDS[seed], rng), tmp_path / "broken.csv") for _ in range(80)]
    assert 0 < sum(found) < 80


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_files_of_the_corpus_give_a_table_or_our_error(path, tmp_path):
    is_table(path.read_bytes(), tmp_path / path.name)


@pytest.mark.parametrize("library", READERS)
@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_line_break_inside_a_quoted_name_is_part_of_the_name(library, end, tmp_path, monkeypatch):
    """Libraries skip a line of names; the end of one inside quotes was an end to them."""
    pytest.importorskip(library)
    monkeypatch.setattr(files, "READERS", (library,))
    path = tmp_path / "rows.csv"
    path.write_bytes(f'"a{end}b",size\n"x {end} y",1.5\nz,2\n'.encode())

    table = encode(path)

    assert table.schema.names == (f"a{end}b", "size")
    assert table.columns[1].tolist() == [1.5, 2.0]
    assert table.n_rows == 2
