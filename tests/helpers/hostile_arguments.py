"""Calls of the public functions with hostile arguments: each gives a result, or an error of the package."""

import random
import re
import warnings
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import scipy.sparse

import secateur
from secateur import SecateurError, TreeClassifier, TreeRegressor

N = 24
MAX_MESSAGE_CHARACTERS = 4000
NAMES = ["a", "A", "a\nb", "q\"uo'te", "\u202eabc", "\ud800", "", " ", "leaf", "x0", "</script>", "\0", "a" * 5000]


class Subclass(pd.DataFrame):
    @property
    def _constructor(self):
        return Subclass


def tables(rng):
    """Make tables of N rows, by name; most are hostile."""
    numbers = rng.normal(size=(N, 2)).round(2)
    words = rng.choice(["red", "blue"], (N, 2)).astype(object)
    cells = numbers.astype(object)
    made = {
        "numbers": lambda: numbers, "none": lambda: None, "text": lambda: "x", "empty": list,
        "scalar": lambda: 3.5, "bytes": lambda: b"ab", "dict": lambda: {"a": [1] * N}, "set": lambda: {1, 2},
        "zero columns": lambda: np.zeros((N, 0)), "zero rows": lambda: np.zeros((0, 2)),
        "one row": lambda: numbers[:1], "one dimension": lambda: numbers[:, 0], "three dimensions": lambda: numbers[None],
        "nan": lambda: np.full((N, 2), np.nan), "infinite": lambda: np.full((N, 2), np.inf),
        "huge": lambda: numbers * 1e308, "complex": lambda: numbers + 1j, "words": lambda: words,
        "byte strings": lambda: words.astype("S4"), "fortran": lambda: np.asfortranarray(numbers),
        "strided": lambda: np.repeat(numbers, 2, axis=0)[::2], "big endian": lambda: numbers.astype(">f8"),
        "half": lambda: numbers.astype(np.float16), "long": lambda: numbers.astype(np.longdouble),
        "masked": lambda: np.ma.masked_greater(numbers, 1), "object": lambda: cells,
        "decimal": lambda: [[Decimal(str(x)) for x in row] for row in numbers.tolist()],
        "decimal nan": lambda: [[Decimal("NaN"), Decimal("sNaN")]] * N,
        "fraction": lambda: [[Fraction(int(x * 100), 7) for x in row] for row in numbers.tolist()],
        "large integers": lambda: [[10**30, 2**63]] * N, "mixed": lambda: [[1, "a"]] * N, "ragged": lambda: [[1]] * 3 + [[1, 2]] * N,
        "mixed column": lambda: [["a", 1.0], [2, 3.0]] * (N // 2), "arrays": lambda: np.array([[np.zeros(2), 1]] * N, dtype=object),
        "records": lambda: np.zeros(N, dtype=[("a", "f8"), ("b", "i4")]), "matrix": lambda: np.asmatrix(numbers),
        "sparse": lambda: scipy.sparse.csr_matrix(numbers), "sparse array": lambda: scipy.sparse.coo_array(numbers),
        "generator": lambda: (row for row in numbers), "series": lambda: pd.Series(numbers[:, 0]),
        "frame": lambda: pd.DataFrame(numbers, columns=["a", "b"]), "subclass": lambda: Subclass(numbers, columns=["a", "b"]),
        "nullable": lambda: pd.DataFrame({"a": pd.array([1, None] * (N // 2), dtype="Int64"), "b": pd.array([True, None] * (N // 2), dtype="boolean")}),
        "nullable text": lambda: pd.DataFrame({"a": pd.array(["x", None] * (N // 2), dtype="string")}),
        "all missing": lambda: pd.DataFrame({"a": pd.array([None] * N, dtype="Float64"), "b": [pd.NA] * N}),
        "unused": lambda: pd.DataFrame({"a": pd.Categorical(["x"] * N, categories=["x", "y", "z"])}),
        "interval": lambda: pd.DataFrame({"a": pd.cut(numbers[:, 0], 3)}),
        "number categories": lambda: pd.DataFrame({"a": pd.Categorical([1.5, 2.5] * (N // 2))}),
        "dates": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=N, tz="Europe/Berlin")}),
        "spans": lambda: pd.DataFrame({"a": pd.to_timedelta(np.arange(N), unit="h")}),
        "periods": lambda: pd.DataFrame({"a": pd.period_range("2020-01", periods=N, freq="M")}),
        "date objects": lambda: [[datetime(2020, 1, 1, tzinfo=UTC), timedelta(1)]] * N,
        "sparse frame": lambda: pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0] * (N // 2))}),
        "double names": lambda: pd.DataFrame(numbers, columns=["a", "a"]),
        "levels": lambda: pd.DataFrame(numbers, columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
        "mixed names": lambda: pd.DataFrame(numbers, columns=["a", 1]), "none names": lambda: pd.DataFrame(numbers, columns=[None, "a"]),
        "odd names": lambda: pd.DataFrame(numbers, columns=pd.Index(list(rng.choice(NAMES, 2, replace=False)), dtype=object)),
        "odd words": lambda: pd.DataFrame({"a": pd.Series(list(rng.choice(NAMES, N)), dtype=object)}),
        "not a table": object, "class": lambda: dict, "function": lambda: len,
    }  # fmt: skip
    try:
        import polars as pl
        import pyarrow as pa
    except ImportError:
        return made
    frame = {"a": numbers[:, 0], "w": words[:, 0].tolist()}
    chunked = pa.chunked_array(
        [pa.array(["x", None] * 6).dictionary_encode(), pa.array(["y", "x"] * 6).dictionary_encode()]
    )
    return made | {
        "polars": lambda: pl.DataFrame(frame), "lazy": lambda: pl.DataFrame(frame).lazy(),
        "polars list": lambda: pl.DataFrame({"a": [[1, 2]] * N}), "polars struct": lambda: pl.DataFrame({"a": [{"b": 1}] * N}),
        "polars date": lambda: pl.DataFrame({"a": pl.Series([datetime(2020, 1, 1, tzinfo=UTC)] * N)}), "polars null": lambda: pl.DataFrame({"a": [None] * N}),
        "polars enum": lambda: pl.DataFrame({"a": pl.Series(["x", "y"] * (N // 2), dtype=pl.Enum(["y", "x", "z"]))}),
        "polars series": lambda: pl.Series("a", numbers[:, 0]), "polars binary": lambda: pl.DataFrame({"a": [b"x"] * N}),
        "arrow": lambda: pa.table(frame), "arrow chunks": lambda: pa.table({"a": chunked}),
        "arrow null": lambda: pa.table({"a": pa.nulls(N)}), "arrow list": lambda: pa.table({"a": [[1]] * N}),
        "arrow double": lambda: pa.table([pa.array([1] * N)] * 2, names=["a", "a"]), "record batch": lambda: pa.record_batch(frame),
    }  # fmt: skip


def targets(rng):
    """Make targets, by name: the columns of the tables, and others."""
    column = {
        "classes": lambda: ["no", "yes"] * (N // 2), "numbers": lambda: np.arange(N) % 3, "one class": lambda: ["a"] * N,
        "booleans": lambda: [True, False] * (N // 2), "short": lambda: ["a", "b"], "missing": lambda: ["a", None] * (N // 2),
        "fractions": lambda: rng.normal(size=N), "many": lambda: np.arange(N), "huge": lambda: [1e300, 1] * (N // 2),
        "categories": lambda: pd.Series(["a", "b"] * (N // 2), dtype="category"), "two": lambda: np.zeros((N, 2)),
        "NA": lambda: pd.Series([pd.NA, 1] * (N // 2), dtype="Int64"), "infinite": lambda: [np.inf, 1.0] * (N // 2),
    }  # fmt: skip
    return {f"table: {name}": make for name, make in tables(rng).items()} | column


SCALARS = [
    None, True, 0, 1, -1, 2, 3, 10**30, 0.5, 1.5, -0.5, float("nan"), float("inf"), "x", "", "auto", "\ud800", "a\nb", b"x", [], [1],
    ["a"], (0,), {}, {"a": 1}, {1: 2}, {1, 2}, object(), len, int, Decimal("0.5"), Fraction(1, 3), 1j, pd.NA, pd.NaT,
    np.int64(-1), np.float64(0.5), np.str_("x"), np.bool_(True), np.array([1, 2]), np.array([]), np.nan, np.datetime64("2020-01-01"),
    "x" * 100_000, [[0, 1], [1, 0]], np.zeros((2, 2)), [None], ["a", "a"], timedelta(1),
]  # fmt: skip


class ArgumentFuzzer:
    """Calls with hostile arguments, drawn with a seed; `step` raises the exception of a call that is a fault."""

    def __init__(self, seed):
        self.seed = seed
        self.n_cases, self.n_valid = Counter(), Counter()
        self.failing_document = ""
        fixed = np.random.default_rng(0)
        self.X = fixed.normal(size=(60, 2)).round(1)
        self.y = np.where(self.X[:, 0] + fixed.normal(size=60) > 0, "yes", "no")
        fresh = fixed.normal(size=(60, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tree, self.grown = secateur.grow(self.X, self.y)
            self.held = secateur.count(self.tree, fresh, np.where(fresh[:, 0] > 0, "yes", "no"))
            self.model = TreeClassifier(prune=None, criterion="gini").fit(self.X, self.y)
            self.regressor = TreeRegressor(prune=None, criterion="squared_error").fit(self.X, self.X[:, 0])
        self.sequence = secateur.prune(self.tree, self.grown)

    def step(self):
        """Make one call; any exception but a clear error of the package is a fault."""
        rng = random.Random(f"{self.seed} {self.n_cases.total()}")
        kind, self.failing_document, call = self.case(rng)
        self.n_cases[kind] += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                call()
            except SecateurError as error:
                text = str(error)
                text.encode()
                assert text, "an empty message"
                assert len(text) < MAX_MESSAGE_CHARACTERS, f"a message of {len(text):,} characters"
                assert not re.search(r"\bnp\.\w+\(", text), text
                return
        self.n_valid[kind] += 1

    def case(self, rng):
        """Return the kind of a case, its description, and the call."""
        kind = rng.choice(["rows", "target", "weights", "parameter", "function", "method"])
        return kind, *getattr(self, f"_{kind}")(rng)

    def _table(self, rng):
        made = tables(np.random.default_rng(rng.randrange(1 << 30)))
        name = rng.choice(sorted(made))
        return name, made[name]

    def _target_of(self, rng):
        made = targets(np.random.default_rng(rng.randrange(1 << 30)))
        name = rng.choice(sorted(made))
        return name, made[name]

    def _rows(self, rng):
        name, make = self._table(rng)
        y = ["no", "yes"] * (N // 2)
        calls = {
            "fit": lambda: TreeClassifier(prune=None).fit(make(), y).predict(make()),
            "regress": lambda: TreeRegressor(prune=None).fit(make(), np.arange(N)).predict(make()),
            "grow": lambda: secateur.grow(make(), y), "encode": lambda: secateur.encode(make()),
            "predict": lambda: self.model.predict(make()), "proba": lambda: self.model.predict_proba(make()),
            "count": lambda: secateur.count(self.tree, make(), y), "explain": lambda: self.model.explain(make()),
            "score": lambda: self.model.score(make(), y), "holdout": lambda: TreeClassifier(prune="reduced-error").fit(self.X, self.y, X_holdout=make(), y_holdout=y),
            "certify": lambda: self.model.certified_on(make(), y), "evaluate": lambda: self.model.evaluate(make(), y),
            "schema": lambda: secateur.encode(make(), schema=self.tree.schema), "target": lambda: secateur.encode(make(), target=0),
        }  # fmt: skip
        what = rng.choice(sorted(calls))
        return f"{what} of rows: {name}", calls[what]

    def _target(self, rng):
        name, make = self._target_of(rng)
        X = np.arange(2.0 * N).reshape(N, 2)
        calls = {
            "fit": lambda: TreeClassifier(prune=None).fit(X, make()), "regress": lambda: TreeRegressor(prune=None).fit(X, make()),
            "grow": lambda: secateur.grow(X, make()), "count": lambda: secateur.count(self.tree, X, make()),
            "encode": lambda: secateur.encode(X, target=make()), "score": lambda: self.model.score(X, make()),
            "certify": lambda: self.model.certified_on(X, make()), "regressor": lambda: self.regressor.evaluate(X, make()),
        }  # fmt: skip
        what = rng.choice(sorted(calls))
        return f"{what} of target: {name}", calls[what]

    def _weights(self, rng):
        name, make = self._target_of(rng)
        X, y = np.arange(2.0 * N).reshape(N, 2), ["no", "yes"] * (N // 2)
        calls = {
            "fit": lambda: TreeClassifier(prune=None).fit(X, y, sample_weight=make()),
            "grow": lambda: secateur.grow(X, y, sample_weight=make()),
            "count": lambda: secateur.count(self.tree, X, y, sample_weight=make()),
            "encode": lambda: secateur.encode(X, sample_weight=make()),
        }
        what = rng.choice(sorted(calls))
        return f"{what} of weights: {name}", calls[what]

    def _parameter(self, rng):
        cls = rng.choice([TreeClassifier, TreeRegressor])
        name, value = rng.choice(sorted(cls().get_params())), rng.choice(SCALARS)
        if name in ("n_jobs", "verbose") and isinstance(value, int | np.integer):
            value = "x"  # numbers of threads are not hostile, and take all cores
        y = self.y if cls is TreeClassifier else self.X[:, 1]
        base = {} if rng.random() < 0.5 else {"cv": 2, "cv_repeats": 1}
        return f"{cls.__name__}({name}={value!a:.80})", lambda: cls(**(base | {name: value})).fit(self.X, y)

    def _function(self, rng):
        value, held = rng.choice(SCALARS), self.held
        rule = rng.choice(sorted(secateur.pruners.RULES))
        parameter = rng.choice(
            ["k", "m", "c", "delta", "cost", "penalty", "size", "labels", "accuracy", "confidence", "factor"]
        )
        calls = {
            "prune": lambda: secateur.prune(self.tree, self.grown, rule=value), "select": lambda: secateur.select(self.sequence, held, rule=value),
            "rule": lambda: secateur.prune(self.tree, self.grown, held, rule=rule, **{parameter: value}),
            "rule 1": lambda: secateur.prune(self.tree, self.grown, rule=rule, **{parameter: value}),
            "counts": lambda: secateur.prune(self.tree, value), "tree": lambda: secateur.prune(value, self.grown),
            "certify": lambda: secateur.certify(self.sequence, held, method=value), "delta": lambda: secateur.certify(self.sequence, held, delta=value),
            "certified": lambda: secateur.certify(value, held), "certifying": lambda: secateur.certify(self.sequence, value),
            "at": lambda: self.sequence.at(value), "with_leaves": lambda: self.sequence.with_leaves(value),
            "nominal": lambda: secateur.encode(self.X, nominal=value), "names": lambda: secateur.encode(self.X, names=value),
            "position": lambda: secateur.encode(self.X, target=value), "unseen": lambda: secateur.encode(self.X, unseen=value),
            "from_parents": lambda: secateur.Tree.from_parents(value), "cuts": lambda: secateur.Pruning.from_cuts(self.tree, value),
            "node_labels": lambda: secateur.Pruning.from_cuts(self.tree, [], node_labels=value),
            "Counts": lambda: secateur.Counts(self.tree, value), "load": lambda: secateur.load(value),
            "export_text": lambda: secateur.export_text(self.tree, self.grown, max_depth=value),
            "decimals": lambda: secateur.export_text(self.tree, self.grown, decimals=value),
            "feature_names": lambda: secateur.export_text(self.tree, self.grown, feature_names=value),
            "sample": lambda: secateur.count(self.tree, self.X, self.y, sample=value),
        }  # fmt: skip
        what = rng.choice(sorted(calls))
        more = f" {rule} {parameter}" if what.startswith("rule") else ""
        return f"{what}{more} with {value!a:.80}", calls[what]

    def _method(self, rng):
        value, model = rng.choice(SCALARS), rng.choice([self.model, self.regressor])
        calls = {
            "n_leaves": lambda: model.prune_to(n_leaves=value), "alpha": lambda: model.prune_to(alpha=value),
            "accuracy": lambda: model.prune_to(accuracy=value), "snip": lambda: model.snip(value),
            "explain index": lambda: model.explain(self.X, index=value), "wanted": lambda: model.explain(self.X, wanted=value),
            "actionable": lambda: model.explain(self.X, actionable=value), "explain delta": lambda: model.explain(self.X, delta=value),
            "favourable": lambda: model.reasons(self.X, favourable=value), "texts": lambda: self.model.reasons(self.X, texts=value),
            "reasons n": lambda: self.model.reasons(self.X, n=value), "may change": lambda: self.model.reasons(self.X, actionable=value),
            "owner": lambda: model.governance(owner=value), "date": lambda: model.governance(date=value),
            "monitor": lambda: model.governance(monitor=value), "report monitor": lambda: model.report(monitor=value),
            "dialect": lambda: model.export_sql(dialect=value), "table": lambda: model.export_sql(table=value),
            "column": lambda: model.export_sql(name=value), "key": lambda: model.export_sql(key=value),
            "positive": lambda: self.model.evaluate(self.X, self.y, positive=value), "title": lambda: model.report(title=value),
            "false_positive": lambda: self.model.evaluate(self.X, self.y, false_positive=value),
            "certified delta": lambda: self.model.certified_on(self.X, self.y, delta=value),
        }  # fmt: skip
        what = rng.choice(sorted(calls))
        return f"{type(model).__name__}: {what} with {value!a:.80}", calls[what]
