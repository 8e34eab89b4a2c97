"""Teams' queues: in which clusters a team may queue runs, and the GPUs that it owns there."""

from collections.abc import Iterator

from .model import Fleet, TeamQueue

# What stands for every cluster where people name one for a run.
ANY_CLUSTER = "any"
Wrong = tuple[tuple[str | int, ...], str, str]


def of_cluster(fleet: Fleet, cluster: str) -> dict[str, TeamQueue]:
    """By team."""
    return {name: team.queues[cluster] for name, team in fleet.teams.items() if cluster in team.queues}


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    for name, team in fleet.teams.items():
        for cluster, own in team.queues.items():
            if own.lends is not None and own.lends > own.gpus:
                what = f"team {name} lends {own.lends} GPUs in {cluster}, and owns {own.gpus}"
                remedy = f"Write lends: {own.gpus} or less. Without it the team lends all that it does not use"
                yield ("teams", name, "queues", cluster, "lends"), what, remedy
