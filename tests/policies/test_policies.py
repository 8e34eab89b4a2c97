"""Each rule takes its accepted fixture and refuses its refused one, through the servicer that the engine talks to.

A refused fixture begins with comments: the texts that its violations must contain, and there are no others.
"""

from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel
from pulumi_policy.policy import _PolicyAnalyzerServicer
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE
from ruamel.yaml import YAML

from fleet.model import Ingress
from fleet.world import World, current
from policies import pack

FIXTURES = Path(__file__).parent / "fixtures"
ROOT = Path(__file__).parents[2]
DECLARED = Ingress(port=8443, protocol="tcp", cidr="203.0.113.0/24", why="a partner")


@pytest.fixture(scope="module")
def world() -> World:
    known = current(ROOT / "fleet.yaml")
    fleet = known.fleet.model_copy(update={"ingress": [DECLARED]})
    return World(fleet, known.plan, known.path)


def request(path: Path, stack: str = "us-west-2") -> Any:
    resources = YAML(typ="safe").load(path.read_text().replace("<unknown>", UNKNOWN_STRING_VALUE))
    asked = analyzer_pb2.AnalyzeStackRequest()
    for resource in resources:
        urn = f"urn:pulumi:{stack}::landbridge::{resource['type']}::{resource['name']}"
        message = asked.resources.add(type=resource["type"], urn=urn, name=resource["name"])
        json_format.ParseDict(resource["props"], message.properties)
        message.options.protect = resource.get("protect", False)
        message.provider.name = resource.get("provider", stack)
        message.provider.type = "pulumi:providers:aws"
    return asked


def judge(path: Path, world: World) -> list[str]:
    """The messages of every mandatory violation."""
    servicer = _PolicyAnalyzerServicer("landbridge", "0.1.0", pack.policies(world), EnforcementLevel.MANDATORY, None)
    answer = servicer.AnalyzeStack(request(path), None)
    assert all(d.enforcementLevel == analyzer_pb2.MANDATORY for d in answer.diagnostics), answer
    return [diagnostic.message for diagnostic in answer.diagnostics]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.accepted.yaml")), ids=lambda path: path.stem)
def test_accepted(path: Path, world: World) -> None:
    assert judge(path, world) == []


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.refused.yaml")), ids=lambda path: path.stem)
def test_refused(path: Path, world: World) -> None:
    expected = [line[2:] for line in path.read_text().splitlines() if line.startswith("# ")]
    messages = judge(path, world)
    assert expected
    for text in expected:
        assert any(text in message for message in messages), messages
    assert all(any(text in message for text in expected) for message in messages), messages


def test_every_rule_has_both_fixtures() -> None:
    for policy in pack.RULES:
        for verdict in ("accepted", "refused"):
            assert list(FIXTURES.glob(f"{policy}-*.{verdict}.yaml")), f"{policy} lacks {verdict}"
