"""Check that samples, prunings, sequences and choices fit their tree, and what a file requires of the tree itself.

The same functions check the parts of a file, before any class or compiled kernel uses them, and the parts of a model
that is written, so that every written file can be read. Compiled kernels do not check bounds: only checked arrays may
reach them. `Tree` checks its own structure and splits when it is made. Each function raises `ModelFileError` for the
first invalid entry; its time is linear in the arrays. `check_sample`, `check_sequence` and `check_selection` take the
fields of a part by name.
"""

from operator import mul

import numpy as np

from .._utils.arrays import MAX_EXACT_INT, Array, Bools, Floats, Ints
from ..core import MAX_ROUNDED_DIGITS, Tree
from ..data.raw_column import value_type_of_class
from ..data.sketch import RowKey, Sketch
from ..data.table import Column, Schema
from ..errors import ModelFileError
from ._values import Document, describe, read_int

# A drawing repeats names, categories and labels at the nodes. Together they may have the first number of characters, or
# the second number for each node and branch, whichever is more.
MIN_TEXT_LIMIT_CHARACTERS = 1 << 24
MAX_TEXT_CHARACTERS_PER_NODE = 256
MAX_SKETCH_HASHES = 1 << 16
MAX_TARGET_ROWS = 100_000  # largest number of rows of a numeric target in a file
MAX_SAMPLES = 4096  # largest number of named samples, and of evaluations
MAX_COLUMNS = np.iinfo(np.int32).max  # used where the number of columns is not known
SALT_BYTES = 16
SUM_TOLERANCE = 1e-9  # relative to the whole sample: far above rounding errors, far below the weight of a row


def check_entries(is_invalid: Array, location: str, values: Array, expected: str, first: int = 0) -> None:
    """Raise an error for the first invalid entry of `values`; entry 0 has the number `first` in the message."""
    if is_invalid.any():
        i = int(is_invalid.argmax())
        raise ModelFileError(f"{location}[{i + first}] is {values[i]}; {expected}")


def check_lengths(fields: Document, location: str, length: int, *keys: str) -> None:
    """Raise an error if the value under a key does not have this length; absent keys and null are accepted."""
    for key in keys:
        if fields.get(key) is not None and len(fields[key]) != length:
            raise ModelFileError(f"{location}.{key} has {len(fields[key]):,} entries; {length:,} are needed")


def check_schema(schema: Schema) -> None:
    """Check that columns have different names, and categories and classes are of one type each."""
    if not schema.columns:
        raise ModelFileError("schema.columns is empty; at least one column is needed")
    earlier_names: set[str] = set()
    for i, column in enumerate(schema.columns):
        location = f"schema.columns[{i}]"
        if column.name in earlier_names:
            raise ModelFileError(
                f"{location}.name is {column.name!a}, the name of an earlier column; it must be unique"
            )
        earlier_names.add(column.name)
        _check_categories(column, location)
    if schema.classes is not None:
        if schema.has_numeric_target or not len(schema.classes):
            raise ModelFileError("schema.classes must be null for a numeric target, else contain at least one class")
        if len({value_type_of_class(type(label)) for label in schema.classes.tolist()}) > 1:
            raise ModelFileError("schema.classes mix text, numbers and booleans; one kind is needed")


def _check_categories(column: Column, location: str) -> None:
    """Check that a numeric column has no categories, and that those of a nominal one are of one type."""
    if column.kind == "numeric" and column.categories:
        raise ModelFileError(f"{location}.categories are for nominal columns; this one is numeric")
    if len({value_type_of_class(type(value)) for value in column.categories}) > 1:
        raise ModelFileError(f"{location}.categories mix text, numbers and booleans; one kind is needed")


def check_tree(tree: Tree) -> None:
    """Check what `Tree` itself does not check.

    Inner nodes must test columns, the texts of the schema must not be too long, and `rounded`, `split_order` and `ids`,
    which only displays use, must be valid.
    """
    if tree.schema is not None:
        is_invalid = (tree.feature < 0) & ~tree.is_leaf
        check_entries(is_invalid, "tree.feature", tree.feature, "the node has children: a column is needed")
        _check_text_size(tree, tree.schema)
    is_invalid = ~_is_rounded(tree.rounded, tree.threshold)
    check_entries(is_invalid, "tree.rounded", tree.rounded, "it is not the threshold, rounded to a digit")
    check_entries(tree.split_order < -1, "tree.split_order", tree.split_order, "-1 or a step is needed")
    check_entries(tree.ids < 0, "tree.ids", tree.ids, "a node number is needed")
    if len(np.unique(tree.ids)) < tree.n_nodes:
        raise ModelFileError("tree.ids contains a number twice; each node comes from a different node")


def _is_rounded(rounded: Floats, threshold: Floats) -> Bools:
    """Return whether each number differs from the threshold by less than one unit of its last decimal digit.

    The thresholds of trees from other libraries are float32, so that the difference may be larger by their rounding.
    """
    scale = np.ones(len(rounded))  # 10 to the power of the number of decimals
    with np.errstate(over="ignore", invalid="ignore"):
        for n_digits in range(1, MAX_ROUNDED_DIGITS + 1):
            has_fewer_digits = np.rint(rounded * scale) / scale == rounded
            scale = np.where(has_fewer_digits, scale, 10.0**n_digits)
        difference = np.abs(rounded - threshold) - np.abs(threshold) * 2.0**-23
        is_rounded: Bools = np.isnan(rounded) | (rounded == threshold) | (difference < 1 / scale)
    return is_rounded


def _check_text_size(tree: Tree, schema: Schema) -> None:
    """Raise an error if a drawing of the tree, which repeats names and categories at the nodes, has too much text."""
    n_characters = [  # characters at a node that tests the column, for each column
        len(column.name) + sum(len(str(value)) for value in column.categories) for column in schema.columns
    ]
    longest_label = 0
    if schema.classes is not None:
        longest_label = max(len(str(label)) for label in schema.classes.tolist())
    n_nodes_of_column = np.bincount(tree.feature[tree.feature >= 0], minlength=len(n_characters)).tolist()
    total = sum(map(mul, n_characters, n_nodes_of_column)) + longest_label * tree.n_leaves
    limit = max(MIN_TEXT_LIMIT_CHARACTERS, MAX_TEXT_CHARACTERS_PER_NODE * (tree.n_nodes + len(tree.branch)))
    if total > limit:
        raise ModelFileError(
            f"the names, categories and labels of schema have {total:,} characters where the tree repeats them; at "
            f"most {limit:,} are kept: shorten them"
        )


def check_sample(tree: Tree, fields: Document, location: str) -> None:
    """Check counts, of shape (nodes, classes), or moments, and the number of rows behind them."""
    by_class = None
    if "by_class" in fields:
        by_class = fields["by_class"].T
        _check_counts(tree, by_class, location)
    else:
        check_lengths(fields, location, tree.n_nodes, "weight", "mean", "sse")
        _check_moments(tree, fields["weight"], fields["mean"], fields["sse"], location)
    sketch = fields["sketch"]
    if fields.get("grouped") is not None or fields.get("has_groups"):
        _check_sketch_of_groups(fields["n_rows"], sketch, location)
        sketch = None
    _check_number_of_rows(by_class, fields["n_rows"], sketch, location)


def check_target_rows(rows: Document, sample: Document, tree: Tree, location: str) -> None:
    """Check that rows are those of a sample with moments: in its leaves and, if none is missing, with these means."""
    leaf, target = rows["leaf"], rows["target"]
    if len(leaf) != len(target) or len(leaf) > MAX_TARGET_ROWS:
        raise ModelFileError(
            f"{location} has {len(leaf):,} leaves and {len(target):,} targets; one of each per row is needed, and "
            f"at most {MAX_TARGET_ROWS:,} rows"
        )
    check_lengths(sample, location.removesuffix(".rows"), tree.n_nodes, "weight", "mean", "sse")
    is_invalid = ~((leaf >= 0) & (leaf < tree.n_nodes))
    check_entries(is_invalid, f"{location}.leaf", leaf, f"a leaf of the tree, below {tree.n_nodes:,}, is needed")
    check_entries(~tree.is_leaf[leaf], f"{location}.leaf", leaf, "a leaf of the tree is needed")
    check_entries(~np.isfinite(target), f"{location}.target", target, "a finite number is needed")
    n_by_leaf = np.bincount(leaf, minlength=tree.n_nodes)
    weight = np.where(tree.is_leaf, sample["weight"], 0)
    is_wrong = (n_by_leaf != weight) if len(leaf) == sample["n_rows"] else (n_by_leaf > weight)
    check_entries(is_wrong, f"{location}.leaf", n_by_leaf, "the numbers of rows in the leaves differ from the weights")
    if len(leaf) == sample["n_rows"]:
        sums = np.bincount(leaf, target, tree.n_nodes)
        expected = weight * sample["mean"]
        size = np.bincount(leaf, np.abs(target), tree.n_nodes)
        is_wrong = ~(np.abs(sums - expected) <= 1e-6 * size + np.finfo(float).tiny)
        check_entries(
            is_wrong, f"{location}.target", sums, "the sums in the leaves differ from the means of the sample"
        )


def _check_sketch_of_groups(n_rows: int | None, sketch: Sketch | None, location: str) -> None:
    """Check that a sketch, in which equal rows of one group are one row, has no more rows than the sample."""
    if sketch is not None and sketch.n_rows > (n_rows or 0):
        raise ModelFileError(f"{location}.n_rows is {describe(n_rows)}; its sketch is of {sketch.n_rows:,} rows")


def _check_counts(tree: Tree, by_class: Array, location: str) -> None:
    """Check that counts, of shape (classes, nodes), are 0 or more and add up from the children to each node."""
    total = 0.0 if by_class.dtype.kind == "i" else float(by_class[:, 0].sum())
    for c, counts in enumerate(by_class):
        _check_sums(tree, counts, total, f"{location}.by_class[{c}]")
    if sum(by_class[:, 0].tolist()) >= MAX_EXACT_INT:
        raise ModelFileError(
            f"{location}.by_class adds up to 2**53 or more; whole counts below are exact: rescale them"
        )


def _check_moments(tree: Tree, weight: Floats, mean: Floats, sse: Floats, location: str) -> None:
    """Check that weights, means and squared errors are finite, and are those of the children combined.

    Rounding errors are tolerated. Let L be the largest absolute mean plus the standard deviation in the root. The
    rounding error of a sum of n numbers up to L is below `SUM_TOLERANCE` times n L, and that of a sum of n squares is
    below `SUM_TOLERANCE` times n L^2. These limits also suffice if squared errors were computed as differences of such
    sums. All numbers are divided by L first, so that no square overflows.
    """
    _check_sums(tree, weight, float(weight[0]), f"{location}.weight")
    check_entries(~np.isfinite(mean), f"{location}.mean", mean, "a finite number is needed")
    check_entries(~((sse >= 0) & (sse < np.inf)), f"{location}.sse", sse, "a number of 0 or more is needed")
    with np.errstate(all="ignore"):
        root_weight = weight[0] or 1.0
        largest_mean = np.abs(mean[weight > 0]).max(initial=0)
        scale = largest_mean + np.sqrt(sse[0] / max(weight[0], 1e-300)) or 1.0
        share = weight / root_weight
        scaled_mean = mean / scale
        scaled_sse = sse / scale / scale / root_weight
        parent = tree.parent[1:]
        shift = scaled_mean[1:] - scaled_mean[parent]  # mean of a child less the mean of its parent
        first_moment = share[1:] * shift
        second_moment = scaled_sse[1:] + first_moment * shift
        sum_of_first = np.bincount(parent, first_moment, tree.n_nodes)
        sum_of_second = np.bincount(parent, second_moment, tree.n_nodes)
        tolerance = SUM_TOLERANCE * (1 + tree.arity)
        is_wrong_mean = ~tree.is_leaf & (np.abs(sum_of_first) > tolerance)
        is_wrong_sse = ~tree.is_leaf & (np.abs(sum_of_second - scaled_sse) > 4 * tolerance)
    check_entries(is_wrong_mean, f"{location}.mean", mean, "it is not the mean of the children")
    check_entries(is_wrong_sse, f"{location}.sse", sse, "it is not that of the children around their common mean")


def _check_sums(tree: Tree, values: Array, total: float, location: str) -> None:
    """Check that values are 0 or more and add up from the children to each node; `total` scales the tolerance."""
    is_invalid = ~((values >= 0) & (values < MAX_EXACT_INT))
    check_entries(is_invalid, location, values, f"a number from 0 to below {MAX_EXACT_INT} is needed")
    # For whole numbers `total` is 0, and the comparison is exact: sums of up to 2**53 are not rounded, and larger sums
    # differ from every valid value.
    sums = np.bincount(tree.parent[1:], weights=values[1:], minlength=tree.n_nodes)
    with np.errstate(over="ignore", invalid="ignore"):
        # `Counts` tolerates a rounding error in each node. Here, the errors of the children and of their parent add up.
        tolerance = SUM_TOLERANCE * total * (1 + tree.arity)
        is_invalid = ~tree.is_leaf & ~(np.abs(sums - values) <= tolerance)
    check_entries(is_invalid, location, values, "it is not the sum over the children")


def _check_number_of_rows(by_class: Array | None, n_rows: int | None, sketch: Sketch | None, location: str) -> None:
    """Check that the number of rows of a sample, its sketch and its counts agree.

    Parameters
    ----------
    by_class : array of shape (classes, nodes) or None
        The counts; None for moments.
    n_rows : int or None
        The number of rows, if it is known.
    sketch : Sketch or None
        The sketch, if there is one.
    location : str
        Where the sample is in the file.
    """
    if n_rows is not None:
        read_int(n_rows, f"{location}.n_rows", maximum=MAX_EXACT_INT)
    if sketch is not None:
        n_sketched = int(sketch.n_by_class.sum())
        if n_sketched != n_rows:
            raise ModelFileError(f"{location}.n_rows is {describe(n_rows)}; its sketch is of {n_sketched:,} rows")
    if by_class is None or by_class.dtype.kind != "i" or n_rows is None:
        return  # a sum of weights does not determine the number of rows
    total = by_class[:, 0]
    if n_rows > int(total.sum()):
        raise ModelFileError(f"{location}.n_rows is {n_rows:,}, more than the {total.sum():,} that are counted")
    is_weighted = n_rows != int(total.sum())
    if sketch is None or is_weighted:
        return
    if not np.array_equal(np.trim_zeros(total, "b"), np.trim_zeros(sketch.n_by_class, "b")):
        raise ModelFileError(f"{location}.sketch.n_by_class differs from the counts of the root")


def check_sketch(fields: Document, location: str) -> None:
    """Check the fields of a sketch: its hashes rise, and each belongs to a class that has as many rows."""
    hashes, classes, copies, n_by_class = (fields[name] for name in ("hashes", "classes", "copies", "n_by_class"))
    size = read_int(fields["size"], f"{location}.size", minimum=1, maximum=MAX_SKETCH_HASHES)
    if len(hashes) > size:
        raise ModelFileError(f"{location}.hashes must be at most {size} numbers of 16 hexadecimal digits")
    if (hashes[1:] <= hashes[:-1]).any():
        raise ModelFileError(f"{location}.hashes must rise")
    check_lengths(fields, location, len(hashes), "classes", "copies")
    if len(n_by_class) == 0 or n_by_class.min() < 0 or n_by_class.max() >= MAX_EXACT_INT:
        raise ModelFileError(f"{location}.n_by_class must hold numbers of rows, one per class")
    if len(hashes) and not (classes.min() >= 0 and classes.max() < len(n_by_class) and copies.min() >= 1):
        raise ModelFileError(f"{location}: every hash needs a class of n_by_class, and occurs at least once")
    if (np.bincount(classes, copies, len(n_by_class)) > n_by_class).any():
        raise ModelFileError(f"{location} remembers more rows of a class than there are")


def check_row_key(key: RowKey, n_columns: int) -> None:
    """Check the key by which the rows of a tree with `n_columns` columns are hashed."""
    columns = list(key.columns)
    is_ascending = sorted(set(columns)) == columns
    if not is_ascending or (columns and not 0 <= columns[0] <= columns[-1] < n_columns):
        raise ModelFileError(f"rows.key.columns must be column numbers from 0 to {n_columns - 1}, rising")
    if len(key.salt) != SALT_BYTES:
        raise ModelFileError(f"rows.key.salt has {len(key.salt)} bytes; {SALT_BYTES} are needed")


def check_number_of_entries(n_entries: int, location: str) -> None:
    """Refuse too many samples or evaluations: each evaluation is compared with each sample."""
    if n_entries > MAX_SAMPLES:
        raise ModelFileError(f"{location} has {n_entries:,} entries; at most {MAX_SAMPLES:,} are kept")


def check_sample_fits_schema(n_classes: int | None, schema: Schema | None) -> None:
    """Check that the growing sample has the classes of the schema; moments have none."""
    if schema is None:
        return
    expected = None if schema.classes is None else len(schema.classes)
    if n_classes != expected:
        sample = "moments" if n_classes is None else f"counts of {n_classes} classes"
        classes = "none" if expected is None else expected
        raise ModelFileError(f"grown holds {sample}; schema.classes has {classes}, and they must fit")


def check_cuts(tree: Tree, cuts: Ints, location: str) -> None:
    """Check that cuts are inner nodes in ascending order, none of them below another."""
    is_invalid = (cuts < 0) | (cuts >= tree.n_nodes)
    check_entries(is_invalid, location, cuts, "the number of a node is needed")
    check_entries(tree.arity[cuts] == 0, location, cuts, "the node is a leaf anyway")
    is_inside = cuts[1:] < tree.end[cuts[:-1]]
    check_entries(is_inside, location, cuts[1:], "it does not come after the subtree before it", first=1)


def check_node_labels(tree: Tree, labels: Ints | None, location: str, n_classes: int | None) -> None:
    """Check that there is a label for each node, if there are labels, and that each is the number of a class."""
    if labels is None:
        return
    if len(labels) != tree.n_nodes:
        raise ModelFileError(f"{location} has {len(labels):,} entries; {tree.n_nodes:,} are needed")
    limit = 1 << 31 if n_classes is None else n_classes
    is_invalid = (labels < 0) | (labels >= limit)
    check_entries(is_invalid, location, labels, f"a class number below {limit:,} is needed")


def check_sequence(tree: Tree, fields: Document, location: str, n_classes: int | None) -> None:
    """Check the members of a sequence, given by `steps` or by `change_start` and `changes`, and their labels."""
    n_leaves = fields["n_leaves"]
    _check_members(tree, n_leaves, fields["alphas"], location)
    if "steps" in fields:
        check_lengths(fields, location, tree.n_nodes, "steps")
        _check_steps(tree, fields["steps"], n_leaves, location)
    else:
        check_lengths(fields, location, len(n_leaves) + 1, "change_start")
        changes = fields["changes"]
        _check_changes(tree, fields["change_start"], changes, n_leaves, location)
        if fields["nested"] and len(np.unique(changes)) < len(changes):
            raise ModelFileError(f"{location}.nested is true, but a node tests again after it was cut; false is needed")
    check_lengths(fields, location, len(n_leaves), "errors")
    check_node_labels(tree, fields["node_labels"], f"{location}.node_labels", n_classes)


def _check_members(tree: Tree, n_leaves: Ints, alphas: Floats | None, location: str) -> None:
    """Check that a sequence has members, at most one per node, whose sizes do not rise and penalties do not fall."""
    n_members = len(n_leaves)
    if n_members == 0:
        raise ModelFileError(f"{location}.n_leaves is empty; at least one member is needed")
    is_rising = n_leaves[1:] > n_leaves[:-1]
    check_entries(is_rising, f"{location}.n_leaves", n_leaves[1:], "numbers that do not rise are needed", first=1)
    if alphas is not None:
        if len(alphas) != n_members:
            raise ModelFileError(f"{location}.alphas has {len(alphas):,} entries; {n_members:,} are needed")
        _check_ascending(alphas, f"{location}.alphas")
    if n_members > tree.n_nodes:  # commands show every member, so that their number must be bounded by the file
        raise ModelFileError(
            f"{location}.n_leaves has {n_members:,} members, more than the {tree.n_nodes:,} nodes of the tree: "
            "some are equal; keep one of each"
        )


def _check_ascending(values: Array, location: str) -> None:
    """Check that numbers do not fall and none of them is NaN."""
    check_entries(np.isnan(values), location, values, "a number is needed")
    is_falling = values[1:] < values[:-1]
    check_entries(is_falling, location, values[1:], "numbers that do not fall are needed", first=1)


def _check_steps(tree: Tree, steps: Ints, n_leaves: Ints, location: str) -> None:
    """Check the members of a nested sequence: `steps` is the first member in which each node is not an inner node.

    No node may remain an inner node longer than its parent, and each member must have as many leaves as `n_leaves`.
    """
    n_members = len(n_leaves)
    is_invalid = (steps < 0) | (steps >= n_members)
    check_entries(is_invalid, f"{location}.steps", steps, f"a member below {n_members:,} is needed")
    is_invalid = tree.is_leaf & (steps != 0)
    check_entries(is_invalid, f"{location}.steps", steps, "the node is a leaf: 0 is needed")
    step_of_parent = steps[tree.parent[1:]]
    is_invalid = steps[1:] > step_of_parent
    check_entries(is_invalid, f"{location}.steps", steps[1:], "it must not exceed the step of the parent", first=1)
    # A node is a leaf from its own step until the step of its parent.
    n_new_leaves = np.bincount(steps, minlength=n_members + 1)
    n_removed_leaves = np.bincount(np.append(n_members, step_of_parent), minlength=n_members + 1)
    counted = np.cumsum(n_new_leaves - n_removed_leaves)[:n_members]
    is_invalid = counted != n_leaves
    check_entries(is_invalid, f"{location}.n_leaves", n_leaves, "the member has another number of leaves")


def _check_changes(tree: Tree, start: Array, changes: Ints, n_leaves: Ints, location: str) -> None:
    """Check the members of a sequence that is given by the nodes that change from each member to the next.

    In every member, an inner node must have an inner parent, and there may be no more leaves than `n_leaves`. Only
    nodes that change can violate this, so the time is linear in the changes, whatever the number of members.
    """
    if start[0] != 0 or (np.diff(start) < 0).any() or start[-1] != len(changes):
        raise ModelFileError(f"{location}.change_start must rise from 0 to {len(changes):,}, the length of changes")
    is_invalid = (changes < 0) | (changes >= tree.n_nodes)
    check_entries(is_invalid, f"{location}.changes", changes, "the number of a node is needed")
    check_entries(tree.arity[changes] == 0, f"{location}.changes", changes, "the node is a leaf anyway")
    member = _Member(tree)
    bounds, changed_nodes = start.tolist(), changes.tolist()
    for i, max_leaves in enumerate(n_leaves.tolist()):
        nodes = changed_nodes[bounds[i] : bounds[i + 1]]
        for previous, v in zip([-1, *nodes], nodes, strict=False):
            if v <= previous:
                raise ModelFileError(f"{location}.changes of member {i} must rise; {v} follows {previous}")
            member.toggle(v)
        for v in nodes:
            if not member.is_valid_at(v):
                raise ModelFileError(f"{location}.changes of member {i}: node {v} leaves a test under a leaf")
        if member.n_leaves > max_leaves:
            raise ModelFileError(f"{location}.n_leaves[{i}] is {max_leaves}; the member has {member.n_leaves:,} leaves")


class _Member:
    """A pruning that is the grown tree at first, and is changed node by node into each member of a sequence in turn."""

    def __init__(self, tree: Tree) -> None:
        is_inner = ~tree.is_leaf
        n_inner_children = np.bincount(tree.parent[1:], weights=is_inner[1:], minlength=tree.n_nodes)
        self.parent: list[int] = tree.parent.tolist()
        self.arity: list[int] = tree.arity.tolist()
        self.is_inner: list[bool] = is_inner.tolist()
        self.n_inner_children: list[int] = n_inner_children.astype(int).tolist()
        self.n_leaves = int(np.count_nonzero(tree.is_leaf))

    def toggle(self, v: int) -> None:
        """Make a leaf an inner node, or an inner node a leaf."""
        self.is_inner[v] = not self.is_inner[v]
        sign = 1 if self.is_inner[v] else -1
        self.n_leaves += sign * (self.arity[v] - 1)
        if v > 0:
            self.n_inner_children[self.parent[v]] += sign

    def is_valid_at(self, v: int) -> bool:
        """Return whether node v fits its neighbours: an inner node needs an inner parent, a leaf has no inner child."""
        if self.is_inner[v]:
            return v == 0 or self.is_inner[self.parent[v]]
        return self.n_inner_children[v] == 0


def check_selection(fields: Document, n_members: int) -> None:
    """Check that a choice has one number per member, and that its members exist."""
    check_lengths(fields, "selection", n_members, "error", "se", "betas")
    for name in ("best", "chosen"):
        read_int(fields[name], f"selection.{name}", maximum=n_members - 1)
