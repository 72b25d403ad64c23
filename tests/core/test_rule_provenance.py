"""The provenance of a rule: only units that a model file can hold."""

import pytest

from secateur.core import RuleProvenance
from secateur.errors import ParameterError


@pytest.mark.parametrize("field", ["cost", "alpha_unit"])
def test_a_unit_that_a_model_file_cannot_hold_is_refused(field):
    with pytest.raises(ParameterError, match=f"{field}='code length'; one of 'none'"):
        RuleProvenance("my-rule", **{field: "code length"})
