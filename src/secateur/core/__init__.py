"""The nouns: frozen, checked when they are made, without an algorithm; each has a file of its own."""

from .bound import Bound
from .costs import Sample, excess_cost, full_cost, labels_of, m_estimate, node_cost, seen_of
from .counted import Counted
from .counts import Counts, LabelRule, Original, check_label_rule, leaf_labels
from .leaf_shares import LeafShares, class_number
from .model import Model, as_model
from .moments import Moments
from .provenance import NOTHING, Ledger, Look, Seen, SeenSample
from .pruning import Pruning
from .selection import Selection
from .sequence import Members, PruningSequence
from .surrogates import SAYS_NOTHING, Surrogates, check_plain
from .tree import MOST_DIGITS, Tree

__all__ = [
    "MOST_DIGITS", "NOTHING", "SAYS_NOTHING", "Bound", "Counted", "Counts", "LabelRule", "LeafShares", "Ledger", "Look",
    "Members", "Model", "Moments", "Original", "Pruning", "PruningSequence", "Sample", "Seen", "SeenSample",
    "Selection", "Surrogates", "Tree", "as_model", "check_label_rule", "check_plain", "class_number", "excess_cost",
    "full_cost", "labels_of", "leaf_labels", "m_estimate", "node_cost", "seen_of",
]  # fmt: skip
