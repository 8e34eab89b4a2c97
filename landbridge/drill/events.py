"""The drill that loses the events ring: nothing but events may miss it."""

import time

from components.control_plane.machines import API_PORT
from landbridge.cluster.kube import KubeError
from landbridge.etcd import waiting
from landbridge.etcd.machine_steps import side_by_side

from .bench import Bench, DrillError, Outcome

WATCH_SECONDS, SLOWEST_SECONDS = 8.0, 5.0
# Events of a minute share one lease of etcd's, which went with the ring: storage/etcd3/lease_manager.go of apiserver.
LEASE_SECONDS = 90.0
# And of a connection that an API server had with a member of old it hears at the first write: google.rpc.Code.
PASSING = ("requested lease not found", "rpc error: code = Unavailable")


def events_lost(bench: Bench) -> Outcome:
    """All disks of etcd events are lost; main stays healthy, the API answers, and an empty ring takes their place."""
    bench.lose(bench.etcd, "events")
    bench.tell("all disks of etcd events are empty, and its members are down")
    try:
        without(bench)
    finally:
        begun = time.monotonic()
        side_by_side(lambda machine: bench.steps.start(machine, "etcd-events.service"), bench.etcd)
        bench.healthy("events")
    event(bench)
    return Outcome(time.monotonic() - begun, {"watched_seconds": WATCH_SECONDS})


def without(bench: Bench) -> None:
    """Nothing else may ail while events is away. Raises DrillError and Refused."""
    begun, paths = time.monotonic(), balancer_paths(bench)
    while time.monotonic() - begun < WATCH_SECONDS:
        bench.writes(5, SLOWEST_SECONDS)
        if ails := bench.look("main").ails(bench.info.etcd):
            raise DrillError(f"etcd main ails because events is lost: {'; '.join(ails)}")
        for machine in bench.info.api:
            for path in paths:
                result = bench.steps.ask(machine.name, *waiting.READY[:-1], f"https://127.0.0.1:{API_PORT}{path}")
                if result.out != "ok":
                    failed = [line for line in result.out.splitlines() if line.startswith("[-]")]
                    why = "; ".join(failed) or result.out or "no answer"
                    raise DrillError(f"the balancer's check {path} gives {machine.name} up: {why}")


def balancer_paths(bench: Bench) -> set[str]:
    """What the balancer asks API servers. To ask it ourselves is quicker than to wait until it has made up its mind."""
    return bench.session.cloud.probes(bench.info)


def event(bench: Bench) -> None:
    """An event is taken and read again. Raises KubeError."""
    kube, space = bench.session.admin, f"--namespace={bench.writer.namespace}"
    manifest = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "drill", "namespace": bench.writer.namespace},
        "involvedObject": {"kind": "Namespace", "name": bench.writer.namespace, "namespace": bench.writer.namespace},
        "reason": "Drill",
        "message": "the events ring is back",
        "type": "Normal",
    }
    bench.until(lambda: kube.run("get", "events", space).code == 0, "events cannot be read", 30)

    def taken() -> bool:
        try:
            kube.apply([manifest])
        except KubeError as error:
            if any(words in str(error) for words in PASSING):
                return False
            raise
        return True

    bench.until(taken, "events are not taken again", LEASE_SECONDS)
    if kube.get("event", "drill", space)["message"] != manifest["message"]:
        raise DrillError("the event that was written is another")
