"""What a control plane on Azure is told, as plain data: rights that Azure's own words allow, and who reaches whom."""

import datetime
import ipaddress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from components.boot.user_data import user_data
from components.control_plane.azure import firewall, roles
from components.control_plane.azure.singleton import login_line, vaulted
from components.control_plane.disks import where
from components.control_plane.machines import ClusterSpec, cluster_spec
from components.control_plane.rings import RINGS
from fleet.address.blocks import parse
from fleet.address.plan import draft
from fleet.loader import load as read
from fleet.world import World
from local.azure.roles.conditions import Request, attribute, parsed

GOOD = Path(__file__).parents[3] / "fleet/good/azure.yaml"
DATA = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
PATH, PREFIX = attribute("Resource", "containers/blobs:path"), attribute("Request", "containers/blobs:prefix")


@pytest.fixture(scope="module")
def world() -> World:
    fleet = read(GOOD)
    return World(fleet, draft(fleet, None, datetime.date(2026, 1, 1)).plan, GOOD)


@pytest.fixture(scope="module")
def spec(world: World) -> ClusterSpec:
    return cluster_spec(world.fleet, world.plan, "main")


def allows(condition: str, verb: str, path: str = "", prefix: str | None = None) -> bool:
    """As Azure judges a call; with a prefix it is a list."""
    attributes = {PATH: path} if prefix is None else {PREFIX: prefix}
    return parsed(condition)(Request(f"{DATA}/{verb}", attributes, "" if prefix is None else "Blob.List"))


def test_a_bundle_s_condition_lets_its_own_folder_be_read_and_no_list() -> None:
    condition = roles.reading(["example/main/main-etcd-1/*", "ssh/revoked"])
    assert allows(condition, "read", "example/main/main-etcd-1/manifest.json")
    assert allows(condition, "read", "ssh/revoked")
    assert not allows(condition, "read", "example/main/main-etcd-2/manifest.json")
    assert not allows(condition, "read", prefix="example/main/main-etcd-1/")


@pytest.mark.parametrize("lists", [True, False])
def test_what_lays_something_down_neither_reads_nor_deletes_it(lists: bool) -> None:
    condition = roles.writing("backups/main/*", lists=lists)
    for verb in ("write", "add/action"):
        assert allows(condition, verb, "backups/main/main/x.db")
        assert not allows(condition, verb, "backups/other/main/x.db")
    assert allows(condition, "read", prefix="backups/main/main/") is lists
    assert not allows(condition, "read", prefix="audit/main/")
    for verb in ("read", "delete", "move/action"):
        assert not allows(condition, verb, "backups/main/main/x.db")


def test_each_machine_s_grants_are_its_role_s(world: World, spec: ClusterSpec) -> None:
    found = {machine.name: roles.grants(world.fleet, spec, machine) for machine in spec.machines}
    assert [grant.what for grant in found["main-etcd-1"]] == ["bundle", "write", "copy"]
    assert [grant.what for grant in found["main-api-1"]] == ["bundle", "write"]
    assert len({grant.name for grants in found.values() for grant in grants}) == 3 * 3 + 2 * 2
    assert "westeurope" in found["main-etcd-1"][2].scope
    assert "'copies/southcentralus/main/*'" in found["main-etcd-1"][2].condition
    key = roles.key_grant(world.fleet, spec, spec.etcd[0], vaulted("azure-alone/main/main-etcd-1/0a1b2c3d"))
    assert key.scope.endswith("/secrets/azure-alone--main--main-etcd-1--0a1b2c3d")


def test_groups_let_in_what_aws_s_do_and_end_closed(world: World, spec: ClusterSpec) -> None:
    found = firewall.groups(spec, world.plan.supernet)
    etcd = {rule.name: rule for rule in found["etcd"] if rule.access == "Allow" and rule.direction == "Inbound"}
    assert etcd["etcd-in-main-peers"].peers == tuple(f"{machine.address}/32" for machine in spec.etcd)
    assert etcd["etcd-in-main-clients-api"].peers == tuple(f"{machine.address}/32" for machine in spec.api)
    assert {rule.ports for rule in etcd.values()} <= {"2379", "2380", "2381", "2382", "22"}
    api = {rule.name: rule for rule in found["api"] if rule.access == "Allow" and rule.direction == "Inbound"}
    assert (api["api-in-fleet"].peers, api["api-in-fleet"].ports) == ((world.plan.supernet,), "6443")
    assert (api["api-in-probes"].peers, api["api-in-probes"].ports) == (("AzureLoadBalancer",), "6443")
    for part, rules in found.items():
        for way in ("Inbound", "Outbound"):
            own = [rule for rule in rules if rule.direction == way]
            assert len({rule.priority for rule in own}) == len(own)
            last = max(own, key=lambda rule: rule.priority)
            assert (last.access, last.peers, last.ports, last.name.partition("-")[0]) == ("Deny", ("*",), "*", part)
    (one,) = [rule for rule in firewall.written(found["etcd"]) if rule["name"] == "etcd-out-main-peers"]
    assert one["source_address_prefix"] == "*"
    assert len(one["destination_address_prefixes"]) == len(spec.etcd)


def test_the_balancer_has_one_planned_address_of_the_oldest_zone(world: World, spec: ClusterSpec) -> None:
    zones = world.plan.region("southcentralus").zones
    oldest = next(iter(zones))
    assert spec.balancer == {oldest: zones[oldest].addresses["main/balancer"]}
    assert parse(zones[oldest].fixed).holds(parse(f"{spec.balancer[oldest]}/32"))
    assert all(ipaddress.ip_address(machine.address) for machine in spec.machines)


def test_disks_are_known_by_numbers(spec: ClusterSpec) -> None:
    assert [where(spec, spec.etcd[0], ring) for ring in RINGS] == [{"lun": 0}, {"lun": 1}]


def test_custom_data_names_the_secret_of_this_life() -> None:
    script = user_data("southcentralus", "a" * 24, "example/main/main-etcd-1", "K" * 60, "v" * 24, "0a1b2c3d")
    assert '"life":"/0a1b2c3d"' in script
    assert len(script.encode()) < 4096


def test_the_account_that_azure_wants_has_a_key_of_ours() -> None:
    public = Ed25519PrivateKey.generate().public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    assert login_line(pem).startswith("ssh-ed25519 AAAA")
