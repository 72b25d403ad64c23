"""Rows as they come and as we hold them: sources, columns, the target, folds; no tree is known here."""
