"""Update a deployed tree on new rows with the fewest changes, and certify the update on fresh rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from .._utils.arrays import Floats, Labels, Rows
from .._utils.checks import check_int, check_name
from .._utils.warn import warn
from ..certifiers import fixed_sequence
from ..core import Bound, Counts, Model, Pruning, SampleUsage, as_model
from ..data.encoding import encode
from ..data.groups import GroupHashes, hash_groups, split_off_groups
from ..data.table import Table
from ..errors import Argument, DataError, ParameterError, UnsupportedError
from ..model_selection._certify_model import check_groups_given
from ..pruners import ChangeFront
from ..routing import count
from ..statistics.freshness import warn_of_shared_rows
from ..statistics.repeats import RepeatRule, Repeats
from ._choice import N_STANDARD_ERRORS, choose_member, cross_validated_errors
from ._fronts import FrontMaker, leaves_to_grow
from ._words import Change, describe_changes

MAX_SHOWN_MEMBERS = 12
MAX_SHOWN_CHANGES = 20
MIN_ROWS = 2  # cross-validation predicts each row without its fold


def update(
    model: Any,
    X: Rows,
    y: Labels = None,
    *,
    max_changes: int | None = None,
    target_error: float | None = None,
    distance: Literal["nodes", "rows"] = "nodes",
    select: Literal["1se", "0se"] = "1se",
    cv: int = 10,
    regrow: bool | Sequence[int] = False,
    convex: bool | None = None,
    groups: Labels = None,
    sample: str = "update",
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> "Update":
    """Return how a deployed tree can follow new rows by as few changes as possible.

    The tests of the grown tree stay. Nodes that were cut can be split again as they were grown, splits can become
    leaves, and leaves can predict another class. With `regrow`, leaves can also be split by new tests.

    Parameters
    ----------
    model : fitted classifier, Model, or tuple of parts
        The deployed tree.
    X : array, data frame, path or Table
        New rows, with the columns of the model.
    y : array or column name
        The class of each new row.
    max_changes : int, optional
        Largest number of changes. Without `target_error`, the tree with the fewest errors on the new rows is chosen.
    target_error : float, optional
        Choose the fewest changes whose cross-validated error on the new rows is at most this share. If there is none,
        there is a warning.
    distance : "nodes" or "rows"
        What a change is: a node that becomes a split or a leaf, comes, goes, or is a leaf with another class; or a new
        row whose prediction changes.
    select : "1se" or "0se"
        Without `max_changes` and `target_error`: choose the fewest changes within one standard error of the lowest
        cross-validated error, or those of lowest error.
    cv : int
        Number of folds of the new rows by which members of the front are compared.
    regrow : bool, or list of int
        Whether to grow new subtrees on the new rows, below all leaves of the deployed tree or below the named ones, if
        no pruning of the grown tree has a cross-validated error of at most `target_error`; without a target, always.
    convex : bool, optional
        Whether to consider only the convex part of the front; see `secateur.pruners.fewest_changes`.
    groups : array or column name, optional
        The group of each row, if rows belong together: the rows of a group are in one fold.
    sample : str
        Name of the new rows as a sample.
    random_state : int
        Seed for the folds.
    progress : callable, optional
        Called with (folds evaluated, folds).

    Returns
    -------
    Update
        The front of errors against changes, with the choice. `update.model()` is the updated tree.

    Notes
    -----
    The new rows choose the tree, so they cannot certify it: `Update.certify` takes rows that had no part in this. Class
    probabilities remain those of the growing rows; if new subtrees are grown, they are those of the new rows.

    Examples
    --------
    >>> import numpy as np, secateur
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(900, 1))
    >>> old, new = slice(0, 300), slice(300, 900)
    >>> y = np.where(X[:, 0] > 0.5, "bad", "good")
    >>> y[new] = np.where(X[new, 0] > 0.5, "bad", "fair")
    >>> y[5] = "fair"
    >>> model = secateur.TreeClassifier(select=2).fit(X[old], y[old])
    >>> changed = secateur.update(model, X[new], y[new])
    >>> changed.n_changes, round(changed.error, 3)
    (1, 0.002)
    >>> print(changed.changes()[0])
    the rule IF x0 <= 0.5 now says fair (before: good)
    """
    _check_settings(max_changes, target_error, select, cv)
    deployed = as_model(model, done="updated")
    _check_can_update(deployed)
    leaves = () if regrow is False else leaves_to_grow(deployed, regrow)
    X, labels = split_off_groups(X, groups)
    table = encode(X, schema=deployed.tree.schema, target=y)
    if table.n_rows < MIN_ROWS:
        raise DataError(f"{table.n_rows} new row is given; at least {MIN_ROWS} are needed to compare changes")
    counts = count(deployed.tree, table, sample=sample)
    warn_of_shared_rows(deployed.tree.history, counts, "to update the tree")
    hashes = None if labels is None else hash_groups(labels, table.n_rows)
    settings = _Settings(max_changes, target_error, select, cv, convex, random_state, hashes, progress)
    found = None
    if not leaves or target_error is not None:
        found = _update(FrontMaker(deployed, distance, sample), table, settings)
    if leaves and not (found and found.is_met):
        found = _update(FrontMaker(deployed, distance, sample, leaves), table, settings)
    assert found is not None
    if not found.is_met:
        warn(found.reason)
    return found


class _Settings(NamedTuple):
    """The parameters of `update` that compare the members of a front."""

    max_changes: int | None
    target_error: float | None
    select: str
    cv: int
    convex: bool | None
    seed: int
    groups: GroupHashes | None
    progress: Callable[[int, int], None] | None


def _update(maker: FrontMaker, table: Table, settings: _Settings) -> "Update":
    """Return the front that a maker makes of the new rows, with the choice of a member."""
    front, model, number = maker.make(table, max_changes=settings.max_changes, convex=settings.convex)
    errors = cross_validated_errors(
        maker, front, table, n_folds=min(settings.cv, table.n_rows), seed=settings.seed, groups=settings.groups,
        progress=settings.progress,
    )  # fmt: skip
    choice = choose_member(
        front, errors, max_changes=settings.max_changes, target_error=settings.target_error, select=settings.select,
        tree="the tree with new subtrees" if maker.leaves else "the grown tree",
    )  # fmt: skip
    first_tested = len(front) - 1 if settings.max_changes is not None else int(errors.argmin())
    return Update(
        model, front, errors, choice.member, choice.reason, choice.is_met, first_tested,
        grown_below=tuple((leaf, int(number[leaf])) for leaf in maker.leaves),
    )  # fmt: skip


def _check_can_update(deployed: Model) -> None:
    """Raise `UnsupportedError` unless fewer errors are what the labels of a tree are for."""
    if not deployed.is_classifier:
        raise UnsupportedError(
            "the tree predicts a number, and changes are counted against errors of classes; fit a new tree"
        )
    parameters = deployed.parameters
    purposes = {
        "minimise expected costs": parameters.get("costs") is not None,
        "weigh the classes (class_weight)": parameters.get("class_weight") is not None,
        "minimise the balanced error": parameters.get("scoring") == "balanced_error",
        "keep predictions monotone (monotonic_cst)": parameters.get("monotonic_cst") is not None,
    }
    purpose = next((purpose for purpose, is_set in purposes.items() if is_set), None)
    if purpose is not None:
        raise UnsupportedError(
            f"the labels of the tree {purpose}, and an update would change them to lower the number of errors; fit a "
            "new tree"
        )


def _check_settings(max_changes: int | None, target_error: float | None, select: str, cv: int) -> None:
    """Raise `ParameterError` unless the parameters of `update` have valid values."""
    if max_changes is not None:
        check_int("max_changes", max_changes, 0)
    if target_error is not None:
        check_share("target_error", target_error)
    check_name("select", select, N_STANDARD_ERRORS)
    check_int("cv", cv, 2)


def check_share(name: str, value: Any) -> None:
    """Raise `ParameterError` unless a value is a number from 0 up to, but not including, 1."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < 1:
        raise ParameterError(Argument(name, value), "; a share of rows of 0 or more and below 1 is needed")


@dataclass(frozen=True, eq=False, repr=False)
class Update:
    """The errors of a deployed tree on new rows for every number of changes, and the number that is chosen.

    Parameters
    ----------
    deployed : Model
        The tree in use. If new subtrees were grown, the same with these subtrees below its leaves, cut away.
    front : ChangeFront
        The prunings with the fewest errors on the new rows for every number of changes.
    cv_errors : array or None
        The cross-validated share of wrong new rows of each member of the front; None if it is not known.
    chosen : int
        The chosen member of the front.
    reason : str
        Why it was chosen, in words.
    is_met : bool
        Whether it has the error that was asked for.
    first_tested : int
        The member with which `certify` begins.
    certificate : Bound, optional
        The certificate of the chosen member.
    fresh : Counts, optional
        The rows of the certificate.
    grown_below : tuple of (int, int)
        The leaves below which new subtrees were grown: their numbers in the grown tree that is in use, and in the tree
        of `deployed`.
    """

    deployed: Model
    front: ChangeFront
    cv_errors: Floats | None
    chosen: int
    reason: str
    is_met: bool
    first_tested: int
    certificate: Bound | None = None
    fresh: Counts | None = None
    grown_below: tuple[tuple[int, int], ...] = ()

    @property
    def regrown(self) -> tuple[int, ...]:
        """The leaves of the tree in use, by their numbers there, below which the chosen tree has a new subtree."""
        is_kept = self.pruning().is_kept
        return tuple(leaf for leaf, node in self.grown_below if is_kept[node])

    @property
    def n_changes(self) -> int:
        """The number of changes of the chosen tree."""
        return int(self.front.n_changes[self.chosen])

    @property
    def error(self) -> float:
        """The cross-validated share of wrong new rows of the chosen tree; that on all new rows if it is not known."""
        errors = self.front.errors / self.front.counts.total[0] if self.cv_errors is None else self.cv_errors
        return float(errors[self.chosen])

    def pruning(self, max_changes: int | None = None) -> Pruning:
        """Return the chosen pruning, or that with the fewest errors among those with at most `max_changes` changes."""
        return self.front[self.chosen] if max_changes is None else self.front.within(max_changes)

    def model(self, max_changes: int | None = None) -> Model:
        """Return the updated model.

        Parameters
        ----------
        max_changes : int, optional
            By default the chosen number of changes. For another number, the model has no certificate.

        Returns
        -------
        Model
            The new rows are its held-out sample; if new subtrees were grown, they are its growing sample instead. The
            fresh rows are its held-out sample if it is certified.
        """
        is_chosen = max_changes is None or self.front.index_within(max_changes) == self.chosen
        pruning, certificate = self.pruning(max_changes), None
        holdout = None if self.grown_below else self.front.counts  # rows that grew are no held-out rows
        if is_chosen and self.certificate is not None and self.certificate.certified:
            assert self.fresh is not None
            certificate, holdout = self.certificate, self.fresh
            pruning = replace(pruning, seen=pruning.seen | SampleUsage.of(self.fresh))
        return replace(
            self.deployed,
            pruning=pruning,
            holdout=holdout,
            certificate=certificate,
            sequence=None,
            selection=None,
            group_rates=(),
        )

    def changes(self, max_changes: int | None = None) -> tuple[Change, ...]:
        """Return what changes, in words, for the chosen tree or for that of `model(max_changes)`."""
        grown = self.deployed.class_grown
        assert grown is not None
        new_below = [node for _, node in self.grown_below]
        return describe_changes(self.deployed.pruning, self.pruning(max_changes), grown, new_below)

    def certify(
        self,
        X: Rows,
        y: Labels = None,
        *,
        target: float,
        delta: float = 0.05,
        repeats: Repeats | RepeatRule = "errors",
        sample: str = "fresh",
    ) -> "Update":
        """Return the update with the fewest changes that is certified, on fresh rows, to err at most `target`.

        Parameters
        ----------
        X, y
            Fresh rows and their classes: they must not have grown, updated or chosen the tree.
        target : float
            The error, stated without looking at these rows.
        delta : float
            Probability, over samples, that the certificate fails.
        repeats
            As for `secateur.certify`.
        sample : str
            Name of the fresh rows as a sample.

        Returns
        -------
        Update
            Its `certificate` is the `Bound`. The new rows fixed the order: members are tested from that of lowest
            cross-validated error (with `max_changes`, from the last one) to the deployed tree, and testing stops at the
            first that is not certified. If the first one is not, the choice stays and the certificate is not certified.

        Raises
        ------
        LeakageError
            If the rows were used before.
        """
        counts = count(self.deployed.tree, X, y, sample=sample)
        return self.certify_counts(counts, target=target, delta=delta, repeats=repeats)

    def certify_counts(
        self, counts: Counts, *, target: float, delta: float = 0.05, repeats: Repeats | RepeatRule = "errors"
    ) -> "Update":
        """Do the same as `certify` with fresh rows that are counted in the grown tree."""
        check_groups_given(self.deployed, counts)
        tested = [self.front[member] for member in range(self.first_tested, -1, -1)]
        plan = fixed_sequence(tested, target=target)
        _, bound = plan.certify(counts, delta, repeats=repeats)
        if not bound.certified:
            return replace(self, certificate=bound, fresh=counts, is_met=False)
        member = self.first_tested - bound.details["member"]
        reason = f"the fewest changes certified to err at most {100 * target:.4g} %"
        return replace(self, chosen=member, reason=reason, is_met=True, certificate=bound, fresh=counts)

    def to_dict(self, max_members: int | None = None) -> dict[str, Any]:
        """Return all facts as plain values: the front, the choice, the changes and the certificate."""
        n_rows = self.front.counts.total[0].item()
        members = range(len(self.front)) if max_members is None else self.shown_members(max_members)
        return {
            "distance": self.front.distance,
            "rows": n_rows,
            "nodes": self.deployed.pruning.n_nodes,
            "front": [
                {
                    "changes": int(self.front.n_changes[i]),
                    "errors": int(self.front.errors[i]),
                    "cross_validated_error": None if self.cv_errors is None else float(self.cv_errors[i]),
                }
                for i in members
            ],
            "is_convex": self.front.is_convex,
            "regrown": list(self.regrown),
            "chosen": {"changes": self.n_changes, "error": self.error, "reason": self.reason, "is_met": self.is_met},
            "changes": [
                {"node": change.node, "kind": change.kind, "nodes": change.n_nodes, "text": change.text}
                for change in self.changes()
            ],
        }

    def shown_members(self, n: int = MAX_SHOWN_MEMBERS) -> list[int]:
        """Return at most `n` members for a table: the first, the last and the chosen one, and others between them."""
        last = len(self.front) - 1
        spaced = {round(last * (i / max(n - 2, 1)) ** 2) for i in range(n - 1)}  # closer to each other at the beginning
        return sorted(spaced | {self.chosen})

    def __str__(self) -> str:
        rows = self.front.counts.total[0]
        lines = [self.headline, "changes  errors  cross-validated"]
        for i in self.shown_members():
            cv_error = "" if self.cv_errors is None else f"{self.cv_errors[i]:.2%}"
            mark = "  <- chosen" if i == self.chosen else ""
            lines.append(f"{self.front.n_changes[i]:7,}  {self.front.errors[i] / rows:6.2%}  {cv_error:>15}{mark}")
        changes = self.changes()
        lines += [f"- {change}" for change in changes[:MAX_SHOWN_CHANGES]]
        if len(changes) > MAX_SHOWN_CHANGES:
            lines.append(f"- and {len(changes) - MAX_SHOWN_CHANGES:,} more")
        if self.certificate is not None:
            lines.append(str(self.certificate))
        return "\n".join(lines)

    @property
    def headline(self) -> str:
        """One sentence: the error of the deployed tree and of the chosen one, and how much changes."""
        unit = "nodes" if self.front.distance == "nodes" else "predictions"
        n, rows = self.n_changes, self.front.counts.total[0]
        errors = self.front.errors / rows if self.cv_errors is None else self.cv_errors
        kind = "" if self.cv_errors is None else "cross-validated "
        before, after = 100 * errors[0], 100 * errors[self.chosen]
        if n == 0:
            return f"The deployed tree stays as it is ({self.reason}); {kind}error on {rows:,} new rows {before:.4g} %."
        return (
            f"{n:,} changes of {unit} ({self.reason}) bring the {kind}error on {rows:,} new rows from {before:.4g} % "
            f"to {after:.4g} %."
        )

    def __repr__(self) -> str:
        return f"Update({self.n_changes:,} changes of {self.front.distance}, error {self.error:.4g})"
