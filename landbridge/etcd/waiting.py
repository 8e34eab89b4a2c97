"""Waiting for what was started, until it is healthy or its time is over."""

from components.control_plane.machines import API_PORT, READY_PATH
from landbridge.cluster.info import ClusterInfo
from landbridge.errors import LandbridgeError
from landbridge.remote_execution import RemoteExecution
from landbridge.waiting import NotYet, until

from .machine_steps import MachineSteps
from .ring import Ctl

RING_SECONDS, API_SECONDS = 120.0, 300.0
# Without a credential, and just what the balancer asks.
READY = (
    "curl",
    "--silent",
    "--max-time",
    "5",
    "--cacert",
    "/etc/kubernetes/pki/ca.crt",
    f"https://127.0.0.1:{API_PORT}{READY_PATH}",
)


def for_ring(remote: RemoteExecution, info: ClusterInfo, ring: str, seconds: float = RING_SECONDS) -> None:
    """Raises LandbridgeError with what ails it when the ring does not become healthy in time."""
    ctl = Ctl(remote, info)

    def healthy() -> bool:
        if ails := ctl.look(ring).ails(info.etcd):
            raise NotYet("; ".join(ails))
        return True

    def late(ails: str) -> LandbridgeError:
        return LandbridgeError(
            f"etcd {ring} is not healthy after {seconds:.0f} s: {ails}. Look into the log of the unit "
            f"etcd-{ring} on the machine named (`landbridge local logs MACHINE`, or journalctl there)."
        )

    until(healthy, seconds, 0.5, late)


def ready(steps: MachineSteps, machine: str) -> bool:
    return steps.ask(machine, *READY, seconds=10).out == "ok"


def for_api(steps: MachineSteps, machine: str, seconds: float = API_SECONDS) -> None:
    """Raises LandbridgeError when the API server of a machine does not become ready in time."""
    late = LandbridgeError(
        f"The API server of {machine} is not ready after {seconds:.0f} s. Look into the log of its unit "
        "kube-apiserver (`landbridge local logs MACHINE`, or journalctl there)."
    )
    until(lambda: ready(steps, machine), seconds, 0.5, lambda _: late)
