"""Faults of a whole cluster that last: each brings its alarm within its time, and no other. Drills, which do not, none."""

import json
from typing import NamedTuple

import pytest

from tests.components.pools.joining_client import eventually

from .monitored import names
from .queued import Queued
from .test_doctor import machine

pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(3600)]
ETCD, API = tuple(f"main-etcd-{n}" for n in (1, 2, 3)), ("main-api-1", "main-api-2")
# What is on besides: the watchdog, and that one receiver has no key.
ALWAYS = {"Watchdog", "NotificationsFail"}
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


FAULTS = (
    Fault("etcd-events", ETCD, "EtcdDown", 120),
    Fault("kube-scheduler", API, "SchedulerStopped", 300),
    Fault("kube-controller-manager", API, "ControllersStopped", 300),
    Fault("etcd-events", ETCD[:1], "EtcdMemberDown", 600),
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.alarm)
def test_what_lasts_has_its_alarm_and_no_other(measured: Queued, fault: Fault) -> None:
    eventually(lambda: "Watchdog" in names(measured, "firing"), 180)
    already, ended = names(measured, "firing"), names(measured, "resolved")
    for name in fault.machines:
        machine(measured.cloud, name, f"systemctl stop {fault.unit}")
    try:
        eventually(lambda: fault.alarm in names(measured, "firing"), fault.waits_seconds + NOTICED_SECONDS)
        assert names(measured, "firing") - already - ALWAYS == {fault.alarm}
    finally:
        for name in fault.machines:
            machine(measured.cloud, name, f"systemctl start {fault.unit}")
    eventually(lambda: fault.alarm in names(measured, "resolved") - ended, 900)


def test_drills_call_nobody(measured: Queued) -> None:
    already = names(measured, "firing")
    process = measured.cloud.start("drill", *DRILLS, "--local", "--json")
    out, err = process.communicate(timeout=1800)
    assert [one["problem"] for one in json.loads(out)["drills"]] == [""] * len(DRILLS), err
    assert names(measured, "firing") - already - ALWAYS == set()
