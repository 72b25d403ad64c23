"""The numbers that certificates take from rows that were seen before, or that repeat others."""

import secateur
from secateur.core.provenance import UsedSample
from secateur.statistics.freshness import CertifyingRows, sample_overlap
from secateur.statistics.repeats import Repeats


def test_repeated_rows_count_as_errors_up_to_all_rows():
    rows = CertifyingRows(10, 0.05, Repeats("in doubt", n_rows=10, n_errors=3), {})

    assert [int(rows.add_repeated(errors)) for errors in (0, 4, 9)] == [3, 7, 10]


def test_a_used_sample_without_a_sketch_has_no_known_overlap():
    tree, _ = secateur.grow([[1.0], [2.0]], ["a", "b"])
    sample = secateur.count(tree, [[1.0], [3.0]], ["a", "b"])

    assert sample_overlap(UsedSample("prune"), sample) is None
    assert sample_overlap(UsedSample("prune", sample.sketch), sample) is not None
