"""Resources written in YAML, judged through the servicer that the engine talks to.

`<unknown>` is a value that the preview can't know. `given` are the properties that the program sets: a list of those
that are not known, or a mapping with their values (default: the engine does not say).
"""

import datetime
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, Policy, ReportViolation, StackValidationArgs, StackValidationPolicy
from pulumi_policy.policy import _PolicyAnalyzerServicer
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE as UNKNOWN_TEXT
from ruamel.yaml import YAML

from fleet.address.plan import draft
from fleet.loader import load as read
from fleet.model import Ingress
from fleet.world import World, current
from policies import pack
from policies.reading import Finding, items

HERE = Path(__file__).parent
DECLARED = Ingress(port=8443, protocol="tcp", cidr="203.0.113.0/24", why="a partner")
TOLD = "ops@example.com"
STACK = "us-west-2"
AZURE, AZURE_STACK = "azure-native:", "southcentralus"


def example() -> World:
    """The example fleet, with a port open to a partner, an address for alarms, a price on the machines of one pool."""
    known = current(HERE.parents[1] / "fleet.yaml")
    spot = known.fleet.pools["cpu"].model_copy(update={"spot": True, "max_price_per_hour": 0.8})
    changed = {"ingress": [DECLARED], "cloud_alarms": [TOLD], "pools": {**known.fleet.pools, "cpu": spot}}
    return World(known.fleet.model_copy(update=changed), known.plan, known.path)


@cache
def azure() -> World:
    """A fleet in Azure with one region of AWS beside, the same port and address, a price on the machines of one pool."""
    alone, beside = read(HERE.parent / "fleet/good/azure.yaml"), read(HERE.parents[1] / "fleet.yaml")
    pools = {**alone.pools, "spot": alone.pools["spot"].model_copy(update={"max_price_per_hour": 2.5})}
    regions = {**alone.regions, "us-west-2": beside.regions["us-west-2"]}
    changed = {"ingress": [DECLARED], "cloud_alarms": [TOLD], "pools": pools, "regions": regions, "aws": beside.aws}
    fleet = alone.model_copy(update=changed)
    return World(fleet, draft(fleet, None, datetime.date(2026, 1, 1)).plan, HERE)


def world_of(types: Iterable[str], example: World) -> World:
    """The fleet that has a use for resources of these types."""
    return azure() if any(type_.startswith(AZURE) for type_ in types) else example


@cache
def load(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text().replace("<unknown>", UNKNOWN_TEXT))


def request(resources: list[dict[str, Any]]) -> Any:
    asked = analyzer_pb2.AnalyzeStackRequest()
    for resource in resources:
        stack = resource.get("stack", AZURE_STACK if resource["type"].startswith(AZURE) else STACK)
        urn = f"urn:pulumi:{stack}::landbridge::{resource['type']}::{resource['name']}"
        message = asked.resources.add(type=resource["type"], urn=urn, name=resource["name"])
        json_format.ParseDict(resource["props"], message.properties)
        message.options.protect = resource.get("protect", False)
        message.provider.name = resource.get("provider", stack)
        message.provider.type = "pulumi:providers:aws"
    return asked


def analyze(resources: list[dict[str, Any]], policies: list[Policy]) -> list[Any]:
    servicer = _PolicyAnalyzerServicer("landbridge", "0.1.0", policies, EnforcementLevel.MANDATORY, None)
    asked = request(resources)
    for resource, message in zip(resources, asked.resources, strict=True):
        if "given" in resource:
            one = analyzer_pb2.AnalyzeRequest(type=message.type, urn=message.urn, name=message.name)
            given = resource["given"]
            sets = given if isinstance(given, dict) else dict.fromkeys(given, UNKNOWN_TEXT)
            json_format.ParseDict(sets, one.properties)
            assert list(servicer.Analyze(one, None).diagnostics) == []
    return list(servicer.AnalyzeStack(asked, None).diagnostics)


def judge(path: Path, world: World) -> list[str]:
    """The messages of every mandatory violation."""
    resources = load(path)
    diagnostics = analyze(resources, pack.policies(world_of([one["type"] for one in resources], world)))
    told = [d for d in diagnostics if d.enforcementLevel != analyzer_pb2.MANDATORY]
    assert {d.policyName for d in told} <= pack.ADVICE.keys(), told
    return [diagnostic.message for diagnostic in diagnostics if diagnostic not in told]


def findings(resources: list[dict[str, Any]], world: World) -> list[Finding]:
    """What the pack finds, before it becomes text."""
    heard: list[Finding] = []

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        for _, judges in pack.RULES.values():
            for judge in judges:
                heard.extend(judge(items(args.resources), world))

    assert analyze(resources, [StackValidationPolicy("probe", "what is found", validate)]) == []
    return heard
