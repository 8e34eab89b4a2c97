"""Plans on a real API server, with the add-on's own rights and a clock that is moved: what is told, closed and drained."""

from fleet.maintenance import stamp
from services.maintenance import steps

from .bed import HOUR, Bed


def test_an_hour_before_it_is_told_closed_and_then_drained_to_the_second(bed: Bed) -> None:
    bed.node("host-1")
    bed.node("host-2")
    bed.pod("train-0", "host-1")
    bed.pod("train-1", "host-2")
    bed.plan("nic", "node/host-1", after=3 * HOUR)
    bed.look(2)
    assert bed.phases("nic") == {"host-1": "told"}
    node = bed.on("host-1")
    assert (node.condition["status"], node.condition["reason"], node.taint) == ("True", "Operator", None)
    assert "new NIC" in node.condition["message"]
    told = bed.told_of("train-0")
    assert (told["why"], told["start_seconds"], told["left"]) == ("new NIC", int(bed.at + 3 * HOUR), "2h")
    assert bed.events("train-0") == ["MaintenancePlanned"]
    assert bed.told_of("train-1") == {}
    bed.pass_(2 * HOUR - 1)
    assert bed.on("host-1").taint is None
    bed.pass_(1)
    assert (bed.phases("nic"), bed.on("host-1").taint) == ({"host-1": "closed"}, "1h")
    assert bed.told_of("train-0")["left"] == "1h"
    bed.pass_(HOUR - 1)
    assert bed.there() == ["train-0", "train-1"]
    assert (bed.on("host-1").taint, bed.on("host-1").unschedulable) == ("0m", False)
    bed.pass_(1)
    assert bed.there() == ["train-1"]
    assert bed.phases("nic") == {"host-1": "drained"}
    assert bed.on("host-1").unschedulable
    bed.pass_(HOUR - 1)
    assert bed.phases("nic") == {"host-1": "drained"}
    bed.is_ready("host-1", ready=False)
    bed.pass_(1)
    assert (bed.phases("nic"), bed.why("nic", "host-1")) == ({"host-1": "checking"}, "it is not Ready")
    bed.is_ready("host-1", ready=True)
    bed.pass_(steps.LOOKED_SECONDS - 1)
    assert (bed.phases("nic"), bed.why("nic", "host-1")) == ({"host-1": "checking"}, steps.LOOKS)
    bed.pass_(1)
    node = bed.on("host-1")
    assert bed.phases("nic") == {"host-1": "done"}
    assert (node.taint, node.unschedulable, node.annotation, node.condition["status"]) == (None, False, "", "False")
    assert bed.events("train-0") == ["MaintenancePlanned"], "once"


def test_nobody_is_drained_whom_nobody_has_told_so_long_before(bed: Bed) -> None:
    """The service was away when it was planned."""
    bed.node("host-1")
    bed.pod("train-0", "host-1")
    bed.plan("nic", "node/host-1", after=HOUR)
    bed.at += HOUR + 60
    bed.look(3)
    assert bed.phases("nic") == {"host-1": "closed"}
    assert bed.told_of("train-0")["start_seconds"] == int(bed.at + HOUR)
    bed.pass_(HOUR - 1)
    assert bed.there() == ["train-0"]
    bed.pass_(1)
    assert bed.there() == []


def test_it_begins_as_soon_as_all_work_there_has_ended(bed: Bed) -> None:
    bed.node("host-1")
    bed.pod("train-0", "host-1")
    bed.plan("nic", "node/host-1", after=HOUR)
    bed.look(3)
    assert bed.phases("nic") == {"host-1": "closed"}
    bed.ends("train-0")
    bed.look(3)
    assert bed.phases("nic") == {"host-1": "drained"}
    bed.change("nic", over=True)
    bed.looked()
    assert bed.phases("nic") == {"host-1": "done"}


def test_of_two_plans_the_next_is_told_and_one_that_ends_leaves_the_other(bed: Bed) -> None:
    bed.node("host-1")
    bed.pod("train-0", "host-1")
    bed.plan("late", "pool/site-gpu", after=10 * HOUR)
    bed.plan("soon", "node/host-1", after=3 * HOUR)
    bed.look(2)
    assert bed.told_of("train-0")["maintenance"] == "soon"
    assert bed.on("host-1").condition["message"].startswith("soon, by an operator: new NIC")
    bed.change("soon", cancelled=True)
    bed.look(3)
    assert bed.phases("soon") == {"host-1": "done"}
    assert bed.told_of("train-0")["maintenance"] == "late"
    bed.change("late", cancelled=True)
    bed.look(3)
    assert bed.told_of("train-0") == {}
    assert bed.events("train-0").count("MaintenancePlanned") == 2
    assert bed.events("train-0").count("MaintenanceCalledOff") == 1
    assert bed.on("host-1").annotation == ""


def test_two_that_overlap_keep_the_node_until_the_last_is_done(bed: Bed) -> None:
    bed.node("host-1")
    bed.plan("first", "node/host-1", after=HOUR)
    bed.plan("second", "node/host-1", after=HOUR + 600)
    bed.look(4)
    bed.pass_(HOUR)
    assert bed.phases("first") == {"host-1": "drained"}
    bed.pass_(600)
    assert bed.phases("second") == {"host-1": "drained"}
    bed.change("first", over=True)
    bed.looked()
    assert bed.phases("first") == {"host-1": "done"}
    assert (bed.on("host-1").taint, bed.on("host-1").unschedulable) == ("0m", True)
    bed.change("second", over=True)
    bed.looked()
    assert not bed.on("host-1").marked


def test_cancelled_at_each_of_its_stages_the_node_is_as_before(bed: Bed) -> None:
    bed.node("host-1")
    for seconds, phase in ((0, "told"), (2 * HOUR, "closed"), (3 * HOUR, "draining")):
        bed.pod("train-0", "host-1", grace=30)
        bed.plan(phase, "node/host-1", after=3 * HOUR)
        bed.look(2)
        bed.pass_(seconds)
        assert bed.phases(phase) == {"host-1": phase}
        bed.change(phase, cancelled=True)
        bed.look(3)
        assert bed.phases(phase) == {"host-1": "done"}
        assert not bed.on("host-1").marked
        assert not bed.on("host-1").unschedulable
        bed.server.api.call("DELETE", "/api/v1/namespaces/team-lab/pods/train-0", {"gracePeriodSeconds": "0"})
    bed.plan("empty", "node/host-1", after=HOUR)
    bed.look(4)
    assert bed.phases("empty") == {"host-1": "drained"}
    bed.change("empty", cancelled=True)
    bed.look(3)
    assert not bed.on("host-1").marked


def test_whom_people_have_cordoned_stays_so(bed: Bed) -> None:
    bed.node("host-1")
    bed.server.patch("/api/v1/nodes/host-1", {"spec": {"unschedulable": True}})
    bed.plan("nic", "node/host-1", after=HOUR)
    bed.look(4)
    bed.change("nic", over=True)
    bed.looked()
    assert bed.phases("nic") == {"host-1": "done"}
    assert bed.on("host-1").unschedulable


def test_what_a_budget_holds_is_named_and_goes_at_the_deadline_alone(bed: Bed) -> None:
    bed.node("host-1")
    bed.pod("train-0", "host-1")
    bed.pod("train-1", "host-1")
    bed.budget("stays", "train-0")
    bed.plan("nic", "node/host-1", after=HOUR, deadline=stamp(bed.at + HOUR + 900))
    bed.look(2)
    bed.pass_(HOUR)
    assert bed.there() == ["train-0"]
    assert bed.phases("nic") == {"host-1": "draining"}
    assert "budget" in bed.why("nic", "host-1")
    assert "team-lab/train-0" in bed.why("nic", "host-1")
    bed.pass_(899)
    assert bed.there() == ["train-0"]
    bed.pass_(1)
    assert bed.there() == []
    assert bed.phases("nic") == {"host-1": "drained"}


def test_of_a_pool_no_more_than_its_share_are_away_at_once(bed: Bed) -> None:
    for number in range(12):
        bed.node(f"host-{number:02}")
    bed.plan("firmware", "pool/site-gpu", after=HOUR)
    bed.look(4)
    phases = bed.phases("firmware")
    assert sorted(phases.values()) == ["closed"] * 11 + ["drained"]
    assert "1 of the 12 machines of site-gpu are away, and 1 may be" in bed.why("firmware", "host-01")
    # Whose turn comes late has as long as the others.
    for number in (1, 2):
        bed.pass_(2 * HOUR)
        bed.looked()
        bed.look(4)
        phases = bed.phases("firmware")
        assert sorted(phases.values()) == ["closed"] * (11 - number) + ["done"] * number + ["drained"]


def test_frozen_or_with_a_place_out_of_sight_nothing_begins(bed: Bed) -> None:
    for number in range(4):
        bed.node(f"host-{number}")
        bed.node(f"east-{number}", "east-gpu", "us-east-1")
    bed.plan("nic", "node/host-1", after=HOUR)
    bed.why_frozen = "restored from a snapshot"
    bed.look(4)
    assert bed.why("nic", "host-1") == "the cluster is frozen: restored from a snapshot"
    bed.why_frozen = ""
    for number in range(3):
        bed.is_ready(f"east-{number}", ready=False)
    bed.look(2)
    assert bed.why("nic", "host-1") == "us-east-1 is out of sight: 3 of its 4 nodes are not Ready"
    bed.is_ready("east-0", ready=True)
    bed.look(3)
    assert bed.phases("nic") == {"host-1": "drained"}


def test_a_cloud_waits_for_nobody(bed: Bed) -> None:
    """A spot machine that is taken back: two minutes, frozen or not, and what fills the node goes too."""
    for number in range(2):
        bed.node(f"spot-{number}", "east-gpu", "us-east-1")
        bed.pod(f"train-{number}", f"spot-{number}")
        name = f"spot-{number}"
        bed.plan(name, f"node/{name}", after=120, source="ec2-spot", noticeSeconds=0, closedSeconds=3600, hours=0)
    bed.why_frozen = "a person did"
    bed.look(2)
    assert bed.on("spot-0").taint == "0m"
    assert bed.told_of("train-0")["by"] == "EC2, which takes the spot machine back"
    bed.pass_(120)
    assert bed.there() == []
    assert bed.phases("spot-0") == {"spot-0": "drained"}
    bed.call("DELETE", "/api/v1/nodes/spot-0")
    bed.look(2)
    assert bed.phases("spot-0") == {"spot-0": "done"}
    assert bed.why("spot-0", "spot-0") == "its machine is gone"


def test_what_may_not_come_to_it_keeps_new_work_off_and_ends_none(bed: Bed) -> None:
    bed.node("spot-0", "east-gpu", "us-east-1")
    bed.pod("train-0", "spot-0")
    bed.plan("advice", "node/spot-0", after=0, source="ec2-rebalance", noticeSeconds=0, hours=24)
    bed.look(4)
    bed.pass_(HOUR)
    assert (bed.phases("advice"), bed.there()) == ({"spot-0": "closed"}, ["train-0"])


def test_killed_after_each_look_it_goes_on_and_nothing_is_forgotten(bed: Bed) -> None:
    bed.node("host-1")
    bed.pod("train-0", "host-1")
    bed.plan("nic", "node/host-1", after=2 * HOUR)
    seen = []
    for _ in range(16):
        bed.another()
        bed.look()
        seen.append(bed.phases("nic")["host-1"])
        bed.at += HOUR / 4
    assert list(dict.fromkeys(seen)) == ["told", "closed", "draining", "drained", "checking", "done"]
    assert bed.events("train-0") == ["MaintenancePlanned"]
    assert not bed.on("host-1").marked


def test_while_a_link_is_out_nothing_begins_behind_it_and_nothing_ends(bed: Bed) -> None:
    bed.node("host-1")
    bed.pod("train-0", "host-1")
    bed.plan("fibre", "link/lab", after=HOUR)
    bed.look(2)
    bed.pass_(HOUR)
    assert (bed.on("host-1").taint, bed.there()) == ("0m", ["train-0"])
    bed.pass_(HOUR)
    assert bed.phases("fibre") == {"host-1": "done"}
    assert not bed.on("host-1").marked


def test_what_was_over_a_week_ago_is_forgotten_and_what_is_to_come_is_not(bed: Bed) -> None:
    bed.node("host-1")
    bed.plan("old", "node/host-1", after=HOUR)
    bed.plan("dropped", "node/host-7", after=HOUR, cancelled=True)
    bed.plan("to-come", "node/host-9", after=30 * 24 * HOUR)
    bed.plan("never-there", "node/host-8", after=HOUR)
    bed.look(4)
    bed.pass_(HOUR * 3)
    bed.looked()
    assert bed.phases("old") == {"host-1": "done"}
    bed.pass_(7 * 24 * HOUR)
    assert bed.names() == ["old", "to-come"]
    bed.pass_(HOUR * 3)
    assert bed.names() == ["to-come"]


def test_a_site_s_host_that_is_closed_is_held_in_kueue_until_it_is_done_and_no_other_is(bed: Bed) -> None:
    bed.node("host-1", gpus=8)
    bed.node("i-1", "east-gpu", "us-east-1", gpus=8)
    bed.plan("nic", "node/host-1", after=2 * HOUR)
    bed.plan("cloud", "node/i-1", after=2 * HOUR)
    bed.look(3)
    assert bed.held() == []
    bed.pass_(HOUR)
    assert bed.held() == ["maintenance-host-1"], "what clouds have is bought, and asked for before"
    # Another one that leads from now on takes it away, too.
    bed.another()
    bed.change("nic", cancelled=True)
    bed.look(3)
    assert bed.held() == []


def test_a_node_that_only_lives_is_no_news(bed: Bed) -> None:
    bed.node("host-1")
    bed.look()
    thing = bed.call("GET", "/api/v1/nodes/host-1")
    bed.keeper.changed.clear()
    later = {**thing, "metadata": {**thing["metadata"], "resourceVersion": "999999"}}
    bed.keeper.node_seen("MODIFIED", later)
    assert not bed.keeper.changed.is_set()
    assert bed.keeper.nodes["host-1"].version == "999999"
    bed.keeper.node_seen("MODIFIED", {**later, "spec": {"unschedulable": True}})
    assert bed.keeper.changed.is_set()


def test_what_was_postponed_meanwhile_is_not_begun_by_who_has_not_seen_that(bed: Bed) -> None:
    bed.node("host-1")
    bed.pod("train-0", "host-1")
    bed.plan("nic", "node/host-1", after=HOUR)
    bed.look(3)
    bed.at += HOUR
    later = bed.at + 2 * HOUR
    bed.change("nic", start=stamp(later), end=stamp(later + HOUR))
    for _ in range(3):
        bed.keeper.step()
    assert (bed.there(), bed.phases("nic")) == (["train-0"], {"host-1": "closed"})
    bed.look(2)
    assert (bed.there(), bed.phases("nic")) == (["train-0"], {"host-1": "told"})
