"""Compare two classifiers on the same fresh rows: McNemar's exact test, and exact limits on the difference of errors.

The comparison depends on the discordant rows only: those that exactly one of the classifiers predicts wrongly. With

    pi      the probability that a row is discordant
    theta   the probability that the first classifier is the one that is wrong, given that a row is discordant

the difference of the errors is pi (2 theta - 1). Given the number of discordant rows D, the number of those that the
first classifier predicts wrongly is binomial with probability theta, and D is binomial with probability pi. Exact
limits on both (Clopper and Pearson), theta at nine tenths of delta and pi at one tenth, hold at once with probability
1 - delta, and so does the range of pi (2 theta - 1) within them. Most of delta goes to theta, because theta decides the
sign: the limits exclude 0 exactly if the p-value is below nine tenths of delta.
"""

import hashlib
import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .._utils.arrays import Bools, Labels, Rows
from .._utils.checks import check_int
from ..core import Counts, EvaluationLog, Model, Pruning
from ..data.encoding import encode
from ..data.table import Table
from ..errors import Argument, LeakageError, ParameterError, UnsupportedError, escape_unprintable, show
from ..routing import count
from ..routing.prediction import predict_leaf
from ..statistics.repeats import RepeatRule
from ..statistics.tails import binomial_upper, check_delta, log_binomial_tail
from ._fresh import freshness
from ._predictions import compare_labels

SHARE_OF_THETA = 0.9  # of delta

# The opponents with which prunings of a tree were compared on each sample: by the identity of the sample, hashes of the
# rows that opponents predict wrongly. Of many opponents, one looks better by chance.
_opponents_of_log: "WeakKeyDictionary[EvaluationLog, dict[bytes, set[bytes]]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class ModelComparison:
    """The comparison of two classifiers on the same rows; `print` gives a sentence.

    Parameters
    ----------
    names : (str, str)
        Names of both classifiers.
    n : int
        Number of rows.
    errors : (int, int)
        Number of rows that each of them predicts wrongly.
    discordant : (int, int)
        Number of rows that only the first, and only the second, predicts wrongly.
    p_value : float
        P-value of McNemar's exact test. If both errors are equal, this is the probability that the two numbers of
        `discordant` differ by as much as they do, or by more.
    difference : float
        The error rate of the first minus that of the second, on these rows.
    lower, upper : float
        With probability `1 - delta`, the difference on new rows is between these limits.
    delta : float
        Probability, over samples, that the difference on new rows is outside these limits.
    freshness : str
        For each classifier, with which samples the rows were compared, or why they could not be compared.
    is_checked : bool
        Whether rows that were used to make one of the classifiers would have been recognised.

    Examples
    --------
    >>> from secateur import compare_models
    >>> y = ["no"] * 50 + ["yes"] * 50
    >>> comparison = compare_models(["no"] * 60 + ["yes"] * 40, ["no"] * 51 + ["yes"] * 49, None, y)
    >>> comparison.errors, comparison.discordant, round(comparison.p_value, 4), comparison.better
    ((10, 1), (9, 0), 0.0039, 'b')
    """

    names: tuple[str, str]
    n: int
    errors: tuple[int, int]
    discordant: tuple[int, int]
    p_value: float
    difference: float
    lower: float
    upper: float
    delta: float
    freshness: str = ""
    is_checked: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name, with the better classifier and the sentence, as plain values."""
        values = asdict(self)
        for name in ("names", "errors", "discordant"):
            values[name] = list(values[name])
        return {**values, "better": self.better, "sentence": str(self)}

    @property
    def better(self) -> str | None:
        """The name of the classifier with the lower error, if the limits exclude that the errors are equal; or None."""
        if self.lower <= 0 <= self.upper:
            return None
        return self.names[1] if self.lower > 0 else self.names[0]

    def __str__(self) -> str:
        first, second = self.names
        rates = [f"{100 * errors / self.n:.3g} %" for errors in self.errors]
        lower, upper = math.floor(self.lower * 1e4) / 100, math.ceil(self.upper * 1e4) / 100
        assumption = "independent and identically distributed"
        if not self.is_checked:
            assumption = f"independent, identically distributed and not used before ({self.freshness})"
        verdict = "the sign is open" if self.better is None else f"{self.better} is better"
        return escape_unprintable(
            f"On {self.n:,} rows, {first} errs in {rates[0]} and {second} in {rates[1]}: {first} alone is wrong in "
            f"{self.discordant[0]:,}, {second} alone in {self.discordant[1]:,} (McNemar's exact test: "
            f"p = {self.p_value:.3g}). With {100 * (1 - self.delta):.6g} % confidence the error of {first} minus that "
            f"of {second} on new rows like these is between {lower:g} and {upper:g} percentage points, so {verdict}; "
            f"assumes rows are {assumption}."
        )


class Prediction(NamedTuple):
    """Which rows a classifier predicts wrongly, and what is known about its use of the rows.

    For a tree of this package, `pruning` and `counts` are what the log of the tree will record as evaluated.
    """

    is_wrong: Bools
    freshness: str
    is_checked: bool
    pruning: Pruning | None = None
    counts: Counts | None = None


def compare_models(
    a: Any,
    b: Any,
    X: Rows,
    y: Labels,
    *,
    delta: float = 0.05,
    names: tuple[str, str] = ("a", "b"),
    n_comparisons: int = 1,
    repeats: RepeatRule = "errors",
) -> ModelComparison:
    """Compare two classifiers on the same fresh rows, such as the deployed one and its successor.

    Parameters
    ----------
    a, b : classifier, Model, or array-like
        Fitted classifiers of any library, or their predictions for the rows.
    X : array or data frame
        Rows that had no part in making either of them. It may be None if both are given by their predictions. Trees of
        this package ignore columns that they were not grown on, so two trees may have different columns.
    y : array-like
        The class of each row.
    delta : float
        Probability, over samples, that the difference of the errors is outside the limits.
    names : (str, str)
        How the result calls the classifiers.
    n_comparisons : int
        The number of comparisons on these rows, such as challengers of one champion, stated beforehand. Each is made at
        delta divided by this number, so that all their limits hold at once.
    repeats : "errors" or "independent"
        "errors": rows are refused if the numbers of rows that occur once, twice and so on show that rows were copied.
        "independent": you state that equal rows are independent draws.

    Returns
    -------
    ModelComparison
        The discordant rows, the p-value and the limits on the difference; `print` gives a sentence.

    Raises
    ------
    LeakageError
        If one of the classifiers is a tree of this package, and the rows were used to make it, were evaluated on other
        prunings of it, or were copied. For other classifiers this cannot be checked, and the result states it. Also if
        such a tree was compared on these rows with more opponents than `n_comparisons`.

    Notes
    -----
    The limits are exact: the difference is pi (2 theta - 1), where pi is the probability that exactly one classifier is
    wrong and theta the probability that it is `a`. Both have Clopper-Pearson limits, at a tenth and nine tenths of
    delta.

    Examples
    --------
    >>> import numpy as np
    >>> from secateur import TreeClassifier, compare_models
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
    >>> stump = TreeClassifier(select=2).fit(X[:300], y[:300])
    >>> tree = TreeClassifier(cv=3).fit(X[:300], y[:300])
    >>> result = compare_models(stump, tree, X[300:], y[300:], names=("stump", "tree"))
    >>> result.better, result.is_checked
    ('tree', True)
    """
    delta = check_delta(delta)
    if len(names) != 2 or not all(isinstance(name, str) and name for name in names) or names[0] == names[1]:
        raise ParameterError(Argument("names", names), "; two different names are needed")
    with hold_logs(a, b):
        first, second = (
            _predict(classifier, name, X, y, delta, repeats) for classifier, name in zip((a, b), names, strict=True)
        )
        return compare_predictions(first, second, names, delta, n_comparisons)


@contextmanager
def hold_logs(*classifiers: Any) -> Iterator[None]:
    """Hold the locks of the evaluation logs of all trees, so that no other thread can use the rows as fresh."""
    models = [getattr(classifier, "model_", classifier) for classifier in classifiers]
    locks = {id(log.lock): log.lock for log in (m.tree.evaluation_log for m in models if isinstance(m, Model))}
    with ExitStack() as stack:
        for _, lock in sorted(
            locks.items()
        ):  # always in the same order, so that two threads cannot wait for each other
            stack.enter_context(lock)
        yield


def compare_predictions(
    first: Prediction, second: Prediction, names: tuple[str, str], delta: float, n_comparisons: int = 1
) -> ModelComparison:
    """Return the comparison of two classifiers from the rows that each of them predicts wrongly.

    The rows are recorded as evaluated here, after they were found fresh for both: both may be prunings of one tree.
    """
    delta /= check_int("n_comparisons", n_comparisons, 1)
    pairs = ((first, second, names[0]), (second, first, names[1]))
    for prediction, opponent, name in pairs:
        _check_opponents(prediction, opponent, name, n_comparisons)
    for prediction, opponent, _ in pairs:
        _record_comparison(prediction, opponent)
    only_first = int(np.count_nonzero(first.is_wrong & ~second.is_wrong))
    only_second = int(np.count_nonzero(second.is_wrong & ~first.is_wrong))
    n = len(first.is_wrong)
    lower, upper = limit_difference(only_first, only_second, n, delta)
    texts = [f"{name}: {one.freshness}" for name, one in zip(names, (first, second), strict=True)]
    return ModelComparison(
        names=(names[0], names[1]),
        n=n,
        errors=(int(first.is_wrong.sum()), int(second.is_wrong.sum())),
        discordant=(only_first, only_second),
        p_value=mcnemar_p_value(only_first, only_second),
        difference=(only_first - only_second) / n,
        lower=lower,
        upper=upper,
        delta=delta,
        freshness="; ".join(texts),
        is_checked=first.is_checked and second.is_checked,
    )


def _opponents(prediction: Prediction) -> set[bytes]:
    """Return the opponents with which the tree was compared on the sample; a set to which more can be added."""
    if prediction.pruning is None or prediction.counts is None:
        return set()
    of_log = _opponents_of_log.setdefault(prediction.pruning.tree.evaluation_log, {})
    return of_log.setdefault(prediction.counts.sample_id, set())


def _hash_of_wrong_rows(prediction: Prediction) -> bytes:
    return hashlib.blake2b(np.packbits(prediction.is_wrong).tobytes(), digest_size=16).digest()


def _check_opponents(prediction: Prediction, opponent: Prediction, name: str, n_comparisons: int) -> None:
    """Raise `LeakageError` if a tree would be compared with more opponents on the same rows than were stated."""
    opponents = _opponents(prediction) | {_hash_of_wrong_rows(opponent)}
    if len(opponents) > n_comparisons:
        raise LeakageError(
            f"{name} was compared with {len(opponents) - 1:,} other classifier"
            f"{'' if len(opponents) == 2 else 's'} on these rows; of several comparisons, one can look good by chance: "
            "compare on other rows, or state the number of all comparisons beforehand, ",
            Argument("n_comparisons", len(opponents)),
        )


def _record_comparison(prediction: Prediction, opponent: Prediction) -> None:
    """Record that the rows were evaluated on a tree, and with which opponent it was compared."""
    if prediction.pruning is not None and prediction.counts is not None:
        _opponents(prediction).add(_hash_of_wrong_rows(opponent))
        prediction.pruning.tree.evaluation_log.record_pruning(prediction.counts, prediction.pruning)


def mcnemar_p_value(only_first: int, only_second: int) -> float:
    """Return the p-value of McNemar's exact two-sided test, from the numbers of discordant rows.

    Examples
    --------
    >>> round(mcnemar_p_value(5, 0), 6), mcnemar_p_value(4, 4)
    (0.0625, 1.0)
    """
    n_discordant = only_first + only_second
    if n_discordant == 0:
        return 1.0
    log_tail = log_binomial_tail(min(only_first, only_second), n_discordant, 0.5)
    return min(1.0, 2 * math.exp(log_tail))


def limit_difference(only_first: int, only_second: int, n: int, delta: float = 0.05) -> tuple[float, float]:
    """Return exact lower and upper limits on the difference of two errors, from the numbers of discordant rows.

    Examples
    --------
    >>> lower, upper = limit_difference(30, 10, 1000, 0.05)
    >>> round(lower, 4), round(upper, 4)
    (0.0042, 0.0455)
    """
    n_discordant = only_first + only_second
    log_delta_theta = math.log(SHARE_OF_THETA * delta / 2)
    log_delta_pi = math.log((1 - SHARE_OF_THETA) * delta / 2)
    upper_theta, lower_theta = 1.0, 0.0
    if n_discordant:
        upper_theta = binomial_upper(only_first, n_discordant, log_delta_theta)
        lower_theta = 1 - binomial_upper(only_second, n_discordant, log_delta_theta)
    upper_pi = binomial_upper(n_discordant, n, log_delta_pi)
    lower_pi = 1 - binomial_upper(n - n_discordant, n, log_delta_pi)
    # The largest and the smallest value of pi (2 theta - 1) within these limits.
    upper_slope, lower_slope = 2 * upper_theta - 1, 2 * lower_theta - 1
    upper = upper_slope * (upper_pi if upper_slope > 0 else lower_pi)
    lower = lower_slope * (upper_pi if lower_slope < 0 else lower_pi)
    return lower, upper


def _predict(classifier: Any, name: str, X: Rows, y: Labels, delta: float, repeats: RepeatRule) -> Prediction:
    """Return which rows a classifier predicts wrongly; raise `LeakageError` if the rows are not fresh for it."""
    fitted = getattr(classifier, "model_", classifier)
    if isinstance(fitted, Model):
        check_comparable(fitted, name)
        table = encode(X, target=y, schema=fitted.tree.schema, strict=False)
        return predict_by_tree(fitted, name, table, delta, repeats)
    predictions = classifier
    if hasattr(classifier, "predict"):
        if X is None:
            raise ParameterError(Argument("X", None), f" with a classifier {show(name)}; pass the rows")
        predictions = classifier.predict(X)
    elif isinstance(classifier, type) or not hasattr(classifier, "__len__"):
        raise UnsupportedError(
            f"{name} is a {type(classifier).__name__}; a fitted classifier with predict, or its predictions are needed"
        )
    is_wrong = compare_labels(y, predictions, f"the predictions of {name}")
    return Prediction(is_wrong, "not checked, as only its predictions are known", is_checked=False)


def check_comparable(model: Model, name: str) -> None:
    """Raise `UnsupportedError` for a tree that predicts numbers, or was fitted on groups of rows."""
    if not model.is_classifier:
        raise UnsupportedError(f"{name} predicts numbers; classifiers can be compared")
    if model.metadata.get("groups"):
        raise UnsupportedError(
            f"{name} was fitted on groups of rows that belong together; a paired comparison needs independent rows"
        )


def predict_by_tree(model: Model, name: str, table: Table, delta: float, repeats: RepeatRule) -> Prediction:
    """Return which rows of a table a tree predicts wrongly; raise `LeakageError` if the rows are not fresh for it."""
    counts = count(model.tree, table, sample="compare")
    found = freshness(model.pruning, counts)
    if not found.is_fresh:
        raise LeakageError(f"{name}: {found.leak or found.prior_evaluation}")
    rows = found.certifying_rows(counts, "a comparison", delta, repeats=repeats, warns=False)
    if rows.repeats.verdict == "copies" and rows.repeats.n_errors:
        raise LeakageError(
            f"{name}: {rows.repeats.n_errors:,} of the {rows.n:,} rows are copies of rows that made the tree, or of "
            "one another: drop duplicate rows before the rows are divided or, if equal rows are independent draws, "
            "pass ",
            Argument("repeats", "independent"),
        )
    is_wrong = model.pruning.labels[predict_leaf(model, table)] != table.required_target
    return Prediction(is_wrong, found.text, found.is_checked, model.pruning, counts)
