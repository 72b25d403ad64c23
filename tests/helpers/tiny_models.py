"""Tiny model files of every kind, changed on the parsed structure and put back: thousands of cases a second.

A case changes one to four places of a document, reads it, and undoes the changes. Nothing is copied, so that nearly all
the time is the reader's own. There are three kinds of cases, counted apart:

    part    changes inside one part (tree, grown, sequence, ...), read by the reader of that part, the others as they were
    whole   changes anywhere, the whole document read
    text    the same as JSON text, through `loads_model`

Every `USED`-th model that loads is put through all verbs.
"""

import contextlib
import json
import math
import random
import warnings
from collections import Counter

import numpy as np
import pandas as pd

from model_examples import exercise
from secateur import Bound, Pruning, Tree, TreeClassifier, TreeRegressor
from secateur.core.model import Model
from secateur.core.moments import Moments
from secateur.errors import ModelFileError, SecateurError
from secateur.exports import EXPORTS
from secateur.modelfile import _read, dumps_model, loads_model
from secateur.modelfile._certificate import _check_alone
from secateur.modelfile._fields import NAMES_OF, PLAIN
from secateur.modelfile._rows import rows_in
from secateur.modelfile._write import counts_document, model_document

USED = 50
KINDS = ("part",) * 95 + ("whole",) * 4 + ("text",)
VALUES = [
    0, 1, 2, 3, -1, -2, 9, 255, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**53, 2**63 - 1, 2**63, 2**64, 10**400, -(2**63), 2**53 - 1, -(2**53), 2**900, 0.5, -0.0,
    1e308, 5e-324, math.inf, -math.inf, math.nan, None, True, False, "", "inf", "-inf", "grow", "prune", "grown", "holdout",
    "sequence", "pruning", "whole", "real", "counts", "moments", "nominal", "numeric", "x0", "\x00", "\ud800", "\u202e", "=1",
    "a" * 5000, "0123456789abcdef", "f" * 32, [], [0], [1, 0], [[]], [None, None], {}, {"$float": "nan"}, {"$tuple": [1]},
    {"$dict": [[1, 2]]}, {"$dict": [[[], 1]]}, {"$float": 3}, {"a": 1}, {"dtype": "U1", "values": ["a"]},
]  # fmt: skip


def seeds():
    """Documents of one to seven nodes, one for each kind of test, sample, sequence, choice and certificate."""
    number, word = np.array([0.0, 1, 2, 3, 4, 5, np.nan, 7]), ["a", "b", "c", None] * 2
    y, z = np.array(list("nnnyyyny")), np.arange(8.0)
    both = pd.DataFrame({"n": number, "w": pd.Series(word, dtype=object)})
    fits = [
        TreeClassifier(prune=None, max_depth=1).fit(both[["n"]], y),
        TreeClassifier(prune=None, splits="multiway", criterion="gain_ratio").fit(both[["w"]], y),
        TreeClassifier(prune=None, max_depth=2).fit(both, number > 2),
        TreeClassifier(prune=None).fit(both, [1] * 8),
        TreeRegressor(prune=None, max_depth=1).fit(both, z),
        TreeRegressor(cv=2, max_depth=2).fit(both, z),
        TreeClassifier(cv=2, max_depth=2).fit(both, y),
        TreeClassifier(certify="test-sample", cv=2, max_depth=1, holdout=0.5).fit(both, y),
        TreeClassifier(prune="reduced-error", certify=True, max_depth=2, holdout=0.5).fit(both, y),
        TreeClassifier(select="holdout", certify="path", max_depth=1, holdout=0.5).fit(both, y),
        TreeRegressor(prune="best-of-size", select="holdout", max_depth=2, holdout=0.5).fit(both, z),
        TreeClassifier(prune=None, surrogates=2, max_depth=2).fit(both.assign(m=both["n"].fillna(3) ** 2), y),
        TreeClassifier(cv=2, costs=[[0, 5], [1, 0]], class_weight="balanced", max_depth=2).fit(both, y),
        TreeClassifier(cv=2, scoring="log_loss", monotonic_cst={"n": 1}, max_depth=2).fit(both, y),
        TreeClassifier(prune="best-of-size", select="holdout", certify="path", max_depth=2, holdout=0.5).fit(both, y),
    ]
    found = [model_document(fit.model_, sketch=i % 3 != 1) for i, fit in enumerate(fits)]
    for document in found[0:2]:
        document["schema"]["columns"][0]["is_date"] = document["schema"]["columns"][0]["kind"] == "numeric"
    for i, document in enumerate(found):
        if i % 4:  # parameters are the same in all of them
            document["parameters"] = {"estimator": document["parameters"]["estimator"]}
    bare = Tree.from_parents([-1, 0, 0])
    grown = fits[0].model_.grown
    counts = type(grown)(bare, grown.by_class, "grow")
    found.append(model_document(Model(Pruning.from_cuts(bare, [], node_labels=counts.majority), counts), sketch=True))
    found += [counts_document(fits[i].model_.grown, sketch=bool(i)) for i in (0, 2, 4)]
    return [json.loads(json.dumps(document)) for document in found]


def places_of(document):
    """Every value of a document, as the part that holds it and its key there."""
    found, waiting = [], [document]
    while waiting:
        part = waiting.pop()
        for key in part if isinstance(part, dict) else range(len(part)):
            found.append((part, key))
            if isinstance(part[key], dict | list):
                waiting.append(part[key])
    return found


class Case:
    """Changes of one document that can be undone."""

    def __init__(self, document, places, others, rng):
        self.document, self.places, self.others, self.rng = document, places, others, rng
        self.undo = []

    def change(self):
        """One change: a value by one of another place, of a list, or near it; keys and entries dropped, added, moved."""
        rng = self.rng
        part, key = rng.choice(self.places)
        if key not in part if isinstance(part, dict) else key >= len(part):
            return  # an earlier change took it
        before, what = part[key], rng.random()
        self.undo.append((part, part.copy()))
        if type(before) is int and what < 0.4:
            part[key] = before + rng.choice((-2, -1, 1, 2))
        elif type(before) is float and what < 0.4:
            part[key] = before * rng.choice((0.5, -1, 1 + 1e-12, 1e300)) + rng.choice((0, 1))
        elif type(before) is list and what < 0.3:
            part[key] = self.resized(before)
        elif type(before) is list and what < 0.4:
            self.resize_together(part, before)
        elif what < 0.45:
            self.borrow(part, key)
        elif what < 0.7:
            part[key] = rng.choice(VALUES)
        elif what < 0.85:
            other, at = rng.choice(self.places)
            if not isinstance(part[key], dict | list):  # a part inside itself would have no end
                with contextlib.suppress(LookupError):
                    part[key] = (
                        other[at] if not isinstance(other[at], dict | list) else json.loads(json.dumps(other[at]))
                    )
        elif isinstance(part, dict):
            if what < 0.95:
                del part[key]
            else:
                part[rng.choice(("x", "$float", key + " ", "__class__", ""))] = before
        else:
            at = rng.randrange(len(part))
            part[key], part[at] = part[at], part[key]

    def resize_together(self, part, values):
        """The lists of one length beside a list, with the same entry doubled or dropped in each: lengths still agree."""
        at, is_dropped = self.rng.randrange(len(values) + 1), self.rng.random() < 0.5
        for key in part if isinstance(part, dict) else range(len(part)):
            old = part[key]
            if type(old) is list and 0 < len(old) == len(values):
                part[key] = old[:at] + (old[at + 1 :] if is_dropped else old[max(at - 1, 0) :])

    def borrow(self, part, key):
        """A value of the same type and name, from another document."""
        found = self.others.get((key, type(part[key]))) if isinstance(key, str) else None
        if found:
            part[key] = json.loads(self.rng.choice(found))

    def resized(self, values):
        """A list with an entry more, less, or in another order."""
        new, what = list(values), self.rng.random()
        if what < 0.4 and new:
            new.pop(self.rng.randrange(len(new)))
        elif what < 0.8:
            new.insert(self.rng.randrange(len(new) + 1), self.rng.choice(new) if new else 0)
        else:
            self.rng.shuffle(new)
        return new

    def restore(self):
        """Put everything back, the last change first."""
        for part, before in reversed(self.undo):
            if isinstance(part, dict):
                part.clear()
                part.update(before)
            else:
                part[:] = before
        self.undo.clear()


def readers_of(document):
    """A function for each part of a model's document that reads it beside the other parts."""
    model = _read.read_model(document)
    parts = _read._proved(document)
    schema, n_classes = parts["schema"], getattr(model.grown, "n_classes", None)
    shape, labels = _read.tree_in(document["tree"], schema)[0], parts["pruning"]["node_labels"]
    held = {name: parts[name] and parts[name]["sketch"] for name in ("grown", "holdout")}

    def read_tree(part):
        _read.tree_of(_read.tree_in(part, schema)[1], schema, None)

    def read_sample(part):
        _read.sample_of(_read.sample_in(part, shape, "grown"), model.tree)

    found = {
        "schema": lambda part: _read.schema_in(part, "schema"),
        "tree": read_tree,
        "grown": read_sample,
        "holdout": read_sample,
        "pruning": lambda part: Pruning.from_cuts(model.tree, **_read.pruning_in(part, shape, n_classes)),
        "sequence": lambda part: _read.sequence_in(part, "sequence", shape, n_classes, labels),
        "selection": lambda part: _read.selection_in(part, shape, n_classes, labels, parts["sequence"]),
        "certificate": lambda part: _check_alone(
            Bound(**_read.read_fields(part, "certificate", NAMES_OF["certificate"]))
        ),
        "parameters": lambda part: PLAIN.read(part, "parameters"),
        "facts": lambda part: PLAIN.read(part, "facts"),
        "rows": lambda part: rows_in(part, 2, held, has_sequence=model.sequence is not None),
    }
    return {name: read for name, read in found.items() if document.get(name)}


class Tiny:
    """The cases of one seed, one after the other."""

    def __init__(self, seed):
        self.rng = random.Random(f"tiny {seed}")
        self.documents, self.parts = [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one class only, few rows
            documents = seeds()
        self.others = {}  # texts of all values by name and type, for other documents to borrow
        for document in documents:
            for part, key in places_of(document):
                if isinstance(key, str):
                    self.others.setdefault((key, type(part[key])), []).append(json.dumps(part[key]))
            self.documents.append((document, places_of(document)))
            if document["format"] == "secateur-model":
                self.parts += [
                    (document[name], places_of(document[name]), read) for name, read in readers_of(document).items()
                ]
        self.n, self.n_valid, self.n_used = Counter(), Counter(), 0

    def step(self):
        """Try one case; any exception but the reader's own is a fault."""
        rng = self.rng
        kind = rng.choice(KINDS)
        self.n[kind] += 1
        if kind == "part":
            part, places, read = rng.choice(self.parts)
        else:
            part, places = rng.choice(self.documents)
            read = read_document if kind == "whole" else read_text
        case = Case(part, places, self.others, rng)
        try:
            for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
                case.change()
            found = read(part)
            self.n_valid[kind] += 1
            if isinstance(found, Model) and self.n_valid[kind] % USED == 0:
                self.n_used += 1
                use(found)
        except ModelFileError:
            pass
        except BaseException as error:
            if kind == "part" and isinstance(error, SecateurError):
                return  # what a noun refuses becomes the file's error where whole files are read
            self.found = json.dumps(part)
            raise
        finally:
            case.restore()


def read_document(document):
    """What the reader makes of a whole document."""
    if document.get("format") == "secateur-counts":
        return _read.read_counts(document, None)
    return _read.read_model(document)


def read_text(document):
    """What the reader makes of its text."""
    return loads_model(json.dumps(document).encode("utf-8", "surrogatepass"))


def use(model):
    """Every verb with a model: each gives a result or an error of ours."""
    exercise(model)
    again = dumps_model(model)
    assert dumps_model(loads_model(again)) == again
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in asked_of(model).values():
            with contextlib.suppress(SecateurError):
                call()


def asked_of(model):
    """What can be asked of a model, as functions by name."""
    from secateur import certify, prune, select
    from secateur.certifiers import METHODS
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
    another = min(set(range(2, len(sizes) + 3)) - set(sizes))  # which no member has
    found = {
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
        found |= {
            "repr": lambda: repr(estimator),
            "predict": lambda: estimator.predict(rows),
            "predict_proba": lambda: estimator.predict_proba(rows) if model.is_classifier else None,
            "prune_to 1": lambda: estimator.prune_to(n_leaves=1),
            "prune_to another": lambda: estimator.prune_to(n_leaves=another),
            "prune_to accuracy": lambda: estimator.prune_to(accuracy=0.6),
            "prune_to alpha": lambda: estimator.prune_to(alpha=0.1),
            "importances": lambda: estimator.feature_importances_,
            "to_sklearn": estimator.to_sklearn,
        }
    found |= {f"export {to}": lambda to=to: export(model, to=to) for to in EXPORTS}
    for name, rule in RULES.items():
        samples = (model.grown, held)[: len(rule.samples)]
        more = {"accuracy": 0.6} if name == "smallest-within" else {}
        if held is not None or not rule.needs_holdout:
            found[f"prune {name}"] = lambda name=name, samples=samples, more=more: prune(
                model.tree, *samples, rule=name, **more
            )
    if held is not None:
        found["choose"] = lambda: choose_on_holdout(model)
        found |= {
            f"certify {method}": lambda method=method: certify(
                model.pruning, held, method=method, grown=model.grown, sequence=sequence
            )
            for method in METHODS
        }
        if sequence is not None:
            found["select"] = lambda: select(sequence, held)
            found["certify the sequence"] = lambda: certify(sequence, held, method="path")
        found["certificate"] = lambda: certify_model(model)
    return found
