"""`landbridge freeze` and `unfreeze`: no machine goes any more, and they may again."""

from pathlib import Path

import click

from landbridge.cluster import freeze as switch

from . import options
from .options import cluster_option, fleet_option, json_option, local_option, together

common = together(cluster_option, local_option, fleet_option, json_option)
STOPPED = "the autoscaler's scale-down, the removal of nodes that seem gone, and `landbridge pool size` to fewer"


@click.command()
@common
@click.option("--why", default="by hand", show_default=True, metavar="TEXT", help="Said to all who meet it.")
def freeze(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool, why: str) -> None:
    """Stops everything that ends machines or deletes nodes; machines are still bought.

    It holds until `landbridge unfreeze`. A restore of etcd does the same by itself.
    """
    session, out = options.the_cluster(fleet_file, cluster, local=local), options.output(as_json=as_json)
    before = switch.frozen(session.admin)
    if before is None:
        switch.freeze(session.admin, why)
    now = switch.frozen(session.admin) or {}
    if as_json:
        return out.document({"cluster": session.info.name, "frozen": now, "was_frozen": before is not None})
    was = "is frozen already" if before is not None else "is frozen"
    out.console.print(f"{session.info.name} {was}, since {now.get('since')}: {now.get('why')}.", soft_wrap=True)
    out.console.print(f"Stopped within two minutes: {STOPPED}. `{switch.RELEASE}` lets them go on.", soft_wrap=True)
    return None


@click.command()
@common
def unfreeze(*, cluster: str | None, local: bool, fleet_file: Path | None, as_json: bool) -> None:
    """Lets go on what `landbridge freeze` or a restore of etcd has stopped."""
    session, out = options.the_cluster(fleet_file, cluster, local=local), options.output(as_json=as_json)
    before = switch.frozen(session.admin)
    switch.release(session.admin)
    if as_json:
        return out.document({"cluster": session.info.name, "was_frozen": before})
    was = f"was frozen since {before.get('since')}: {before.get('why')}" if before else "was not frozen"
    out.console.print(f"{session.info.name} {was}. Machines may go again.", soft_wrap=True)
    return None
