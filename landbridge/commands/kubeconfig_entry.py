"""`landbridge kubeconfig --exec`, `--merge` and `--remove`: entries that have kubectl ask for its credential."""

from typing import Any

import click

from fleet.world import World
from landbridge.access import people
from landbridge.cluster import kubeconfig_exec, kubeconfig_merge
from landbridge.cluster import session as sessions
from landbridge.cluster.kubeconfig_exec import Meant
from landbridge.cluster.session import Session
from landbridge.errors import DONE, UsageError


def name_of(world: World, cluster: str) -> str:
    """The context's, unless another is said."""
    return f"{world.fleet.fleet}-{cluster}"


def made(session: Session, name: str | None, person: str | None, *, local: bool) -> dict[str, Any]:
    """The kubeconfig. Raises UsageError for a person whom the fleet does not know."""
    if person:
        people.check(session.world.fleet, person, people.HOURS)
    meant = Meant(session.world.path, session.info.name, local)
    return kubeconfig_exec.config(session.info, meant, name or name_of(session.world, session.info.name), person)


def put_in(config: dict[str, Any]) -> int:
    written, current = kubeconfig_merge.merge(config, kubeconfig_merge.chain())
    name = config[kubeconfig_merge.CURRENT]
    use = "It is the current one." if current else f"Use it with `kubectl --context {name}`, or from now on: "
    more = "" if current else f"`kubectl config use-context {name}`."
    click.echo(f"Context {name} is in {', '.join(map(str, written))}. {use}{more}", err=True)
    return DONE


def taken_out(world: World, cluster: str | None, name: str | None, *, local: bool) -> int:
    """Without asking the cluster, which may be gone. Raises UsageError where there is no such context of ours."""
    chosen = sessions.chosen(world.fleet, world.path, cluster)
    files, name = kubeconfig_merge.chain(), name or name_of(world, chosen)
    meant = kubeconfig_merge.context(files, name)
    if meant is None or meant != Meant(world.path, chosen, local or meant.local):
        raise UsageError(
            f"There is no context {name} of cluster {chosen} in {', '.join(map(str, files))}. "
            "`kubectl config get-contexts` shows those that are there."
        )
    written = kubeconfig_merge.remove(name, meant, files)
    click.echo(f"Context {name} is no longer in {', '.join(map(str, written))}.", err=True)
    return DONE
