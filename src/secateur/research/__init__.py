"""The published experiments, one command each, with our figures beside the printed ones.

`NAMES` lists the experiments. `run` runs one of them, part by part; finished parts are kept on disk and not run again.
`check_claims` checks the numbered claims of the documents, and `build_data` fills a folder with the data sets. Each
experiment has one file with its parts, its tables, its figures, and their places in the document.
"""

from typing import TYPE_CHECKING

from .._utils.lazy import lazy_getattr

if TYPE_CHECKING:
    from ._build_data import Built as Built
    from ._build_data import build_data as build_data
    from ._build_data import checksum as checksum
    from ._pages import write_docs as write_docs
    from ._run import Reproduction as Reproduction
    from ._run import describe_experiment as describe_experiment
    from ._run import run as run
    from .claims import check_claims as check_claims

# Each experiment and the document it is about.
NAMES = {
    "rep-analysis": "Elomaa and Kaariainen, An Analysis of Reduced Error Pruning (2001)",
    "rademacher": "Kaariainen, Malinen and Elomaa, Selective Rademacher Penalization (2004)",
    "accuracy-simplicity": "Bohanec and Bratko, Trading Accuracy for Simplicity (1994)",
    "srm": "Mansour, lecture notes on growing and pruning",
    "subadditive": "Garcia-Moratilla et al., Pruning with Subadditive Penalties (2006)",
    "certificates": "the certificates of this library",
}
_MODULE_OF = {
    "Built": "._build_data",
    "build_data": "._build_data",
    "checksum": "._build_data",
    "Reproduction": "._run",
    "check_claims": ".claims",
    "describe_experiment": "._run",
    "run": "._run",
    "write_docs": "._pages",
}
__getattr__ = lazy_getattr(__name__, _MODULE_OF)
__all__ = ["NAMES", *_MODULE_OF]  # noqa: PLE0604
