"""`landbridge kubectl`: kubectl as the cluster's administrator, inside the local cloud where that is meant."""

from pathlib import Path

import click

from landbridge.cluster import kubeconfig, kubeconfig_cache
from landbridge.cluster.kube import kubectl as program
from landbridge.local import enter

from . import options
from .options import cluster_option, fleet_option, local_option


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[--cluster NAME] [--local] [--fleet FILE]",
)
@cluster_option
@local_option
@fleet_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="ARGS...")
def kubectl(arguments: tuple[str, ...], *, cluster: str | None, local: bool, fleet_file: Path | None) -> None:
    """Runs kubectl on a cluster, such as `landbridge kubectl get nodes`.

    Options of landbridge stand before kubectl's words; all that follows is kubectl's own, and so are output and exit
    code. A fleet without `state` can only be in the local cloud, which is then meant without --local.
    """
    command_line = kubeconfig_cache.CommandLine(cluster, local, str(fleet_file) if fleet_file else None, arguments)
    session = options.the_cluster(fleet_file, cluster, local=local)
    place, this = session.place, kubeconfig_cache.CachedKubeconfig(enter.HOME, command_line)
    kubeconfig.private_folder(this.folder)
    credential = kubeconfig.admin(session.cloud, session.info)
    kubeconfig.write(this.config, kubeconfig.kubeconfig(session.info, credential))
    state = place.stack_file(session.info.name) if place.cloud else None
    this.save(program(), state, place.cloud)
    kubeconfig_cache.become(program(), arguments, this.config, place.cloud)
