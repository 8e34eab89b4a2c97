"""The way to where a cluster keeps logs: a port of each VictoriaLogs, made one of this computer's by kubectl.

People of a team have one of the log reader's instead, which gives them what is their own. Neither
image has a program that could ask from inside, and API servers reach no pod: kubectl goes by the kubelet.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping

from components.addons.monitoring import logs
from fleet.kept_logs import AUDIENCE, READER, READER_PORT, pods
from fleet.monitoring import SPACE, keeps_logs
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
    if not keeps_logs(person.world.fleet):
        return f"This fleet keeps no logs of pods that have gone. {SWITCH}"
    return ""


@contextlib.contextmanager
def opened(person: Person) -> Iterator[Mapping[str, Ask]]:
    """Those of the cluster that can be reached, by their names. Raises UsageError and LandbridgeError."""
    if why := unavailable(person):
        raise UsageError(why)
    with contextlib.ExitStack() as stack:
        if person.session is None:
            yield _by_reader(person, stack)
            return
        found = _ports(person, stack, logs.replicas(), logs.PORT)
        asks = {name: at(f"http://{port}/select/logsql/query") for name, port in found.items()}
        yield {name: asks.get(name, _away(name)) for name in logs.replicas()}


def _by_reader(person: Person, stack: contextlib.ExitStack) -> Mapping[str, Ask]:
    """Each of its pods knows all stores."""
    port = next(iter(_ports(person, stack, pods(READER), READER_PORT, enough=1).values()))
    token = person.token(AUDIENCE)
    return {name: at(f"http://{port}/{name}/query", token) for name in logs.replicas()}


def _ports(
    person: Person, stack: contextlib.ExitStack, names: list[str], port: int, enough: int | None = None
) -> dict[str, str]:
    """HOST:PORT here, by those pods that can be reached. Raises KubeError where none may be, and LandbridgeError."""
    found: dict[str, str] = {}
    problems: list[KubeError] = []
    for name in names:
        if len(found) == enough:
            break
        try:
            found[name] = stack.enter_context(forwarded(person.kube, name, port))
        except KubeError as error:
            if error.forbidden:
                raise
            problems.append(error)
    if not found and all(error.missing for error in problems):
        raise LandbridgeError(f"{person.cluster} keeps no logs yet: run `landbridge up`.")
    if not found:
        raise LandbridgeError(f"Logs can't be reached: {problems[0]}")
    return found


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
