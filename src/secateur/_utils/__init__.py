"""Helpers that know nothing about trees: parameter checks, immutable values, warnings, progress, threads, files."""
