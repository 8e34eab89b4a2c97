"""What clouds announce of machines, and rolls of nodes, becomes plans on a real API server, and is called off."""

import json

from fleet import fitness, maintenance
from fleet.maintenance import stamp
from landbridge.pool import rolling_taint

from .bed import HOUR, Bed


def announce(bed: Bed, node: str, *events: dict[str, str]) -> None:
    text = json.dumps(events) if events else None
    bed.server.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {maintenance.ANNOUNCED: text}}})


def event(bed: Bed, after: float, source: str = "ec2-event") -> dict[str, str]:
    start, end = stamp(bed.at + after), stamp(bed.at + after + 600)
    return {"id": "e-1", "source": source, "why": "system-reboot", "start": start, "end": end}


def test_what_a_cloud_announces_is_planned_told_drained_and_over_when_it_is(bed: Bed) -> None:
    bed.node("i-1", "east-gpu", "us-east-1")
    bed.pod("train-0", "i-1")
    announce(bed, "i-1", event(bed, 2 * HOUR))
    bed.look(3)
    (name,) = bed.names()
    assert bed.phases(name) == {"i-1": "told"}
    assert bed.told_of("train-0")["by"] == "EC2"
    # The cloud chooses another time.
    announce(bed, "i-1", event(bed, 3 * HOUR))
    bed.look(3)
    assert bed.names() == [name]
    assert bed.told_of("train-0")["start_seconds"] == int(bed.at + 3 * HOUR)
    bed.pass_(3 * HOUR)
    assert (bed.phases(name), bed.there()) == ({"i-1": "drained"}, [])
    (entry,) = json.loads(bed.on("i-1").annotation)
    assert (entry["event"], entry["phase"]) == ("e-1", "drained")
    bed.pass_(HOUR)
    assert bed.phases(name) == {"i-1": "drained"}, "its end is the cloud's to say"
    announce(bed, "i-1")
    bed.looked()
    assert bed.phases(name) == {"i-1": "done"}
    assert not bed.on("i-1").marked


def test_what_a_cloud_takes_back_is_called_off(bed: Bed) -> None:
    bed.node("i-1", "east-gpu", "us-east-1")
    bed.pod("train-0", "i-1")
    announce(bed, "i-1", event(bed, 2 * HOUR))
    bed.look(3)
    announce(bed, "i-1")
    bed.look(4)
    assert sorted(bed.events("train-0")) == ["MaintenanceCalledOff", "MaintenancePlanned"]
    assert bed.told_of("train-0") == {}
    assert not bed.on("i-1").marked


def test_a_machine_that_writes_nonsense_of_itself_plans_nothing(bed: Bed) -> None:
    bed.node("i-1", "east-gpu", "us-east-1")
    for nonsense in (
        event(bed, 0, "operator"),
        event(bed, 0, "flood"),
        {**event(bed, 0), "start": "tomorrow"},
        {"id": "e-1"},
    ):
        announce(bed, "i-1", nonsense)
        bed.look(2)
    bed.server.patch("/api/v1/nodes/i-1", {"metadata": {"annotations": {maintenance.ANNOUNCED: "{"}}})
    bed.look(2)
    assert bed.names() == []


def test_a_roll_of_the_pool_is_announced_and_drains_by_itself(bed: Bed) -> None:
    bed.node("i-1", "east-gpu", "us-east-1")
    bed.pod("train-0", "i-1")
    until = stamp(bed.at + 24 * HOUR)
    roll = {rolling_taint.WHY: "image 2026.11, template 4", rolling_taint.UNTIL: until}
    bed.server.patch("/api/v1/nodes/i-1", {"metadata": {"annotations": roll}})
    bed.look(3)
    told = bed.told_of("train-0")
    assert (told["by"], told["why"]) == ("a roll of the pool", "replaced: image 2026.11, template 4")
    assert told["start"] == until
    bed.pass_(25 * HOUR)
    assert bed.there() == ["train-0"], "the roll evicts"
    # It is given up.
    bed.server.patch("/api/v1/nodes/i-1", {"metadata": {"annotations": dict.fromkeys(roll)}})
    bed.look(4)
    assert bed.told_of("train-0") == {}
    assert not bed.on("i-1").marked


def test_who_stayed_until_it_was_over_stays(bed: Bed) -> None:
    """A reboot of the cloud's, that came over a pod which its budget had kept."""
    bed.node("i-1", "east-gpu", "us-east-1")
    bed.pod("train-0", "i-1")
    bed.budget("stays", "train-0")
    announce(bed, "i-1", event(bed, HOUR))
    bed.look(3)
    bed.pass_(HOUR)
    (name,) = bed.names()
    assert bed.phases(name) == {"i-1": "draining"}
    announce(bed, "i-1")
    bed.looked()
    assert (bed.phases(name), bed.there()) == ({"i-1": "done"}, ["train-0"])
    assert not bed.on("i-1").marked


def unfit(bed: Bed, node: str, *, so: bool) -> None:
    told = {
        "type": fitness.CONDITION,
        "status": str(so),
        "reason": "Test",
        "message": "eth0 is down" if so else "nothing is wrong with it",
        "lastTransitionTime": stamp(bed.at),
    }
    path, kind = f"/api/v1/nodes/{node}/status", "application/strategic-merge-patch+json"
    bed.server.api.call("PATCH", path, {}, {"status": {"conditions": [told]}}, kind)


def test_to_a_host_that_is_unfit_no_new_work_comes_until_it_is_well_and_what_is_there_stays(bed: Bed) -> None:
    bed.node("lab-host-1")
    bed.pod("train-0", "lab-host-1")
    unfit(bed, "lab-host-1", so=True)
    bed.look(3)
    (name,) = bed.names()
    assert bed.on("lab-host-1").taint == maintenance.NONE_LEFT
    assert bed.told_of("train-0")["by"] == "the host itself, which is not fit for work"
    bed.pass_(HOUR)
    assert bed.there() == ["train-0"], "it knows best whether it goes on"
    assert bed.on("lab-host-1").marked
    unfit(bed, "lab-host-1", so=False)
    bed.look(4)
    assert bed.phases(name) == {"lab-host-1": "done"}
    assert not bed.on("lab-host-1").marked
    # The next time is another one.
    bed.at += HOUR
    unfit(bed, "lab-host-1", so=True)
    bed.look(3)
    assert len(bed.names()) == 2
