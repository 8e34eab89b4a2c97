"""Look-ups are made again by the plugin of the provider that the state names; what can't be is never the same."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.places import Place
from landbridge.up.unchanged import plugins
from landbridge.up.unchanged.plugins import PluginError

URN = "urn:pulumi:one::landbridge::pulumi:providers:aws::us-west-2"


def state(**inputs: Any) -> dict[str, Any]:
    return {"resources": [{"urn": URN, "type": "pulumi:providers:aws", "inputs": inputs}]}


def test_a_provider_is_known_by_its_package_and_inputs() -> None:
    assert plugins.provider_of(URN, state(region="us-west-2")) == ("aws", '{"region": "us-west-2"}')


@pytest.mark.parametrize(
    ("there", "why"),
    [({"resources": []}, "there is no provider"), (state(token={plugins.SECRET: "1"}), "holds a secret")],
)
def test_one_that_is_gone_or_holds_a_secret_is_not_asked(there: dict[str, Any], why: str) -> None:
    with pytest.raises(PluginError, match=why):
        plugins.provider_of(URN, there)


@pytest.mark.parametrize("script", ["exit 1", "echo nothing", "echo 9"])
def test_a_plugin_that_does_not_answer_has_a_digest_that_no_answer_has(script: str, tmp_path: Path) -> None:
    plugin = tmp_path / "aws" / "pulumi-resource-aws"
    plugin.parent.mkdir()
    plugin.write_text(f"#!/bin/sh\n{script}\n")
    plugin.chmod(0o755)
    (tmp_path / "Pulumi.yaml").write_text("name: one\nplugins: {providers: [{name: aws, path: aws}]}\n")
    place = Place("real", tmp_path, "file:///none", "passphrase", tmp_path)
    asked = json.dumps({"tok": "aws:ec2/getAmi:getAmi", "args": {}, "provider": URN})
    found = plugins.again(place, {}, {asked: state(region="us-west-2")})
    assert found[asked].startswith("failed: ")
