"""How long choosing a tree by cross-validation takes, beside the recipes of scikit-learn and rpart.

    python benchmarks/selection.py            all sizes (minutes: scikit-learn refits)
    python benchmarks/selection.py --quick    1,000 rows only
    python benchmarks/selection.py --share    only what default fits spend outside the growing kernels
    python benchmarks/selection.py --default [--data DIR]     only default fits beside rpart (files as in quality.py)

CPU time of one process, the least of several runs, compiled beforehand. scikit-learn's recipe
is the documented one: `cost_complexity_pruning_path`, then `cross_val_score` (10 folds) for
each of its penalties, duplicates and negative ones aside. Beyond 1,000 rows some of the penalties,
evenly spread over the list, are timed and the time is scaled up; the remark says how many, and
the error beside it is that of the best of those.
rpart is run by `Rscript` with xval=10, cp=0 and minsplit=2, that is, on the same full trees; its
time is that of the call in R. Test errors are of the tree of least cross-validated error ("0se")
on fresh rows. To reach: 500 times scikit-learn at 1,000 rows and more beyond, 5 times rpart at
10,000 and 10 times at 100,000, and all of it within 1.3 x 11 growths. The last tables are of
`TreeClassifier().fit`, two ways of growing: of 10,000 rows 10 % outside the kernels at most; and as fast as rpart
at 1,000 rows, 3 times at 10,000, 8 times at 100,000, not slower on german and adult.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _timing import cpu, table
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from secateur import TreeClassifier, grow
from secateur._kernels import grow as kernels
from secateur.core.model import Model
from secateur.model_selection import cross_validate
from secateur.routing.prediction import predict

SIZES = ((1_000, 10, None), (10_000, 20, 20), (100_000, 50, 3))  # rows, columns, penalties timed (None: all)
N_FOLDS = 10

R_CODE = """
library(rpart)
train <- read.csv("{train}", stringsAsFactors = TRUE); test <- read.csv("{test}", stringsAsFactors = TRUE)
train$y <- factor(train$y)
best <- Inf
for (i in 1:{repeats}) {{
  started <- proc.time()
  fit <- rpart(y ~ ., train, method = "class",
    control = rpart.control(cp = 0, minsplit = 2, minbucket = 1, xval = 10, maxdepth = 30,
      maxsurrogate = 0, maxcompete = 0))
  took <- proc.time() - started
  best <- min(best, took[["user.self"]] + took[["sys.self"]])
}}
errors <- fit$cptable[, "xerror"]
cp <- fit$cptable[which.min(errors), "CP"]
small <- prune(fit, cp = cp)
wrong <- mean(predict(small, test, type = "class") != test$y)
cat(best, wrong, sum(small$frame$var == "<leaf>"), "\\n")
"""


def main():
    if "--share" in sys.argv[1:]:
        share()
        return
    if "--default" in sys.argv[1:]:
        defaults(Path(sys.argv[sys.argv.index("--data") + 1]) if "--data" in sys.argv else None)
        return
    sizes = SIZES[:1] if "--quick" in sys.argv[1:] else SIZES
    warm_up()
    for n, d, n_timed in sizes:
        rows = []
        X, y = data(n, d, seed=0)
        fresh = data(20_000, d, seed=1)
        repeats = max(1, min(20, 100_000 // n))
        one, _ = cpu(lambda X=X, y=y: grow(X, y), repeats)
        seconds, ours = cpu(lambda X=X, y=y: cross_validate(X, y, select="0se"), repeats)
        wrong = np.mean(predicted(ours, fresh[0]) != fresh[1])
        rows.append([f"{n:,} x {d}", "secateur", clock(seconds), "", f"{100 * wrong:.2f} %", ours.pruning.n_leaves, ""])
        rows[-1][-1] = f"{seconds / one / (N_FOLDS + 1):.2f} x 11 growths"
        theirs, wrong, leaves, timed = of_sklearn(X, y, fresh, n_timed)
        ratio = f"{theirs / seconds:,.0f} x"
        rows.append(["", "scikit-learn", clock(theirs), ratio, f"{100 * wrong:.2f} %", leaves, timed])
        found = of_rpart(X, y, fresh, 3 if n <= 10_000 else 1)
        if isinstance(found, str):
            rows.append(["", "rpart", "-", "", "", "", found])
        else:
            ratio = f"{found[0] / seconds:,.1f} x"
            rows.append(["", "rpart", clock(found[0]), ratio, f"{100 * found[1]:.2f} %", int(found[2]), "xval=10"])
        table(["data", "program", "CPU time", "slower by", "test error", "leaves", "remark"], rows)
        print(flush=True)
    share()
    defaults(None)


def defaults(folder):
    """Default fits beside rpart, on the same rows."""
    sets = [(f"{n:,} x {d}", *data(n, d, seed=0)) for n, d, _ in SIZES]
    if folder is not None:
        from quality import read

        sets += [(name, *read(name, folder)) for name in ("german", "adult")]
    rows = []
    for name, X, y in sets:
        n = len(y)
        grown = []
        seconds, model = cpu(lambda X=X, y=y: TreeClassifier(n_jobs=1).fit(X, y), max(1, min(20, 30_000 // n)))
        cross_validate(
            X,
            y,
            criterion="auto",
            cost="m-estimate",
            cv_repeats="auto",
            progress=lambda *done, to=grown: to.append(done),
        )
        theirs = of_rpart(X, y, (X[:1000], y[:1000]), 5 if n <= 10_000 else 1)
        line = [name, clock(seconds), len(grown), model.get_n_leaves()]
        rows.append(
            [*line, "-", theirs, ""]
            if isinstance(theirs, str)
            else [*line, clock(theirs[0]), f"{theirs[0] / seconds:.1f} x", int(theirs[2])]
        )
    table(["default fit of", "CPU time", "trees", "leaves", "rpart, xval=10", "slower by", "leaves (0SE)"], rows)


def share():
    """What a default fit spends outside the growing kernels: preparing, assembling, paths, scores, objects."""
    spent, grow_subtree = [], kernels.grow_subtree

    def timed(*arguments):
        began = time.process_time()
        grown = grow_subtree(*arguments)
        spent.append(time.process_time() - began)
        return grown

    rows = []
    kernels.grow_subtree = timed
    try:
        for n, d in ((150, 4), (1_000, 10), (10_000, 20)):
            X, y = data(n, d, seed=0)
            found = []
            for _ in range(max(3, min(10, 20_000 // n))):
                spent.clear()
                seconds, _ = cpu(lambda X=X, y=y: TreeClassifier(n_jobs=1).fit(X, y), 1)
                found.append((seconds, sum(spent), len(spent)))
            seconds, inside, n_growths = min(found)
            each = [f"{1e6 * (seconds - inside) / n_growths:,.0f}", f"{100 * (1 - inside / seconds):.0f} %"]
            rows.append([f"{n:,} x {d}", clock(seconds), n_growths, clock(inside), *each])
    finally:
        kernels.grow_subtree = grow_subtree
    table(["default fit of", "CPU time", "growths", "in the kernels", "us outside a growth", "share"], rows)


def data(n, d, seed):
    """Two classes, three of the columns of use, a quarter of the labels beyond anybody's knowing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)


def warm_up():
    X, y = data(500, 5, seed=2)
    cross_validate(X, y)
    grow(X, y)
    large = data(70_000, 3, seed=2)  # from 65,536 rows on the top of a tree is grown by other kernels
    grow(*large, max_depth=3)
    cross_validate(*large, cv=2, max_depth=3)


def predicted(selection, X):
    return predict(Model(selection.pruning, selection.counts), X)


def of_sklearn(X, y, fresh, n_timed):
    """(CPU seconds of the whole recipe, test error, leaves, how it was timed)."""
    seconds, path = cpu(lambda: DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y), 1)
    alphas = np.unique(np.clip(path.ccp_alphas, 0, None))
    chosen = np.arange(len(alphas))
    if n_timed is not None and n_timed < len(alphas):
        chosen = np.linspace(0, len(alphas) - 1, n_timed).round().astype(int)
    scores = np.empty(len(chosen))

    def refits():
        for i, at in enumerate(chosen):
            model = DecisionTreeClassifier(random_state=0, ccp_alpha=alphas[at])
            scores[i] = cross_val_score(model, X, y, cv=N_FOLDS).mean()

    took, _ = cpu(refits, 1)
    best = alphas[chosen[np.flatnonzero(scores == scores.max())[-1]]]
    model = DecisionTreeClassifier(random_state=0, ccp_alpha=best).fit(X, y)
    timed = f"{len(chosen):,} of {len(alphas):,} penalties timed"
    return seconds + took * len(alphas) / len(chosen), 1 - model.score(*fresh), model.get_n_leaves(), timed


def of_rpart(X, y, fresh, repeats):
    """(CPU seconds, test error, leaves), or why not."""
    program = shutil.which("Rscript")
    if program is None:
        return "skipped: no Rscript on this machine"
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder, "train.csv"), Path(folder, "test.csv")
        for path, (rows, labels) in ((train, (X, y)), (test, fresh)):
            frame = pd.DataFrame(rows)
            frame.columns = [f"x{j}" for j in range(frame.shape[1])]
            frame.assign(y=labels).to_csv(path, index=False)
        code = R_CODE.format(train=train.as_posix(), test=test.as_posix(), repeats=repeats)
        done = subprocess.run([program, "-e", code], capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no message"
        return f"skipped: {last}"
    return tuple(float(word) for word in done.stdout.split()[-3:])


def clock(seconds):
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"


if __name__ == "__main__":
    main()
