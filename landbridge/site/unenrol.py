"""Hosts of a pool that is destroyed: they leave its cluster, and nothing of the fleet runs or lies on them any more."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from components.pools.bundle import OWN_SCRIPTS, SITE_SCRIPT
from components.pools.site.enrolment import node_name
from landbridge import remote_execution
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError

from . import nodes
from .nodes import Node

SECONDS, AT_ONCE = 60.0, 8
BY_HAND = "There, as root: `systemctl disable --now landbridge.target kubelet.service`"


class Pool(NamedTuple):
    """As its stack published it (stacks.outputs)."""

    name: str
    site: str
    cluster: str
    prefix: str
    hosts: tuple[str, ...]


def of(name: str, outputs: Mapping[str, Any]) -> Pool | None:
    """The pool of hosts that a stack is, if it is one."""
    if not outputs.get("site"):
        return None
    return Pool(name, outputs["site"], outputs["cluster"], outputs["prefix"], tuple(outputs["hosts"]))


def leave(session: Session, pool: Pool, *, serving: bool) -> list[str]:
    """What stays behind, in words. Without `serving` a host that serves files goes on with that, and stays a node.

    A host that was moved to another pool meanwhile is left alone. What can't be reached stops nothing.
    """
    try:
        found = nodes.of_site(session.admin, pool.site)
    except LandbridgeError as error:
        return [f"the hosts of {pool.name} were not asked to leave: {error}. {BY_HAND}"]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        texts = threads.map(lambda name: one(session, pool, name, found, serving=serving), pool.hosts)
        return [text for text in texts if text]


def one(session: Session, pool: Pool, name: str, found: Mapping[str, Node], *, serving: bool) -> str:
    machine, text = node_name(pool.site, name), ""
    node = found.get(machine)
    here = (
        session.remote if session.place.cloud is not None else remote_execution.Hosts(lambda: {machine: _address(node)})
    )
    script = (OWN_SCRIPTS / f"{SITE_SCRIPT}.py").read_text()
    request = json.dumps({"prefix": pool.prefix, "serving": serving}).encode()
    try:
        result = here.run(machine, ["python3", "-c", script, "leave"], request, SECONDS)
        if result.code != 0:
            text = f"{machine} did not leave: {result.why}. {BY_HAND}"
        elif serves := json.loads(result.out)["serves"]:
            return f"{machine} goes on serving ({', '.join(serves)}), and stays a node: --ignore-protect ends that, too"
    except remote_execution.RemoteExecutionError as error:
        text = f"{machine} was not asked to leave: {str(error).removesuffix('.')}. {BY_HAND}"
    if node and nodes.pool(node) == pool.name:
        try:
            session.admin.done("delete", "node", machine)
        except LandbridgeError as error:
            text += f" Its node is left: {error}"
    return text


def _address(node: Node | None) -> str:
    return nodes.address(node) if node else ""
