"""Files by which machines of the control plane tell what they measure: on_machine/machine_metrics.py says how."""

from .machines import Machine
from .units import UNITS, script, scripts, service

SERVICE = "landbridge-machine-metrics.service"
# Of etcd machines, for API machines alone.
PORT = 10262
SCRIPTS = ("machine", "machine_metrics", "tls_server")


def path(machine: str) -> str:
    """Where it is found on an API machine."""
    return f"machines/{machine}"


def url(machine: Machine) -> str:
    """Where an etcd machine tells it."""
    return f"https://{machine.host}:{PORT}/metrics"


def files() -> dict[str, str]:
    """Of an etcd machine. Path → content."""
    unit = modest("Tells what this machine measures of itself", "machine_metrics")
    return {**scripts(*SCRIPTS), f"{UNITS}/{SERVICE}": unit}


def modest(what: str, program: str, after: str = "network-online.target") -> str:
    """A unit of which what is asked must not cost what the machine is for."""
    return service(what, script(program), kind="exec", after=after, OOMScoreAdjust="500", Nice="5")
