"""A run that would touch two machines of a control plane, both tunnels of a connection, or a key that all trust, is refused."""

from typing import Any

import pytest

from components.addons import queues
from components.addons.component import token
from components.control_plane.pki import AUTHORITIES
from fleet import maintenance_holds
from landbridge.engine.stack_report import Step
from landbridge.up.guards import (
    CONNECTION,
    KEYS,
    LAPTOPS,
    MACHINES,
    PARTS,
    RUNS,
    SSH,
    TEAM_QUEUE,
    TEMPLATES,
    TUNNELS,
    refusals,
)

VOLUME, GROUP = "aws:ebs/volume:Volume", "aws:autoscaling/group:Group"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
KEY, CERT, BYTES = (
    "tls:index/privateKey:PrivateKey",
    "tls:index/selfSignedCert:SelfSignedCert",
    "random:index/randomBytes:RandomBytes",
)
LEAF = "tls:index/locallySignedCert:LocallySignedCert"


def step(verb: str, type_: str, machine: str, *changed: str, name: str = "x") -> Step:
    tags: Any = {"landbridge:machine": machine}
    if type_ == GROUP:
        tags = [{"key": key, "value": value} for key, value in tags.items()]
    return Step(verb, type_, name, False, changed, {"tags": tags})


def key(verb: str, type_: str, name: str) -> Step:
    return Step(verb, type_, name, False, (), {})


@pytest.mark.parametrize("type_", [*PARTS, *TEMPLATES])
@pytest.mark.parametrize("verb", ["replaced", "deleted"])
def test_two_members_at_once_are_refused_and_one_is_not(type_: str, verb: str) -> None:
    one, two = step(verb, type_, "main-etcd-1"), step(verb, type_, "main-etcd-2")
    assert refusals({"main": [one, one]}) == []
    (told,) = refusals({"main": [one, two]})
    assert told.startswith("main: the run touches 2 machines of the control plane at once (main-etcd-1: ")
    assert refusals({"main": [one, two]}, {MACHINES}) == []


def test_parts_of_two_kinds_of_two_members_are_two_members() -> None:
    (told,) = refusals(
        {"main": [step("replaced", VOLUME, "main-etcd-1"), step("deleted", GROUP, "main-api-1", name="y")]}
    )
    assert "main-api-1: deletes Group y; main-etcd-1: replaces Volume x" in told


def test_clusters_are_counted_by_themselves() -> None:
    assert refusals({"a": [step("replaced", VOLUME, "a-etcd-1")], "b": [step("replaced", VOLUME, "b-etcd-1")]}) == []


@pytest.mark.parametrize("verb", ["created", "same"])
def test_new_members_and_unchanged_ones_are_none(verb: str) -> None:
    assert refusals({"main": [step(verb, VOLUME, f"main-etcd-{n}") for n in (1, 2, 3)]}) == []


@pytest.mark.parametrize(
    ("type_", "changed", "refused"),
    [
        (VOLUME, ["tags"], False),
        (VOLUME, ["tags.Name", "tagsAll"], False),
        (VOLUME, ["size"], True),
        (VOLUME, ["tags", "size"], True),
        (VOLUME, [], True),
        (GROUP, ["tags[0]"], False),
        (GROUP, ["desiredCapacity"], True),
        (GROUP, ["availabilityZones"], True),
        ("aws:ec2/networkInterface:NetworkInterface", ["privateIps"], True),
        (TEMPLATE, ["userData", "instanceType"], False),
        ("aws:iam/role:Role", ["description"], False),
    ],
)
def test_which_updates_touch_a_machine(type_: str, changed: list[str], refused: bool) -> None:
    steps = [step("updated", type_, f"main-etcd-{n}", *changed) for n in (1, 2)]
    assert bool(refusals({"main": steps})) is refused


@pytest.mark.parametrize("verb", ["replaced", "deleted"])
@pytest.mark.parametrize(
    ("type_", "name"),
    [
        *((CERT, f"{authority}-1") for authority in AUTHORITIES),
        *((KEY, f"{authority}-12") for authority in AUTHORITIES),
        (KEY, "service-accounts-1"),
        (KEY, "manifests"),
        (BYTES, "encryption-1"),
    ],
)
def test_what_all_trust_is_kept(verb: str, type_: str, name: str) -> None:
    (told,) = refusals({"main": [key(verb, type_, name)]})
    assert name in told
    assert "landbridge pki rotate main" in told
    assert refusals({"main": [key(verb, type_, name)]}, {KEYS}) == []


@pytest.mark.parametrize(
    ("verb", "type_", "name"),
    [
        ("created", CERT, "kubernetes-2"),
        ("updated", CERT, "kubernetes-1"),
        ("replaced", LEAF, "main-api-1-apiserver"),
        ("replaced", KEY, "main-api-1-kubelet-client"),
        ("deleted", KEY, "main-etcd-3-main-peer"),
        ("deleted", KEY, "main-admin"),
        ("deleted", KEY, "front-proxy-client"),
        ("deleted", KEY, "main-kubernetes-1"),
    ],
)
def test_certificates_of_machines_and_new_generations_are_not(verb: str, type_: str, name: str) -> None:
    assert refusals({"main": [key(verb, type_, name)]}) == []


@pytest.mark.parametrize("verb", ["replaced", "deleted"])
@pytest.mark.parametrize(("type_", "name"), [(KEY, "laptops"), (CERT, "laptops"), (BYTES, "laptops-wrapping")])
def test_what_all_profiles_hang_on_is_kept(verb: str, type_: str, name: str) -> None:
    (why,) = refusals({"us-west-2-laptops": [key(verb, type_, name)]})
    assert "all laptops' profiles of us-west-2 are worth nothing then" in why
    assert refusals({"us-west-2-laptops": [key(verb, type_, name)]}, {LAPTOPS}) == []
    assert refusals({"us-west-2-laptops": [key("created", type_, name)]}) == []


@pytest.mark.parametrize("verb", ["replaced", "deleted"])
@pytest.mark.parametrize(
    ("name", "end"),
    [("ssh", "machines that have no bundle without it let nobody in then"), ("hosts", "`landbridge ssh hosts`")],
)
def test_what_vouches_by_ssh_is_kept(verb: str, name: str, end: str) -> None:
    (why,) = refusals({"main": [key(verb, KEY, name)]})
    assert end in why
    assert refusals({"main": [key(verb, KEY, name)]}, {SSH}) == []
    assert refusals({"main": [key("created", KEY, name)]}) == []
    assert refusals({"main": [key(verb, KEY, f"{name}-main-etcd-1")]}) == [], "a machine's own is its own matter"


def test_the_tags_of_what_is_not_known_yet_name_nobody() -> None:
    for tags in (None, "unknown", ["unknown"], {"landbridge:machine": None}):
        steps = [Step("replaced", VOLUME, "x", False, (), {"tags": tags})] * 2
        assert refusals({"main": steps}) == []


def tunnels(verb: str, *changed: str) -> list[str]:
    return refusals({"links": [Step(verb, CONNECTION, "us-west-2-lab-1", False, changed, {})]})


@pytest.mark.parametrize(
    ("verb", "changed"),
    [
        ("replaced", ()),
        ("replaced", ("tunnel1InsideCidr",)),
        ("updated", ("customerGatewayId",)),
        ("updated", ("tags", "transitGatewayId")),
        ("updated", ("tunnel1PresharedKey", "tunnel2PresharedKey")),
        ("updated", ("tunnel1Phase1DhGroupNumbers[0]", "tunnel2LogOptions.cloudwatchLogOptions.logEnabled")),
    ],
)
def test_what_takes_both_tunnels_down_is_refused(verb: str, changed: tuple[str, ...]) -> None:
    (told,) = tunnels(verb, *changed)
    assert told.startswith("links: the run takes both tunnels of us-west-2-lab-1 down at once")
    step = Step(verb, CONNECTION, "us-west-2-lab-1", False, changed, {})
    assert refusals({"links": [step]}, {TUNNELS}) == []


@pytest.mark.parametrize(
    ("verb", "changed"),
    [
        ("created", ()),
        ("deleted", ()),
        ("same", ()),
        ("updated", ("tags.Name", "tagsAll.Name")),
        ("updated", ("tunnel2PresharedKey", "tunnel2Phase1DhGroupNumbers[0]", "tags")),
    ],
)
def test_one_tunnel_after_the_other_may_change(verb: str, changed: tuple[str, ...]) -> None:
    assert tunnels(verb, *changed) == []


@pytest.mark.parametrize("verb", ["replaced", "deleted"])
def test_a_team_s_queue_goes_by_consent_alone(verb: str) -> None:
    assert token({"apiVersion": queues.API, "kind": "ClusterQueue", "metadata": {"labels": {}}}) == TEAM_QUEUE
    steps = [key(verb, TEAM_QUEUE, f"ClusterQueue/{team}") for team in ("vision", "speech")]
    (told,) = refusals({"main-addons": steps})
    assert told.startswith(
        "main-addons: the run deletes queues of speech, vision. Work that waits in them never begins, "
    )
    assert told.endswith("agree with --ignore runs")
    assert refusals({"main-addons": steps}, {RUNS}) == []
    assert refusals({"main-addons": [key("updated", TEAM_QUEUE, "ClusterQueue/vision")]}) == []
    assert refusals({"main-addons": [key(verb, TEAM_QUEUE, f"ClusterQueue/{maintenance_holds.CLUSTER_QUEUE}")]}) == []
