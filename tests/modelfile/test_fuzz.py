"""Golden files, damaged at random, give a usable model or a `ModelFileError`.

Every run has the same few thousand cases; `scripts/fuzz` runs more of them, guided by coverage.
"""

import gzip
import json
import random
import re
from pathlib import Path

import pytest

from model_examples import check_usable
from secateur.errors import ModelFileError
from secateur.modelfile import dumps_model, load_counts, loads_model
from tiny_models import TinyModelFuzzer

GOLDEN = {path.name: path.read_bytes() for path in sorted((Path(__file__).parent / "golden").iterdir())}
MODELS = [GOLDEN[f"{kind}-{version}.json"] for kind in ("model", "regression") for version in (1, 2)]
NUMBERS = [
    b"0", b"-0", b"-0.0", b"1", b"-1", b"2", b"9", b"10", b"255", b"65536", b"2147483647", b"2147483648", b"-2147483649",
    b"9007199254740992", b"9223372036854775807", b"9223372036854775808", b"1e308", b"1e999", b"-1e999", b"5e-324", b"0.5",
    b"1" * 400, b"null", b"true", b'"inf"', b"[]", b"{}", b"NaN", b'{"$float":"nan"}',
]  # fmt: skip


def flip(text, rng):
    """Return the text with some bits flipped."""
    broken = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
    return bytes(broken)


def cut(text, rng):
    """Return the beginning, the end, or all but a part of the text."""
    a, b = sorted((rng.randrange(len(text)), rng.randrange(len(text))))
    return rng.choice([text[:a], text[a:], text[:a] + text[b:]])


def splice(text, rng):
    """Return the text with a part replaced by a part of another file."""
    other = rng.choice(MODELS)
    a, b = sorted((rng.randrange(len(text)), rng.randrange(len(text))))
    c = rng.randrange(len(other))
    return text[:a] + other[c : c + rng.randint(0, 80)] + text[b if rng.random() < 0.5 else a :]


def renumber(text, rng):
    """Return the text with a few numbers replaced."""
    for _ in range(rng.randint(1, 3)):
        found = rng.choice(list(re.finditer(rb"-?\d[\d.e+-]*", text)))
        text = text[: found.start()] + rng.choice(NUMBERS) + text[found.end() :]
    return text


def swap_lines(text, rng):
    """Return the text with a line dropped, doubled or exchanged, so that keys are missing, doubled or misplaced."""
    lines = text.splitlines(keepends=True)
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.choice(["drop", "double", "exchange"])
    if what == "drop":
        del lines[a]
    elif what == "double":
        lines.insert(a, lines[b])
    else:
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def rewire(text, rng):
    """Return the document as JSON with one value dropped, changed, or replaced by another value of the document."""
    document = json.loads(text)
    places = []

    def walk(part):
        for key in part if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                walk(part[key])

    walk(document)
    part, key = rng.choice(places)
    other, from_key = rng.choice(places)
    what = rng.random()
    if what < 0.3 and isinstance(part, dict):
        del part[key]
    elif what < 0.7 and type(part[key]) is int:
        part[key] += rng.choice([-2, -1, 1, 2])
    else:
        part[key] = json.loads(json.dumps(other[from_key]))
    return json.dumps(document).encode()


def steer(text, rng):
    """Return the document with a small change to one array, so that many of the models remain valid."""
    document = json.loads(text)
    what = rng.choice(["labels", "threshold", "default", "branch", "cuts", "metadata", "names", "errors"])
    n = len(document["tree"]["parent"])
    if what == "labels" and document["pruning"]["node_labels"]:
        document["pruning"]["node_labels"][rng.randrange(n)] = rng.randint(0, 2)
    elif what in ("threshold", "default", "branch"):
        array = document["tree"][what]
        array[rng.randrange(len(array))] = rng.choice([0, 1, 2, 1e300, "inf", "-inf", None])
    elif what == "cuts":
        document["pruning"]["cuts"] = sorted(rng.sample(range(n), rng.randint(0, 2)))
    elif what == "metadata":
        document["metadata"] = {
            "a": rng.choice([None, [1, [2]], {"$float": "inf"}, {"$tuple": []}, {"$dict": []}, "\u2028"])
        }
    elif what == "names":
        document["schema"]["columns"][0]["name"] = rng.choice(["", "x", "month", "\x00", "\ud800"])
    else:
        document["sequence"]["errors"] = [rng.randint(-5, 5) for _ in document["sequence"]["errors"]]
    return json.dumps(document).encode()


def mutated(data, size, seed):
    """Return a damaged text of at most `size` bytes, for a fuzzer; bits are flipped if the text is not a model file."""
    rng = random.Random(seed)
    try:
        broken = rng.choice([flip, cut, splice, renumber, swap_lines, rewire, steer])(data, rng)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # not our JSON any more
        broken = flip(data, rng) if data else b"{}"
    return broken[:size]


def survives(data):
    """Return whether bytes contain a valid model, after using the model and saving it again."""
    try:
        model = loads_model(data)
    except ModelFileError:
        return False
    check_usable(model)
    again = dumps_model(model)
    assert dumps_model(loads_model(again)) == again
    return True


@pytest.mark.parametrize(
    ("broken", "n_cases"),
    [(flip, 300), (cut, 100), (splice, 300), (renumber, 300), (swap_lines, 200), (rewire, 200), (steer, 120)],
)
def test_a_broken_file_gives_a_valid_model_or_a_model_file_error(broken, n_cases):
    rng = random.Random(broken.__name__)
    n_valid = 0
    for case in range(n_cases):
        data = broken(MODELS[case % 2], rng)
        n_valid += survives(data)

    assert n_valid < n_cases
    if broken is steer:
        assert n_valid > n_cases // 10  # otherwise few valid models would be tested


def test_a_tiny_file_changed_anywhere_gives_a_valid_model_or_a_model_file_error():
    tiny = TinyModelFuzzer(0)
    for _ in range(3000):
        tiny.step()

    assert tiny.n_valid["part"] > 500
    assert tiny.n_valid["whole"] > 5


def test_a_broken_compressed_file_gives_a_valid_model_or_a_model_file_error():
    rng = random.Random(5)
    packed = gzip.compress(MODELS[0], mtime=0)
    for case in range(300):
        survives((flip, cut)[case % 2](packed, rng))


@pytest.mark.parametrize("name", ["counts-1.json", "moments-1.json"])
def test_a_broken_counts_file_gives_valid_counts_or_a_model_file_error(name, tmp_path):
    rng = random.Random(name)
    path = tmp_path / "broken.json"
    for case in range(300):
        path.write_bytes((flip, cut, splice, renumber)[case % 4](GOLDEN[name], rng))
        try:
            counts = load_counts(path)
        except ModelFileError:
            continue
        assert counts.total[0] == pytest.approx(counts.total[counts.tree.is_leaf].sum())


def test_random_bytes_are_no_model():
    rng = random.Random(11)
    for _ in range(300):
        start = rng.choice([b"", b"{", b'{"format": "secateur-model", "version": 1, ', b"\x1f\x8b\x08\x00"])
        with pytest.raises(ModelFileError):
            loads_model(start + rng.randbytes(rng.randrange(60)))
