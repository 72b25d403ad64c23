"""How soon does a monitor find that a certificate has failed, and how often is an alarm false?

    python benchmarks/monitoring.py [streams] [streams for MAPIE]

The setting: 100 errors in 1,000 certifying rows in three leaves, delta = 0.025, so that the certified limit is 12.0 %.
`Monitor` with alpha = 0.05 spends 0.025 on this limit. Streams are random: a row is wrong with the stated probability.
Printed are the share of streams with a false alarm over 100,000 rows, checked after every batch, at the largest error
that the limits allow, and the quantiles of the number of rows to an alarm, checked after every row. With the
second number, the monitoring of MAPIE (1.5 or later, which is no dependency) is run on the first of these streams,
cut off after 1,000 rows: an update takes time in the square of the number of rows.
"""

import math
import sys
import time

import numpy as np

from secateur import Counts, Model, Monitor, Pruning, Tree, certify
from secateur.statistics.anytime import log_evidence

TREE = Tree.from_parents([-1, 0, 0, 2, 2])
CERTIFYING = np.array([[285, 15], [160, 40], [455, 45]])
DELTA, ALPHA = 0.025, 0.05
N_ROWS, BATCH_ROWS = 100_000, 100
MAPIE_ROWS = 1_000


def certified_model():
    """Return a model whose certificate is from 100 errors in 1,000 rows."""
    grown = Counts.from_leaves(TREE, [[9, 1], [9, 1], [9, 1]])
    pruning = Pruning.from_cuts(TREE, [], node_labels=grown.majority)
    holdout = Counts.from_leaves(TREE, CERTIFYING, sample="prune")
    bound = certify(pruning, holdout, method="test-sample", delta=DELTA)
    return Model(pruning, grown, holdout, certificate=bound)


def false_alarm(model, seed, error_of_leaf):
    """Return whether a stream of batches raises an alarm for the limit, and for any limit."""
    random, monitor = np.random.default_rng(seed), Monitor(model, alpha=ALPHA)
    shares = CERTIFYING.sum(axis=1) / CERTIFYING.sum()
    for _ in range(N_ROWS // BATCH_ROWS):
        rows = random.multinomial(BATCH_ROWS, shares)
        wrong = random.binomial(rows, error_of_leaf)
        status = monitor.update_counts(Counts.from_leaves(TREE, np.column_stack([rows - wrong, wrong])))
        if status.is_alarm:
            return status.is_contradicted, True
    return False, False


def stream_alarm(limit, alpha, seed):
    """Return whether a stream of batches whose error is the limit raises an alarm."""
    random = np.random.default_rng(seed)
    n = np.arange(BATCH_ROWS, N_ROWS + 1, BATCH_ROWS)
    errors = random.binomial(BATCH_ROWS, limit, len(n)).cumsum()
    return bool((log_evidence(errors, n, limit) >= -math.log(alpha)).any())


def rows_to_alarm(errors, limit, alpha):
    """Return the first row of each stream at which the limit is contradicted; one more than all rows if it is not."""
    n = np.arange(1, errors.shape[1] + 1)
    least = np.zeros(len(n), int)  # the least number of errors that contradicts the limit after n rows
    most = n + 1
    while (least < most).any():
        middle = (least + most) // 2
        is_alarm = log_evidence(np.minimum(middle, n), n, limit) >= -math.log(alpha)
        least, most = np.where(is_alarm, least, np.minimum(middle + 1, most)), np.where(is_alarm, middle, most)
    alarm = errors >= most
    return np.where(alarm.any(axis=1), alarm.argmax(axis=1) + 1, len(n) + 1)


def mapie_rows_to_alarm(errors):
    """Return the same for the monitoring of MAPIE, without a tolerance."""
    from mapie.exchangeability_testing import RiskMonitoring

    result = []
    certifying = np.repeat([1, 0], [100, 900])
    for stream in errors:
        # One half of test_level is for the limit from the certifying rows, the other for the rows that arrive.
        monitoring = RiskMonitoring(risk="accuracy", test_level=DELTA + ALPHA / 2, tolerance=0.0, warn=False)
        monitoring.compute_threshold(certifying, np.zeros(1000, int))
        wrong = np.diff(stream, prepend=0)
        monitoring.update(wrong, np.zeros(len(wrong), int))
        is_alarm = monitoring.online_risk_lower_bound_sequence_history > monitoring.threshold
        result.append(is_alarm.argmax() + 1 if is_alarm.any() else len(stream) + 1)
    return np.array(result)


def main(n_streams, n_mapie_streams):
    """Print the tables."""
    model = certified_model()
    plan = Monitor(model, alpha=ALPHA).status().plan
    print(f"limit {plan.limit:.4f}; limits of leaves {plan.leaf_limit.round(3).tolist()}; alpha {ALPHA}")
    start = time.perf_counter()
    alarms = np.array([false_alarm(model, seed, np.minimum(plan.leaf_limit, plan.limit)) for seed in range(n_streams)])
    print(f"false alarms at the limits: of the limit {alarms[:, 0].mean():.3f}, of any limit {alarms[:, 1].mean():.3f}")
    at_limit = np.array([stream_alarm(plan.limit, plan.overall_alpha, seed) for seed in range(n_streams)])
    print(f"false alarms of the limit at an error of exactly the limit: {at_limit.mean():.3f}")
    print(f"({n_streams} streams of {N_ROWS:,} rows in batches of {BATCH_ROWS}; {time.perf_counter() - start:.0f} s)")
    print(f"{'error':>6} {'rows to the alarm: 10 %':>24} {'50 %':>6} {'90 %':>6} {'MAPIE 50 %':>11}")
    for error, length in ((0.15, 10_000), (0.2, 2_000), (0.25, 1_000)):
        random = np.random.default_rng(0)
        errors = (random.random((n_streams, length)) < error).cumsum(axis=1, dtype=np.int32)
        low, middle, high = np.quantile(rows_to_alarm(errors, plan.limit, plan.overall_alpha), [0.1, 0.5, 0.9])
        mapie = ""
        if n_mapie_streams:
            mapie = f"{np.median(mapie_rows_to_alarm(errors[:n_mapie_streams, :MAPIE_ROWS])):11.0f}"
        print(f"{error:6.2f} {low:24.0f} {middle:6.0f} {high:6.0f} {mapie}")


if __name__ == "__main__":
    main(*(int(text) for text in (sys.argv[1:] + ["200", "0"][len(sys.argv) - 1 :])[:2]))
