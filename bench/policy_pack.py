"""The policy pack over 5,000 resources, against the same rules as one policy for each rule and type."""

import time
from typing import Any

from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import EnforcementLevel, Policy, StackValidationPolicy
from pulumi_policy.policy import _PolicyAnalyzerServicer

from fleet.world import current
from policies import pack
from policies.reading import items
from tests.support.cloud import ROOT

RESOURCES, GOAL_SECONDS = 5_000, 5.0
TYPES = (
    "aws:ec2/subnet:Subnet",
    "aws:ec2/instance:Instance",
    "aws:ebs/volume:Volume",
    "aws:ec2/route:Route",
    "aws:kms/key:Key",
)


def request() -> Any:
    """Volumes, all in order, of a fleet with 5,000 of them."""
    asked = analyzer_pb2.AnalyzeStackRequest()
    props = {
        "encrypted": True,
        "size": 100,
        "availabilityZone": "us-west-2a",
        "tags": {"landbridge:fleet": "example", "landbridge:owner": "platform"},
    }
    for n in range(RESOURCES):
        urn = f"urn:pulumi:us-west-2::landbridge::aws:ebs/volume:Volume::v{n}"
        message = asked.resources.add(type="aws:ebs/volume:Volume", urn=urn, name=f"v{n}")
        json_format.ParseDict(props, message.properties)
        message.options.protect = True
        message.provider.name = "us-west-2"
        message.provider.type = "pulumi:providers:aws"
    return asked


def piecemeal() -> list[Policy]:
    """The same rules, each policy looking at one type only, as packs of many small policies do."""
    world = current(ROOT / "fleet.yaml")

    def make(name: str, judges: Any, wanted: str) -> Policy:
        def validate(args: Any, report: Any) -> None:
            found = [item for item in items(args.resources) if item.type == wanted]
            for finding in (one for judge in judges for one in judge(found, world)):
                report(finding.what, finding.urn)

        return StackValidationPolicy(name, "one rule for one type", validate)

    return [
        make(f"{name}-{n}", judges, wanted)
        for name, (_, judges) in pack.RULES.items()
        for n, wanted in enumerate(TYPES)
    ]


def seconds(policies: list[Policy], asked: Any) -> float:
    servicer = _PolicyAnalyzerServicer("landbridge", "0.1.0", policies, EnforcementLevel.MANDATORY, None)
    started = time.perf_counter()
    answer = servicer.AnalyzeStack(asked, None)
    spent = time.perf_counter() - started
    assert not answer.diagnostics, answer.diagnostics[:3]
    return spent


def main() -> None:
    asked, ours = request(), pack.policies(current(ROOT / "fleet.yaml"))
    together = min(seconds(ours, asked) for _ in range(3))
    apart = seconds(piecemeal(), asked)
    print(f"{RESOURCES:,} resources: {together:.2f} s (goal {GOAL_SECONDS:.0f} s)")
    print(
        f"  the same rules as {len(TYPES) * len(pack.RULES)} small policies: {apart:.2f} s, {apart / together:.1f} times ours"
    )


if __name__ == "__main__":
    main()
