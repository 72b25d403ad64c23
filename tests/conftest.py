"""Profiles of hypothesis: `ci` is the same on every run, `nightly` looks further."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips one of its checks; read when scipy is imported

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile("nightly", max_examples=3000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
