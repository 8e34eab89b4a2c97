"""Servers for laptops: their files are the golden ones, push what the plan has and nothing else, and OpenVPN takes them."""

import datetime
import json
import shutil
import subprocess
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from components.addons.spec import addons_spec
from components.control_plane.units import SCRIPTS
from components.links.laptops import firewall, ports, profile, server
from components.links.laptops.authority import issue
from components.links.laptops.aws.roles import permissions
from components.links.laptops.machine import bundle
from components.links.laptops.spec import LaptopsSpec, laptops_spec
from components.links.laptops.wrapping import client_key
from fleet.address.plan import draft
from fleet.laptops import cluster
from fleet.world import World, current
from tests.components.network.test_specs import data
from tests.support import golden

from .laptops_bed import REGION, WRAPPING, authority, material, spec_of

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "golden/laptops"
KEY_ARN = "arn:aws:kms:us-west-2:123456789012:key/k"
NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
OPENVPN = shutil.which("openvpn", path="/usr/sbin:/usr/local/sbin:/usr/bin")
needs_openvpn = pytest.mark.skipif(OPENVPN is None, reason="there is no openvpn here: `make lab` installs it")


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


@pytest.fixture(scope="module")
def spec(world: World) -> LaptopsSpec:
    return spec_of(world)


def varied(world: World, **changes: Any) -> World:
    fleet = world.fleet.model_copy(update=changes)
    return World(fleet, draft(fleet, None, datetime.date(2026, 1, 1)).plan, world.path)


def pushed(text: str) -> set[IPv4Network]:
    lines = [line.removeprefix('push "route ').rstrip('"').split() for line in text.splitlines() if "push" in line]
    return {IPv4Network(f"{line[0]}/{line[1]}") for line in lines if len(line) == 2 and line[0][0].isdigit()}


@pytest.mark.golden
def test_the_files_of_the_example_s_servers(spec: LaptopsSpec) -> None:
    for one in spec.servers:
        made = bundle(spec, one, material(authority(), one)).files
        # Scripts lie in the repository already, certificates are others each time.
        texts = {p: text for p, text in made.items() if not p.startswith(SCRIPTS) and not p.endswith(".crt")}
        for path, text in texts.items():
            (GOLDEN / one.name / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            golden.same(GOLDEN / one.name / path.lstrip("/"), text)
        kept = {f"/{path.relative_to(GOLDEN / one.name)}" for path in (GOLDEN / one.name).rglob("*") if path.is_file()}
        assert kept == set(texts)


@pytest.mark.golden
def test_what_the_cloud_is_told(world: World, spec: LaptopsSpec) -> None:
    told = {
        "spec": data(spec),
        "role": permissions(world.fleet, spec, spec.servers[0], KEY_ARN),
        "rules": data(ports.rules(spec, world.plan.supernet)),
    }
    golden.compare(GOLDEN / "cloud.yaml", told)


def test_routes_are_pushed_for_the_plan_s_aggregates_and_for_nothing_else(world: World, spec: LaptopsSpec) -> None:
    wanted = {cidr for name, cidr in world.plan.aggregates().items() if not name.startswith("cluster/")}
    assert len(wanted) == 5
    wanted.add(world.plan.cluster("main").pods)
    for one in spec.servers:
        text = server.config(spec, one)
        assert pushed(text) == {IPv4Network(cidr) for cidr in wanted}
        assert "redirect-gateway" not in text
        assert world.plan.cluster("main").services.partition("/")[0] not in text


def test_the_firewall_lets_through_what_is_pushed(spec: LaptopsSpec) -> None:
    text = firewall.config(spec, spec.servers[0])
    (elements,) = [line for line in text.partition("set laptops")[0].splitlines() if "elements" in line]
    listed = {IPv4Network(one.strip()) for one in elements.partition("{")[2].partition("}")[0].split(",")}
    assert listed == pushed(server.config(spec, spec.servers[0]))


def test_servers_stand_in_two_zones_and_share_no_address(world: World, spec: LaptopsSpec) -> None:
    assert [one.zone for one in spec.servers] == ["a", "b"]
    assert {one.pool_cidr for one in spec.servers} == set(world.plan.region(REGION).laptops)
    one_zone = world.fleet.regions[REGION].model_copy(update={"zones": ["b"]})
    alone = varied(world, regions={**world.fleet.regions, REGION: one_zone})
    assert [one.zone for one in spec_of(alone).servers] == ["b", "b"]


def test_a_new_zone_moves_no_server(world: World) -> None:
    small = world.fleet.regions[REGION].model_copy(update={"zones": ["b", "c"]})
    grown = world.fleet.regions[REGION].model_copy(update={"zones": ["a", "b", "c"]})
    fleet = world.fleet.model_copy(update={"regions": {**world.fleet.regions, REGION: small}})
    before = draft(fleet, None, datetime.date(2026, 1, 1))
    more = world.fleet.model_copy(update={"regions": {**world.fleet.regions, REGION: grown}})
    after = draft(more, before.ledger, datetime.date(2026, 1, 2))
    assert (
        spec_of(World(more, after.plan, world.path)).servers == spec_of(World(fleet, before.plan, world.path)).servers
    )


def test_regions_without_laptops_have_none_nor_has_a_fleet_without_clusters(world: World) -> None:
    assert laptops_spec(world.fleet, world.plan, "us-east-1") is None
    assert laptops_spec(world.fleet.model_copy(update={"clusters": {}}), world.plan, REGION) is None


def test_they_are_nodes_of_the_cluster_that_is_named_else_of_the_region_s_own_else_of_the_only_one(
    world: World,
) -> None:
    main = world.fleet.clusters["main"].model_copy(update={"region": "us-east-1"})
    clusters = {"east": main, "west": main.model_copy(update={"region": REGION})}
    west = world.fleet.regions[REGION]

    def chosen(laptops: bool | str, names: list[str]) -> str | None:
        regions = {**world.fleet.regions, REGION: west.model_copy(update={"laptops": laptops})}
        known = {name: clusters[name] for name in names}
        return cluster(world.fleet.model_copy(update={"regions": regions, "clusters": known}), REGION)

    assert chosen("east", ["east", "west"]) == "east"
    assert chosen(laptops=True, names=["east", "west"]) == "west"
    assert chosen("west", ["east", "west"]) == "west"
    assert chosen(laptops=True, names=["east"]) == "east"
    assert chosen(laptops=False, names=["east"]) is None


def test_a_server_is_a_node_that_no_pod_stands_on_by_chance(world: World, spec: LaptopsSpec) -> None:
    one = spec.servers[0]
    files = bundle(spec, one, material(authority(), one)).files
    kubelet = json.loads(files["/etc/kubernetes/kubelet.json"])
    assert kubelet["registerWithTaints"] == [{"key": "landbridge.dev/laptops", "value": "true", "effect": "NoSchedule"}]
    heard = {(rule.protocol, rule.first) for rule in ports.rules(spec, world.plan.supernet) if rule.direction == "in"}
    assert heard == {("udp", 1194), ("icmp", 3), ("tcp", 10250), ("udp", 8472)}
    # Those who may join are those who boot: by role, and by scaling group.
    joining = {one.name: one for one in addons_spec(world.fleet, world.plan, "main").joining}
    assert joining["us-west-2-vpn-1"].groups == ("example-us-west-2-laptops-vpn-1",)
    assert json.loads(files["/etc/landbridge/node.json"])["pool"] == "us-west-2-vpn-1"


def test_services_are_reached_where_that_is_asked_for(world: World) -> None:
    west = world.fleet.regions[REGION].model_copy(update={"laptop_services": True})
    spec = spec_of(varied(world, regions={**world.fleet.regions, REGION: west}))
    services = dict(spec.reached)["services-main"]
    assert IPv4Network(services) in pushed(server.config(spec, spec.servers[0]))
    assert services in firewall.config(spec, spec.servers[0])
    assert not [rule for rule in ports.rules(spec, "10.0.0.0/8") if rule.cidr == services], "AWS never sees them"


def test_laptops_come_to_pods_in_the_server_s_name(spec: LaptopsSpec) -> None:
    text = firewall.config(spec, spec.servers[0])
    assert f"ip saddr {spec.servers[0].pool_cidr} ip daddr {spec.node.pods_cidr} masquerade" in text
    assert not [rule for rule in ports.rules(spec, "10.0.0.0/8") if rule.cidr == spec.node.pods_cidr], (
        "AWS never sees pods"
    )


def test_one_port_is_open_to_the_world(spec: LaptopsSpec, world: World) -> None:
    found = [
        rule for rule in ports.rules(spec, world.plan.supernet) if rule.direction == "in" and rule.cidr == ports.WORLD
    ]
    assert [(rule.protocol, rule.first, rule.last) for rule in found] == [("udp", 1194, 1194)]


def test_operators_come_in_where_access_is_ssh(world: World) -> None:
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO0tHpTCdjq7FvvSGDyHgZnyRJSDT7X3DnqrxQ4pQcyN a"
    alice = world.fleet.people["alice"].model_copy(update={"keys": [key]})
    opened = varied(world, access="ssh", people={**world.fleet.people, "alice": alice})
    spec = spec_of(opened)
    rules = {rule.cidr for rule in ports.rules(spec, opened.plan.supernet) if rule.first == 22}
    assert rules == {*opened.plan.region(REGION).laptops, opened.plan.site("lab").block}
    made = bundle(spec, spec.servers[0], material(authority(), spec.servers[0])).files
    assert "alice" in made["/etc/ssh/authorized_keys/alice"]
    assert "tcp dport 22 ip saddr" in made[firewall.CONFIG]


def test_no_private_key_is_among_the_files(spec: LaptopsSpec) -> None:
    made = authority()
    one = material(made, spec.servers[0])
    found = bundle(spec, spec.servers[0], one)
    whole = "".join(found.files.values())
    for secret in (one.key, one.wrapping, made.key):
        assert secret.splitlines()[1] not in whole
    assert sorted(found.keys.values()) == sorted([one.key, one.wrapping])
    assert made.key not in found.keys.values(), "what signs is on no machine"


def person(spec: LaptopsSpec) -> str:
    made = authority()
    one = issue(made, "alice", 90, NOW)
    addresses = ("198.51.100.7", "198.51.100.8")
    wrapping = client_key(WRAPPING, 0)
    return profile.text(profile.Profile("alice", "example", REGION, addresses, made.certificate, one, wrapping))


def test_a_profile_is_one_file_that_runs_nothing(spec: LaptopsSpec) -> None:
    text = person(spec)
    assert [line for line in text.splitlines() if line.startswith("remote ")] == [
        "remote 198.51.100.7 1194 udp",
        "remote 198.51.100.8 1194 udp",
    ]
    settings = {line.split()[0] for line in text.partition("<ca>")[0].splitlines() if line and line[0] != "#"}
    assert not settings & {"up", "down", "script-security", "plugin", "route", "redirect-gateway", "ca", "cert", "key"}
    for part in ("ca", "cert", "key", "tls-crypt-v2"):
        inside = text.partition(f"<{part}>\n")[2].partition(f"\n</{part}>")[0]
        assert inside.startswith("-----BEGIN ")


@needs_openvpn
@pytest.mark.parametrize("broken", ["", "no-such-option 1"])
def test_openvpn_itself_takes_both_ends(spec: LaptopsSpec, tmp_path: Path, broken: str) -> None:
    for name, text in (("server", server.config(spec, spec.servers[0])), ("profile", person(spec))):
        file = tmp_path / name
        file.write_text(f"{broken}\n{text}")
        asked = [str(OPENVPN), "--config", str(file), "--show-tls"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (done.returncode == 0) is not bool(broken), done.stdout
        assert ("Options error" in done.stdout) is bool(broken), done.stdout
        assert "DEPRECATED" not in done.stdout
        assert "WARNING" not in done.stdout
