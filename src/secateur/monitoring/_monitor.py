"""Monitor: count labelled rows as they arrive, and test after each batch whether a certificate still holds."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._utils.arrays import Labels, Rows
from .._utils.warn import format_names
from ..core import Counts, Model, as_model
from ..data.batch import open_batch
from ..data.groups import drop_column
from ..errors import Argument, CountsError, DataError, ParameterError, UnsupportedError, show
from ..modelfile import load_model, tree_fingerprint
from ..routing import count
from ..statistics.anytime import log_evidence
from ..statistics.monitor_status import MonitorStatus
from ._plan import check_classifier, plan_monitor, rules_of
from ._state_file import MonitorState, model_file_of, read_state, write_state


class Monitor:
    """Test, as labelled rows arrive, whether the error of a tree still is at most its certified limit.

    The tests are valid at any time: look after every row, every batch or every month, and stop when you like. The
    probability that the limit is ever contradicted although it holds is at most `alpha`.

    Parameters
    ----------
    model : Model, fitted classifier or path of a model file
    limit : float, optional
        The largest error that is accepted; by default the value of the certificate of the model.
    alpha : float
        Probability of a false alarm, over all looks together, if the limits hold. One half is spent on the limit on
        the error, the other on the limits on the shares of wrong rows in the leaves (all of it on the former if
        no leaf has a limit).

    Notes
    -----
    Rows must be independent and arrive in an order that does not depend on whether they are right or wrong. Only
    numbers of rows and errors in the leaves are kept, and hashes that recognise rows which are handed in twice.

    An alarm says that the limit was too low from the beginning, which has probability delta, or that the rows have
    changed, or that the monitor errs, which has probability alpha.

    Examples
    --------
    >>> from secateur import Bound, Counts, Model, Pruning, Tree
    >>> tree = Tree.from_parents([-1, 0, 0])
    >>> grown = Counts.from_leaves(tree, [[90, 10], [10, 90]])
    >>> pruning = Pruning.from_cuts(tree, [], node_labels=grown.majority)
    >>> monitor = Monitor(Model(pruning, grown, certificate=Bound(0.12, 0.025, "test sample", 1000, 100)))
    >>> march = monitor.update_counts(Counts.from_leaves(tree, [[45, 5], [6, 44]], sample="march"))
    >>> march.n, march.errors, march.is_contradicted
    (100, 11, False)
    >>> april = monitor.update_counts(Counts.from_leaves(tree, [[35, 20], [4, 41]], sample="april"))
    >>> april.n, april.errors, april.is_contradicted, round(april.evidence, 2)
    (200, 35, False, 4.91)
    """

    def __init__(self, model: Any, *, limit: float | None = None, alpha: float = 0.05) -> None:
        self.model = _model_of(model)
        self._state = MonitorState.empty(plan_monitor(self.model, limit, alpha), model_file=_file_of(model))
        self._rules = rules_of(self.model)

    @classmethod
    def load(cls, path: str | PathLike[str], model: Any = None) -> "Monitor":
        """Load the state of a monitor from a file.

        Parameters
        ----------
        path : path
            A file written by `save`.
        model : Model, fitted classifier or path of a model file, optional
            The model that the monitor was started with; the state of any other model is refused. By default the model
            file that the monitor was started with, if it was started with a file.

        Raises
        ------
        ModelFileError
            If the file cannot be read, is damaged, or is the state of another model.
        """
        fitted = _model_of(model_file_of(path) if model is None else model)
        check_classifier(fitted)
        monitor = cls.__new__(cls)
        monitor.__dict__.update(model=fitted, _state=read_state(path, fitted), _rules=rules_of(fitted))
        return monitor

    def save(self, path: str | PathLike[str]) -> None:
        """Write the state to a small JSON file; an earlier file is replaced when the new one is complete.

        Parameters
        ----------
        path : path
            The file. It contains counts and hashes, no rows.
        """
        write_state(self._state, self.model, path)

    def update(self, X: Rows, y: Labels = None, ids: Labels = None) -> MonitorStatus:
        """Count the labelled rows of one batch, and return the status after it.

        Parameters
        ----------
        X : array, data frame or path
            Rows with the columns of the model.
        y : array or column name
            The class of each row.
        ids : array or column name, optional
            The id of each row. Rows whose id was counted before are refused. Without ids, all rows count, but a batch
            is refused if its rows were handed in before and chance does not explain an equal batch.

        Raises
        ------
        DataError
            If rows were handed in before or have classes that the model does not know. Nothing is counted then.
        """
        if isinstance(ids, str):
            X, ids = _split_off_ids(X, ids)
        number = self._state.n_batches + 1
        counts = count(self.model.tree, X, y, sample=f"batch {number}")
        return self.update_counts(counts, ids=ids)

    def update_counts(self, counts: Counts, *, ids: Labels = None) -> MonitorStatus:
        """Add the counts of one batch, from any engine, and return the status after it.

        Parameters
        ----------
        counts : Counts
            The rows of the batch, counted in the tree of the model.
        ids : array, optional
            The id of each counted row.
        """
        self._check_counts(counts)
        seen = self._state.seen
        id_hashes = None
        if ids is None:
            seen.check_batch(counts)
        else:
            id_hashes = seen.hash_ids(ids, int(counts.total[0]))
        self._add(counts)
        seen.add(counts, self._state.n_batches, id_hashes)
        return self.status()

    def status(self) -> MonitorStatus:
        """Return what the rows counted so far say, as a frozen value."""
        state = self._state
        looks = np.array(state.looks, float).reshape(-1, 3)
        return MonitorStatus(
            state.plan,
            self._rules,
            state.leaf_rows,
            state.leaf_errors,
            state.log_evidence,
            state.leaf_log_evidence,
            looks,
        )

    @property
    def n_batches(self) -> int:
        """Number of batches counted so far."""
        return self._state.n_batches

    def __repr__(self) -> str:
        plan, n = self._state.plan, int(self._state.leaf_rows.sum())
        return f"Monitor(limit {plan.limit:.4g}, alpha {plan.alpha:g}, {n:,} rows in {self._state.n_batches:,} batches)"

    def _add(self, counts: Counts) -> None:
        """Add a batch to the state, and compute the evidence once, after all of its rows."""
        state, plan = self._state, self._state.plan
        by_class = counts.by_class[plan.leaves]
        predicted = self.model.pruning.labels[plan.leaves]
        n_right = by_class[np.arange(len(predicted)), predicted]
        rows = state.leaf_rows + by_class.sum(axis=1)
        errors = state.leaf_errors + by_class.sum(axis=1) - n_right
        n, e = int(rows.sum()), int(errors.sum())
        latest = float(log_evidence(e, n, plan.limit))
        latest_of_leaves = np.array(state.leaf_log_evidence)
        is_tested = plan.leaf_alpha > 0
        if is_tested.any():
            latest_of_leaves[is_tested] = np.maximum(
                latest_of_leaves[is_tested],
                log_evidence(errors[is_tested], rows[is_tested], plan.leaf_limit[is_tested]),
            )
        self._state = replace(
            state,
            leaf_rows=rows,
            leaf_errors=errors,
            log_evidence=max(state.log_evidence, latest),
            leaf_log_evidence=latest_of_leaves,
            n_batches=state.n_batches + 1,
        )
        self._state.add_look(n, e, latest)

    def _check_counts(self, counts: Any) -> None:
        """Refuse counts of another tree or kind, weighted rows, rows of groups and unknown classes."""
        tree = self.model.tree
        if not isinstance(counts, Counts):
            raise UnsupportedError(
                f"counts is a {type(counts).__name__}; Counts are needed, as secateur.count or engines.count returns"
            )
        counts.check_fits(tree)
        is_same = counts.tree is tree or not counts.tree.has_tests
        if not is_same and tree_fingerprint(counts.tree) != tree_fingerprint(tree):
            raise CountsError(
                f"sample {show(counts.sample)} was counted on another tree, whose tests, columns or classes differ; "
                "count it on the tree of the model"
            )
        if counts.is_weighted:
            raise DataError(
                f"sample {show(counts.sample)} has weighted rows; a monitor counts independent rows, each once: "
                "hand in rows without weights"
            )
        if counts.grouped is not None:
            raise DataError(
                f"sample {show(counts.sample)} has groups of rows that belong together; a monitor counts independent "
                "rows: hand in one row of each group"
            )
        n_classes = self.model.grown.n_labels
        n_unknown = int(counts.by_class[0, n_classes:].sum())
        if n_unknown:
            raise DataError(
                f"{n_unknown:,} rows of sample {show(counts.sample)} have classes that the model does not know; "
                f"nothing was counted: its classes are {format_names(self._class_names())}; correct the labels, or "
                "leave these rows out if they are not rows that the model is for"
            )
        if not counts.total[0] > 0:
            raise DataError(f"sample {show(counts.sample)} has no rows; at least one is needed")

    def _class_names(self) -> list[Any]:
        schema = self.model.tree.schema
        has_names = schema is not None and schema.classes is not None
        return schema.classes.tolist() if has_names else list(range(self.model.grown.n_labels))  # type: ignore[union-attr]


def _model_of(model: Any) -> Model:
    """Return a model, that of a fitted estimator, or that in a file."""
    return load_model(model) if isinstance(model, str | Path) else as_model(model, done="monitored")


def _file_of(model: Any) -> str:
    """Return the name of a model file; empty for a model in memory."""
    return str(model) if isinstance(model, str | Path) else ""


def _split_off_ids(X: Rows, name: str) -> tuple[Rows, Labels]:
    """Return the rows without the column of ids, and the ids."""
    batch = open_batch(X)
    if name not in batch.names:
        raise ParameterError(Argument("ids", name), f" is not a column; the columns are {format_names(batch.names)}")
    return drop_column(batch, name), batch.read(name)
