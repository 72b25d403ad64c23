"""The numbered claims of the five documents, each with the code that checks it.

A claim is a function that looks for exceptions: to the printed form, and to the corrected form if
there is one. Its verdict follows from what it finds:

    holds                    no exception
    holds with correction    an exception to the printed form, none to the corrected form
    does not hold            an exception, and no form that we know to hold
    not checkable            says why

The docstring of each check is what the document says; above it stand at which place, and where it is in the library
(`at`; `search` if the check yields exceptions, `each` if it looks at one small random tree). One module per document.
`secateur reproduce claims` runs them; the page "Where is it?" is made from them.
"""

from ._claim import Claim, Finding, check_claims, claims_of

__all__ = ["Claim", "Finding", "check_claims", "claims_of"]
