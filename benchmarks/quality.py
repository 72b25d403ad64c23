"""Test error and size of our default tree beside scikit-learn's and reduced error pruning, on real data.

    python benchmarks/quality.py --data DIR                      the 25 sets (some ten minutes)
    python benchmarks/quality.py --data DIR --sets iris,glass    some of them
    python benchmarks/quality.py                                 the two sets that scikit-learn brings

Options: --folds 5, --seed 0 (of the outer folds), --rows N (at most so many, drawn with the seed),
--jobs N (threads for our trees), --out DIR (results of each set are kept there
and not computed again; the tables are written there as quality.csv and quality.md), --fresh.

DIR holds NAME.csv.gz, the class in the last column, and SCHEMA.json with the kind of every column.
The outer folds are stratified, dealt with a fixed seed and the same for all methods; every choice is
made inside the training folds. Columns of categories are native for us and one-hot for scikit-learn.

    secateur         TreeClassifier() as it is
    sklearn          DecisionTreeClassifier(), unpruned
    sklearn 0SE/1SE  the alphas of the whole tree's cost-complexity path at their geometric means, 10
                     stratified folds, the alpha of least error, or the largest within one standard
                     error of it. One fit a fold: the path of that tree gives what a refit at each
                     alpha would (tests/project/test_quality.py compares with refits)
    rpart 0SE/1SE    with --rpart, rpart of R by Rscript, xval=10, cp=0, minsplit=2: the cp of least error, or the
                     largest within one standard error of it; categories are factors
    REP              our gini tree on two thirds of the training rows, reduced error pruning on the rest
"""

import argparse
import csv
import json
import shutil
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import secateur
from secateur import TreeClassifier
from secateur.interop import path_sklearn

SETS = (
    "digits", "wdbc", "australian", "balance-scale", "breast-cancer", "car", "diabetes", "german", "glass",
    "heart-statlog", "ionosphere", "iris", "led24", "new-thyroid", "page-blocks", "segment", "splice", "tic-tac-toe",
    "vehicle", "vote", "waveform", "optdigits", "pendigits", "nursery", "letter",
)  # fmt: skip
BROUGHT = ("digits", "wdbc")  # by scikit-learn itself
RPART = ("rpart 0SE", "rpart 1SE")
METHODS = ("secateur", "sklearn", "sklearn 0SE", "sklearn 1SE", "REP", *RPART)
FIELDS = ("set", "fold", "method", "error", "leaves", "cpu_seconds", "version")
R_CODE = """
suppressMessages(library(rpart))
train <- read.csv("train.csv", stringsAsFactors = TRUE); test <- read.csv("test.csv", stringsAsFactors = TRUE)
for (name in names(test)) if (is.factor(train[[name]]))
  test[[name]] <- factor(test[[name]], levels = levels(train[[name]]))
train$y <- factor(train$y)
started <- proc.time()
fit <- rpart(y ~ ., train, method = "class", control = rpart.control(cp = 0, minsplit = 2, minbucket = 1, xval = 10,
  maxcompete = 0))
took <- proc.time() - started
table <- fit$cptable
best <- which.min(table[, "xerror"])
for (k in 0:1) {
  limit <- table[best, "xerror"] + k * table[best, "xstd"]
  small <- prune(fit, cp = table[min(which(table[, "xerror"] <= limit)), "CP"])
  said <- as.character(predict(small, test, type = "class"))
  wrong <- mean(is.na(said) | is.na(test$y) | said != as.character(test$y))
  cat(wrong, sum(small$frame$var == "<leaf>"), took[["user.self"]] + took[["sys.self"]], "\\n")
}
"""
TO_REACH = "to reach: secateur at most 13.9 % with at most 18 leaves, below sklearn 0SE in both"


def main():
    warnings.filterwarnings("ignore", "The least populated class")  # it is dealt as far as it goes
    chosen = arguments()
    names = chosen.sets.split(",") if chosen.sets else list(SETS if chosen.data else BROUGHT)
    rows = []
    for name in names:
        kept = chosen.out / f"{name}-{chosen.folds}-{chosen.seed}.csv" if chosen.out else None
        if kept is not None and kept.exists() and not chosen.fresh:
            with kept.open(newline="", encoding="utf-8") as file:
                found = list(csv.DictReader(file))
        else:
            X, y = read(name, chosen.data)
            at = np.random.default_rng(chosen.seed).permutation(len(y))[: chosen.rows]
            X, y = X.iloc[at].reset_index(drop=True), y[at]
            found = runs(
                name, X, y, n_folds=chosen.folds, n_jobs=chosen.jobs, seed=chosen.seed, with_rpart=chosen.rpart
            )
            if kept is not None:
                write_csv(kept, found)
        rows += found
        print(set_line(name, found), flush=True)
    text = table(rows)
    print("\n" + text)
    if chosen.out:
        write_csv(chosen.out / "quality.csv", rows)
        (chosen.out / "quality.md").write_text(text + "\n", encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", help="names with commas between them")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--rpart", action="store_true")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--fresh", action="store_true", help="compute again what --out holds already")
    chosen = parser.parse_args()
    if chosen.out:
        chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def read(name, folder):
    """(X, y): a data frame with categorical columns where the schema says nominal, and the class of each row."""
    if name in BROUGHT:
        from sklearn.datasets import load_breast_cancer, load_digits

        brought = (load_digits if name == "digits" else load_breast_cancer)(as_frame=True)
        return brought.data, brought.target.astype(str).to_numpy(object)
    if folder is None:
        raise SystemExit(f"{name} is read from a file; name its folder with --data")
    schema = json.loads((folder / "SCHEMA.json").read_text(encoding="utf-8"))
    if name not in schema:
        raise SystemExit(f"{name} is not in {folder / 'SCHEMA.json'}; it has {', '.join(sorted(schema))}")
    frame = pd.read_csv(folder / f"{name}.csv.gz", dtype=str, keep_default_na=False, na_values=[""])
    y = frame.pop(frame.columns[-1]).to_numpy(object)
    for column, kind in schema[name]["columns"].items():
        if kind == "numeric":
            frame[column] = pd.to_numeric(frame[column])
        else:
            frame[column] = pd.Categorical(frame[column], categories=kind["nominal"])
    return frame, y


def runs(name, X, y, *, n_folds, n_jobs, seed=0, with_rpart=False):
    """One record for each method and outer fold."""
    found = []
    coded = one_hot(X)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for fold, (train, test) in enumerate(folds.split(coded, y)):
        for method, fit in methods(X, coded, y, train, n_jobs).items():
            began = time.process_time()
            model, rows, n_leaves = fit()
            spent = time.process_time() - began
            error = float(np.mean(model.predict(rows(test)) != y[test]))
            values = (name, fold, method, error, int(n_leaves), round(spent, 2), secateur.__version__)
            found.append(dict(zip(FIELDS, values, strict=True)))
        for method, values in zip(RPART, of_rpart(X, y, train, test), strict=True) if with_rpart else ():
            found.append(dict(zip(FIELDS, (name, fold, method, *values, "rpart"), strict=True)))
    return found


def of_rpart(X, y, train, test):
    """(error, leaves, CPU seconds) of 0SE and 1SE."""
    with tempfile.TemporaryDirectory() as folder:
        for file, rows in (("train", train), ("test", test)):
            X.iloc[rows].set_axis([f"x{j}" for j in range(X.shape[1])], axis=1).assign(y=y[rows]).to_csv(
                Path(folder, f"{file}.csv"), index=False
            )
        done = subprocess.run(
            [shutil.which("Rscript") or "Rscript", "-e", R_CODE], cwd=folder, capture_output=True, text=True, check=True
        )
    return [(float(a), int(b), float(c)) for a, b, c in (line.split() for line in done.stdout.splitlines()[-2:])]


def methods(X, coded, y, train, n_jobs):
    """Name to a function that returns (fitted model, rows of the kind it takes, leaves)."""

    def ours(**parameters):
        model = TreeClassifier(random_state=0, n_jobs=n_jobs, **parameters).fit(X.iloc[train], y[train])
        return model, X.iloc.__getitem__, model.get_n_leaves()

    def theirs(**parameters):
        model = DecisionTreeClassifier(random_state=0, **parameters).fit(coded[train], y[train])
        return model, coded.__getitem__, model.get_n_leaves()

    return {
        "secateur": ours,
        "sklearn": theirs,
        "sklearn 0SE": lambda: theirs(ccp_alpha=chosen_alpha(coded[train], y[train], n_errors=0)),
        "sklearn 1SE": lambda: theirs(ccp_alpha=chosen_alpha(coded[train], y[train], n_errors=1)),
        "REP": lambda: ours(criterion="gini", prune="reduced-error", holdout=1 / 3),
    }


def one_hot(X):
    """Numbers for scikit-learn: a column for each category that occurs, and one for gaps among them."""
    parts = []
    for column in X.columns:
        values = X[column]
        if isinstance(values.dtype, pd.CategoricalDtype):
            parts.append(pd.get_dummies(values.cat.remove_unused_categories(), dummy_na=values.isna().any()))
        else:
            parts.append(values)
    return np.column_stack([np.asarray(part, np.float32) for part in parts])


def chosen_alpha(X, y, *, n_errors, n_folds=10):
    """The ccp_alpha that the recipe takes: the largest within `n_errors` standard errors of the least error."""
    alphas = path_sklearn(DecisionTreeClassifier(random_state=0).fit(X, y)).ccp_alphas
    middles = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
    wrong = np.zeros(len(middles))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        fitted = DecisionTreeClassifier(random_state=0).fit(X[train], y[train])
        wrong += errors_at(fitted, X[test], y[test], middles)
    error = wrong / len(y)
    best = np.flatnonzero(error == error.min())[-1]  # the smallest tree of equals
    limit = error[best] + n_errors * np.sqrt(error[best] * (1 - error[best]) / len(y))
    at = np.flatnonzero(error <= limit)[-1]
    return float(middles[at]) if np.isfinite(middles[at]) else float(2 * alphas[-1] + 1)  # the root alone


def errors_at(fitted, X, y, alphas):
    """Errors on (X, y) of the tree pruned at each alpha, from one pass of the rows."""
    path = path_sklearn(fitted)
    answers = fitted.classes_[fitted.tree_.value[:, 0, :].argmax(axis=1)]
    visits = fitted.decision_path(X).tocoo()
    is_wrong = answers[visits.col] != y[visits.row]
    by_node = np.bincount(visits.col, is_wrong, minlength=fitted.tree_.node_count)
    # The nodes of a depth-first tree are in pre-order, as ours are, so one array serves both.
    assert np.array_equal(path.sequence.tree.is_leaf, fitted.tree_.children_left < 0)
    members = path.sequence.costs_on(by_node)
    return members[np.searchsorted(path.ccp_alphas, alphas, side="right") - 1]


def methods_in(rows):
    return [method for method in METHODS if any(row["method"] == method for row in rows)]


def of_method(rows, method, field):
    return [float(row[field]) for row in rows if row["method"] == method]


def set_line(name, rows):
    """One line for a set: error with its deviation over the folds, and leaves, for each method."""
    parts = []
    for method in methods_in(rows):
        errors = [100 * error for error in of_method(rows, method, "error")]
        deviation = statistics.stdev(errors) if len(errors) > 1 else 0.0
        leaves = statistics.mean(of_method(rows, method, "leaves"))
        parts.append(f"{statistics.mean(errors):5.2f} ± {deviation:4.2f} / {leaves:6.1f}")
    return f"| {name:15} | " + " | ".join(parts) + " |"


def table(rows):
    """The sets and their summary as Markdown: mean error, geometric mean over sets of the mean leaves."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    shown = methods_in(rows)
    lines = [
        "Test error % ± deviation over the folds / mean leaves.",
        "",
        f"| {'set':15} | " + " | ".join(f"{method:>21}" for method in shown) + " |",
        "|---" * (len(shown) + 1) + "|",
        *(set_line(name, [row for row in rows if row["set"] == name]) for name in names),
    ]
    summary, seconds = [], []
    for method in methods_in(rows):
        of = {name: [row for row in rows if row["set"] == name] for name in names}
        error = statistics.mean(100 * statistics.mean(of_method(of[name], method, "error")) for name in names)
        leaves = statistics.geometric_mean(statistics.mean(of_method(of[name], method, "leaves")) for name in names)
        summary.append(f"{error:5.2f}        / {leaves:6.1f}")
        seconds.append(f"{sum(of_method(rows, method, 'cpu_seconds')):19.1f} s")
    title = f"mean of {len(names)}"
    lines += [f"| {title:15} | " + " | ".join(summary) + " |", f"| {'CPU time':15} | " + " | ".join(seconds) + " |"]
    return "\n".join([*lines, "", TO_REACH if set(names) == set(SETS) else "Not the whole list of sets."])


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
