"""Asks a cluster for what the pages show: its API as the person, and Prometheus as an operator."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cached_property
from typing import TypeVar

from fleet import prices
from fleet.team_storage import namespace
from landbridge.access.person import Person
from landbridge.cluster.kube import Kube
from landbridge.errors import LandbridgeError
from landbridge.monitoring import alarms
from landbridge.prices import age
from landbridge.queue.look import look
from landbridge.queue.runs import Queues
from landbridge.remote_execution import CommandResult
from landbridge.why.api import Api

from . import snapshot
from .planned import Planned, planned
from .snapshot import Snapshot

# Recorded by components/addons/monitoring/rules/usage.yaml.
ACTIVE = "landbridge:gpu_active"
# Of ended pods there may be thousands, and of those that each node needs a dozen a node. Spares make room for work.
PODS = "--field-selector=status.phase!=Succeeded,status.phase!=Failed,metadata.namespace!=kube-system"
# Told by services/fleet_metrics; of one that has just taken over from another both are there.
LINKS = "max by (link, connection, place) (landbridge_tunnels_up)"
Found = TypeVar("Found")
# Alarms that are on; what each GPU does, by node; links.
Measured = tuple[list[alarms.Alarm], dict[str, dict[str, float]], list[snapshot.Link]]
NOT_FOR_YOU = "alarms and what GPUs do, which are for operators"


class Brief(Kube):
    """Is waited for as long as a person would wait for a page.

    A hasty one would give its flag to the program in the pod, and no time to a list of a thousand nodes.
    """

    SECONDS = 15.0

    def run(self, *words: str, stdin: str = "", seconds: float = SECONDS) -> CommandResult:
        return super().run(*words, stdin=stdin, seconds=min(seconds, self.SECONDS))


class Asking:
    """Whoever asks, again and again. Without `prometheus` nobody asks what GPUs do."""

    def __init__(self, person: Person, prometheus: Kube | None) -> None:
        self.person, self.prometheus = person, prometheus

    def snapshot(self) -> Snapshot:
        """What does not answer is told in it. Raises LandbridgeError where nothing can be asked at all."""
        person, blind = self.person, dict[str, None]()
        api = Api(person.kube, blind)
        where = f"--namespace={namespace(person.team)}" if person.team else "--all-namespaces"
        with ThreadPoolExecutor(4) as pool:
            nodes = pool.submit(api.items, "nodes", "--all-namespaces", "nodes")
            pods = pool.submit(api.items, "pods", where, "pods", PODS)
            queues = pool.submit(self._queues, blind)
            measured = pool.submit(self._measured, blind)
        answered = measured.result()
        on, activity, links = answered or ([], {}, [])
        whole = not person.team and not any(one.startswith(("pods", "the cluster's API")) for one in blind)
        fleet, there = person.world.fleet, snapshot.nodes(nodes.result())
        return Snapshot(
            fleet=fleet.fleet,
            cluster=person.cluster,
            planned=self._planned,
            whose=f"team {person.team}" if person.team else "all teams",
            taken=datetime.now(UTC),
            nodes=there,
            pods=snapshot.pods(pods.result()),
            whole=whole,
            queues=queues.result(),
            measured=answered is not None,
            alarms=on,
            runbooks=self._runbooks if on else {},
            activity=activity,
            prices=prices.machines(fleet),
            links=links,
            not_seen=sorted(blind),
            priced=age.told(age.of_pools(fleet, {one.pool for one in there}), age.today()),
        )

    @cached_property
    def _runbooks(self) -> dict[str, str]:
        return alarms.runbooks(self.person.world.fleet.monitoring)

    @cached_property
    def _planned(self) -> Planned:
        world = self.person.world
        return planned(world.fleet, world.plan, self.person.cluster)

    def _queues(self, blind: dict[str, None]) -> Queues | None:
        return _or_told(lambda: look(self.person), "queues", blind)

    def _measured(self, blind: dict[str, None]) -> Measured | None:
        kube = self.prometheus
        if kube is None:
            blind[NOT_FOR_YOU] = None
            return None
        return _or_told(lambda: measured(kube), "alarms and what GPUs do", blind)


def measured(kube: Kube) -> Measured:
    """Asks three times at once: each way into the pod takes longer than the answer. Raises LandbridgeError."""
    with ThreadPoolExecutor(3) as pool:
        on = pool.submit(alarms.on, kube)
        activity, links = (pool.submit(alarms.asked, kube, query) for query in (ACTIVE, LINKS))
    return on.result(), snapshot.activity(activity.result()), snapshot.links(links.result())


def _or_told(ask: Callable[[], Found], what: str, blind: dict[str, None]) -> Found | None:
    try:
        return ask()
    except LandbridgeError as error:
        blind[f"{what}: {str(error).partition('. ')[0].rstrip('.')}"] = None
        return None


def asking(person: Person) -> Asking:
    """People have no right to enter Prometheus: who measures sees every team."""
    kube = Brief(person.kube.config, person.kube.around)
    brief = Person(person.world, person.place, person.cluster, kube, person.name, person.team, person.session)
    return Asking(brief, kube if person.session else None)
