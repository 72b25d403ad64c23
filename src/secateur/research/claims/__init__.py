"""The numbered claims of the five documents, each with a function that checks it.

A check looks for counterexamples to the printed claim, and to a corrected claim if there is one. The verdict follows:

    holds                    no counterexample
    holds with correction    a counterexample to the printed claim, none to the corrected one
    does not hold            a counterexample, and no correction that we know to hold
    not checkable            the reason is stated

There is one module for each document; `_claim.py` describes how a claim is declared, and `_small.py` makes the small
trees on which most claims are checked. For each claim, `_faults.py` has a wrong implementation that the check rejects.
`secateur reproduce claims` runs all checks; the page "Where is it?" shows them.
"""

from ._claim import Claim, Finding, check_claims, claims_of
from ._faults import FAULTS, check_with_fault

__all__ = ["FAULTS", "Claim", "Finding", "check_claims", "check_with_fault", "claims_of"]
