"""The way to where a cluster keeps logs: a port of each VictoriaLogs, made one of this computer's by kubectl.

Its image has no program that could ask from inside, and API servers reach no pod: kubectl goes by the kubelet.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping

from components.addons.monitoring import logs
from fleet.monitoring import SPACE
from landbridge.access.person import Person
from landbridge.cluster.kube import Kube, KubeError
from landbridge.errors import LandbridgeError, UsageError
from landbridge.remote_execution import CommandResult

from .kept_logs import Ask, at

FORWARDS = re.compile(r"Forwarding from (127\.0\.0\.1:\d+) -> ")
SWITCH = (
    "Give the fleet file an entry `monitoring: {logs: {}}`, and run `landbridge up`: it keeps what comes from then on."
)


def unavailable(person: Person) -> str:
    """Why this person can't ask for what is kept; empty if they can."""
    given = person.world.fleet.monitoring
    if not (given and given.logs):
        return f"This fleet keeps no logs of pods that have gone. {SWITCH}"
    if person.session is None:
        return (
            "Logs of pods that have gone are kept for all teams together, so operators alone ask for them. "
            f"An operator does it with --team {person.team}."
        )
    return ""


@contextlib.contextmanager
def opened(person: Person) -> Iterator[Mapping[str, Ask]]:
    """Those of the cluster that can be reached, by their names. Raises UsageError and LandbridgeError."""
    if why := unavailable(person):
        raise UsageError(why)
    found: dict[str, Ask] = {}
    problems: list[KubeError] = []
    with contextlib.ExitStack() as stack:
        for name in logs.replicas():
            try:
                found[name] = at(f"http://{stack.enter_context(forwarded(person.kube, name, logs.PORT))}")
            except KubeError as error:
                if error.forbidden:
                    raise
                problems.append(error)
        if not found and all(error.missing for error in problems):
            raise LandbridgeError(f"{person.cluster} keeps no logs yet: run `landbridge up`.")
        if not found:
            raise LandbridgeError(f"No VictoriaLogs can be reached: {problems[0]}")
        yield {name: found.get(name, _away(name)) for name in logs.replicas()}


def _away(name: str) -> Ask:
    def ask(_query: str) -> Iterator[dict[str, str]]:
        raise OSError(f"its pod {name} can't be reached")

    return ask


@contextlib.contextmanager
def forwarded(kube: Kube, pod: str, port: int) -> Iterator[str]:
    """HOST:PORT on this computer. Raises KubeError."""
    words = ("port-forward", f"pod/{pod}", f"--namespace={SPACE}", "--address=127.0.0.1", "--pod-running-timeout=5s")
    with kube.streaming(*words, f":{port}") as process:
        assert process.stdout
        assert process.stderr
        told = process.stdout.readline().decode()
        if not (found := FORWARDS.match(told)):
            said = process.stderr.read().decode(errors="replace").strip() or "it ended"
            raise KubeError(f"kubectl port-forward {pod} failed: {said}", CommandResult(1, told, said))
        yield found[1]
