"""A file is written completely or not at all: after a kill, an interruption, a full disk, or a concurrent write."""

import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from model_examples import assert_same, classifier, regression
from secateur._utils import output
from secateur.errors import ModelFileError, OutputError
from secateur.modelfile import dumps_model, load_counts, load_model, save_counts, save_model

TESTS = Path(__file__).parents[1] / "helpers"


def test_a_process_killed_while_saving_leaves_the_old_file_whole(tmp_path):
    target = tmp_path / "model.json"
    save_model(regression(), target)
    code = f"""
import os, sys, time
sys.path.insert(0, {str(TESTS)!r})
from model_examples import classifier
from secateur.modelfile import save_model
sync = os.fsync
def wait_for_the_kill(handle):
    sync(handle)
    print("written, not renamed", flush=True)
    time.sleep(600)
os.fsync = wait_for_the_kill
save_model(classifier(), {str(target)!r})
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "written, not renamed\n"
        beside = [path for path in tmp_path.iterdir() if path != target]
        process.kill()
    assert process.returncode == -signal.SIGKILL

    assert [path.read_bytes() for path in beside] == [dumps_model(classifier())]
    assert_same(regression(), load_model(target))
    save_model(classifier(), target)
    assert_same(classifier(), load_model(target))


def test_at_every_moment_of_many_saves_the_file_is_one_of_the_two(tmp_path):
    target = tmp_path / "model.json"
    save_model(regression(), target)
    code = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from model_examples import classifier, regression
from secateur.modelfile import save_model
models = [classifier(), regression()]
print("ready", flush=True)
while True:
    for model in models:
        save_model(model, {str(target)!r})
"""
    texts = {dumps_model(classifier()), dumps_model(regression())}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        end = time.monotonic() + 0.5
        seen = set()
        while time.monotonic() < end:
            seen.add(target.read_bytes())
        process.kill()

    assert seen <= texts
    assert target.read_bytes() in texts


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "model.json"
    save_model(regression(), target)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write then fails, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(
            OutputError, match=r"model.json cannot be written \(File too large\); .* unchanged: free some space"
        ):
            save_model(classifier(), target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)

    assert list(tmp_path.iterdir()) == [target]
    assert_same(regression(), load_model(target))


@pytest.mark.parametrize("failing", ["fsync", "open"])
def test_no_temporary_file_remains_after_an_interruption_or_an_error(tmp_path, monkeypatch, failing):
    target = tmp_path / "model.json"
    save_model(regression(), target)

    def fail(*_):
        raise KeyboardInterrupt if failing == "fsync" else OSError(28, "No space left on device")

    monkeypatch.setattr(output.os, failing, fail)
    with pytest.raises(KeyboardInterrupt if failing == "fsync" else OutputError):
        save_model(classifier(), target)
    monkeypatch.undo()

    assert list(tmp_path.iterdir()) == [target]
    assert_same(regression(), load_model(target))


def test_an_existing_file_is_kept_without_overwrite(tmp_path):
    target = tmp_path / "model.json"
    save_model(regression(), target, overwrite=False)

    with pytest.raises(OutputError, match=r"model.json exists; pass overwrite=True"):
        save_model(classifier(), target, overwrite=False)

    assert_same(regression(), load_model(target))
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_is_created_during_the_writing_is_kept_without_overwrite(tmp_path, monkeypatch):
    target = tmp_path / "model.json"
    write = output._write_durably

    def write_while_another_is_faster(*arguments, **options):
        write(*arguments, **options)
        target.write_text("theirs", encoding="utf-8")

    monkeypatch.setattr(output, "_write_durably", write_while_another_is_faster)
    with pytest.raises(OutputError, match="exists"):
        save_model(classifier(), target, overwrite=False)

    assert target.read_text(encoding="utf-8") == "theirs"
    assert list(tmp_path.iterdir()) == [target]


def test_a_disk_without_hard_links_is_supported(tmp_path, monkeypatch):
    def no_links(*_):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(output.os, "link", no_links)
    save_model(classifier(), tmp_path / "model.json", overwrite=False)

    assert_same(classifier(), load_model(tmp_path / "model.json"))


def test_a_link_is_followed_and_the_permissions_of_the_file_stay(tmp_path):
    target, link = tmp_path / "model.json", tmp_path / "link.json"
    save_model(regression(), target)
    target.chmod(0o640)
    link.symlink_to(target)

    save_model(classifier(), link)

    assert link.is_symlink()
    assert_same(classifier(), load_model(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_default_permissions(tmp_path):
    (tmp_path / "plain").write_text("", encoding="utf-8")
    save_model(classifier(), tmp_path / "model.json")

    assert (tmp_path / "model.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(
    "save", [lambda path: save_model(classifier(), path), lambda path: save_counts(classifier().grown, path)]
)
def test_a_path_that_cannot_be_written_is_named(tmp_path, save):
    with pytest.raises(OutputError, match="is a folder; the name of a file"):
        save(tmp_path)
    with pytest.raises(OutputError, match=r"nowhere.model.json cannot be written \(No such file"):
        save(tmp_path / "nowhere" / "model.json")
    with pytest.raises(OutputError, match="cannot be written"):
        save(str(tmp_path / "a\0b.json"))
    with pytest.raises(OutputError, match="cannot be written"):
        save(tmp_path / ("x" * 300))


@pytest.mark.parametrize("load", [load_model, load_counts])
def test_a_path_that_cannot_be_read_is_named(tmp_path, load):
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it: a reader would wait for ever

    with pytest.raises(ModelFileError, match=r"missing.json: it cannot be read \(No such file or directory"):
        load(tmp_path / "missing.json")
    for place in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ModelFileError, match=f"{place}: it is a folder, a pipe or a device; a file is needed"):
            load(place)
    with pytest.raises(ModelFileError, match=r"a\\x00b.json': it cannot be read"):
        load("a\0b.json")
