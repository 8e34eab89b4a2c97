"""What a cluster needs after its stack is up: an API that answers, and an admin credential that is worth something."""

import time
from concurrent.futures import ThreadPoolExecutor

from fleet.people import ADMINS
from fleet.world import World
from landbridge.access import rbac
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from landbridge.remote_execution import RemoteExecutionError

from . import info, why
from .kube import Kube, KubeError
from .session import Session
from .waiting import Tell

READY_SECONDS = {"real": 600.0, "local": 120.0}
TELL_SECONDS = 5.0
ETCD = "etcd-main.service"


def ensure(world: World, place: Place, name: str, tell: Tell, note: Tell) -> None:
    """To be called after every up of a cluster's stack. Quick when there is nothing to do. Raises LandbridgeError.

    `tell` hears what is waited for, again and again, and may raise; `note` what should be read even afterwards.
    """
    session = Session(world, place, info.read(place, name))
    admin = session.admin
    until_ready(session, admin, READY_SECONDS[place.world], tell)
    bind(session, admin, note)


def until_ready(session: Session, kube: Kube, seconds: float, tell: Tell) -> None:
    """Waits for /readyz through the balancer, telling how long and what the machines do."""
    begun = reported_at = checked_at = time.monotonic()
    reason = ""
    while True:
        result = kube.run("get", "--raw", "/readyz", "--request-timeout=3s", seconds=10)
        if result.code == 0:
            return
        now = time.monotonic()
        if now - begun > seconds:
            raise LandbridgeError(not_ready(session, result.why, seconds))
        if now - reported_at > TELL_SECONDS:
            reported_at = now
            if now - checked_at > why.AFTER_SECONDS:
                checked_at, reason = now, trouble(session)
            tell(f"waiting for the API, {now - begun:.0f} s of {seconds:.0f} s: {reason or result.why}")
        time.sleep(0.3)


def not_ready(session: Session, why: str, seconds: float) -> str:
    boots = "\n".join(f"  {machine}: {state}" for machine, state in boot_states(session).items())
    look = "landbridge local logs MACHINE" if session.place.world == "local" else "landbridge cluster status"
    return (
        f"{session.info.endpoint} does not answer after {seconds:.0f} s: {why}. Where the machines' boots stand:\n"
        f"{boots}\nSee more with `{look}`; `{info.up(session.place, session.info.name)}` waits again."
    )


def trouble(session: Session) -> str:
    """What the first machine whose part does not work says of it: members of etcd before API servers."""
    units = [(machine.name, ETCD) for machine in session.info.etcd] + [(one.name, why.API) for one in session.info.api]
    for name, unit in units:
        if found := why.of_unit(session, name, unit):
            return f"{name}: {found}"
    return ""


def boot_states(session: Session) -> dict[str, str]:
    """The last line of each machine's boot log."""

    def state(machine: str) -> str:
        try:
            result = session.remote.run(
                machine, ["tail", "-n", "1", "/var/log/landbridge-boot.log"], timeout_seconds=20
            )
        except RemoteExecutionError as error:
            return str(error)
        return result.out.strip() or result.why

    with ThreadPoolExecutor(8) as pool:
        names = list(session.info.machines)
        return dict(zip(names, pool.map(state, names), strict=True))


def bind(session: Session, admin: Kube, note: Tell) -> None:
    """Binds the admins' group, once and with the break-glass credential, then brings the teams' part up to date."""
    command = ("get", "--raw", f"/apis/{rbac.RBAC}/v1/clusterrolebindings/{ADMINS}")
    result = admin.run(*command)
    if result.code != 0:
        error = KubeError(f"{session.info.name}: the admins' binding can't be read: {result.why}", result)
        if not error.forbidden:
            raise error
        session.break_glass().apply([rbac.admins()])
        note("the admin credential is bound to cluster-admin (break-glass was used this once)")
    admin.apply(rbac.teams(session.world.fleet))
