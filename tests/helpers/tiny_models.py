"""Fuzz the reader of model files with tiny documents, changed after parsing: thousands of cases per second.

A case changes one to four values of a document, reads it, and undoes the changes. Nothing is copied, so that the reader
takes nearly all the time. There are three kinds of cases, counted separately:

    part    changes in one part (tree, grown, sequence, ...), read by the reader of this part with the other parts valid
    whole   changes anywhere; the complete document is read
    text    as `whole`, but read as JSON text by `loads_model`

Every `CHECKED_SHARE`-th model that loads is passed to all functions that take a model.
"""

import contextlib
import json
import math
import random
import warnings
from collections import Counter

import numpy as np
import pandas as pd

from model_examples import check_usable
from secateur import Bound, Pruning, Tree, TreeClassifier, TreeRegressor
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.errors import ModelFileError, SecateurError
from secateur.exports import EXPORTS
from secateur.modelfile import _read, dumps_model, loads_model
from secateur.modelfile._certificate import _check_bound
from secateur.modelfile._values import DICTIONARY, REQUIRED_KEYS
from secateur.modelfile._write import write_counts_document, write_model_document

CHECKED_SHARE = 50
KINDS = ("part",) * 95 + ("whole",) * 4 + ("text",)
REPLACEMENT_VALUES = [
    0, 1, 2, 3, -1, -2, 9, 255, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**53, 2**63 - 1, 2**63, 2**64, 10**400, -(2**63), 2**53 - 1, -(2**53), 2**900, 0.5, -0.0,
    1e308, 5e-324, math.inf, -math.inf, math.nan, None, True, False, "", "inf", "-inf", "grow", "prune", "grown", "holdout",
    "sequence", "pruning", "whole", "real", "counts", "moments", "nominal", "numeric", "x0", "\x00", "\ud800", "\u202e", "=1",
    "a" * 5000, "0123456789abcdef", "f" * 32, [], [0], [1, 0], [[]], [None, None], {}, {"$float": "nan"}, {"$tuple": [1]},
    {"$dict": [[1, 2]]}, {"$dict": [[[], 1]]}, {"$float": 3}, {"a": 1}, {"dtype": "U1", "values": ["a"]},
]  # fmt: skip


def seed_documents():
    """Return documents of one to seven nodes, one for each kind of split, sample, sequence, choice and certificate."""
    number, word = np.array([0.0, 1, 2, 3, 4, 5, np.nan, 7]), ["a", "b", "c", None] * 2
    y, z = np.array(list("nnnyyyny")), np.arange(8.0)
    rows = pd.DataFrame({"n": number, "w": pd.Series(word, dtype=object)})
    fits = [
        TreeClassifier(prune=None, max_depth=1).fit(rows[["n"]], y),
        TreeClassifier(prune=None, splits="multiway", criterion="gain_ratio").fit(rows[["w"]], y),
        TreeClassifier(prune=None, max_depth=2).fit(rows, number > 2),
        TreeClassifier(prune=None).fit(rows, [1] * 8),
        TreeRegressor(prune=None, max_depth=1).fit(rows, z),
        TreeRegressor(cv=2, max_depth=2).fit(rows, z),
        TreeClassifier(cv=2, max_depth=2).fit(rows, y),
        TreeClassifier(certify="test-sample", cv=2, max_depth=1, holdout=0.5).fit(rows, y),
        TreeClassifier(prune="reduced-error", certify=True, max_depth=2, holdout=0.5).fit(rows, y),
        TreeClassifier(select="holdout", certify="path", max_depth=1, holdout=0.5).fit(rows, y),
        TreeRegressor(prune="best-of-size", select="holdout", max_depth=2, holdout=0.5).fit(rows, z),
        TreeClassifier(prune=None, surrogates=2, max_depth=2).fit(rows.assign(m=rows["n"].fillna(3) ** 2), y),
        TreeClassifier(cv=2, costs=[[0, 5], [1, 0]], class_weight="balanced", max_depth=2).fit(rows, y),
        TreeClassifier(cv=2, scoring="log_loss", monotonic_cst={"n": 1}, max_depth=2).fit(rows, y),
        TreeClassifier(prune="best-of-size", select="holdout", certify="path", max_depth=2, holdout=0.5).fit(rows, y),
        TreeRegressor(certify=True, target_range=(-1, 9), cv=2, max_depth=2, holdout=0.5, repeats="independent").fit(
            rows, z
        ),
        TreeRegressor(prune=None, max_depth=1).fit(rows, z),
    ]
    fits.insert(-1, fits[0].calibrated_on(rows[["n"]] + 0.5, y, repeats="independent"))
    fits.append(fits.pop().calibrated_on(rows.assign(n=number + 0.5), z, repeats="independent"))
    documents = [write_model_document(fit.model_, sketch=i % 3 != 1) for i, fit in enumerate(fits)]
    for document in documents[0:2]:
        document["schema"]["columns"][0]["is_date"] = document["schema"]["columns"][0]["kind"] == "numeric"
    for i, document in enumerate(documents):
        if i % 4:  # parameters are the same in all of them
            document["parameters"] = {"estimator": document["parameters"]["estimator"]}
    bare = Tree.from_parents([-1, 0, 0])
    grown = fits[0].model_.grown
    counts = type(grown)(bare, grown.by_class, "grow")
    documents.append(
        write_model_document(Model(Pruning.from_cuts(bare, [], node_labels=counts.majority), counts), sketch=True)
    )
    documents += [write_counts_document(fits[i].model_.grown, sketch=bool(i)) for i in (0, 2, 4)]
    return [json.loads(json.dumps(document)) for document in documents]


def locations_of(document):
    """Return the location of every value in a document: the object or list that contains it, and its key."""
    locations, waiting = [], [document]
    while waiting:
        part = waiting.pop()
        for key in part if isinstance(part, dict) else range(len(part)):
            locations.append((part, key))
            if isinstance(part[key], dict | list):
                waiting.append(part[key])
    return locations


class Case:
    """Changes of one document that can be undone."""

    def __init__(self, locations, donors, rng):
        self.locations, self.donors, self.rng = locations, donors, rng
        self.undo = []

    def change(self):
        """Make one change: replace a value, or drop, add or move a key or an entry."""
        rng = self.rng
        part, key = rng.choice(self.locations)
        if key not in part if isinstance(part, dict) else key >= len(part):
            return  # an earlier change has removed it
        before, action = part[key], rng.random()
        self.undo.append((part, part.copy()))
        if type(before) is int and action < 0.4:
            part[key] = before + rng.choice((-2, -1, 1, 2))
        elif type(before) is float and action < 0.4:
            part[key] = before * rng.choice((0.5, -1, 1 + 1e-12, 1e300)) + rng.choice((0, 1))
        elif type(before) is list and action < 0.3:
            part[key] = self.resize(before)
        elif type(before) is list and action < 0.4:
            self.resize_parallel_lists(part, before)
        elif action < 0.45:
            self.borrow(part, key)
        elif action < 0.7:
            part[key] = rng.choice(REPLACEMENT_VALUES)
        elif action < 0.85:
            other, at = rng.choice(self.locations)
            if not isinstance(part[key], dict | list):  # a part inside itself would have no end
                with contextlib.suppress(LookupError):
                    part[key] = (
                        other[at] if not isinstance(other[at], dict | list) else json.loads(json.dumps(other[at]))
                    )
        elif isinstance(part, dict):
            if action < 0.95:
                del part[key]
            else:
                part[rng.choice(("x", "$float", key + " ", "__class__", ""))] = before
        else:
            at = rng.randrange(len(part))
            part[key], part[at] = part[at], part[key]

    def resize_parallel_lists(self, part, values):
        """Double or drop the same entry in all lists of an object that have one length, so that lengths still agree."""
        at, is_dropped = self.rng.randrange(len(values) + 1), self.rng.random() < 0.5
        for key in part if isinstance(part, dict) else range(len(part)):
            old = part[key]
            if type(old) is list and 0 < len(old) == len(values):
                part[key] = old[:at] + (old[at + 1 :] if is_dropped else old[max(at - 1, 0) :])

    def borrow(self, part, key):
        """Replace a value by one of the same key and type from another document."""
        values = self.donors.get((key, type(part[key]))) if isinstance(key, str) else None
        if values:
            part[key] = json.loads(self.rng.choice(values))

    def resize(self, values):
        """Return a list with one entry more or less, or in another order."""
        new, action = list(values), self.rng.random()
        if action < 0.4 and new:
            new.pop(self.rng.randrange(len(new)))
        elif action < 0.8:
            new.insert(self.rng.randrange(len(new) + 1), self.rng.choice(new) if new else 0)
        else:
            self.rng.shuffle(new)
        return new

    def restore(self):
        """Undo all changes, the last one first."""
        for part, before in reversed(self.undo):
            if isinstance(part, dict):
                part.clear()
                part.update(before)
            else:
                part[:] = before
        self.undo.clear()


def readers_of(document):
    """Return, for each part of a model's document, a function that reads the part with the other parts unchanged."""
    model = _read.read_model(document)
    tree, schema, rows = model.tree, model.tree.schema, document["rows"]
    parts = _read._read_parts(document, rows, tree)
    samples = parts["samples"]
    n_classes = model.grown.n_classes if model.is_classifier else None
    labels = model.pruning.node_labels
    sketches = {"grown": model.grown.sketch, "holdout": model.holdout and model.holdout.sketch}
    shared_parts = {"grown": model.grown, "holdout": model.holdout, "sequence": model.sequence}

    def read_sample(part):
        _read._make_sample(_read._read_sample(part, "grown", tree), tree)

    def read_pruning(part):
        fields = _read._read_pruning(part, tree, n_classes)
        Pruning.from_cuts(tree, **_read._make_origin(fields, samples))

    def read_sequence(part, location="sequence"):
        fields = _read._read_sequence(part, location, tree, n_classes, labels)
        _read._make_sequence(fields, tree, samples)
        return fields

    def read_selection(part):
        fields = _read._read_selection(part, tree, parts["sequence"], read_sequence)
        _read._make_selection(fields, tree, samples, shared_parts)

    def read_rows(part):
        fields = _read.read_fields(part, "rows", REQUIRED_KEYS["rows"])
        _read._read_row_key(fields["key"], 2)
        used_samples = _read._read_used_samples(fields["samples"], sketches, tree)
        has_sequence = model.sequence is not None
        for item in _read._read_evaluations(fields["evaluations"], len(used_samples), has_sequence=has_sequence):
            _read._make_evaluation(item, used_samples, model.sequence)

    def read_certificate(part):
        _check_bound(Bound(**_read.read_fields(part, "certificate", REQUIRED_KEYS["certificate"])))

    readers = {
        "schema": lambda part: _read._read_schema(part, "schema"),
        "tree": lambda part: _read._read_tree(part, schema, None),
        "grown": read_sample,
        "holdout": read_sample,
        "pruning": read_pruning,
        "sequence": read_sequence,
        "selection": read_selection,
        "certificate": read_certificate,
        "parameters": lambda part: DICTIONARY.read(part, "parameters"),
        "metadata": lambda part: DICTIONARY.read(part, "metadata"),
        "rows": read_rows,
    }
    return {name: read for name, read in readers.items() if document.get(name)}


class TinyModelFuzzer:
    """The cases of one random seed; `step` runs the next one."""

    def __init__(self, seed):
        self.rng = random.Random(f"tiny {seed}")
        self.documents, self.parts = [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one class only, few rows
            documents = seed_documents()
        self.donors = {}  # by key and type: the JSON of all values, which changes of other documents use
        for document in documents:
            for part, key in locations_of(document):
                if isinstance(key, str):
                    self.donors.setdefault((key, type(part[key])), []).append(json.dumps(part[key]))
            self.documents.append((document, locations_of(document)))
            if document["format"] == "secateur-model":
                self.parts += [
                    (document[name], locations_of(document[name]), read) for name, read in readers_of(document).items()
                ]
        self.n_cases, self.n_valid, self.n_checked = Counter(), Counter(), 0

    def step(self):
        """Run one case; raise any exception other than `ModelFileError`."""
        rng = self.rng
        kind = rng.choice(KINDS)
        self.n_cases[kind] += 1
        if kind == "part":
            part, locations, read = rng.choice(self.parts)
        else:
            part, locations = rng.choice(self.documents)
            read = read_document if kind == "whole" else read_json
        case = Case(locations, self.donors, rng)
        try:
            for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
                case.change()
            result = read(part)
            self.n_valid[kind] += 1
            if isinstance(result, Model) and self.n_valid[kind] % CHECKED_SHARE == 0:
                self.n_checked += 1
                check_all_functions(result)
        except ModelFileError:
            pass
        except BaseException as error:
            if kind == "part" and isinstance(error, SecateurError):
                return  # reading a complete file turns errors of the classes into ModelFileError
            self.failing_document = json.dumps(part)
            raise
        finally:
            case.restore()


def read_document(document):
    """Return the model or the counts in a document."""
    if document.get("format") == "secateur-counts":
        return _read.read_counts(document, None)
    return _read.read_model(document)


def read_json(document):
    """Return the model in a document, written as JSON text."""
    return loads_model(json.dumps(document).encode("utf-8", "surrogatepass"))


def check_all_functions(model):
    """Call every function that takes a model; each must return a result or raise a `SecateurError`."""
    check_usable(model)
    again = dumps_model(model)
    assert dumps_model(loads_model(again)) == again
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in calls_on(model).values():
            with contextlib.suppress(SecateurError):
                call()


def calls_on(model):
    """Return calls of every function that takes a model, by name."""
    from secateur import certify, prune, select
    from secateur.certifiers import METHODS_FOR_CLASSES, METHODS_FOR_NUMBERS
    from secateur.exports import export
    from secateur.inspection import evaluate, explain, summary
    from secateur.inspection.text import export_rules, export_text
    from secateur.model_selection import certify_model, choose_on_holdout, path_table
    from secateur.pruners import RULES
    from secateur.report import report_html

    kind = TreeRegressor if isinstance(model.grown, Moments) else TreeClassifier
    schema, sequence, held = model.tree.schema, model.sequence, model.holdout
    columns = () if schema is None else schema.columns
    rows = pd.DataFrame({c.name: ([*c.categories] or [0.5, -1.0, math.nan])[:1] * 3 for c in columns}, index=range(3))
    sizes = [] if sequence is None else sequence.n_leaves.tolist()
    missing_size = min(set(range(2, len(sizes) + 3)) - set(sizes))
    calls = {
        "save": lambda: dumps_model(model),
        "summary": lambda: str(summary(model)),
        "report": lambda: report_html(model),
        "text": lambda: export_text(model.tree, model.grown, pruning=model.pruning),
        "rules": lambda: export_rules(model.tree, model.grown, pruning=model.pruning),
        "path": lambda: path_table(model, held),
        "explain": lambda: str(explain(model, rows.iloc[:1])),
        "evaluate": lambda: str(evaluate(model, held or model.grown)),
        "equal": lambda: model == loads_model(dumps_model(model)),
    }
    if schema is not None:  # an estimator needs columns
        estimator = kind.from_model(model)
        calls |= {
            "repr": lambda: repr(estimator),
            "predict": lambda: estimator.predict(rows),
            "predict_proba": lambda: estimator.predict_proba(rows) if model.is_classifier else None,
            "regions": lambda: estimator.predict_set(rows) if model.is_classifier else estimator.predict_interval(rows),
            "prune_to 1": lambda: estimator.prune_to(n_leaves=1),
            "prune_to missing size": lambda: estimator.prune_to(n_leaves=missing_size),
            "prune_to accuracy": lambda: estimator.prune_to(accuracy=0.6),
            "prune_to alpha": lambda: estimator.prune_to(alpha=0.1),
            "importances": lambda: estimator.feature_importances_,
            "to_sklearn": estimator.to_sklearn,
        }
    calls |= {f"export {to}": lambda to=to: export(model, to=to) for to in EXPORTS}
    for name, rule in RULES.items():
        samples = (model.grown, held)[: len(rule.samples)]
        more = {"accuracy": 0.6} if name == "smallest-within" else {}
        if held is not None or not rule.needs_holdout:
            calls[f"prune {name}"] = lambda name=name, samples=samples, more=more: prune(
                model.tree, *samples, rule=name, **more
            )
    if held is not None:
        calls["choose"] = lambda: choose_on_holdout(model)
        calls |= {
            f"certify {method}": lambda method=method: certify(
                model.pruning,
                held,
                method=method,
                grown=model.grown,
                sequence=sequence,
                **({"target_range": (-1e9, 1e9)} if method in METHODS_FOR_NUMBERS else {}),
            )
            for method in (METHODS_FOR_CLASSES if model.is_classifier else METHODS_FOR_NUMBERS)
        }
        if sequence is not None:
            calls["select"] = lambda: select(sequence, held)
            calls["certify the sequence"] = lambda: certify(sequence, held, method="path")
        calls["certificate"] = lambda: certify_model(model)
    return calls
