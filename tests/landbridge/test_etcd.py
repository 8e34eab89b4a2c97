"""The etcd commands' work on a real ring with real API servers: each drill ends with all healthy."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from landbridge.cluster.kube import Kube
from landbridge.errors import LandbridgeError
from landbridge.etcd.backup import backup
from landbridge.etcd.defrag import defrag
from landbridge.etcd.replace import replace
from landbridge.etcd.restore import BUMP, Restore, from_bucket
from landbridge.etcd.ring import CREDENTIAL, Ctl, EtcdError
from tests.landbridge.bed import Bed, eventually

RINGS = ("main", "events")


@pytest.fixture
def ctl(bed: Bed) -> Iterator[Ctl]:
    bed.until_ready()
    ctl = Ctl(bed.reach, bed.info)
    yield ctl
    for ring in RINGS:
        eventually(lambda ring=ring: ctl.look(ring).ails(bed.info.etcd) == [], 60)
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
    done = defrag(bed.reach, bed.info, "main", told.append)
    assert [one.member for one in done][-1] == leader.name
    assert {one.member for one in done} == {machine.name for machine in bed.info.etcd}
    assert len(told) == 3


def with_quota(bed: Bed, change: Callable[[str], str]) -> None:
    """Another quota for the events ring, one member after the other."""
    for machine in bed.info.etcd:
        file = bed.boxes[machine.name].disk / "etc/etcd/events.json"
        file.write_text(change(file.read_text()))
        unit(bed, "restart", "events", machine.name)


def test_a_full_quota_is_named_and_defragmentation_frees_it(ctl: Ctl, bed: Bed) -> None:
    limit = 24 * 1024**2
    with_quota(bed, lambda text: text.replace(str(8 * 1024**3), str(limit)))
    try:
        eventually(lambda: ctl.look("events").ails(bed.info.etcd) == [])
        fill = " ".join(["etcdctl", "--endpoints=https://127.0.0.1:2381", *CREDENTIAL, "put", "/filler"])
        said = bed.boxes["main-etcd-1"].sh(
            f"head -c 1000000 /dev/zero | tr '\\0' x > /tmp/filler; for n in $(seq 40); do {fill} < /tmp/filler || exit 9; done"
        )
        assert said.code == 9
        assert "database space exceeded" in said.err
        (ail, *_) = ctl.look("events").ails(bed.info.etcd)
        assert "NOSPACE: its quota is full" in ail
        told: list[str] = []
        begun = time.monotonic()
        defrag(bed.reach, bed.info, "events", told.append)
        record(f"\nfull quota freed in {time.monotonic() - begun:.1f} s", *told)
        assert "takes writes again" in told[-1]
        assert bed.boxes["main-etcd-1"].sh(f"{fill} < /tmp/filler").code == 0
        assert ctl.look("main").ails(bed.info.etcd) == []
    finally:
        with_quota(bed, lambda text: text.replace(str(limit), str(8 * 1024**3)))


def test_nothing_is_defragmented_while_a_member_is_down(ctl: Ctl, bed: Bed) -> None:
    unit(bed, "stop", "main", "main-etcd-2")
    try:
        with pytest.raises(EtcdError, match="main-etcd-2 does not answer"):
            defrag(bed.reach, bed.info, "main", lambda _line: None)
    finally:
        unit(bed, "start", "main", "main-etcd-2")


def test_a_backup_lies_in_the_bucket_under_its_time_and_revision(ctl: Ctl, bed: Bed) -> None:
    made = backup(bed.reach, bed.info, bed.store, "main")
    (found,) = [one for one in bed.store.listed("backups/main/main/") if one.key == made.key]
    assert found.size == made.bytes
    assert str(made.revision) in made.key
    assert (datetime.now(UTC) - made.taken).total_seconds() < 60


def test_a_lost_disk_is_refused_while_its_member_lives_and_replaced_when_it_is_gone(ctl: Ctl, bed: Bed) -> None:
    machine = bed.info.machines["main-etcd-2"]
    kube = bed.kube()
    write(kube, "before-the-loss")
    with pytest.raises(EtcdError, match="is alive"):
        replace(bed.reach, bed.info, machine, "main", lambda _line: None)
    unit(bed, "stop", "main", machine.name)
    assert bed.boxes[machine.name].sh("rm -rf /var/lib/etcd/main/*").code == 0
    told: list[str] = []
    begun = time.monotonic()
    replace(bed.reach, bed.info, machine, "main", told.append)
    record(f"\nmember with a lost disk replaced in {time.monotonic() - begun:.1f} s")
    assert "is a member again" in told[-1]
    assert ctl.look("main").ails(bed.info.etcd) == []
    said = bed.boxes[machine.name].run("cat", "/etc/etcd/main.json")
    assert json.loads(said.out)["initial-cluster-state"] == "new", "the bundle's own text is back"
    assert "before-the-loss" in names(kube)


def test_no_member_is_removed_while_another_ails(ctl: Ctl, bed: Bed) -> None:
    unit(bed, "stop", "main", "main-etcd-2", "main-etcd-3")
    try:
        with pytest.raises(EtcdError, match=r"main-etcd-3|others answer"):
            replace(bed.reach, bed.info, bed.info.machines["main-etcd-2"], "main", lambda _line: None)
    finally:
        for machine in ("main-etcd-2", "main-etcd-3"):
            bed.boxes[machine].ctl("start", "--no-block", "etcd-main")


def record(*lines: str, sep: str = "\n  ") -> None:
    """Times, for whoever runs the drills with -s."""
    sys.stdout.write(sep.join(lines) + "\n")


def test_everything_lost_comes_back_from_the_newest_snapshot(ctl: Ctl, bed: Bed) -> None:
    kube = bed.kube()
    write(kube, "kept")
    # Or at a quarter of an hour a newer snapshot comes by itself.
    for machine in bed.info.etcd:
        bed.boxes[machine.name].ctl("stop", "etcd-backup-main.timer")
    backup(bed.reach, bed.info, bed.store, "main")
    write(kube, "written-after-the-snapshot")
    for machine in bed.info.etcd:
        bed.boxes[machine.name].ctl("stop", "etcd-main")
        bed.boxes[machine.name].sh("rm -rf /var/lib/etcd/main/*")
    source = from_bucket(bed.store, bed.info, "main", "newest")
    told: list[str] = []
    begun = time.monotonic()
    done = Restore(bed.reach, bed.info, bed.store, "main", told.append).run(source, None)
    record(f"\nrestored from a snapshot in {time.monotonic() - begun:.1f} s", *told, sep="\n  ")
    found = names(bed.kube())
    assert "kept" in found
    assert "written-after-the-snapshot" not in found
    assert done.continues_at == done.revision + BUMP
    assert 0 <= done.age_seconds < 600
    version = int(bed.kube().get("configmap", "kept", "--namespace=default")["metadata"]["resourceVersion"])
    write(bed.kube(), "written-after-the-restore")
    after = bed.kube().get("configmap", "written-after-the-restore", "--namespace=default")
    assert int(after["metadata"]["resourceVersion"]) > BUMP > version


def test_a_lost_quorum_comes_back_from_the_newest_survivor(ctl: Ctl, bed: Bed) -> None:
    kube = bed.kube()
    for number in range(5):
        write(kube, f"acknowledged-{number}")
    for machine in bed.info.etcd:
        assert bed.boxes[machine.name].sh("pkill -KILL -f 'etcd/[m]ain.json'; systemctl stop etcd-main").code == 0
    for machine in ("main-etcd-1", "main-etcd-3"):
        bed.boxes[machine].sh("rm -rf /var/lib/etcd/main/*")
    told: list[str] = []
    begun = time.monotonic()
    done = Restore(bed.reach, bed.info, bed.store, "main", told.append).run(None, "newest")
    record(f"\nrestored from a survivor in {time.monotonic() - begun:.1f} s, {done.dropped} dropped", *told, sep="\n  ")
    assert "main-etcd-2" in done.source
    missing = {f"acknowledged-{number}" for number in range(5)} - names(bed.kube())
    assert len(missing) <= done.dropped, "what is missing has been told"


def test_a_machine_out_of_reach_stops_a_restore_before_it_begins(ctl: Ctl, bed: Bed) -> None:
    info = bed.info._replace(machines={**bed.info.machines, "main-api-9": bed.info.api[0]._replace(name="main-api-9")})
    with pytest.raises(LandbridgeError, match=r"Nothing was changed.*main-api-9"):
        Restore(bed.reach, info, bed.store, "main", lambda _line: None).run(None, "newest")
    assert ctl.look("main").ails(bed.info.etcd) == []
