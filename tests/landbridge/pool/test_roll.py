"""`landbridge pool roll` on scaling groups of the local AWS and nodes of a real API server, pool eu-gpu.

One test after the other: each takes the machines that the one before has left.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import click
import pytest

from components.pools.labels import ROLLING
from components.pools.names import Names
from landbridge.cluster import freeze
from landbridge.commands.pool import pool
from landbridge.errors import ConsentError, LandbridgeError, UsageError
from landbridge.image.burn_in import node_status as burn_in
from landbridge.pool.roll import How, Roll, RollError
from landbridge.pool.sizes import Group, Machine
from landbridge.pool.termination import Termination

from . import bed as beds
from .bed import Bed, Run

POOL = "eu-gpu"
pytestmark = pytest.mark.usefixtures("no_work")
HOUR = timedelta(hours=1)
SINCE, UNTIL = "landbridge.dev/rolling-since", "landbridge.dev/rolling-until"


def images(bed: Bed) -> dict[str, str]:
    """Of the pool's machines."""
    ec2 = bed.session.at(region(bed))("ec2")
    told = ec2.describe_instances(InstanceIds=bed.machines(POOL))["Reservations"]
    return {one["InstanceId"]: one["ImageId"] for some in told for one in some["Instances"]}


def region(bed: Bed) -> str:
    return str(bed.session.world.fleet.pools[POOL].region)


def to_go(bed: Bed) -> dict[str, dict[str, str]]:
    """The annotations of the pool's nodes that have a roll's taint."""
    return {
        name: node["metadata"].get("annotations", {})
        for name, node in bed.nodes().items()
        if any(taint["key"] == ROLLING.key for taint in node["spec"].get("taints", ()))
    }


def test_pools_that_no_image_reaches_are_refused_with_their_line(run: Run) -> None:
    lines = (beds.ROOT / "fleet.yaml").read_text().splitlines()
    first = next(n for n, line in enumerate(lines, 1) if line.startswith("  site-gpu:"))
    site = next(n for n, line in enumerate(lines, 1) if n > first and " site: lab" in line)
    with pytest.raises(UsageError, match=rf"^fleet.yaml:{site}: .* no cloud starts its hosts from an image"):
        run("roll", "site-gpu")
    with pytest.raises(UsageError, match=r"has no pool wst-gpu\. Its pools: "):
        run("roll", "wst-gpu")


def test_a_pool_is_rolled_one_machine_at_a_time_and_says_which_image_it_runs(
    bed: Bed, run: Run, printed: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("size", POOL, "3")
    before, newer, desired = set(bed.machines(POOL)), bed.promote(POOL, "gpu-2"), bed.desired(POOL)
    shown = [line for line in printed("list") if line.startswith(f"{POOL}: stable")]
    assert shown == [f"{POOL}: stable is gpu-2 ({newer}); 3 run an older one: 3 landbridge-local-gpu-1.36.2"]
    dry = run("roll", POOL, "--dry-run")[1]
    assert sorted(one["step"] for one in dry["older"].values()) == ["replaced at once", *["replaced in its turn"] * 2]
    with pytest.raises(ConsentError):
        run("roll", POOL)
    assert (set(bed.machines(POOL)), to_go(bed)) == (before, {}), "nothing has changed by then"

    at_work, end = [], Termination.end
    monkeypatch.setattr(
        Termination, "end", lambda self, name, **how: (at_work.append(len(bed.at_work(POOL))), end(self, name, **how))
    )
    code, told = run("roll", POOL, "--yes")
    assert (code, told["done"], told["image"], told["at_a_time"]) == (0, True, newer, 1)
    assert at_work == [3, 3, 3], "each successor is at work before the next goes"
    assert (set(told["replaced"]), set(told["came"])) == (before, set(bed.machines(POOL)))
    assert set(images(bed).values()) == {newer}
    assert bed.desired(POOL) == desired, "as many as before, where they were"
    assert not before & set(bed.nodes())
    (state,) = (one for one in run("list")[1]["pools"] if one["pool"] == POOL)
    assert (state["image"]["name"], state["image"]["machines"], state["image"]["older"]) == ("gpu-2", {"gpu-2": 3}, 0)
    assert run("roll", POOL)[1]["replaced"] == {}, "and nobody is asked"


def test_work_runs_on_while_no_more_comes_and_a_roll_that_goes_on_gives_it_no_longer(bed: Bed, run: Run) -> None:
    run("size", POOL, "2", "--yes")
    (busy, idle) = bed.machines(POOL)
    bed.pod("train", busy, gpus=8)
    newer = bed.promote(POOL, "gpu-3")
    code, told = run("roll", POOL, "--yes", "--no-wait", "--deadline", "2h")
    assert (code, told["done"], list(told["replaced"]), told["waiting"]) == (
        1,
        False,
        [idle],
        {busy: ["default/train"]},
    )
    assert sorted(images(bed).values()).count(newer) == 1
    marks = to_go(bed)[busy]
    assert datetime.fromisoformat(marks[UNTIL]) - datetime.fromisoformat(marks[SINCE]) == 2 * HOUR
    assert run("roll", POOL, "--yes", "--no-wait", "--deadline", "3h")[0] == 1
    again = to_go(bed)[busy]
    assert again[SINCE] == marks[SINCE]
    assert datetime.fromisoformat(again[UNTIL]) - datetime.fromisoformat(marks[UNTIL]) == HOUR
    assert run("roll", POOL, "--stop")[1]["released"] == [busy]
    assert to_go(bed) == {}
    assert SINCE not in bed.nodes()[busy]["metadata"].get("annotations", {})


def test_past_its_deadline_work_is_evicted_as_its_budget_allows_and_never_deleted(bed: Bed, run: Run) -> None:
    """Without the controller that counts pods a budget allows none to go."""
    busy = next(pod["spec"]["nodeName"] for pod in bed.pods())
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    budget = {"metadata": {"name": "train"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "train"}}}}
    bed.api.api.call("POST", path, None, budget)
    bed.api.patch("/api/v1/namespaces/default/pods/train", {"metadata": {"labels": {"app": "train"}}})
    runs = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    bed.session.admin.done(
        "patch", "pod", "train", "--subresource=status", "--type=merge", f"--patch={json.dumps(runs)}"
    )
    code, told = run("roll", POOL, "--yes", "--no-wait", "--deadline", "0s")
    assert (code, told["replaced"], told["waiting"]) == (1, {}, {busy: ["default/train"]})
    assert [pod["metadata"]["name"] for pod in bed.pods() if "deletionTimestamp" not in pod["metadata"]] == ["train"]
    bed.api.api.call("DELETE", f"{path}/train")
    code, told = run("roll", POOL, "--yes", "--deadline", "0s")
    assert (code, list(told["replaced"])) == (0, [busy])
    assert bed.pods() == []


def test_a_successor_that_does_not_come_stops_it_and_the_others_take_work_again(bed: Bed, run: Run) -> None:
    before, newer = set(bed.machines(POOL)), bed.promote(POOL, "gpu-4")
    bed.joining = False
    with pytest.raises(LandbridgeError, match=r"has not joined after 2 s\. Replaced: 1; older .*: 1\.") as caught:
        run("roll", POOL, "--yes", "--timeout", "2")
    assert "`landbridge pool roll eu-gpu --local` goes on where it stopped" in str(caught.value)
    assert (beds.ROOT / "docs/runbooks/pool-roll-stopped.md").is_file()
    assert len(caught.value.document["replaced"]) == 1
    assert to_go(bed) == {}, "work comes to it again"
    (left,) = before & set(bed.machines(POOL))
    assert SINCE in bed.nodes()[left]["metadata"]["annotations"], "and the time that it had is known"

    bed.joining, bed.taint = True, burn_in.FAILED["full"].key
    with pytest.raises(LandbridgeError, match=r"which has the new image, is gpu-failed"):
        run("roll", POOL, "--yes", "--timeout", "60")
    (sick,) = (name for name, image in images(bed).items() if image == newer)
    bed.taint = ""
    bed.api.patch(f"/api/v1/nodes/{sick}", {"spec": {"taints": None}})
    code, told = run("roll", POOL, "--yes")
    assert (code, list(told["replaced"])) == (0, [left]), "it goes on from what is"


def test_an_up_meanwhile_stops_it_and_is_named(bed: Bed, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ec2, end = bed.session.at(region(bed))("ec2"), Termination.end
    name = {"LaunchTemplateName": Names(bed.session.world.fleet).template(POOL)}
    (first,) = ec2.describe_launch_template_versions(**name, Versions=["1"])["LaunchTemplateVersions"]

    def changed(self: Termination, machine: str, *, replace: bool) -> None:
        data = {**first["LaunchTemplateData"], "EbsOptimized": True}
        ec2.create_launch_template_version(**name, LaunchTemplateData=data)
        end(self, machine, replace=replace)

    monkeypatch.setattr(Termination, "end", changed)
    bed.promote(POOL, "gpu-5")
    with pytest.raises(RollError, match=r"newest version is 2 now, and was 1 when it began\. Replaced: 1") as caught:
        run("roll", POOL, "--yes")
    assert "older template" not in str(caught.value), "its machine has the newer one"


def test_a_cloud_without_capacity_stops_it_in_its_own_words(bed: Bed, run: Run) -> None:
    bed.promote(POOL, "gpu-6")
    shape = bed.session.world.fleet.pools[POOL].instance_type
    zones = {group["AvailabilityZones"][0] for group in bed.groups(POOL)}
    bed.fault(*({"region": region(bed), "zone": zone, "instance_type": shape, "capacity": 0} for zone in zones))
    with pytest.raises(LandbridgeError, match=r"launches none: .*InsufficientInstanceCapacity"):
        run("roll", POOL, "--yes")
    assert (len(bed.machines(POOL)), sum(bed.desired(POOL))) == (1, 2)


def test_an_image_without_a_driver_another_channel_and_a_frozen_cluster_are_refused(
    bed: Bed, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = bed.machines(POOL)
    bed.session.admin.apply([freeze.manifest("a drill", datetime.now(UTC))])
    with pytest.raises(LandbridgeError, match=r"No machine of eu-gpu is replaced: .* \(a drill\)"):
        run("roll", POOL, "--yes")
    freeze.release(bed.session.admin)
    bed.promote(POOL, "gpu-7", **{"landbridge:driver": "none"})
    with pytest.raises(LandbridgeError, match="says that it has no NVIDIA driver, and the machines have 8 GPUs"):
        run("roll", POOL, "--yes")
    fleet = bed.session.world.fleet
    pools = {**fleet.pools, POOL: fleet.pools[POOL].model_copy(update={"channel": "candidate"})}
    monkeypatch.setattr(
        bed.session, "world", replace(bed.session.world, fleet=fleet.model_copy(update={"pools": pools}))
    )
    with pytest.raises(LandbridgeError, match=r"by the fleet file from .*/candidate\. `landbridge up eu-gpu --local`"):
        run("roll", POOL, "--yes")
    assert bed.machines(POOL) == before


def test_a_group_with_many_away_is_late_only_when_none_comes(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    bed.promote(POOL, "gpu-8")
    roll = Roll(bed.session, POOL, How(seconds=900), lambda _: None, lambda _: None)
    look = roll.begin()

    def check(moment: float, *machines: str) -> None:
        monkeypatch.setattr(time, "monotonic", lambda: moment)
        there = tuple(Machine(name, "a", "InService") for name in machines)
        roll.check(look._replace(groups=[Group("g", 0, 500, 3, there)]))

    check(1000, "i-1", "i-2")
    check(1800, "i-2", "i-3")
    check(2600, "i-3", "i-4")
    check(3500, "i-4")
    with pytest.raises(RollError, match=r"g has launched 1 of 3 machines, and no more for 900 s"):
        check(3501, "i-4")


@pytest.mark.parametrize(
    ("option", "told", "why"),
    [("--deadline", "soon", "is no time"), ("--fraction", "0", "range")],
)
def test_a_time_or_a_part_that_is_none_is_refused(option: str, told: str, why: str) -> None:
    with pytest.raises(click.BadParameter, match=why):
        pool.main(["roll", POOL, option, told], standalone_mode=False)
