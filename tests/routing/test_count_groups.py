"""Counting by population group: the same counts as `count`, divided by the values of a column."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import secateur
from secateur import count_groups
from secateur.core import PopulationGroups
from secateur.data.population import MAX_POPULATION_GROUPS
from secateur.errors import CountsError, DataError, ParameterError, SchemaError, UnsupportedError
from secateur.routing import apply

RNG = np.random.default_rng(11)
FRAME = pd.DataFrame({"size": RNG.normal(size=400), "colour": RNG.choice(["red", "blue"], 400)})
FRAME["sex"] = RNG.choice(["f", "m"], 400)
Y = np.where(FRAME["size"] + (FRAME["colour"] == "red") > RNG.normal(size=400), "yes", "no")
TREE, GROWN = secateur.grow(FRAME.loc[:199, ["size", "colour"]], Y[:200])
FRESH, Y_FRESH = FRAME.iloc[200:].reset_index(drop=True), Y[200:]


def brute_force(sex, y=Y_FRESH, frame=FRESH, tree=TREE):
    """The rows of each group and class at each leaf, counted row by row."""
    classes = tree.schema.classes.tolist()
    names = sorted(set(sex))
    cells = np.zeros((len(names), tree.n_nodes, len(classes)), int)
    for leaf, group, label in zip(apply(tree, frame[list(tree.schema.names)]), sex, y, strict=True):
        node = leaf
        while node >= 0:
            cells[names.index(group), node, classes.index(label)] += 1
            node = tree.parent[node]
    return names, cells


def test_groups_of_a_column_that_the_tree_does_not_know():
    counts = count_groups(TREE, FRESH, Y_FRESH, group="sex")

    names, cells = brute_force(FRESH["sex"])
    (population,) = counts.populations
    assert (population.column, list(population.names)) == ("sex", names)
    assert np.array_equal(population.by_class, cells)
    plain = secateur.count(TREE, FRESH[["size", "colour"]], Y_FRESH, sample="certify")
    assert counts == plain
    assert counts.sketch == plain.sketch
    assert counts.n_rows == 200
    assert repr(counts).endswith(f"{TREE.n_nodes} nodes, by 'sex')")


def test_groups_of_a_column_that_the_tree_tests():
    counts = count_groups(TREE, FRESH[["size", "colour"]], Y_FRESH, group="colour")

    assert np.array_equal(counts.populations[0].by_class, brute_force(FRESH["colour"])[1])


@pytest.mark.parametrize(
    "as_data",
    [pd.DataFrame.copy, pl.from_pandas, lambda frame: pl.from_pandas(frame).to_arrow()],
    ids=["pandas", "polars", "pyarrow"],
)
def test_frames_of_any_library_and_arrays_of_groups_give_the_same(as_data):
    expected = brute_force(FRESH["sex"])[1]
    by_name = count_groups(TREE, as_data(FRESH), Y_FRESH, group="sex")
    by_array = count_groups(TREE, as_data(FRESH[["size", "colour"]]), Y_FRESH, group=FRESH["sex"].to_numpy())

    assert np.array_equal(by_name.populations[0].by_class, expected)
    assert np.array_equal(by_array.populations[0].by_class, expected)
    assert by_array.populations[0].column == "group"
    assert count_groups(TREE, FRESH, Y_FRESH, group=FRESH["sex"]).populations[0].column == "sex"
    assert count_groups(TREE, FRESH, Y_FRESH, group={"S": "sex"}).populations[0].column == "S"
    assert count_groups(TREE, FRESH[["size", "colour"]], Y_FRESH, group=FRESH["sex"]).populations[0].column == "sex"


def test_a_file_with_the_target_and_the_groups(tmp_path):
    path = tmp_path / "fresh.csv"
    FRESH.assign(bought=Y_FRESH).to_csv(path, index=False)

    counts = count_groups(TREE, path, "bought", group="sex")

    assert np.array_equal(counts.populations[0].by_class, brute_force(FRESH["sex"])[1])
    with pytest.raises(ParameterError, match="group='bought' is the target"):
        count_groups(TREE, path, "bought", group="bought")


def test_rows_without_a_target_are_left_out_of_the_groups_too(tmp_path):
    path = tmp_path / "fresh.csv"
    labels = pd.Series(Y_FRESH, dtype=object)
    labels[::7] = None
    is_kept = labels.notna().to_numpy()
    expected = brute_force(FRESH["sex"][is_kept], Y_FRESH[is_kept], FRESH[is_kept])[1]

    for group in ("sex", FRESH["sex"].tolist(), {"sex": FRESH["sex"]}):
        columns = FRESH if isinstance(group, str) else FRESH[["size", "colour"]]
        columns.assign(bought=labels).to_csv(path, index=False)
        with pytest.warns(UserWarning, match="have no target"):
            counts = count_groups(TREE, path, "bought", group=group)
        assert np.array_equal(counts.populations[0].by_class, expected)


def test_missing_values_are_a_group_of_their_own():
    sex = FRESH["sex"].astype(object)
    sex[:10] = None

    counts = count_groups(TREE, FRESH[["size", "colour"]], Y_FRESH, group=sex)

    assert counts.populations[0].names == ("f", "m", "(missing)")
    assert counts.populations[0].n_rows[2] == 10
    numbers = count_groups(TREE, FRESH[["size", "colour"]], Y_FRESH, group=np.where(np.arange(200) < 3, np.nan, 7))
    assert numbers.populations[0].names == ("7", "(missing)")
    sex[20] = "(missing)"
    with pytest.raises(DataError, match=r"is missing in some rows and '\(missing\)' in others"):
        count_groups(TREE, FRESH[["size", "colour"]], Y_FRESH, group=sex)


def test_stated_values_give_groups_without_rows_and_refuse_others():
    counts = count_groups(TREE, FRESH, Y_FRESH, group="sex", values=["m", "diverse", "f"])

    (population,) = counts.populations
    assert population.names == ("m", "diverse", "f")
    assert population.n_rows[1] == 0
    assert np.array_equal(population.by_class[[2, 0]], brute_force(FRESH["sex"])[1])
    with pytest.raises(DataError, match="other values than those stated: 'm'"):
        count_groups(TREE, FRESH, Y_FRESH, group="sex", values=["f", "w"])
    declared = FRESH.assign(sex=pd.Categorical(FRESH["sex"], ["f", "m", "diverse"]))
    assert count_groups(TREE, declared, Y_FRESH, group="sex").populations[0].n_rows[2] == 0


def test_several_columns_are_counted_together():
    band = np.where(FRESH["size"] > 0, "large", "small")
    counts = count_groups(
        TREE, FRESH, Y_FRESH, group={"sex": "sex", "size band": band}, values={"size band": ["small", "large"]}
    )

    first, second = counts.populations
    assert (first.column, second.column, second.names) == ("sex", "size band", ("small", "large"))
    assert np.array_equal(first.by_class, brute_force(FRESH["sex"])[1])
    assert np.array_equal(second.by_class[::-1], brute_force(band)[1])


def test_rows_of_a_class_that_growing_did_not_see_are_counted():
    y = Y_FRESH.astype(object)
    y[:5] = "perhaps"
    with pytest.warns(UserWarning, match="classes the tree has not seen"):
        counts = count_groups(TREE, FRESH, y, group="sex")

    assert counts.n_classes == 3
    assert counts.populations[0].by_class[:, 0, 2].sum() == 5


@pytest.mark.parametrize(
    ("group", "error", "message"),
    [
        (None, ParameterError, "group is None"),
        ({}, ParameterError, "group is empty"),
        ("sexx", ParameterError, "group='sexx' is not a column; the columns are 'size', 'colour'"),
        (["f"] * 3, DataError, "has 3 values for 200 rows"),
        (3, UnsupportedError, "a sequence of labels is needed"),
        (np.arange(200.0), DataError, f"at most {MAX_POPULATION_GROUPS} groups"),
        (np.ones((200, 2)), DataError, "one label per row"),
        ([{}] * 200, UnsupportedError, "group 'group'"),
    ],
)
def test_groups_that_cannot_be_read_are_refused(group, error, message):
    with pytest.raises(error, match=message):
        count_groups(TREE, FRESH[["size", "colour"]], Y_FRESH, group=group)


def test_values_that_do_not_fit_are_refused():
    for values, message in (("f", "a list of all values"), ([], "one or more values"), (["f", "f"], "each once")):
        with pytest.raises(ParameterError, match=message):
            count_groups(TREE, FRESH, Y_FRESH, group="sex", values=values)
    with pytest.raises(ParameterError, match="values names 'x'"):
        count_groups(TREE, FRESH, Y_FRESH, group="sex", values={"x": ["f"]})
    with pytest.raises(ParameterError, match="one list for several columns"):
        count_groups(TREE, FRESH, Y_FRESH, group={"a": "sex", "b": "sex"}, values=["f", "m"])


def test_other_columns_are_ignored_and_missing_ones_refused():
    counts = count_groups(TREE, FRESH.assign(extra=1, postcode="x"), Y_FRESH, group="sex")

    assert counts == count_groups(TREE, FRESH, Y_FRESH, group="sex")
    with pytest.raises(SchemaError, match="colour"):
        count_groups(TREE, FRESH.drop(columns="colour"), Y_FRESH, group="sex")


def test_a_list_of_columns_is_several_columns():
    frame = FRESH.assign(region=RNG.choice(["north", "south"], 200))

    by_list = count_groups(TREE, frame, Y_FRESH, group=["sex", "region"])

    by_dict = count_groups(TREE, frame, Y_FRESH, group={"sex": "sex", "region": "region"})
    assert by_list.populations == by_dict.populations
    assert [population.column for population in by_list.populations] == ["sex", "region"]


def test_many_numbers_are_warned_of():
    with pytest.warns(UserWarning, match="has 40 different numbers, .*join them to bands"):
        count_groups(TREE, FRESH, Y_FRESH, group=np.arange(200) % 40)


def test_an_estimator_in_place_of_its_tree_is_named():
    model = secateur.TreeClassifier(cv=3).fit(FRAME[["size"]], Y)
    with pytest.raises(UnsupportedError, match=r"tree is a TreeClassifier; a Tree is needed, such as tree_"):
        count_groups(model, FRESH, Y_FRESH, group="sex")
    with pytest.raises(UnsupportedError, match=r"pruning is a TreeClassifier; a Pruning is needed, such as pruning_"):
        secateur.certify_groups(model, count_groups(TREE, FRESH, Y_FRESH, group="sex"))


def test_population_groups_passed_as_groups_that_belong_together_are_warned_of():
    with pytest.warns(UserWarning, match="in 2 groups of rows that belong together, .*group= in place of groups="):
        counts = secateur.count(TREE, FRESH, Y_FRESH, groups="sex")
    with pytest.raises(CountsError, match="groups= are rows that belong together"):
        secateur.certify_groups(secateur.prune(TREE, GROWN)[1], counts)


def test_a_tree_without_names_reads_the_groups_beside_or_among_its_columns():
    X = np.column_stack([FRAME["size"], RNG.integers(0, 3, 400)])
    tree, _ = secateur.grow(X[:200], Y[:200])

    among = count_groups(tree, X[200:], Y_FRESH, group="x1")
    beside = count_groups(tree, np.column_stack([X[200:], X[200:, 1]]), Y_FRESH, group="x2")

    assert among.populations[0].names == beside.populations[0].names == ("0", "1", "2")
    assert np.array_equal(among.populations[0].by_class, beside.populations[0].by_class)


def test_an_encoded_table_needs_the_group_of_each_row():
    table = secateur.encode(FRESH[["size", "colour"]], schema=TREE.schema, target=Y_FRESH)

    counts = count_groups(TREE, table, group=FRESH["sex"])
    assert np.array_equal(counts.populations[0].by_class, brute_force(FRESH["sex"])[1])
    with pytest.raises(ParameterError, match="with a Table, which has been encoded; pass the group of each row"):
        count_groups(TREE, table, group="sex")


def test_a_regression_tree_is_refused():
    tree, _ = secateur.grow(FRAME[["size"]], FRAME["size"].to_numpy(), criterion="squared_error")

    with pytest.raises(UnsupportedError, match="error rates of groups need classes"):
        count_groups(tree, FRESH[["size", "sex"]], FRESH["size"], group="sex")


def test_groups_follow_into_a_smaller_tree_and_through_copies():
    counts = count_groups(TREE, FRESH, Y_FRESH, group="sex")
    pruning = secateur.prune(TREE, GROWN)[1]

    tree, smaller = pruning.to_tree(counts)

    kept = np.flatnonzero(pruning.is_kept | pruning.is_leaf)
    assert np.array_equal(smaller.populations[0].by_class, counts.populations[0].by_class[:, kept])
    assert smaller.tree is tree
    with pytest.raises(ValueError, match="read-only"):
        counts.populations[0].by_class[0, 0, 0] = 1


def test_a_chain_of_100_000_nodes():
    inner = np.repeat(np.arange(0, 100_000, 2), 2)  # of each two children of a node, the second is split again
    tree = secateur.Tree.from_parents([-1, *inner.tolist()])
    leaves = np.ones((2, tree.n_leaves, 2), int)
    population = PopulationGroups.from_leaves(tree, "sex", "fm", leaves)
    counts = secateur.Counts(tree, population.by_class.sum(axis=0), "test", populations=(population,))
    pruning = secateur.Pruning.from_cuts(tree, [], node_labels=np.arange(tree.n_nodes) % 2)

    rates = secateur.certify_groups(pruning, counts)

    assert tree.n_nodes == 100_001
    assert rates.n[0, 0] == 2 * tree.n_leaves
    assert rates.events[0, 0] == tree.n_leaves
