"""What commands of researchers share: who they are, and which of their team's runs they mean."""

from collections.abc import Sequence
from pathlib import Path

import click

from landbridge.access import person
from landbridge.access.person import Person

from . import options
from .options import cluster_option, fleet_option, local_option, together

kubeconfig_option = click.option(
    "--kubeconfig",
    "kubeconfigs",
    type=click.Path(path_type=Path),
    multiple=True,
    envvar="LANDBRIDGE_KUBECONFIG",
    show_envvar=True,
    metavar="FILE",
    help="Your own, as `landbridge kubeconfig --as` makes it, one for each cluster; without any you are an operator.",
)
team_option = click.option("--team", metavar="TEAM", help="Whose runs, for operators.")
rank_option = click.option("--rank", type=int, default=0, show_default=True, help="Which host.")
part_option = click.option("--part", metavar="PART", help="Of which part, where the template has several.")
person_options = together(team_option, cluster_option, local_option, fleet_option, kubeconfig_option)


def opened(
    fleet_file: Path | None,
    cluster: str | None,
    *,
    local: bool,
    kubeconfigs: Sequence[Path],
    team: str | None,
    every_team: bool = False,
) -> Person:
    """`every_team`: an operator need not say which. Raises FleetError, UsageError and LandbridgeError."""
    how = {"local": local, "every_team": every_team}
    return person.opened(options.the_fleet(fleet_file), cluster, kubeconfigs=kubeconfigs, team=team, **how)
