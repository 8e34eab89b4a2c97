"""What the site commands decide without a cluster: which hosts are meant, what is work, what is to be done."""

import json
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.work import MIRROR, works
from fleet.world import World, current
from landbridge.errors import UsageError
from landbridge.places import Place
from landbridge.remote_execution import Hosts, RemoteExecutionError
from landbridge.site import enrol, hosts, local_hosts, status, store
from landbridge.site.apply import decide
from landbridge.site.status import State
from local.supervisor.hosts import FIELDS

ROOT = Path(__file__).parents[3]
STATE = State(
    host="host-1",
    node="host-1.lab",
    pool="site-gpu",
    address="10.133.0.11",
    enrolled=True,
    ready=True,
    cordoned=False,
    applying=False,
    bundle="a",
    wanted_bundle="a",
    differs=(),
    failed=(),
    runs=(),
    joined=True,
)


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


def without_pool(world: World, host: str) -> World:
    pool = world.fleet.pools["site-gpu"]
    left = pool.model_copy(update={"hosts": [name for name in pool.hosts if name != host]})
    return replace(world, fleet=world.fleet.model_copy(update={"pools": {**world.fleet.pools, "site-gpu": left}}))


def test_a_host_that_nobody_can_enrol_is_refused_with_the_reason(world: World) -> None:
    assert hosts.one(world, "lab", "host-3", None).node == "host-3.lab"
    wrong = {
        ("moon", "host-1", None): "fleet.yaml has no site moon. Its sites: lab.",
        ("lab", "host-9", None): "site lab has no host host-9. Its hosts: host-1, host-2,",
        ("lab", "host-1", "other"): "host host-1 is in pool site-gpu of cluster main, not of other",
    }
    for given, why in wrong.items():
        with pytest.raises(UsageError, match=why):
            hosts.one(world, *given)
    with pytest.raises(UsageError, match="host host-2 of site lab is in no pool"):
        hosts.one(without_pool(world, "host-2"), "lab", "host-2", None)


def test_hosts_of_one_cluster_are_looked_at_together(world: World) -> None:
    assert len(hosts.chosen(world, "lab", (), None)) == 8
    assert list(hosts.chosen(world, "lab", ("host-2", "host-4"), "main")) == ["host-2", "host-4"]
    with pytest.raises(UsageError, match="no pool of cluster other has a host of site lab"):
        hosts.chosen(world, "lab", (), "other")
    pools = world.fleet.pools
    first = pools["site-gpu"].model_copy(update={"hosts": ["host-1"]})
    second = pools["site-gpu"].model_copy(update={"hosts": ["host-2"], "cluster": "other"})
    both = replace(world, fleet=world.fleet.model_copy(update={"pools": {"one": first, "two": second}}))
    with pytest.raises(UsageError, match=r"are in pools of main and other\. Say which cluster is meant with"):
        hosts.chosen(both, "lab", (), None)
    assert list(hosts.chosen(both, "lab", (), "other")) == ["host-2"]


@pytest.mark.parametrize("hours", [0, -1, 24.1, 1000])
def test_a_token_lives_a_day_at_most(hours: float) -> None:
    with pytest.raises(UsageError, match="5 minutes to 24 hours"):
        enrol.lifetime(hours)
    assert enrol.lifetime(24).days == 1


def test_tokens_are_of_the_form_that_the_api_takes_and_no_two_alike() -> None:
    made = {enrol.drawn(16) for _ in range(50)}
    assert len(made) == 50
    assert all(len(one) == 16 and one.isalnum() and one == one.lower() for one in made)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({}, "current"),
        ({"applying": True, "cordoned": True}, "finish"),
        ({"applying": True, "ready": False}, "current"),
        ({"bundle": "b", "differs": ("/a",)}, "change"),
        ({"differs": ("/a",)}, "change"),
        ({"differs": ("/a",), "runs": ("x/y",)}, "skip"),
        ({"differs": ("/a",), "ready": False}, "change"),
        ({"enrolled": False, "bundle": ""}, "skip"),
        ({"unknown": "it cannot be reached"}, "skip"),
    ],
)
def test_what_is_to_be_done_with_a_host(changes: dict[str, Any], what: str) -> None:
    assert decide(replace(STATE, **changes)).what == what


def test_a_skipped_host_s_reason_is_said_in_few_words() -> None:
    busy = decide(replace(STATE, differs=("/a",), runs=tuple(f"team/job-{n}" for n in range(9))))
    assert busy.why == "it is at work: team/job-0, team/job-1, team/job-2 and 6 more"
    assert decide(replace(STATE, differs=("/a",))).why == "1 file differs: /a"


def test_files_differ_that_are_changed_missing_or_left_over() -> None:
    assert status.different({"/same": "1", "/other": "1", "/old": "1"}, {"/same": "1", "/other": "2", "/new": "1"}) == [
        "/new",
        "/old",
        "/other",
    ]


def test_only_work_makes_a_host_busy() -> None:
    def pod(phase: str = "Running", annotations: Any = None, **owner: Any) -> dict[str, Any]:
        meta = {"annotations": annotations or {}, "ownerReferences": [owner] if owner else []}
        return {"metadata": meta, "status": {"phase": phase}}

    assert works(pod())
    assert works(pod("Pending", kind="Job", controller=True))
    assert works(pod(kind="ReplicaSet", controller=True))
    assert works(pod(kind="DaemonSet")), "who only points to one is none of its pods"
    assert not works(pod(kind="DaemonSet", controller=True))
    assert not works(pod("Succeeded", kind="Job", controller=True))
    assert not works(pod(annotations={MIRROR: "x"}))


def test_local_hosts_have_addresses_of_their_sites_lan_and_what_the_fleet_file_says(world: World) -> None:
    found = [local_hosts.host_request(world, host) for host in hosts.of_site(world, "lab").values()]
    lan = IPv4Network(world.plan.site("lab").lan)
    assert len({one["address"] for one in found}) == 8
    assert all(IPv4Address(one["address"]) in lan for one in found)
    assert all(one.keys() == FIELDS.keys() and isinstance(one[key], FIELDS[key]) for one in found for key in one)
    assert found[0]["hardware"]["gpus"] == 8
    assert found[0]["hardware"]["rdma"] == 110, "as many pods as a node has"
    assert found[0]["hardware"]["memory_mib"] == 1024 * 1024
    fixed = hosts.one(world, "lab", "host-1", None)._replace(address="10.133.0.99")
    assert local_hosts.address(world, fixed) == "10.133.0.99"


def test_on_real_clouds_no_host_is_brought_up(world: World, tmp_path: Path) -> None:
    real = Place("real", tmp_path, "s3://nowhere", "awskms://nothing", tmp_path)
    assert local_hosts.ensure(world, real, "main", ["site-gpu"], lambda _: None, lambda _: None) == []


def test_a_host_whose_address_nobody_knows_is_said() -> None:
    with pytest.raises(
        RemoteExecutionError, match=r"host-1\.lab cannot be reached: neither the fleet file nor its node"
    ):
        Hosts(dict).run("host-1.lab", ["true"])


@pytest.mark.parametrize("said", ["host-1", "host-2"])
def test_a_machine_that_bears_another_host_s_name_is_not_that_host(world: World, said: str) -> None:
    told = {"prefix": "example/main/site-gpu", "host": said, "version": "a", "files": {"/etc/x": "1"}, "joined": True}
    session: Any = SimpleNamespace(admin=None)
    looking = status.Hosts(session, {"host-1": hosts.one(world, "lab", "host-1", None)})
    looking.ask = lambda *_: told  # type: ignore[method-assign]
    manifest = json.dumps({"version": "b", "files": {"/etc/x": {"sha256": "2"}}})
    wanted = store.Published("us-west-2", "bucket", "example/main/site-gpu", "key", {"manifest": manifest}, {})
    found = looking.state(looking.hosts["host-1"], None, wanted)
    mine = said == "host-1"
    assert (found.enrolled, found.bundle, found.differs) == (mine, "a" if mine else "", ("/etc/x",) if mine else ())
    assert (said in found.unknown) != mine
