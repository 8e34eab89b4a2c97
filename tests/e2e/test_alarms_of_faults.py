"""Faults of a whole cluster that last: each brings its alarm within its time, and no other. Drills, which do not, none."""

import json
import time
from typing import NamedTuple

import pytest

from tests.components.pools.joining_client import eventually

from .monitored import QUIET, names
from .queued import Queued
from .test_doctor import machine

pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(3600)]
ETCD, API = tuple(f"main-etcd-{n}" for n in (1, 2, 3)), ("main-api-1", "main-api-2")
# What is on besides.
ALWAYS = {"Watchdog", *QUIET}
# What is back by itself or by a command within minutes, and takes nothing of the cluster's past with it.
DRILLS = ("leader-killed", "machine-terminated", "volume-lost", "certificate-expired", "events-lost", "bundle-tampered")
# Until one that tells has noticed, and until it is told: a scrape, an evaluation, and Alertmanager's own wait.
NOTICED_SECONDS = 240


class Fault(NamedTuple):
    """`unit` stops on `machines`; `alarm` waits so long by its own rule."""

    unit: str
    machines: tuple[str, ...]
    alarm: str
    waits_seconds: int


# What hides nothing of the others is broken at the same time: a wait costs minutes.
FAULTS = (
    (Fault("etcd-events", ETCD, "EtcdDown", 120),),
    (
        Fault("kube-scheduler", API, "SchedulerStopped", 300),
        Fault("kube-controller-manager", API, "ControllersStopped", 300),
        Fault("etcd-events", ETCD[:1], "EtcdMemberDown", 600),
    ),
)


@pytest.mark.parametrize("faults", FAULTS, ids=lambda them: "-".join(one.alarm for one in them))
def test_what_lasts_has_its_alarm_and_no_other(measured: Queued, faults: tuple[Fault, ...]) -> None:
    eventually(lambda: "Watchdog" in names(measured, "firing"), 180)
    already, ended = names(measured, "firing"), names(measured, "resolved")
    alarms, begun = {one.alarm for one in faults}, time.monotonic()
    for one in faults:
        each(measured, one, "stop")
    try:
        for one in sorted(faults, key=lambda one: one.waits_seconds):
            left = begun + one.waits_seconds + NOTICED_SECONDS - time.monotonic()
            eventually(lambda name=one.alarm: name in names(measured, "firing"), left)
        assert names(measured, "firing") - already - ALWAYS == alarms
    finally:
        for one in faults:
            # Of a ring none is ready before most of it have begun.
            each(measured, one, "start --no-block")
    eventually(lambda: alarms <= names(measured, "resolved") - ended, 900)


def each(measured: Queued, fault: Fault, verb: str) -> None:
    for name in fault.machines:
        machine(measured.cloud, name, f"systemctl {verb} {fault.unit}")


def test_drills_call_nobody(measured: Queued) -> None:
    already = names(measured, "firing")
    process = measured.cloud.start("drill", *DRILLS, "--local", "--json")
    out, err = process.communicate(timeout=1800)
    assert [one["problem"] for one in json.loads(out)["drills"]] == [""] * len(DRILLS), err
    assert names(measured, "firing") - already - ALWAYS == set()
