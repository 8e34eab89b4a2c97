"""What a control plane's machines may do, who may reach whom, and what the public reads: plain data."""

import base64
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from components.control_plane import etcd
from components.control_plane.aws.issuer import bucket_policy
from components.control_plane.aws.roles import permissions, trust
from components.control_plane.firewall import EVERYWHERE, Rule, rules
from components.control_plane.issuer import documents
from components.control_plane.machines import ClusterSpec, cluster_spec
from fleet import issuers
from fleet.world import World, current

ROOT = Path(__file__).parents[4]
KEY = "arn:aws:kms:us-west-2:123456789012:key/1"
SUPERNET = "10.128.0.0/9"


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


@pytest.fixture(scope="module")
def spec(world: World) -> ClusterSpec:
    return cluster_spec(world.fleet, world.plan, "main")


def statements(world: World, spec: ClusterSpec, name: str) -> dict[str, dict[str, Any]]:
    machine = next(machine for machine in spec.machines if machine.name == name)
    return {statement["Sid"]: statement for statement in permissions(world.fleet, spec, machine, KEY)["Statement"]}


def test_a_machine_reads_its_own_bundle_and_keys_alone(world: World, spec: ClusterSpec) -> None:
    found = statements(world, spec, "main-etcd-2")
    bucket = "arn:aws:s3:::example-us-west-2-123456789012"
    assert found["Bundle"]["Resource"] == f"{bucket}/example/main/main-etcd-2/*"
    assert found["Keys"]["Resource"].endswith(":secret:example/main/main-etcd-2-??????")
    assert found["Write"]["Resource"] == f"{bucket}/backups/main/*"
    assert statements(world, spec, "main-api-1")["Write"]["Resource"] == f"{bucket}/audit/main/*"


def test_etcd_machines_find_their_cluster_s_snapshots_and_api_servers_none(world: World, spec: ClusterSpec) -> None:
    found = statements(world, spec, "main-etcd-2")["Find"]
    assert found["Resource"] == "arn:aws:s3:::example-us-west-2-123456789012"
    assert found["Condition"] == {"StringLike": {"s3:prefix": "backups/main/*"}}
    assert "s3:AbortMultipartUpload" in statements(world, spec, "main-etcd-2")["Write"]["Action"]
    assert "Find" not in statements(world, spec, "main-api-1")


def test_only_etcd_machines_touch_disks_and_each_its_own(world: World, spec: ClusterSpec) -> None:
    own = statements(world, spec, "main-etcd-2")["TakeDisks"]["Condition"]["StringEquals"]
    assert own["aws:ResourceTag/landbridge:machine"] == "main-etcd-2"
    assert {"TakeDisks", "LendKey", "FindDisks"}.isdisjoint(statements(world, spec, "main-api-1"))


def test_no_statement_is_about_everything_but_those_that_take_no_resource(world: World, spec: ClusterSpec) -> None:
    for machine in spec.machines:
        for sid, statement in statements(world, spec, machine.name).items():
            assert statement["Effect"] == "Allow"
            assert (statement["Resource"] == "*") == (sid in ("FindDisks", "FindMachines"))
            if statement["Resource"] == "*":
                assert statement["Action"].startswith("ec2:Describe"), sid
            assert "*" not in json.dumps(statement["Action"])
    assert [s["Principal"] for s in trust()["Statement"]] == [{"Service": "ec2.amazonaws.com"}]


def opened(spec: ClusterSpec, part: str) -> set[tuple[str, int, int]]:
    return {(r.peer, r.first, r.last) for r in rules(spec, SUPERNET) if r.part == part and r.direction == "in"}


def test_exact_ports_are_open_to_exact_peers(spec: ClusterSpec) -> None:
    clients = {ring.client_port for ring in etcd.RINGS}
    peers = {ring.peer_port for ring in etcd.RINGS}
    assert opened(spec, "etcd") == {
        *(("api", port, port) for port in clients),
        *(("etcd", port, port) for port in clients | peers),
    }
    assert opened(spec, "api") == {("balancer", 6443, 6443), (SUPERNET, 6443, 6443)}
    assert opened(spec, "balancer") == {(SUPERNET, 6443, 6443)}


def test_nothing_leaves_the_fleet_but_calls_of_the_cloud_s_apis(spec: ClusterSpec) -> None:
    found = rules(spec, SUPERNET)
    outside = [rule for rule in found if rule.peer == EVERYWHERE]
    assert {(rule.part, rule.direction, rule.first, rule.last) for rule in outside} == {
        ("api", "out", 443, 443),
        ("etcd", "out", 443, 443),
    }
    names = sorted(rule.name for rule in found)
    assert all(one != two for one, two in pairwise(names)), "names are resources' names"


def test_each_way_between_parts_is_open_at_both_ends(spec: ClusterSpec) -> None:
    def ends(direction: str) -> set[tuple[str, ...]]:
        parts = ("etcd", "api", "balancer")
        found: list[Rule] = [r for r in rules(spec, SUPERNET) if r.direction == direction and r.peer in parts]
        return {
            (*((r.peer, r.part) if direction == "in" else (r.part, r.peer)), str(r.first), str(r.last)) for r in found
        }

    assert ends("in") == ends("out")


def test_tokens_are_checked_with_the_issuer_s_keys(spec: ClusterSpec) -> None:
    keys = [rsa.generate_private_key(65537, 2048) for _ in range(2)]
    pems = [key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode() for key in keys]
    made = documents(spec.issuer, "".join(pems))
    assert list(made) == list(issuers.DOCUMENTS)
    assert json.loads(made[issuers.CONFIGURATION])["issuer"] == spec.issuer
    told = json.loads(made[issuers.KEYS])["keys"]
    assert len({key["kid"] for key in told}) == 2
    for key, jwk in zip(keys, told, strict=True):
        modulus, exponent = (int.from_bytes(base64.urlsafe_b64decode(jwk[part] + "==")) for part in "ne")
        assert rsa.RSAPublicNumbers(exponent, modulus) == key.public_key().public_numbers()


def test_the_public_reads_two_documents(world: World) -> None:
    public = issuers.public(world.fleet, "main")
    allowed = [s for s in bucket_policy("b", public)["Statement"] if s["Effect"] == "Allow"]
    assert [(s["Action"], s["Resource"]) for s in allowed] == [("s3:GetObject", public)]
    assert len(public) == 2
