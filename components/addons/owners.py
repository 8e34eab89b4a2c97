"""Whose what a cluster's add-ons have in a cloud is."""

from components.tags import Owner
from fleet.model import Fleet


def of_team(fleet: Fleet, cluster: str, team: str) -> Owner:
    """What the team's pods take."""
    return Owner(fleet.fleet, team, f"{cluster}-addons")


def of_cluster(fleet: Fleet, cluster: str) -> Owner:
    """What is everybody's, such as the autoscaler's."""
    return of_team(fleet, cluster, fleet.owner)
