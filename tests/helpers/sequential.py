"""A sequential test of a failure rate, which stops as soon as the rate is clearly low or clearly too high."""

import math
from collections.abc import Iterable
from itertools import islice

TOLERATED_RATE = 0.1  # the delta of the certificates
REFUTED_RATE = 0.2
P_REFUTE_TOLERATED = 0.001  # probability of refuting a failure rate of TOLERATED_RATE or less
P_ACCEPT_REFUTED = 0.05  # probability of accepting a failure rate of REFUTED_RATE or more
MAX_RUNS = 1000  # a decision needs more with probability below 1e-5 at either rate


def is_refuted(failures: Iterable[bool]) -> bool:
    """Return whether independent runs show that their failure rate is above the tolerated one.

    Wald's sequential probability ratio test of a failure rate of .1 against one of .2. If all runs succeed, it takes
    26 runs; at a rate of .05 about 40, at .1 about 80. By Ville's inequality a rate of .1 or less is refuted with
    probability at most .001, and a rate of .2 or more is accepted with probability at most .05. A rate of .3 is accepted
    in less than 1 of 1,000 tests.
    """
    lower, upper = math.log(P_ACCEPT_REFUTED), math.log(1 / P_REFUTE_TOLERATED)
    log_ratio = 0.0
    for has_failed in islice(failures, MAX_RUNS):
        if has_failed:
            log_ratio += math.log(REFUTED_RATE / TOLERATED_RATE)
        else:
            log_ratio += math.log((1 - REFUTED_RATE) / (1 - TOLERATED_RATE))
        if not lower < log_ratio < upper:
            break
    return log_ratio >= upper
