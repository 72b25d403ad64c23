"""Helpers that know nothing of trees: parameter checks, frozen values, warnings, progress, threads, output files."""
