"""The published experiments, one command each, with our figures beside the printed ones.

    rep-analysis           how likely reduced error pruning sees through pure noise
    rademacher             sizes and error bounds of REP and k-REP on fifteen data sets
    accuracy-simplicity    the best pruning of each size against three quicker ways
    srm                    structural risk minimisation where the best pruning is known
    subadditive            square root against additive penalties, cross-validated
    certificates           every certificate of the library on the same samples

`run` runs one of them, part by part; a part that is finished is kept on disk and not run again.
One file per experiment: its parts, the tables made of them, the figures drawn of them.
"""

from ._pages import write_docs
from ._run import NAMES, Reproduction, run

__all__ = ["NAMES", "Reproduction", "run", "write_docs"]
