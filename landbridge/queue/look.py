"""The queues of a cluster as its API has them now."""

from components.addons.queues import capacity
from fleet import team_queues
from landbridge.access.person import Person
from landbridge.cluster.kube import KubeError
from landbridge.errors import UsageError

from .room import room
from .runs import Queues, Room, read

QUEUES, WORKLOADS = "clusterqueues.kueue.x-k8s.io", "workloads.kueue.x-k8s.io"


def look(person: Person) -> Queues:
    """What all teams hold; and runs, for a person their team's. Raises UsageError and KubeError."""
    found = look_at_room(person)
    where = (f"--namespace={person.namespace}",) if person.team else ("--all-namespaces",)
    return read(person.kube.get(WORKLOADS, *where)["items"], found)


def look_at_room(person: Person) -> Room:
    """Raises UsageError for a cluster without queues, and KubeError."""
    world, name, options = person.world, person.cluster, person.place.options
    teams = team_queues.of_cluster(world.fleet, name)
    if not teams:
        first = next(iter(world.fleet.teams))
        raise UsageError(
            f"{world.path.name}: no team has a queue in {name}. Give one to a team, say {first}: "
            f"queues: {{{name}: {{gpus: 8}}}}, then `landbridge up{options}`."
        )
    try:
        queues = person.kube.get(QUEUES)["items"]
    except KubeError as error:
        if "doesn't have a resource type" not in error.result.err:
            raise
        raise UsageError(
            f"{name} has no queues yet. {world.path.name} has some, of {', '.join(teams)}: `landbridge up{options}` "
            "makes them."
        ) from None
    return room(queues, teams, capacity(person.spec))
