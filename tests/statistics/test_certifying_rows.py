"""The numbers that certificates take from rows that were seen before, or that repeat others."""

import secateur
from secateur import Counts
from secateur.core import SampleUsage
from secateur.core.provenance import UsedSample
from secateur.statistics.freshness import CertifyingRows, compare_samples, sample_overlap
from secateur.statistics.repeats import Repeats


def test_repeated_rows_count_as_errors_up_to_all_rows():
    rows = CertifyingRows(10, 0.05, Repeats("in doubt", n_rows=10, n_errors=3), {})

    assert [int(rows.add_repeated(errors)) for errors in (0, 4, 9)] == [3, 7, 10]


def test_a_used_sample_without_a_sketch_has_no_known_overlap():
    tree, _ = secateur.grow([[1.0], [2.0]], ["a", "b"])
    sample = secateur.count(tree, [[1.0], [3.0]], ["a", "b"])

    assert sample_overlap(UsedSample("prune"), sample) is None
    assert sample_overlap(UsedSample("prune", sample.sketch), sample) is not None


def test_the_freshness_of_rows_says_why_nothing_was_compared():
    tree, _ = secateur.grow([[1.0], [2.0]], ["a", "b"])
    sample = secateur.count(tree, [[1.0], [3.0]], ["a", "b"])
    by_hand = Counts(sample.tree, sample.by_class, "prune")

    unknown = compare_samples(SampleUsage(), sample)
    assert unknown.text == "not checked: the samples that made the tree are not known"
    without_rows = compare_samples(SampleUsage(["grow"]), sample)
    assert without_rows.text == "not checked: the rows of 'grow' are not known"
    assert compare_samples(tree.history, by_hand).text == "not checked: sample 'prune' has no sketch of its rows"
    assert not any(found.is_checked for found in (unknown, without_rows))
