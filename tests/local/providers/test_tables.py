"""The tables of AWS resources fit the installed SDK: no entry names what the SDK does not have."""

import pytest

from local.providers import sdk_types
from local.providers.aws.kinds import known_properties
from local.providers.aws.tables import KINDS


@pytest.mark.parametrize("token", sorted(KINDS))
def test_an_entry_uses_the_sdk_s_own_names(token: str) -> None:
    kind, inputs, outputs = KINDS[token], sdk_types.input_type(token), sdk_types.output_names(token)
    assert known_properties(kind) - {"region"} <= inputs.properties.keys()
    assert set(kind.outputs) <= outputs
    assert kind.replace <= inputs.properties.keys()
    assert inputs.required <= known_properties(kind), "a program could never make one"
    assert bool(kind.tagging) == ("tagsAll" in outputs), "tags are a promise of policies and bills"
