"""The etcd commands' work on a real ring with real API servers. What takes a restore or fills a quota: tests/e2e/test_drills.py."""

import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from landbridge.cluster.kube import Kube
from landbridge.errors import LandbridgeError
from landbridge.etcd.backup import backup
from landbridge.etcd.defrag import defrag
from landbridge.etcd.replace import replace
from landbridge.etcd.restore import Restore
from landbridge.etcd.ring import Ctl, EtcdError
from tests.landbridge.bed import Bed
from tests.support.waiting import eventually

RINGS = ("main", "events")


@pytest.fixture
def ctl(bed: Bed) -> Iterator[Ctl]:
    """API servers are ready by a majority: on a busy computer the last member may still be on its way."""
    ctl = Ctl(bed.remote, bed.info)
    well(ctl, bed)
    yield ctl
    well(ctl, bed)


def well(ctl: Ctl, bed: Bed) -> None:
    for ring in RINGS:
        eventually(lambda ring=ring: ctl.look(ring).ails(bed.info.etcd) == [], 90)
    bed.until_ready()


def write(kube: Kube, name: str) -> None:
    kube.apply([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}])


def names(kube: Kube) -> set[str]:
    return {one["metadata"]["name"] for one in kube.get("configmaps", "--namespace=default")["items"]}


def unit(bed: Bed, verb: str, ring: str, *machines: str) -> None:
    for machine in machines:
        assert bed.boxes[machine].ctl(verb, f"etcd-{ring}").code == 0


def test_a_look_tells_every_member(ctl: Ctl, bed: Bed) -> None:
    for ring in RINGS:
        view = ctl.look(ring)
        assert [member.name for member in view.members] == [machine.name for machine in bed.info.etcd]
        assert view.quorum
        assert view.ails(bed.info.etcd) == []
        for member in view.members:
            assert member.answers
            assert member.version.startswith("3.6")
            assert member.quota_bytes == 8 * 1024**3
        assert len([member for member in view.members if member.leader]) == 1


def test_a_member_that_is_down_is_named_and_the_others_are_not(ctl: Ctl, bed: Bed) -> None:
    unit(bed, "stop", "main", "main-etcd-1")
    try:
        view = ctl.look("main")
        assert view.ails(bed.info.etcd) == ["main-etcd-1 does not answer"]
        assert view.quorum
        assert ctl.look("events").ails(bed.info.etcd) == []
    finally:
        unit(bed, "start", "main", "main-etcd-1")


def test_defragmentation_goes_one_by_one_with_the_leader_last(ctl: Ctl, bed: Bed) -> None:
    leader = ctl.look("main").leader
    assert leader
    told: list[str] = []
    done = defrag(bed.remote, bed.info, "main", told.append)
    assert [one.member for one in done][-1] == leader.name
    assert {one.member for one in done} == {machine.name for machine in bed.info.etcd}
    assert len(told) == 3


def test_a_backup_lies_in_the_bucket_under_its_time_and_revision(ctl: Ctl, bed: Bed) -> None:
    made = backup(bed.remote, bed.info, bed.store, "main")
    (found,) = [one for one in bed.store.listed("backups/main/main/") if one.key == made.key]
    assert found.size == made.bytes
    assert str(made.revision) in made.key
    assert (datetime.now(UTC) - made.taken).total_seconds() < 60


def test_a_lost_disk_is_refused_while_its_member_lives_and_replaced_when_it_is_gone(ctl: Ctl, bed: Bed) -> None:
    machine = bed.info.machines["main-etcd-2"]
    kube = bed.kube()
    write(kube, "before-the-loss")
    with pytest.raises(EtcdError, match="is alive"):
        replace(bed.remote, bed.info, machine, "main", lambda _line: None)
    unit(bed, "stop", "main", machine.name)
    assert bed.boxes[machine.name].sh("rm -rf /var/lib/etcd/main/*").code == 0
    told: list[str] = []
    begun = time.monotonic()
    replace(bed.remote, bed.info, machine, "main", told.append)
    sys.stdout.write(f"\nmember with a lost disk replaced in {time.monotonic() - begun:.1f} s\n")
    assert "is a member again" in told[-1]
    assert ctl.look("main").ails(bed.info.etcd) == []
    said = bed.boxes[machine.name].run("cat", "/etc/etcd/main.json")
    assert json.loads(said.out)["initial-cluster-state"] == "new", "the bundle's own text is back"
    assert "before-the-loss" in names(kube)


def test_a_machine_out_of_reach_stops_a_restore_before_it_begins(ctl: Ctl, bed: Bed) -> None:
    info = bed.info._replace(machines={**bed.info.machines, "main-api-9": bed.info.api[0]._replace(name="main-api-9")})
    with pytest.raises(LandbridgeError, match=r"Nothing was changed.*main-api-9"):
        Restore(bed.remote, info, bed.store, "main", lambda _line: None).run(None, "newest")
    assert ctl.look("main").ails(bed.info.etcd) == []
