"""Commands write a file completely or not at all, and report a failure in one line."""

import ctypes
import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

OLD = "what was there before"
WRITERS = {
    "predict": ("predict", "{model}", "{rows}", "-o", "{out}", "--force"),
    "export": ("export", "{model}", "--to", "sql", "-o", "{out}", "--force"),
    "fit": ("fit", "{rows}", "--target", "outcome", "-q", "-o", "{out}", "--force"),
    "report": ("report", "{model}", "-o", "{out}", "--force"),
    "count": ("count", "{model}", "{rows}", "-o", "{out}", "--force"),
    "prune": ("prune", "{model}", "--leaves", "2", "-o", "{out}", "--force"),
    "certify": ("certify", "{model}", "--holdout", "{rows}", "-o", "{out}", "--force"),
}
every_writer = pytest.mark.parametrize("name", WRITERS)


@pytest.fixture
def words(model_file, fresh_file):
    def of(name, out):
        return [word.format(model=model_file, rows=fresh_file, out=out) for word in WRITERS[name]]

    return of


@contextmanager
def small_files_only():
    """Limit the files of this process to 100 bytes, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@every_writer
def test_a_full_disk_leaves_the_old_file_and_nothing_else(name, words, tmp_path, command):
    (tmp_path / "out").write_text(OLD)

    with small_files_only():
        code, _, message = command(*words(name, tmp_path / "out"))

    assert code == 5, message
    assert message.count("\n") == 1
    assert "cannot be written (File too large)" in message
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == OLD


@every_writer
def test_an_output_that_cannot_be_written_is_one_line(name, words, tmp_path, command):
    for out in (tmp_path / "nowhere" / "out", Path("/dev/full")):
        code, _, message = command(*words(name, out))
        assert code == 5, out
        assert message.count("\n") == 1
        assert "error: " in message
    assert Path("/dev/full").is_char_device()
    assert command(*words(name, tmp_path))[0] == 2


@pytest.mark.parametrize("words_given", [("data", "build"), ("reproduce", "rademacher", "--quick", "--out")])
def test_a_folder_that_cannot_be_created_is_one_line(words_given, tmp_path, command):
    (tmp_path / "file").write_text(OLD)

    code, _, message = command(*words_given, tmp_path / "file" / "folder")

    assert (code, message.count("\n")) == (5, 1)
    assert "cannot be created (Not a directory)" in message


@every_writer
def test_the_old_file_is_replaced_after_success(name, words, tmp_path, command):
    (tmp_path / "out").write_text(OLD)

    assert command(*words(name, tmp_path / "out"))[0] == 0
    assert OLD not in (tmp_path / "out").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words_given", [("show",), ("path",), ("export", "--to", "python")])
def test_a_full_standard_output_is_an_error(model_file, words_given):
    with open("/dev/full", "w") as full:  # noqa: PTH123 a device
        done = subprocess.run(
            [sys.executable, "-m", "secateur", words_given[0], model_file, *words_given[1:]],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 5
    assert done.stderr == "error: the output could not be written (No space left on device)\n"


def test_a_closed_pipe_is_no_error(model_file, fresh_file):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "secateur", "predict", model_file, fresh_file],
        stdout=write, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


@every_writer
def test_a_dash_is_standard_output_or_refused_never_a_file(name, words, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    code, out, message = command(*words(name, "-"))

    if name in ("count", "report"):
        assert code == 2
        assert "needs the name of a file" in message
    else:
        assert code == 0, message
        assert out
    assert not list(tmp_path.iterdir())


@contextmanager
def as_any_user():
    """Enforce permissions for root too, by dropping the capabilities of this thread that override them."""
    libc, header = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0)
    before, fewer = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    libc.capget(header, before)
    fewer[:] = before
    fewer[0] &= ~0b110  # effective: DAC_OVERRIDE, DAC_READ_SEARCH
    assert libc.capset(header, fewer) == 0
    try:
        yield
    finally:
        libc.capset(header, before)


def refused(command, *words):
    """Return the exit status of a command that fails with one line about permissions."""
    with as_any_user():
        code, out, message = command(*words)
    assert (out, message.count("\n")) == ("", 1), message
    assert "Permission denied" in message
    return code


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="the powers of root are taken as Linux has them")


@needs_linux
@every_writer
@pytest.mark.parametrize("is_folder", [False, True])
def test_a_file_or_folder_without_permission_to_write_stays_as_it_is(name, is_folder, words, tmp_path, command):
    out = tmp_path / "out"
    out.write_text(OLD)
    closed = tmp_path if is_folder else out
    closed.chmod(0o500)
    try:
        assert refused(command, *words(name, out)) == 5
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
    finally:
        closed.chmod(0o700)
    assert out.read_text() == OLD


@needs_linux
def test_input_without_permission_to_read_is_one_line(model_file, fresh_file, tmp_path, command):
    model, rows = tmp_path / "tree.json", tmp_path / "rows.csv"
    for path, source in ((model, model_file), (rows, fresh_file)):
        path.write_bytes(Path(source).read_bytes())
        path.chmod(0)
    for name in ("show", "report", "path", "export"):
        assert refused(command, name, model, *(("--to", "c") if name == "export" else ())) == 4
    for name in ("predict", "evaluate", "explain", "count"):
        assert refused(command, name, model, fresh_file, *(("-o", tmp_path / "o") if name == "count" else ())) == 4
        assert refused(command, name, model_file, rows, *(("-o", tmp_path / "o") if name == "count" else ())) == 3
    for name in ("fit", "compare"):
        assert refused(command, name, rows, "--target", "outcome", "-q") == 3
    for name in ("prune", "certify"):
        assert refused(command, name, model_file, "--holdout", rows) == 3
    for given in (("data", "build"), ("reproduce", "rademacher", "--quick", "--out")):
        tmp_path.chmod(0o500)
        try:
            assert refused(command, *given, tmp_path / "new") == 5
        finally:
            tmp_path.chmod(0o700)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv", "tree.json"]
