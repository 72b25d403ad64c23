"""Change a grown tree by hand: apply a list of edits, and fit the model of the edited tree."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import Array, Ints
from ..core import Counts, Model, Sample, SampleUsage, Tree, UsedSample, check_no_surrogates
from ..data.table import Schema, Table
from ..data.weights import WeightedRows
from ..errors import DataError, ParameterError, UnsupportedError, show
from ..growers.by_hand import Columns, FixedTop, HandGrower, HandGrowth, single_leaf
from ..growers.candidate_splits import NodeRows, ScoredSplit, make_stump
from ..growers.monotone import limited_tree
from ..growers.parameters import GrowParameters
from ..growers.subtree import GrowingRows, Replaced, path_to, replace_subtrees
from ..routing import count, with_growing_rows
from .edits import GROWING, HELD_OUT, Edit

SHARE_OF_ROUNDING = 1e-9  # Moments that differ by this share of their size are equal up to rounding.


@dataclass(frozen=True)
class AppliedEdit:
    """An edit that was applied to a tree.

    Parameters
    ----------
    edit : Edit
    at : int, optional
        Number of the node in the edited tree; None if a later edit replaced what this one stated.
    """

    edit: Edit
    at: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the edit as plain values, for `Model.metadata`."""
        return {**self.edit.to_dict(), "at": self.at, "text": self.edit.text}

    @classmethod
    def all_of(cls, model: Model) -> list["AppliedEdit"]:
        """Return the edits of a model that were written by `to_dict`; raise `ParameterError` if they are not valid."""
        listed = model.metadata.get("edits", [])
        if not isinstance(listed, list | tuple) or not all(isinstance(values, dict) for values in listed):
            raise ParameterError(f"the metadata of the model name the edits {show(listed)}; a list of edits is needed")
        found = []
        for values in listed:
            at = values.get("at")
            is_node = isinstance(at, int) and not isinstance(at, bool) and 0 <= at < model.tree.n_nodes
            if at is not None and not is_node:
                raise ParameterError(
                    f"an edit in the metadata of the model is at node {show(at)}, which does not exist"
                )
            found.append(cls(Edit.of({key: value for key, value in values.items() if key not in ("at", "text")}), at))
        return found


class EditedTree(NamedTuple):
    """A tree after edits.

    Parameters
    ----------
    tree : Tree
    applied : tuple of AppliedEdit
        All edits of the tree, the earlier ones first.
    """

    tree: Tree
    applied: tuple[AppliedEdit, ...]

    @property
    def fixed_top(self) -> FixedTop:
        """The tests that lead to edited nodes, and what the edits state there."""
        live = [one for one in self.applied if one.at is not None]
        edited = {one.at or 0: one.edit for one in live if one.edit.action == "split"}
        kept = {v for one in live for v in path_to(self.tree, one.at or 0)[:-1]}
        kept |= {v for v, edit in edited.items() if edit.threshold is not None or edit.categories is not None}
        is_cut = np.array([v not in kept for v in range(self.tree.n_nodes)]) & ~self.tree.is_leaf
        cut = [v for v in np.flatnonzero(is_cut).tolist() if v == 0 or int(self.tree.parent[v]) in kept]
        top, number = replace_subtrees(self.tree, {v: single_leaf(self.tree) for v in cut})
        names = top.schema.names  # type: ignore[union-attr]
        return FixedTop(
            top,
            forbidden=tuple(
                (int(number[one.at or 0]), names.index(one.edit.column or ""))
                for one in live
                if one.edit.action == "forbid"
            ),
            columns=tuple(
                (int(number[v]), names.index(edit.column or "")) for v, edit in edited.items() if v not in kept
            ),
            leaves=frozenset(int(number[one.at or 0]) for one in live if one.edit.action == "leaf"),
        )  # fmt: skip


def apply_edits(
    tree: Tree, edits: Sequence[Edit], grower: HandGrower, earlier: Sequence[AppliedEdit] = ()
) -> EditedTree:
    """Return the tree after edits, which are applied in their order.

    Parameters
    ----------
    tree : Tree
    edits : sequence of Edit
    grower : HandGrower
    earlier : sequence of AppliedEdit
        Edits that made the tree what it is. Columns that they forbid stay forbidden.
    """
    state = _EditState(tree, grower, np.arange(tree.n_nodes, dtype=np.int32), list(earlier))
    for edit in edits:
        state.apply(edit)
    return EditedTree(state.tree, tuple(state.applied))


@dataclass
class _EditState:
    """The tree between two edits.

    Parameters
    ----------
    tree : Tree
    grower : HandGrower
    number : array of int
        The present number of each node of the tree that the edits were made for; -1 if it no longer exists.
    applied : list of AppliedEdit
    """

    tree: Tree
    grower: HandGrower
    number: Ints
    applied: list[AppliedEdit] = field(default_factory=list)

    @property
    def schema(self) -> Schema:
        """The columns of the tree."""
        return self.grower.growing.table.schema

    def apply(self, edit: Edit) -> None:
        """Change the tree by one edit."""
        v = self._find(edit)
        if edit.action == "forbid":
            self._forbid(edit, v)
            return
        if edit.action == "split":
            changed = self._split(edit, v)
        elif edit.action == "leaf":
            changed = replace_subtrees(self.tree, {v: single_leaf(self.tree)})
        else:
            changed = self.grower.regrow(self.tree, {v: self._forbidden_at(v)})
        self._replace(changed, {v})
        self.applied.append(AppliedEdit(edit, int(changed.new_number[v])))

    def _find(self, edit: Edit) -> int:
        """Return the present number of the node of an edit."""
        if edit.path is not None:
            v = 0
            for depth, child in enumerate(edit.path):
                children = list(self.tree.children(v))
                if child >= len(children):
                    raise ParameterError(
                        f"{edit.text}: after {depth} splits the path has reached node {v}, which has "
                        f"{len(children)} children; child {child} does not exist"
                    )
                v = children[child]
            return v
        assert edit.node is not None
        if edit.node >= len(self.number):
            raise ParameterError(f"{edit.text}: the tree has the nodes 0 to {len(self.number) - 1}")
        if self.number[edit.node] < 0:
            raise ParameterError(
                f"{edit.text}: an earlier edit grew anew above this node, which no longer exists; name the node by its "
                "path in the new tree, or edit the edited model"
            )
        return int(self.number[edit.node])

    def _column(self, edit: Edit) -> int:
        """Return the number of the column of an edit."""
        names = self.schema.names
        if edit.column not in names:
            raise ParameterError(f"{edit.text}: there is no such column; the columns are {show(list(names))}")
        return names.index(edit.column)

    def _forbidden_at(self, v: int) -> Columns:
        """Return the columns that are forbidden at a node."""
        path = set(path_to(self.tree, v))
        return frozenset(
            self._column(one.edit) for one in self.applied if one.edit.action == "forbid" and one.at in path
        )

    def _forbid(self, edit: Edit, v: int) -> None:
        """Grow the topmost nodes anew that test a column, at and below a node."""
        column = self._column(edit)
        testing = v + np.flatnonzero(self.tree.feature[v : self.tree.end[v]] == column)
        topmost: list[int] = []
        for u in testing.tolist():
            if not topmost or u >= self.tree.end[topmost[-1]]:
                topmost.append(u)
        self.applied.append(AppliedEdit(edit, v))
        if topmost:
            changed = self.grower.regrow(self.tree, {u: self._forbidden_at(u) for u in topmost})
            self._replace(changed, set(topmost))

    def _split(self, edit: Edit, v: int) -> Replaced:
        """Return the tree in which a node is split by the column of an edit."""
        column, forbidden = self._column(edit), self._forbidden_at(v)
        if column in forbidden:
            raise ParameterError(f"{edit.text}: the column is forbidden there; leave one of the two edits out")
        of_node = self.grower.node_rows(self.tree, v)
        if column not in of_node.start.columns:
            raise ParameterError(f"{edit.text}: interaction_cst does not allow the column below the tests above")
        max_depth = self.grower.parameters.max_depth
        if max_depth is not None and of_node.start.depth >= max_depth:
            raise ParameterError(f"{edit.text}: the node has depth {of_node.start.depth}, and max_depth={max_depth}")
        found = _stated_split(edit, column, of_node)
        return self.grower.split(self.tree, v, found.stump, forbidden)

    def _replace(self, changed: Replaced, nodes: set[int]) -> None:
        """Continue with a changed tree, in which the subtrees of `nodes` are new."""
        mapped = np.append(changed.new_number, -1)
        self.number = mapped[self.number]
        applied = []
        for one in self.applied:
            at = -1 if one.at is None else int(mapped[one.at])
            is_replaced = one.at in nodes and one.edit.action != "forbid"
            applied.append(replace(one, at=None if at < 0 or is_replaced else at))
        self.tree, self.applied = changed.tree, applied


def _stated_split(edit: Edit, column: int, of_node: NodeRows) -> ScoredSplit:
    """Return the split that an edit states for the rows of a node."""
    kind = of_node.table.schema.columns[column].kind
    if not len(of_node.rows):
        raise ParameterError(f"{edit.text}: the node has no rows")
    if edit.threshold is None and edit.categories is None:
        best = of_node.best_of_column(column)
        if best is None:
            raise ParameterError(
                f"{edit.text}: no split of the column is possible among the {len(of_node.rows):,} rows of the node "
                "(all values are equal, or min_samples_leaf, min_samples_split or monotonic_cst excludes every split)"
            )
        return best
    if (edit.threshold is not None) != (kind == "numeric"):
        needed = "a threshold" if kind == "numeric" else "categories"
        raise ParameterError(f"{edit.text}: the column is {kind}, so {needed} is needed")
    if edit.threshold is not None:
        return _split_by_threshold(edit, column, of_node)
    return _split_by_categories(edit, column, of_node)


def _split_by_threshold(edit: Edit, column: int, of_node: NodeRows) -> ScoredSplit:
    """Return the split at a stated threshold; missing values go to the better child."""
    assert edit.threshold is not None
    values = of_node.table.columns[column][of_node.rows]
    weights = of_node.growing.weights(of_node.rows)
    is_smaller = bool(2 * weights[values <= edit.threshold].sum() < weights.sum())
    defaults = [0, 1] if np.isnan(values).any() else [int(is_smaller)]
    if np.isinf(edit.threshold):
        defaults = [1]
    stumps = [
        make_stump(of_node.table, column, threshold=edit.threshold, default=default, rows=of_node.rows)
        for default in defaults
    ]
    return _best_possible(edit, of_node, stumps)


def _split_by_categories(edit: Edit, column: int, of_node: NodeRows) -> ScoredSplit:
    """Return the split of stated categories from all others."""
    assert edit.categories is not None
    about = of_node.table.schema.columns[column]
    if of_node.parameters.splits == "multiway":
        raise UnsupportedError(f"{edit.text}: splits='multiway' has a child for every category, so none can be stated")
    codes = []
    for category in edit.categories:
        if category is None and about.has_missing:
            codes.append(len(about.categories))
        elif category in about.categories:
            codes.append(about.categories.index(category))
        else:
            raise ParameterError(
                f"{edit.text}: the column has no category {show(category)}; it has {show(list(about.categories))}"
            )
    weights = of_node.growing.weights(of_node.rows)
    of_code = np.bincount(of_node.table.columns[column][of_node.rows], weights, minlength=about.n_codes)
    is_first = np.isin(np.arange(about.n_codes), codes)
    default = int(of_code[is_first].sum() < of_code[~is_first].sum())
    branch = np.where(of_code > 0, ~is_first, default).astype(np.uint16)
    return _best_possible(
        edit, of_node, [make_stump(of_node.table, column, branch=branch, default=default, rows=of_node.rows)]
    )


def _best_possible(edit: Edit, of_node: NodeRows, stumps: list[Tree]) -> ScoredSplit:
    """Return the split of highest gain that growing allows, with its gain as score."""
    refusals, possible = [], []
    for stump in stumps:
        children: list[Array] = of_node.children_of(stump)
        is_empty = any(len(child) == 0 for child in children)
        refusal = "a child would have no rows" if is_empty else of_node.refuse(
            children, int(stump.feature[0]), float(stump.threshold[0])
        )  # fmt: skip
        if refusal:
            refusals.append(refusal)
        else:
            possible.append(of_node.score(stump))
    if not possible:
        raise ParameterError(f"{edit.text}: {refusals[0]}")
    best = max(possible, key=lambda split: split.gain)
    score = np.append(best.gain, best.stump.score[1:])
    return best._replace(stump=replace(best.stump, score=score))


@dataclass(frozen=True)
class EditRequest:
    """Edits of a fitted model.

    Parameters
    ----------
    model : Model
    edits : list of Edit
    """

    model: Model
    edits: Sequence[Edit]

    def grow(self, rows: WeightedRows, parameters: GrowParameters) -> "EditedGrowth":
        """Return the edited tree with the counts of the growing rows.

        Parameters
        ----------
        rows : WeightedRows
            The rows that grew the tree of the model, with the same weights.
        parameters : GrowParameters
            The parameters of the recipe of the model.
        """
        model = self.model
        parameters = parameters_of_tree(model, parameters)
        tree = limited_tree(model.grown, parameters.monotonic_cst)
        check_can_edit(tree, parameters)
        used = rows.drop_weightless()
        if not are_growing_rows(model, used):
            raise DataError(
                f"the {used.table.n_rows:,} rows to grow on are not those that grew the tree of the model "
                f"({model.grown.total[0]:,.10g}, with other values, weights or classes): pass the rows, weights and "
                "groups that were passed to fit, including those that fit held out"
            )
        check_known_categories(used.table)
        grower = HandGrower(GrowingRows(used), parameters)
        edited = apply_edits(tree, self.edits, grower, AppliedEdit.all_of(model))
        key = tree.row_key if tree.row_key.columns else None
        with_history = replace(edited.tree, key=key, history=samples_of_edits(model, self.edits))
        counts = with_growing_rows(grower.count(with_history), used.table)
        return EditedGrowth(HandGrowth(counts, edited.fixed_top, parameters), edited.applied, model)


class EditedGrowth(NamedTuple):
    """A tree that was edited, and what is known about samples from the model before the edits.

    Parameters
    ----------
    growth : HandGrowth
    applied : tuple of AppliedEdit
    origin : Model
    """

    growth: HandGrowth
    applied: tuple[AppliedEdit, ...]
    origin: Model

    def pass_on_records(self, tree: Tree) -> None:
        """Add to the log of the edited tree what was evaluated on the tree before, as evaluations of other prunings."""
        for sample_id, record in self.origin.tree.evaluation_log.snapshot():
            tree.evaluation_log.add(sample_id, record.of_edited_tree())

    @property
    def metadata(self) -> dict[str, Any]:
        """The entry of the edits in `Model.metadata`."""
        return {"edits": [one.to_dict() for one in self.applied]}


def parameters_of_tree(model: Model, parameters: GrowParameters) -> GrowParameters:
    """Return the growing parameters of the tree of a model: what cross-validation chose in place of "auto"."""
    chosen = {} if model.selection is None else model.selection.growing
    names = parameters.searched_names()
    return replace(parameters, **{name: chosen[name] for name in names if name in chosen}).without_search()


def check_can_edit(tree: Tree, parameters: GrowParameters) -> None:
    """Raise `UnsupportedError` if a tree cannot be grown on by hand."""
    if parameters.growth == "best-first":
        raise UnsupportedError(
            "growth='best-first' orders all splits of a tree, and an edit would change this order: grow with "
            "growth='depth-first' to edit, and prune to the size"
        )
    check_no_surrogates(tree, "growing by hand", "grow without surrogates")
    if parameters.surrogates:
        raise UnsupportedError("surrogates are not searched below an edit: fit with surrogates=0 to edit")
    if tree.schema is None or not tree.has_tests:
        raise UnsupportedError(
            f"{tree} has no columns or no splits, so that rows cannot be routed; it cannot be edited"
        )


def check_known_categories(table: Table) -> None:
    """Raise `DataError` if a nominal column has values that growing did not see, on which no split can be grown."""
    for column, values in zip(table.schema.columns, table.columns, strict=True):
        if column.kind == "nominal" and len(values) and values.min() < 0:
            raise DataError(
                f"column {show(column.name)} has categories or missing values that growing did not see; pass the rows "
                "without them"
            )


def are_growing_rows(model: Model, rows: WeightedRows) -> bool:
    """Return whether rows are those that grew the tree of a model: they give the same counts in every node."""
    table, tree, grown = rows.table, model.tree, model.grown
    if table.schema != tree.schema:
        return False
    found: Sample = count(tree, table, sample_weight=rows.weight, sample="grow", sketch=False)
    if isinstance(found, Counts) and isinstance(grown, Counts):
        return bool(np.array_equal(found.by_class, grown.by_class))
    if isinstance(found, Counts) or isinstance(grown, Counts) or not np.array_equal(found.weight, grown.weight):
        return False
    scale = max(float(np.abs(grown.mean).max()), 1e-300)
    return bool((np.abs(found.mean - grown.mean) <= SHARE_OF_ROUNDING * scale).all())


def samples_of_edits(model: Model, edits: Sequence[Edit]) -> SampleUsage:
    """Return the samples other than the growing one that may have chosen the splits of an edited tree.

    They are those that the edits state, those on which candidate splits were computed, and those that had chosen
    splits of the tree before.
    """
    known = {sample.name: sample for sample in model.tree.history.samples}
    records = [record for _, record in model.tree.evaluation_log.snapshot()]
    known |= {record.sample.name: record.sample for record in records}
    if model.holdout is not None:
        known[model.holdout.sample] = UsedSample(model.holdout.sample, model.holdout.sketch)
        known[HELD_OUT] = known[model.holdout.sample]
    used = [record.sample for record in records if record.chose_splits]
    used += [sample for sample in model.tree.history.samples if sample.name != model.grown.sample]
    for edit in edits:
        if edit.looked_at in (GROWING, model.grown.sample):
            continue
        if edit.looked_at not in known:
            raise ParameterError(
                f"{edit.text}: looked_at is {show(edit.looked_at)}; the samples that this model has met are "
                f"{show(sorted({GROWING, *known}))}"
            )
        used.append(known[edit.looked_at])
    return SampleUsage(used)
