"""The model that most tests of the report look at."""

import pytest

from report_models import hostile_model


@pytest.fixture(scope="session")
def model():
    return hostile_model()
