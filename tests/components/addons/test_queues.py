"""Queues of teams by real Kueue, with the rights and settings that its add-on has."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

import kube_http
from components.addons import addons, jobset, kueue, maintenance, queues
from components.addons.budget import BUDGETS
from components.addons.manifests import rights
from components.addons.spec import addons_spec
from fleet import maintenance_holds
from fleet.address.plan import draft
from fleet.loader import load
from fleet.maintenance import NodeState, Plan
from fleet.world import World
from landbridge.cluster.kube import Kube
from landbridge.queue import unfinished
from local.providers.kubernetes.api import ApiError
from services.maintenance.holds import Holds
from services.maintenance.nodes import read
from tests.components.addons import bed
from tests.components.addons.cloud import token
from tests.components.addons.queueing import Queueing, condition, running, settled, true, where
from tests.components.addons.test_budget import watched
from tests.components.pools.joining_client import eventually
from tests.support.apiserver import server

FILE = bed.HERE / "queues.yaml"


def world() -> World:
    fleet = load(FILE)
    made = draft(fleet, None, bed.BORN)
    assert not made.refusals
    return World(fleet, made.plan, FILE)


@pytest.fixture(scope="module")
def queueing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queueing]:
    """One API server for all tests here; each begins without a run."""
    with server(tmp_path_factory.mktemp("queues")) as made, running(made, world()) as found:
        active = f"/apis/{queues.API}/clusterqueues/vision"
        eventually(lambda: true(made.find(active) or {}, "Active"), 120)
        eventually(lambda: "Starting workers" in found.log(jobset.ADDON))
        found.at_start = {addon: len(asked.calls) for addon, asked in found.asked.items()}
        yield found


@pytest.fixture
def kueued(queueing: Queueing) -> Iterator[Queueing]:
    yield queueing
    for team in queueing.spec.fleet.teams:
        for group, plural in ((f"{jobset.GROUP}/{jobset.VERSION}", "jobsets"), ("batch/v1", "jobs")):
            path = f"/apis/{group}/namespaces/team-{team}/{plural}"
            queueing.server.api.call("DELETE", path, {"propagationPolicy": "Background"})
    eventually(lambda: not queueing.workloads())


def places(kueued: Queueing) -> dict[str, str]:
    return {name: place for name, one in kueued.workloads().items() if (place := where(one))}


def test_a_team_may_borrow_what_is_free_and_the_site_fills_first(kueued: Queueing) -> None:
    for number in range(5):
        kueued.run("speech", f"run-{number}", hosts=1)
        time.sleep(0.3)  # creation times have whole seconds, and order those that wait
    found = settled(lambda: places(kueued))
    assert sorted(found.values()) == ["room", "room", "room", "room"], "16 of its own and 16 that it may borrow"
    (waiting,) = kueued.workloads().keys() - found.keys()
    assert "insufficient" in kueued.waits(waiting)
    assert "team-gpus" in kueued.waits(waiting)


def test_what_was_lent_comes_back_to_who_owns_it_a_whole_run_at_a_time(kueued: Queueing) -> None:
    for number in range(2):
        kueued.run("speech", f"pair-{number}", hosts=2)
    assert settled(lambda: places(kueued)) == {"pair-0": "room", "pair-1": "room"}
    kueued.run("vision", "bought", hosts=2)
    assert settled(lambda: places(kueued)) == {"pair-0": "room", "pair-1": "room", "bought": "us-west-2"}
    kueued.run("robots", "own", hosts=2)
    eventually(lambda: "own" in places(kueued))
    found = settled(lambda: places(kueued))
    (left,) = found.keys() - {"bought", "own"}
    assert left.startswith("pair-"), "half of what was lent is the owner's, and one that began whole ends whole"
    assert found == {left: "room", "bought": "us-west-2", "own": "room"}


def test_a_team_that_may_not_borrow_stays_with_its_own(kueued: Queueing) -> None:
    for number in range(3):
        kueued.run("robots", f"robot-{number}", hosts=1)
    assert len(settled(lambda: places(kueued))) == 2


def test_a_run_is_in_one_place_or_waits(kueued: Queueing) -> None:
    kueued.run("vision", "most", hosts=3)
    eventually(lambda: places(kueued).get("most") == "room")
    kueued.run("speech", "next", hosts=2)
    assert settled(lambda: places(kueued))["next"] == "us-west-2", "8 are free in the room, and not 16"


def test_before_a_cloud_s_machines_are_there_nothing_begins_and_they_are_asked_for_as_one(kueued: Queueing) -> None:
    for team in ("vision", "robots"):
        kueued.run(team, f"own-{team}", hosts=2)
    eventually(lambda: kueued.admitted() == {"own-vision": "room", "own-robots": "room"})
    kueued.run("speech", "cloud", hosts=2)

    def asked() -> list[dict[str, object]]:
        path = "/apis/autoscaling.x-k8s.io/v1/namespaces/team-speech/provisioningrequests"
        return [one["spec"] for one in kueued.server.api.call("GET", path)["items"]]

    (request,) = eventually(asked)
    assert request["provisioningClassName"] == "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
    assert [parts["count"] for parts in request["podSets"]] == [2]
    assert "cloud" not in kueued.admitted()
    job = kueued.server.find("/apis/batch/v1/namespaces/team-speech/jobs/cloud")
    assert job is not None
    assert job["spec"]["suspend"] is True


def test_machines_that_can_t_be_had_send_a_run_back_into_its_queue_and_not_out_of_it(kueued: Queueing) -> None:
    for team in ("vision", "robots"):
        kueued.run(team, f"own-{team}", hosts=2)
    eventually(lambda: len(kueued.admitted()) == 2)
    kueued.run("speech", "cloud", hosts=2)
    path = "/apis/autoscaling.x-k8s.io/v1/namespaces/team-speech/provisioningrequests"
    (request,) = eventually(lambda: kueued.server.api.call("GET", path)["items"])
    failed = {
        "type": "Failed",
        "status": "True",
        "reason": "CapacityIsNotFound",
        "message": "no machine is to be had",
        # Kueue tries again so long after this.
        "lastTransitionTime": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    kueued.server.patch(f"{path}/{request['metadata']['name']}/status", {"status": {"conditions": [failed]}})

    def again() -> bool:
        """Evicted for a moment only, where its quota is free."""
        names = [one["metadata"]["name"] for one in kueued.server.api.call("GET", path)["items"]]
        return true(kueued.workloads()["cloud"], "Evicted") or any(name.endswith("-2") for name in names)

    # Kueue gives the quota back when it is to try again, which is a minute later.
    eventually(again, 150)
    assert kueued.workloads()["cloud"]["spec"].get("active", True)
    config = kueued.server.find(f"/apis/{queues.API}/provisioningrequestconfigs/{queues.CHECK}")
    assert config is not None
    # Kueue's own default is three, and a run that is given up waits for a person.
    assert config["spec"]["retryStrategy"]["backoffLimitCount"] == queues.FOR_EVER


def test_what_a_quota_holds_back_buys_nothing(kueued: Queueing) -> None:
    kueued.run("robots", "too-large", hosts=3)
    assert not settled(lambda: places(kueued))
    path = "/apis/autoscaling.x-k8s.io/v1/namespaces/team-robots/provisioningrequests"
    assert not kueued.server.api.call("GET", path)["items"]


def test_priorities_hold_inside_a_team(kueued: Queueing) -> None:
    for number in range(2):
        kueued.run("robots", f"low-{number}", hosts=1, priority="low")
    eventually(lambda: len(places(kueued)) == 2)
    kueued.run("robots", "high", hosts=1, priority="high")
    eventually(lambda: "high" in places(kueued))
    assert len(settled(lambda: places(kueued))) == 2


def test_a_jobset_is_queued_as_a_whole_and_its_jobs_begin_with_it(kueued: Queueing) -> None:
    kueued.run_parts("vision", "parts", {"chief": 1, "worker": 1})

    def begun() -> list[str]:
        found = kueued.server.api.call("GET", "/apis/batch/v1/namespaces/team-vision/jobs")["items"]
        return sorted(one["metadata"]["name"] for one in found if not one["spec"].get("suspend"))

    eventually(begun)
    assert settled(begun) == ["parts-chief-0", "parts-worker-0"]
    assert set(places(kueued)) == {"parts"}, "one workload for both"


def test_a_team_without_a_queue_has_none(kueued: Queueing) -> None:
    assert kueued.server.find(f"/apis/{queues.API}/namespaces/team-guests/localqueues/runs") is None
    with pytest.raises(ApiError):
        kueued.server.api.call("GET", f"/apis/{queues.API}/clusterqueues/guests")


@pytest.mark.parametrize("addon", [kueue.ADDON, jobset.ADDON])
def test_a_controller_asks_no_more_than_its_budget_when_it_starts(queueing: Queueing, addon: str) -> None:
    asked, starting = queueing.asked[addon], queueing.at_start[addon]
    assert 10 < starting <= BUDGETS[addon].starting, asked.calls[:starting]
    assert asked.watched() <= watched(addons.manifests(queueing.spec)[addon])


@pytest.mark.parametrize("addon", [kueue.ADDON, jobset.ADDON])
def test_the_rights_of_a_controller_are_enough(queueing: Queueing, addon: str) -> None:
    """The last of all: what was refused stands in its log."""
    log = queueing.log(addon)
    assert "Starting workers" in log or "Starting Controller" in log, log[-2000:]
    assert "forbidden" not in log, next(line for line in log.splitlines() if "forbidden" in line)


def test_capacity_is_that_of_the_pools(tmp_path: Path) -> None:
    told = world()
    assert queues.capacity(addons_spec(told.fleet, told.plan, "main")) == {"room": 32, "us-west-2": 16}


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (8, "8"), (1000, "1k"), (1600, "1600"), (16000, "16k"), (10**9, "1G")]
)
def test_numbers_are_written_as_kubernetes_does(number: int, text: str) -> None:
    assert queues.quantity(number) == text


def test_kueue_takes_over_nothing_that_a_queue_s_line_says(kueued: Queueing) -> None:
    """It writes queues whole to finish them later: whatever it writes otherwise than we did is its own from then on."""
    path = f"/apis/{queues.API}/clusterqueues"

    def finished() -> list[dict[str, Any]]:
        found = kueued.server.api.call("GET", path)["items"]
        return found if found and all(one["metadata"].get("finalizers") for one in found) else []

    found = eventually(finished, 60)
    assert maintenance_holds.CLUSTER_QUEUE in {one["metadata"]["name"] for one in found}
    for one in found:
        by = {fields["manager"]: fields["fieldsV1"] for fields in one["metadata"]["managedFields"]}
        assert not [who for who, what in by.items() if who == "kueue" and "f:spec" in what], by


@pytest.fixture
def holds(kueued: Queueing) -> Iterator[Holds]:
    """With the rights that the add-on gives the service."""
    folder = kueued.folder / "maintenance"
    folder.mkdir(exist_ok=True)
    for one in (*rights(maintenance.ADDON, maintenance.ADDON, []), *maintenance.holding()):
        kueued.apply(one)
    (folder / "token").write_text(token(kueued.server, "kube-system", maintenance.ADDON, kueued.server.issuer))
    (folder / "ca.crt").write_text(kueued.server.authority.pem)
    kube = kube_http.Kube(kueued.server.url, str(folder / "ca.crt"), token=(folder / "token").read_text)
    made = Holds(kube, ["room"])
    yield made
    made.step({}, {}, time.time())


def hold(holds: Holds, *closed: str) -> None:
    """Of the room's hosts these are closed."""
    hosts = [f"host-{number}" for number in range(1, 5)]
    about = {"labels": {"landbridge.dev/place": "room"}, "resourceVersion": "1"}
    status = {"allocatable": {"nvidia.com/gpu": "8"}}
    nodes = {name: read({"metadata": {**about, "name": name}, "status": status}) for name in hosts}
    state = NodeState("closed", 0.0, 0.0)
    plan = cast(Plan, None)
    holds.step(
        nodes,
        {name: [(plan, state if name in closed else state._replace(phase="told"))] for name in hosts},
        time.time(),
    )


def held(kueued: Queueing) -> list[str]:
    found = kueued.server.api.call("GET", maintenance_holds.PATH)["items"]
    return sorted(one["metadata"]["name"] for one in found if true(one, "Admitted") and where(one) == "room")


def test_what_is_closed_is_held_and_no_run_waits_for_it(kueued: Queueing, holds: Holds) -> None:
    hold(holds, "host-1")
    eventually(lambda: held(kueued) == ["maintenance-host-1"])
    kueued.run("vision", "whole", hosts=4)
    assert "whole" not in settled(lambda: places(kueued)), (
        "not a room of which one host is closed, nor a cloud with two"
    )
    kueued.run("speech", "three", hosts=3)
    eventually(lambda: places(kueued).get("three") == "room")
    kueued.run("robots", "one", hosts=1)
    assert settled(lambda: places(kueued)).get("one") == "us-west-2"
    # It is done: all of the room is there again.
    hold(holds)
    assert held(kueued) == []
    kueued.run("speech", "next", hosts=1)
    eventually(lambda: places(kueued).get("next") == "room")


def test_what_is_closed_while_all_is_held_comes_before_any_run_that_waits(kueued: Queueing, holds: Holds) -> None:
    for number in range(4):
        kueued.run("vision" if number % 2 else "speech", f"run-{number}", hosts=1)
    eventually(lambda: [*places(kueued).values()].count("room") == 4)
    for number in range(4):
        kueued.run("vision" if number % 2 else "speech", f"later-{number}", hosts=1)
    eventually(lambda: [*places(kueued).values()].count("us-west-2") == 2)
    hold(holds, "host-1")
    time.sleep(1)
    assert held(kueued) == []
    kueued.server.api.call(
        "DELETE", "/apis/batch/v1/namespaces/team-vision/jobs/run-1", {"propagationPolicy": "Background"}
    )
    eventually(lambda: held(kueued) == ["maintenance-host-1"])
    assert [*settled(lambda: places(kueued)).values()].count("room") == 3


def test_a_hold_is_ready_by_itself_so_that_kueue_does_not_take_it_back(kueued: Queueing, holds: Holds) -> None:
    hold(holds, "host-1")
    eventually(lambda: held(kueued) == ["maintenance-host-1"])
    hold(holds, "host-1")
    (one,) = kueued.server.api.call("GET", maintenance_holds.PATH)["items"]
    assert (true(one, "PodsReady"), true(one, "Admitted")) == (True, True)


def test_what_is_in_queues_that_are_to_go_is_named_and_ended(kueued: Queueing) -> None:
    kube = Kube(kueued.server.kubeconfig())
    kueued.run("robots", "waits", hosts=3)
    kueued.run("robots", "works", hosts=1)
    kueued.run_parts("vision", "parts", {"chief": 1})
    eventually(lambda: len(places(kueued)) == 2)
    assert [str(one) for one in unfinished.unfinished(kube)] == [
        "job/waits in team-robots, which waits for 24 GPUs",
        "job/works in team-robots, which holds 8 GPUs",
        "jobset/parts in team-vision, which holds 8 GPUs",
    ]
    (told,) = unfinished.refusal("main-addons", unfinished.unfinished(kube, ["robots"]), " --cluster main")
    assert told.startswith(
        "main-addons: the run deletes the queue of job/waits in team-robots, which waits for 24 GPUs; "
    )
    assert told.endswith("`landbridge kubectl --cluster main --namespace team-robots delete job/waits job/works`")
    said: list[str] = []
    assert len(unfinished.end(kube, said.append)) == 3
    assert said[0].startswith("ends job/waits in team-robots")
    assert kueued.workloads() == {}
    path = f"/apis/{queues.API}/clusterqueues/robots"
    kueued.server.api.call("DELETE", path)
    eventually(lambda: kueued.server.find(path) is None)


def test_a_run_whose_hosts_do_not_start_goes_back_into_its_queue_and_is_let_in_once_more(kueued: Queueing) -> None:
    """The last of all, as the one before: sooner than by Kueue's settings, which have minutes for it."""
    own = kueue.config(kueue.SERVER)["waitForPodsReady"]
    kueued.server.end(kueue.ADDON)
    kueued.start(
        kueue.ADDON,
        waitForPodsReady={
            **own,
            "timeout": "4s",
            "requeuingStrategy": {**own["requeuingStrategy"], "backoffBaseSeconds": 1},
        },
    )
    kueued.run("speech", "slow", hosts=1)

    def again() -> int:
        status = kueued.workloads().get("slow", {}).get("status", {})
        return int(status.get("requeueState", {}).get("count", 0))

    eventually(lambda: again() >= 2, 120)
    slow = kueued.workloads()["slow"]
    assert condition(slow, "Evicted")["reason"] == "PodsReadyTimeout"
    assert slow["spec"].get("active", True), "it is given up by nobody"
