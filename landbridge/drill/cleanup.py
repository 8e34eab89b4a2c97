"""Puts right what a drill left that was interrupted or killed: by its mark, and by what the cluster itself shows."""

import io
from typing import Any

from rich.console import Console

from components.control_plane.disks import mount
from components.control_plane.rings import RINGS
from landbridge.cluster import freeze, kubeconfig
from landbridge.cluster.machines import Machines
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError
from landbridge.etcd import waiting
from landbridge.etcd.defrag import NOSPACE, defrag
from landbridge.etcd.machine_steps import side_by_side
from landbridge.etcd.replace import replace, write
from landbridge.etcd.restore import API_UNITS
from landbridge.etcd.restore_command import restored
from landbridge.etcd.ring import RING
from landbridge.output import Output

from .bench import Bench, DrillError, Tell
from .marker import Mark
from .quota import FILLER
from .trust import ended
from .writer import Writer

NAMESPACE = "landbridge-drill-"
# A member that only has to start again does so in less.
PATIENCE_SECONDS = 20.0


def clear(session: Session, mark: Mark, tell: Tell) -> None:
    """Ends with all healthy and the mark gone. Raises LandbridgeError at the first step that fails: run it again."""
    record = mark.read()
    if record:
        tell(f"{record['drill']}, begun at {record['since']}, did not end: putting right what it left")
    credential = kubeconfig.admin(session.cloud, session.info)
    bench = Bench(session, Writer(session.info, credential, "", ""), mark, lambda line: tell(f"  {line}"))
    objects(bench, record.get("objects") or {})
    boots(bench)
    members(bench, record)
    if again := record.get("restore"):
        bench.tell("it had taken etcd main apart, so main goes back to what it would have gone back to")
        go_back(bench, again)
        mark.add(restore=None)
    for ring in RING:
        whole(bench, ring)
    space(bench)
    side_by_side(lambda machine: bench.steps.start(machine, *API_UNITS), [one.name for one in bench.info.api])
    side_by_side(lambda machine: waiting.for_api(bench.steps, machine), [one.name for one in bench.info.api])
    bench.until(lambda: session.admin.ready, "the API does not answer through its balancer")
    release(bench, record)
    spaces = session.admin.get("namespaces")["items"]
    for name in [one["metadata"]["name"] for one in spaces if one["metadata"]["name"].startswith(NAMESPACE)]:
        session.admin.done("delete", "namespace", name, "--wait=false")
        bench.tell(f"deleted: namespace {name}")
    try:  # the balancer takes 20 s to send a server that is back its part again
        bench.until(lambda: not ailing(session), "")
    except DrillError:
        raise DrillError(f"{session.info.name} is not healthy: {'; '.join(ailing(session))}") from None
    mark.end()


def ailing(session: Session) -> list[str]:
    return [f"{one.name}: {'; '.join(one.ails)}" for one in Machines(session).look().values() if one.ails]


def objects(bench: Bench, texts: dict[str, str]) -> None:
    for key, text in texts.items():
        bench.session.bucket.put(key, text.encode())
        bench.tell(f"put back: {bench.session.bucket.where(key)}")


def boots(bench: Bench) -> None:
    """Every machine is there and has booted; one that has refused its bundle, or has a blank disk, is replaced."""
    for name in bench.info.machines:
        if not bench.instance(name):
            bench.tell(f"no instance of {name} runs: it gets a successor")
            bench.successor(name, "")
        if why := unfit(bench, name):
            bench.tell(f"{name} {why}: it is replaced")
            bench.successor(name, bench.terminate(name))
    bench.boots()


def unfit(bench: Bench, machine: str) -> str:
    """Why a machine can't go on as it is; empty if it can. A blank disk gets its file system at boot alone."""
    how = str(bench.until(lambda: ended(bench.boot_log(machine)), f"{machine} neither boots nor refuses to"))
    if "stopped at" in how:
        return "has refused to boot"
    units = [mount(ring) for ring in RINGS] if machine in bench.etcd else []
    for unit in units:
        bench.steps.ask(machine, "systemctl", "start", unit)
    return "" if all(bench.steps.active(machine, unit) for unit in units) else "has a disk that is not mounted"


def members(bench: Bench, record: dict[str, Any]) -> None:
    """Halted processes go on, configurations are the bundle's own again, and units that were stopped run."""
    units = [f"etcd-{ring}.service" for ring in RING]
    for machine in bench.etcd:
        bench.steps.ask(machine, "pkill", "-CONT", "-x", "etcd")
        for path, text in (record.get("files") or {}).get(machine, {}).items():
            if bench.steps.ask(machine, "cat", path).out != text:
                write(bench.steps, machine, path, text)
                bench.steps.do(machine, "restarting etcd main", "systemctl", "restart", "etcd-main.service")
                bench.tell(f"put back: {path} on {machine}")
        if stopped := [unit for unit in units if not bench.steps.active(machine, unit)]:
            bench.steps.start(machine, *stopped)
            bench.tell(f"started: {', '.join(stopped)} on {machine}")


def go_back(bench: Bench, again: dict[str, str]) -> None:
    console = Console(file=io.StringIO(), width=200)
    store = bench.session.bucket
    out = Output(console, console, as_json=True)
    done = restored(bench.session, store, "main", again.get("source"), again.get("survivor"), out, yes=True)
    bench.tell(f"etcd main is back at revision {done['revision']}, from {done['source']}")


def whole(bench: Bench, ring: str) -> None:
    """A ring whose members that lost their disks have been replaced."""
    try:
        return bench.healthy(ring, PATIENCE_SECONDS)
    except LandbridgeError:
        view = bench.look(ring)
    if any(NOSPACE in alarm for member in view.members for alarm in member.alarms):
        return None  # what comes next
    for name in bench.etcd:
        member = view.member(name)
        if member is None or not member.answers or member.learner:
            replace(bench.session.remote, bench.info, bench.info.machines[name], ring, bench.tell)
    return bench.healthy(ring)


def space(bench: Bench) -> None:
    """What filled the quota goes, and with it the alarm."""
    bench.ctl.say(bench.etcd[0], "main", "del", FILLER)
    if any(NOSPACE in ail for ail in bench.look("main").ails(bench.info.etcd)):
        defrag(bench.session.remote, bench.info, "main", bench.tell)
    bench.healthy("main")


def release(bench: Bench, record: dict[str, Any]) -> None:
    """Only what a restore of this very drill has frozen."""
    why = freeze.frozen(bench.session.admin)
    if why and record and why["since"] >= record["since"]:
        freeze.release(bench.session.admin)
        bench.tell("released: scale-down, which a restore had frozen")
    elif why:
        bench.tell(f"scale-down is frozen since {why['since']}: {why['why']}. To release it: `{freeze.RELEASE}`")
