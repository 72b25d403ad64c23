"""The quick experiments: what must hold in every run, whatever the seed."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from secateur import Counts, Tree, analysis, datasets, grow, pruners
from secateur.research import NAMES, describe_experiment, run
from secateur.research._by_hand import krk_tree, nine_tests
from secateur.research._run import experiment_module
from secateur.research._srm import Concept
from secateur.research._study import Config

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Return (the reproduction, its results) of a quick run: once for all tests, which is why they are in one file."""
    folder = tmp_path_factory.mktemp("reproduction")
    done = {}
    savefig = Figure.savefig

    def coarse(figure, *file, **options):
        figure.set_layout_engine("none")  # finding room for the labels takes longer than the experiment
        savefig(figure, *file, **options | {"dpi": 20})

    def of(name):
        if name not in done:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Figure, "savefig", coarse)
                reproduction = run(name, out=folder, quick=True)
            done[name] = reproduction, json.loads((folder / name / "results.json").read_text())["results"]
        return done[name]

    return of


def sheet(reproduction, key):
    return next(table for table in reproduction.sheets if table.key == key)


def column(reproduction, key, name):
    table = sheet(reproduction, key)
    return [row[table.head.index(name)] for row in table.rows]


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_written(quick, name):
    reproduction, _ = quick(name)
    files = {path.name for path in reproduction.folder.iterdir()}

    assert {"summary.md", "results.json", "parts"} <= files
    figures = {file.removesuffix(".png") for file in files if file.endswith(".png")}
    assert figures
    assert {f"{figure}{suffix}" for figure in figures for suffix in (".svg", ".pdf")} <= files
    for table in reproduction.sheets:
        rows = list(csv.reader((reproduction.folder / f"{table.key}.csv").read_text().splitlines()))
        assert tuple(rows[0]) == table.head
        assert len(rows) == 1 + len(table.rows)
        assert table.title in (reproduction.folder / "summary.md").read_text()
    assert {"seed", "versions", "seconds of this run"} <= set(reproduction.to_dict())


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_ends_with_three_sentences(quick, name):
    reproduction, _ = quick(name)

    assert len(reproduction.findings) == 3
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in reproduction.findings)
    assert reproduction.markdown.endswith("".join(f"- {sentence}\n" for sentence in reproduction.findings))
    assert experiment_module(name).findings({}) == []  # no part has run, so nothing was found
    committed = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["results"]
    assert experiment_module(name).findings(committed) != list(reproduction.findings)  # they come from the results


def test_a_sentence_follows_the_results(quick):
    _, results = quick("subadditive")
    changed = json.loads(json.dumps(results))
    next(result for result in changed.values() if "is subset" in result)["is subset"][0] = 0

    before, after = (experiment_module("subadditive").findings(of)[0] for of in (results, changed))
    n_runs = sum(len(result["is subset"]) for result in results.values() if "is subset" in result)
    assert f"in {n_runs} of {n_runs} runs" in before
    assert f"in {n_runs - 1} of {n_runs} runs" in after


def splits(results):
    """The parts of rademacher that are about one set and its splits."""
    return [result for key, result in results.items() if not key.startswith(("phases", "one-vs-rest"))]


def test_the_surface_has_the_reference_figures_to_two_digits(quick):
    reproduction, _ = quick("rep-analysis")

    for row in sheet(reproduction, "surface").rows:
        for reference, ours in zip(row[1:9:2], row[2:9:2], strict=True):
            assert float(f"{ours:.2g}") == pytest.approx(reference, rel=0.05)


def test_simulated_pruning_agrees_with_the_exact_probability(quick):
    reproduction, _ = quick("rep-analysis")

    assert all(column(reproduction, "simulations", "agrees"))


def test_noise_trees_have_the_expected_leaves_and_stay_large_after_pruning(quick):
    _, results = quick("rep-analysis")

    for key, result in results.items():
        if key.startswith("growth"):
            expected = analysis.expected_noise_leaves(result["n_grow"], result["p"])
            # Leaves are one more than the changes of class along the sample, each example touching two of them.
            assert abs(np.mean(result["grown"]) - expected) < 4 * np.sqrt(result["n_grow"] / len(result["grown"]))
            assert np.mean(result["pruned"]) > 5  # the best tree is one leaf


def test_rep_lies_within_k_rep_within_the_unpruned_tree_in_every_split(quick):
    _, results = quick("rademacher")

    for result in splits(results):
        assert all(result["is ordered"])
        assert all(
            a <= b <= c for a, b, c in zip(*(result[f"nodes, {x}"] for x in ("REP", "k-REP", "unpruned")), strict=True)
        )


def test_splits_of_one_value_are_those_of_a_column_for_each_value_where_few_values_are_present(quick):
    _, results = quick("rademacher")

    result = results["one-vs-rest-nursery"]
    assert result["rows"] == 12_960
    for size in ("unpruned", "k-REP", "REP"):  # the two kinds differ in the mean gain that a split must reach
        one_value, own_column = (
            np.mean(result[f"nodes, {size}, {kind}"]) for kind in ("one value", "a column per value")
        )
        assert abs(one_value - own_column) < 0.1 * own_column
    sets = grow(datasets.nursery(), criterion="gain_ratio")[0]
    singles = grow(datasets.nursery(), criterion="gain_ratio", splits="one-vs-rest")[0]
    assert singles.n_nodes > sets.n_nodes  # a set of values in one test saves nodes


def test_a_quarter_bit_per_node_pays_other_than_the_exact_count(quick):
    _, results = quick("rademacher")

    for result in splits(results):
        assert result["quarter bit, REP"] != result["uniform, REP"]
        assert all(a <= b for a, b in zip(result["path"], result["uniform, REP"], strict=True))


def test_a_larger_factor_prunes_more_and_a_restricted_penalty_is_smaller(quick):
    reproduction, _ = quick("rademacher")

    nodes = column(reproduction, "factor", "nodes")
    assert nodes == sorted(nodes, reverse=True)
    for row in sheet(reproduction, "labellings").rows:
        assert all(within <= all_ for all_, within in zip(row[1::2], row[2::2], strict=True))
    for row in sheet(reproduction, "choice").rows:
        assert row[2] >= row[4]  # the choice is paid for


def test_no_sequence_offers_fewer_errors_than_opt_made_from_them(quick):
    reproduction, _ = quick("accuracy-simplicity")

    table = sheet(reproduction, "noise")
    for row in table.rows:
        if row[1] == "pruning errors":
            assert all(row[2] <= row[table.head.index(f"{way} pruning %")] for way in ("GREEDY", "MCC1", "MCC0"))


def test_the_king_rook_king_table_is_exactly_the_published_one(quick):
    reproduction, _ = quick("accuracy-simplicity")

    assert column(reproduction, "krk", "difference") == [0] * 11
    assert [row[4:] for row in sheet(reproduction, "krk").rows[3:5]] == [(98.45, 98.45), (99.57, 99.57)]


def test_the_king_rook_king_tree_is_exact_on_all_positions():
    tree, counts = krk_tree()

    assert (tree.n_leaves, tree.n_nodes, int(counts.total[0])) == (11, 21, 262_144)
    assert counts.errors_if_leaf(counts.majority)[tree.leaves].sum() == 0
    assert counts.by_class[0].tolist() == np.bincount(datasets.krk_legality().target).tolist()


def test_the_nine_test_example_is_the_published_one_verbatim(quick):
    reproduction, _ = quick("accuracy-simplicity")

    assert all(column(reproduction, "nine-tests", "same"))
    assert all(column(reproduction, "nine-tests-ways", "same"))
    tree, counts = nine_tests()
    assert (tree.n_leaves, len(tree.internal), int(counts.total[0])) == (15, 9, 18)


def test_every_mcc1_tree_is_optimal_and_nothing_beats_opt(quick):
    _, results = quick("accuracy-simplicity")

    for key, result in results.items():
        if key.startswith("random"):
            assert result["every MCC1 tree optimal"] == result["trees"]
            for way in ("GREEDY", "MCC1", "MCC0"):
                assert all(a <= b + 1e-9 for a, b in zip(result["curves"][way], result["curves"]["OPT"], strict=True))


def test_the_intervals_of_the_curves_hold_for_their_means(quick):
    _, results = quick("accuracy-simplicity")

    summary = results["random-3-4-3"]
    for method, of_sizes in summary["intervals of curves"].items():
        assert len(of_sizes) == len(summary["curves"][method])
        assert of_sizes[-1] == 0  # the whole tree has no errors
        assert max(of_sizes) > 0
    # OPT has no distance from itself; accuracies of one domain vary together, so their difference varies less.
    assert set(summary["intervals below OPT"]["OPT"]) == {0}
    assert max(summary["intervals below OPT"]["GREEDY"]) < max(summary["intervals of curves"]["GREEDY"])


def test_means_on_real_sets_are_those_of_their_splits(quick):
    _, results = quick("rep-analysis")

    real = results["real-waveform"]
    assert [np.mean(of_share) for of_share in real["after REP"]] == pytest.approx([row[1] for row in real["means"]])
    low_and_high = results["earlier"]["99 % interval"]
    assert all(low <= x <= high for x, (low, high) in zip(results["earlier"]["simulated"], low_and_high, strict=True))


def test_greedy_is_often_but_not_always_optimal_when_numbers_of_values_differ(quick):
    _, results = quick("accuracy-simplicity")

    assert 50 <= results["random-unequal-2-3-3"]["every GREEDY tree optimal"] <= 85


def test_nothing_is_better_than_the_best_pruning(quick):
    _, results = quick("srm")

    for key, result in results.items():
        if key.startswith("prune"):
            for method in result["methods"].values():
                assert min(method["beyond best"]) >= -1e-9
            assert all(result["methods"]["KM"]["inside"])


def test_the_truth_of_a_concept_is_its_distribution():
    concept = Concept.generate(2, np.random.default_rng(0))
    sample = concept.draw(40_000, np.random.default_rng(1))
    tree, _ = grow(concept.draw(300, np.random.default_rng(2)))
    truth = concept.exact_counts(tree)

    drawn = np.bincount(sample.target, minlength=2) / sample.n_rows
    assert truth.by_class[0] / truth.total[0] == pytest.approx(drawn, abs=0.02)
    assert truth.total[0] == 10 * 1024


def test_training_errors_fall_with_every_split_and_end_at_zero(quick):
    _, results = quick("srm")

    for criterion in ("gini", "entropy", "sqrt"):
        curve = results["grow-tic-tac-toe"][criterion]
        assert curve == sorted(curve, reverse=True)
        assert curve[-1] == 0


def test_concave_families_are_inside_the_additive_one_in_every_run(quick):
    _, results = quick("subadditive")

    for result in results.values():
        if "is subset" not in result:  # the characteristics of a set
            continue
        assert all(result["is subset"])
        assert all(result["is log subset"])
        assert all(a <= b for a, b in zip(result["1SD CART leaves"], result["1SE folds CART leaves"], strict=True))
        assert all(a <= b for a, b in zip(result["family sub"], result["family CART"], strict=True))
        assert all(a <= b for a, b in zip(result["1SE sub leaves"], result["0SE sub leaves"], strict=True))


def test_ranks_one_to_three_are_far_below_the_rest(quick):
    _, results = quick("certificates")

    for result in results.values():
        for tight in ("path", "informed, best", "PAC-Bayes"):
            for loose in ("uniform, REP", "centred Rademacher, REP", "printed Rademacher, REP"):
                assert max(result[tight]) < min(result[loose])


def test_a_bound_that_pays_is_above_the_limit_that_does_not(quick):
    _, results = quick("certificates")

    for result in results.values():
        assert all(a > b for a, b in zip(result["path"], result["unpaid, path"], strict=True))


def test_one_class_domains_are_leaves():
    from secateur.research._accuracy_simplicity import compare_methods, grow_by_id3

    result = compare_methods(*grow_by_id3(datasets.random_domain([2, 2], 1)))

    assert result["leaves"] == result["for 90 %"] == 1
    assert isinstance(pruners.greedy(*grow_by_id3(datasets.random_domain([2, 2], 1)))[0].tree, Tree)
    assert isinstance(grow_by_id3(datasets.random_domain([2, 2], 1))[1], Counts)


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_results_hold_what_the_code_writes_and_nothing_else(quick, name):
    committed = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["results"]
    _, now = quick(name)

    for key, result in now.items():
        if key in committed:
            assert set(committed[key]) == set(result), key


def test_every_figure_that_is_listed_can_be_had(quick):
    for name in NAMES:
        keys = {sheet.key for sheet in quick(name)[0].sheets}
        prefixes = [part.key for part in experiment_module(name).parts(Config(None, True, 0))]
        assert describe_experiment(name)["figures"] == list(experiment_module(name).PLACES)
        for wanted, sheets in experiment_module(name).PLACES.values():
            assert set(sheets) <= keys
            assert all(any(key.startswith(prefix) for key in prefixes) for prefix in wanted)
