"""Teams' queues: in which clusters a team may queue runs, and the GPUs that it owns there."""

from collections.abc import Iterator

from .model import Fleet, TeamQueue

Wrong = tuple[tuple[str | int, ...], str, str]


def of_cluster(fleet: Fleet, cluster: str) -> dict[str, TeamQueue]:
    """By team."""
    return {name: team.queues[cluster] for name, team in fleet.teams.items() if cluster in team.queues}


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    for name, team in fleet.teams.items():
        for cluster, own in team.queues.items():
            entry = ("teams", name, "queues", cluster)
            if cluster not in fleet.clusters:
                known = ", ".join(fleet.clusters) or "none yet"
                yield entry, f"there is no cluster {cluster}", f"Clusters are: {known}"
            if own.lends is not None and own.lends > own.gpus:
                what = f"team {name} would lend {own.lends} GPUs of the {own.gpus} that it owns in {cluster}"
                yield (*entry, "lends"), what, f"Write lends: {own.gpus} or less, or leave it out: then it lends all"
