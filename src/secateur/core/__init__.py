"""The frozen values: immutable data classes, checked when they are made, without algorithms."""

from .bound import Bound
from .calibration import Calibration
from .costs import (
    RELATIVE_TOLERANCE,
    Sample,
    cost_provenance,
    cost_result_fields,
    excess_cost,
    full_cost,
    labels_of,
    m_estimate,
    node_cost,
    sample_usage_of,
    text_with_ties,
)
from .counts import Counts, LabelRule, Original, check_label_rule, leaf_labels
from .data_record import ColumnRecord, DataRecord
from .group_rates import GROUP_RATES, GroupGap, GroupRate, GroupRates
from .grouped_rows import GroupedRows
from .leaf_shares import LeafShares, class_number
from .model import Model, as_model
from .moments import Moments
from .node_statistics import NodeStatistics
from .population_groups import PopulationGroups
from .prediction_regions import PredictionIntervals, PredictionRegions, PredictionSets
from .provenance import (
    ALPHA_UNITS,
    COST_UNITS,
    NO_SAMPLES,
    CostUnit,
    EvaluationLog,
    EvaluationRecord,
    RuleProvenance,
    SampleUsage,
    UsedSample,
)
from .pruning import Pruning
from .selection import Selection
from .sequence import MemberChanges, PruningSequence
from .surrogates import NO_BRANCH, Surrogates, check_no_surrogates
from .target_rows import TargetRows
from .tree import MAX_ROUNDED_DIGITS, Tree

__all__ = [
    "ALPHA_UNITS", "COST_UNITS", "GROUP_RATES", "MAX_ROUNDED_DIGITS", "NO_BRANCH", "NO_SAMPLES", "RELATIVE_TOLERANCE",
    "Bound", "Calibration", "ColumnRecord", "CostUnit", "Counts", "DataRecord", "EvaluationLog", "EvaluationRecord",
    "GroupGap", "GroupRate", "GroupRates", "GroupedRows", "LabelRule", "LeafShares", "MemberChanges", "Model",
    "Moments", "NodeStatistics", "Original", "PopulationGroups", "PredictionIntervals", "PredictionRegions",
    "PredictionSets", "Pruning", "PruningSequence", "RuleProvenance", "Sample", "SampleUsage", "Selection",
    "Surrogates", "TargetRows", "Tree", "UsedSample", "as_model", "check_label_rule", "check_no_surrogates",
    "class_number", "cost_provenance", "cost_result_fields", "excess_cost", "full_cost", "labels_of", "leaf_labels",
    "m_estimate", "node_cost", "sample_usage_of", "text_with_ties",
]  # fmt: skip
