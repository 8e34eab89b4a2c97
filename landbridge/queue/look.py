"""The queues of a cluster as its API has them now."""

from components.addons.queues import capacity
from components.addons.spec import addons_spec
from fleet import team_queues
from landbridge.cluster.kube import KubeError
from landbridge.cluster.session import Session
from landbridge.errors import UsageError

from .runs import Queues, read

WORKLOADS = "workloads.kueue.x-k8s.io"


def look(session: Session) -> Queues:
    """Raises UsageError for a cluster without queues, and KubeError."""
    world, name, options = session.world, session.info.name, session.place.options
    teams = team_queues.of_cluster(world.fleet, name)
    if not teams:
        first = next(iter(world.fleet.teams))
        raise UsageError(
            f"{world.path.name}: no team has a queue in {name}. Give one to a team, say {first}: "
            f"queues: {{{name}: {{gpus: 8}}}}, then `landbridge up{options}`."
        )
    try:
        workloads = session.admin.get(WORKLOADS, "--all-namespaces")["items"]
    except KubeError as error:
        if "doesn't have a resource type" not in error.result.err:
            raise
        raise UsageError(
            f"{name} has no queues yet. {world.path.name} has some, of {', '.join(teams)}: `landbridge up{options}` "
            "makes them."
        ) from None
    return read(workloads, teams, capacity(addons_spec(world.fleet, world.plan, name)))
