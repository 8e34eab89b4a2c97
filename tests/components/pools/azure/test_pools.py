"""Pools of Azure as plain data: their scale sets, their firewalls, what their identities may do."""

import base64
import datetime
import json
import subprocess
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from components.control_plane.azure.roles import BLOBS
from components.network.azure.groups import REST
from components.pools import findings, fitness, notices, user_data
from components.pools.azure import firewall, roles
from components.pools.azure import template as azure_template
from components.pools.bundle import bundle
from components.pools.firewall import OWN, rules
from components.pools.hardware import infiniband
from components.pools.names import AZURE_SET, Names
from components.pools.spec import PoolSpec, pool_spec
from fleet.address.plan import draft
from fleet.azure import sizes
from fleet.buckets import vault_name
from fleet.loader import load
from fleet.world import World
from local import namespace
from local.azure.roles.conditions import Request, attribute, parsed
from tests.components.network.test_specs import data
from tests.support import golden

HERE = Path(__file__).parent
PATH = HERE.parents[2] / "fleet/good/azure.yaml"
DAY = datetime.date(2026, 1, 1)
NAMES = ("gpu", "spot", "system", "cpu")
IMAGE = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/x/images/gpu/versions/1.2.3"


@pytest.fixture(scope="module")
def world() -> World:
    fleet = load(PATH)
    return World(fleet, draft(fleet, None, DAY).plan, PATH)


def spec_of(world: World, name: str) -> PoolSpec:
    return pool_spec(world.fleet, world.plan, name)


@pytest.mark.golden
@pytest.mark.parametrize("name", NAMES)
def test_a_pool_s_scale_sets_and_what_is_around_them(world: World, name: str) -> None:
    fleet, spec = world.fleet, spec_of(world, name)
    made = firewall.ruled(rules(fleet, world.plan, spec))
    value = {
        "sets": {
            group.name: {
                **azure_template.scale_set(spec, group),
                "profile": azure_template.profile(fleet, spec, group, IMAGE, "STUB", "ssh-ed25519 KEY"),
                "network": azure_template.interfaces([f"subnet of {zone}" for zone in group.zones], "FIREWALL", "OWN"),
            }
            for group in Names(fleet).scaling(name)
        },
        "rules": data(made),
        "grant": roles.bundle_grant(fleet, spec)._asdict(),
    }
    golden.compare(HERE / f"golden/{name}.yaml", value)


@pytest.mark.golden
def test_the_bundle_of_a_pool_in_azure(world: World) -> None:
    made = bundle(spec_of(world, "gpu"), "PEM")
    assert not made.keys
    shown = {path: text.splitlines() for path, text in made.files.items() if not path.endswith((".py", ".crt"))}
    golden.compare(HERE / "golden/bundle.yaml", shown)
    scripts = {Path(path).stem for path in made.files if path.endswith(".py")}
    own = {"attest", "attest_azure", "api_azure", "cloud", "machine", "node_facts"}
    of_units = {*findings.SCRIPTS, *fitness.SCRIPTS, *notices.SCRIPTS, *findings.OF_KERNEL}
    assert scripts == {*own, *of_units, "notices_azure", "kube_http"}


def test_no_kubelet_starts_before_pods_are_kept_from_what_vouches_for_the_machine(world: World) -> None:
    spec = spec_of(world, "gpu")
    files = bundle(spec, "PEM").files
    told = files["/etc/systemd/system/landbridge-metadata.service"]
    assert f"from {spec.pods_cidr} to 169.254.169.254/32 prohibit protocol kernel\n" in told
    assert (
        "Requires=landbridge-node-facts.service landbridge-metadata.service"
        in (files["/etc/systemd/system/kubelet.service"])
    )


def test_the_kernel_turns_back_what_pods_send_there_and_nothing_else(world: World) -> None:
    """Also after a second start. Rules of the kernel's own are those that systemd-networkd lets be."""
    spec = spec_of(world, "gpu")
    unit = bundle(spec, "PEM").files["/etc/systemd/system/landbridge-metadata.service"]
    commands = [line.partition("=")[2] for line in unit.splitlines() if line.startswith("Exec")]
    script = [f"{one[1:]} 2>/dev/null || true" if one.startswith("-") else one for one in commands]
    pod = str(next(IPv4Network(spec.pods_cidr).hosts()))
    cards = ["pods type veth peer name pod", "out type veth peer name cloud"]
    up = [f"ip link set {name} up" for name in ("lo", "pods", "pod", "out", "cloud")]
    way = [*(f"ip link add {card}" for card in cards), *up, f"ip route add {spec.pods_cidr} dev pods"]
    way += ["ip addr add 192.0.2.1/24 dev out", "ip route add default via 192.0.2.2"]
    way.append("echo 1 > /proc/sys/net/ipv4/ip_forward")
    to = ("169.254.169.254", "168.63.129.16 ipproto tcp dport 80", "168.63.129.16 ipproto udp dport 53")
    ask = [f"ip -oneline route get {one} from {pod} iif pods 2>&1 || true" for one in to]
    lines = "\n".join([*way, *script, *script, "ip -details rule | grep -c 'prohibit proto kernel'", *ask])
    inside = ["unshare", *namespace.usable_mode().make, "sh", "-ec", lines]
    said = subprocess.run(inside, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == "3"
    assert [("Permission denied" in one, "via 192.0.2.2" in one) for one in said[1:]] == [
        (True, False),
        (True, False),
        (False, True),
    ], said


def test_the_stub_of_azure_is_custom_data_and_names_the_vault(world: World) -> None:
    script = base64.b64decode(user_data.script(spec_of(world, "gpu"), "account", "KEY", "vault")).decode()
    assert len(script) <= 4096
    assert json.dumps("vault") in script
    assert "metadata/identity/oauth2/token" in script
    assert "Microsoft" not in script
    assert "X-aws" not in script


def test_only_sizes_with_infiniband_stand_in_one_placement_group() -> None:
    fabric = {name for name in sizes.OTHERS if infiniband(name)}
    assert fabric == {name for name in sizes.OTHERS if name.startswith("Standard_ND")}
    assert not infiniband("Standard_D8s_v5")
    assert not infiniband("p5.48xlarge")


def test_machines_of_a_long_named_pool_have_names_that_linux_takes(world: World) -> None:
    fleet = world.fleet
    long = fleet.model_copy(update={"fleet": "f" * 40, "pools": {"p" * 40: fleet.pools["gpu"]}})
    for group in Names(long).scaling("p" * 40):
        prefix = azure_template.profile(long, spec_of(world, "gpu")._replace(name="p" * 40), group, IMAGE, "", "")[
            "os_profile"
        ]["computer_name_prefix"]
        assert len(group.name) <= AZURE_SET
        assert len(f"{prefix}00000A") <= 64


@pytest.mark.parametrize("name", NAMES)
def test_a_firewall_ends_closed_both_ways_and_no_priority_stands_twice(world: World, name: str) -> None:
    made = firewall.ruled(rules(world.fleet, world.plan, spec_of(world, name)))
    for direction in ("Inbound", "Outbound"):
        priorities = [rule.priority for rule in made if rule.direction == direction]
        assert priorities == sorted(set(priorities))
        assert priorities[-1] == REST
    assert {rule.access for rule in made if rule.priority == REST} == {"Deny"}
    assert len({rule.name for rule in made}) == len(made)


def test_a_rule_for_the_pool_s_own_machines_names_them_and_no_prefix(world: World) -> None:
    made = firewall.ruled(rules(world.fleet, world.plan, spec_of(world, "gpu")))
    own = [one for one in firewall.written(made, "OWN") if one["name"].endswith("own-machines")]
    assert [rule.peer for rule in made if rule.name.endswith("own-machines")] == [OWN, OWN]
    assert [one.get("source_application_security_groups") for one in own] == [[{"id": "OWN"}], None]
    assert [one.get("destination_application_security_groups") for one in own] == [None, [{"id": "OWN"}]]
    assert "source_address_prefix" not in own[0]
    assert "destination_address_prefix" not in own[1]


def test_a_pool_s_identity_reads_its_own_folder_and_lists_nothing(world: World) -> None:
    spec = spec_of(world, "gpu")
    holds = parsed(roles.bundle_grant(world.fleet, spec).condition)
    read = f"{BLOBS}/read"
    path = attribute("Resource", "containers/blobs:path")
    assert holds(Request(read, {path: f"{spec.prefix}/manifest.json"}))
    assert not holds(Request(read, {path: f"{spec.fleet}/{spec.cluster}/another/manifest.json"}))
    assert not holds(Request(read, {path: f"{spec.prefix}-2/manifest.json"}))
    assert not holds(Request(read, {path: f"{spec.prefix}/manifest.json"}, "Blob.List"))


@pytest.mark.parametrize("ssh", ["keys", "certificates"])
def test_machines_to_log_in_to_read_the_list_of_revoked_certificates_where_these_let_people_in(
    world: World, ssh: str
) -> None:
    fleet = world.fleet.model_copy(update={"ssh": ssh})
    spec = pool_spec(fleet, world.plan, "desk")
    assert spec.logins
    holds = parsed(roles.bundle_grant(fleet, spec).condition)
    read, path = f"{BLOBS}/read", attribute("Resource", "containers/blobs:path")
    assert holds(Request(read, {path: f"{spec.prefix}/manifest.json"}))
    assert holds(Request(read, {path: "ssh/revoked"})) == (ssh == "certificates")
    assert not holds(Request(read, {path: "ssh/issued.json"}))
    keys = roles.key_grant(fleet, spec, "NAME")
    assert keys.scope.endswith(f"/vaults/{vault_name(fleet, spec.place)}/secrets/NAME")
