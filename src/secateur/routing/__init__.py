"""Where rows end up: routing them through a tree, and counting what arrives.

`count` and `apply` are the public verbs; the others serve growers, estimators and engines.
"""

from ._rows import apply, count, decision_path, moments_of, remembered, route_from, sketch_of, with_history

__all__ = ["apply", "count", "decision_path", "moments_of", "remembered", "route_from", "sketch_of", "with_history"]
