"""A pool's machines as specs: names, firewall, rights and launch template, as golden files, and what holds for all."""

import base64
import ipaddress
from pathlib import Path
from typing import Any

import pytest

from components.boot.user_data import MOST_BYTES
from components.pools import firewall, hardware, joining, user_data
from components.pools.aws import hooks as aws_hooks
from components.pools.aws import roles as aws_roles
from components.pools.aws import template as aws_template
from components.pools.bundle import bundle
from components.pools.names import Names
from components.pools.spec import PoolSpec, pool_spec
from components.preview import VERIFY_KEY
from fleet.image_names import of_pool
from fleet.loader import load
from fleet.model import Fleet, Person
from fleet.world import World, current
from tests.support import golden

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CLOUD = ("west-gpu", "east-gpu", "eu-gpu", "cpu", "system")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
KMS = "arn:aws:kms:us-west-2:123456789012:key/one"


@pytest.fixture(scope="module")
def world() -> World:
    """The example with a pool of kind ssh and spot machines in another."""
    known = current(ROOT / "fleet.yaml")
    cpu = known.fleet.pools["cpu"]
    more = {
        "shell": cpu.model_copy(update={"kind": "ssh", "max": 2}),
        "cpu": cpu.model_copy(update={"spot": True, "max_price_per_hour": 0.8}),
    }
    people = {**known.fleet.people, "bob": Person(uid=3002, team="research", keys=[f"{KEY} bob@laptop"])}
    fleet = known.fleet.model_copy(update={"pools": {**known.fleet.pools, **more}, "people": people})
    return World(fleet, known.plan, known.path)


def spec(world: World, name: str) -> PoolSpec:
    return pool_spec(world.fleet, world.plan, name)


@pytest.mark.golden
@pytest.mark.parametrize("name", ["west-gpu", "cpu", "system", "shell"])
def test_the_machines_of_a_pool(world: World, name: str) -> None:
    one, names = spec(world, name), Names(world.fleet)
    shown = {
        "role": names.role(name),
        "groups": [group._asdict() for group in names.scaling(name)],
        "placement": [names.placement(name, group.key) for group in names.scaling(name)],
        "rights": aws_roles.permissions(world.fleet, one, KMS),
        "rules": {rule.name: " ".join(map(str, rule[1:5])) for rule in firewall.rules(world.fleet, world.plan, one)},
        "template": aws_template.plain(world.fleet, one, {"whose": "it is"}),
        "interfaces": aws_template.interfaces(one, "sg-1")[:2],
    }
    golden.compare(HERE / f"golden/machines.{name}.yaml", shown)


@pytest.mark.golden
def test_the_bundle_of_a_pool_to_log_in_to(world: World) -> None:
    made = bundle(spec(world, "shell"), "authority")
    golden.compare(HERE / "golden/shell.yaml", {path: text.splitlines() for path, text in made.files.items()})
    assert "bob" in made.files["/etc/ssh/sshd_config.d/00-landbridge.conf"]
    assert not [path for path in made.files if "kube" in path or "sudoers" in path]
    assert not made.keys


def test_names_are_what_the_joining_service_goes_by(world: World) -> None:
    names = Names(world.fleet)
    known = {one.name: one for one in joining.pools(world.fleet, world.plan, "main", names.role, names.groups)}
    assert known["west-gpu"].groups == ("example-west-gpu-a", "example-west-gpu-b", "example-west-gpu-c")
    assert known["cpu"].groups == ("example-cpu-all",)
    assert known["system"].role == "example-system-us-west-2-node"
    assert not known["site-gpu"].groups
    every = [name for one in known.values() for name in (*one.groups, *([one.role] if one.role else []))]
    assert len(every) == len(set(every))


def test_the_longest_names_fit(world: World) -> None:
    long = "f" + "o" * 30 + "r"
    pools = {long: world.fleet.pools["west-gpu"], f"{long[:-1]}x": world.fleet.pools["west-gpu"]}
    names = Names(world.fleet.model_copy(update={"fleet": long, "pools": pools}))
    assert len(names.role(long)) <= 64
    assert len({names.role(pool) for pool in pools}) == 2
    assert all(len(name) <= 255 for name in names.groups(long))


@pytest.mark.parametrize("name", [*CLOUD, "shell"])
def test_nothing_comes_in_from_outside_of_the_fleet(world: World, name: str) -> None:
    supernet = ipaddress.ip_network(world.plan.supernet)
    found = firewall.rules(world.fleet, world.plan, spec(world, name))
    assert len({rule.name for rule in found}) == len(found)
    for rule in found:
        if rule.direction == "in" and rule.peer != firewall.OWN:
            assert ipaddress.ip_network(rule.peer).subnet_of(supernet), rule  # type: ignore[arg-type]


def test_kubelets_answer_api_machines_alone_and_people_come_by_the_vpn(world: World) -> None:
    rules = {name: firewall.rules(world.fleet, world.plan, spec(world, name)) for name in ("east-gpu", "shell")}
    kubelets = {rule.peer for rule in rules["east-gpu"] if rule.first == 10250}
    planned = world.plan.region("us-west-2").zones
    api = {f"{address}/32" for zone in planned.values() for n, address in zone.addresses.items() if "/api-" in n}
    assert kubelets == api
    assert {rule.peer for rule in rules["shell"] if rule.direction == "in" and rule.protocol == "tcp"} == {
        *world.plan.region("us-west-2").laptops,
        world.plan.site("lab").block,
    }
    assert not [rule for rule in rules["shell"] if rule.first in (6443, 10250, 8472)], "it is no node"
    assert not [rule for rule in rules["east-gpu"] if rule.first == 22]


def test_a_place_more_adds_rules_and_changes_none(world: World) -> None:
    fewer = {name: pool for name, pool in world.fleet.pools.items() if name != "eu-gpu"}
    before = firewall.rules(world.fleet.model_copy(update={"pools": fewer}), world.plan, spec(world, "cpu"))
    after = firewall.rules(world.fleet, world.plan, spec(world, "cpu"))
    assert {rule.name for rule in set(after) - set(before)} == {"in-pods-eu-west-1", "out-pods-eu-west-1"}
    assert not set(before) - set(after)


def test_a_minimum_is_spread_over_zones_and_two_system_machines_stand_in_two(world: World) -> None:
    names = Names(world.fleet)
    assert [group.least for group in names.scaling("system")] == [1, 1]
    assert [(group.key, group.least, group.most) for group in names.scaling("west-gpu")] == [
        ("a", 0, 40),
        ("b", 0, 40),
        ("c", 0, 40),
    ]
    three = world.fleet.pools["west-gpu"].model_copy(update={"min": 5})
    grown = Names(world.fleet.model_copy(update={"pools": {"west-gpu": three}}))
    assert [group.least for group in grown.scaling("west-gpu")] == [2, 2, 1]


def test_spot_has_the_fleet_s_price_and_others_have_none(world: World) -> None:
    assert aws_template.plain(world.fleet, spec(world, "cpu"), {})["instance_market_options"] == {
        "market_type": "spot",
        "spot_options": {
            "max_price": "0.8",
            "spot_instance_type": "one-time",
            "instance_interruption_behavior": "terminate",
        },
    }
    assert "instance_market_options" not in aws_template.plain(world.fleet, spec(world, "west-gpu"), {})


def test_the_image_is_chosen_by_gpus(world: World) -> None:
    told = {name: of_pool(world.fleet, name) for name in ("west-gpu", "cpu", "shell")}
    assert told["west-gpu"] == "/example/images/gpu/1.36.2/stable"
    assert told["cpu"] == told["shell"] == "/example/images/cpu/1.36.2/stable"


def test_a_pool_follows_its_own_channel(world: World) -> None:
    pools = {**world.fleet.pools, "west-gpu": world.fleet.pools["west-gpu"].model_copy(update={"channel": "candidate"})}
    fleet = world.fleet.model_copy(update={"pools": pools})
    told = [aws_template.plain(fleet, spec(world, name), {})["image_id"] for name in ("west-gpu", "east-gpu")]
    assert told == [f"resolve:ssm:/example/images/gpu/1.36.2/{channel}" for channel in ("candidate", "stable")]


def test_one_address_a_machine_however_many_cards(world: World) -> None:
    found = aws_template.interfaces(spec(world, "west-gpu"), "sg-1")
    assert len(found) == 32
    assert [nic["interface_type"] for nic in found] == ["efa", *["efa-only"] * 31]
    assert [nic["network_card_index"] for nic in found] == list(range(32))
    assert {nic["device_index"] for nic in found[1:]} == {1}
    assert aws_template.interfaces(spec(world, "cpu"), "sg-1") == [
        {"device_index": 0, "security_groups": ["sg-1"], "delete_on_termination": "true"}
    ]


def test_the_table_of_fabrics_is_what_the_cloud_tells() -> None:
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    for name, cards in hardware.EFA_INTERFACES.items():
        told: dict[str, Any] = INSTANCE_TYPES[name]
        assert told["NetworkInfo"]["MaximumNetworkCards"] == cards, name
        assert told["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"] == cards, name
        assert "cluster" in told["PlacementGroupInfo"]["SupportedStrategies"]


def test_user_data_is_a_stub_that_names_the_pool_s_bundle(world: World) -> None:
    one = spec(world, "eu-gpu")
    text = base64.b64decode(user_data.script(one, "example-eu-west-1-123456789012", VERIFY_KEY)).decode()
    assert len(text) <= MOST_BYTES
    assert '"prefix":"example/main/eu-gpu"' in text


def test_a_machine_s_end_waits_ten_minutes_at_most_and_goes_on_by_itself() -> None:
    assert aws_hooks.TERMINATION["heartbeat_timeout"] <= 600  # type: ignore[operator]
    assert aws_hooks.TERMINATION["default_result"] == "CONTINUE"
    assert aws_hooks.COMPLETER in str(aws_hooks.TERMINATION["notification_metadata"])


def test_a_pool_reads_its_own_bundle_and_no_other_s(world: World) -> None:
    fleet: Fleet = load(ROOT / "fleet.yaml")
    told = [aws_roles.permissions(fleet, spec(world, name), KMS)["Statement"][0]["Resource"] for name in CLOUD]
    assert told[0] == "arn:aws:s3:::example-us-west-2-123456789012/example/main/west-gpu/*"
    assert len(set(told)) == len(told)
