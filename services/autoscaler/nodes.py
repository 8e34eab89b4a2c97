"""Which nodes are NotReady, and what that stops: a region half of whose nodes are out of sight loses no machine.

The API's table of nodes is what `kubectl get nodes` shows: a line a node, where the node itself has 20 KB.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from fleet.sight import SHARE, out_of_sight
from kube_http import Answer
from services.kube import kube

from . import metrics

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
# From the API server's own memory, without the objects.
PATH = "/api/v1/nodes?includeObject=None&resourceVersion=0"
# Whoever ends machines waits for it, and has 30 s for all (aws/cloud.py).
TIMEOUT_SECONDS = 3
# Ends of one pass ask once.
MAX_AGE_SECONDS = 5.0
READY = "Ready"


class NodesError(Exception):
    """Nobody knows how nodes are. The text says why."""


class Nodes:
    """Asks as the service account whose token and authority lie in `account`, at most every few seconds."""

    def __init__(self, account: Path) -> None:
        self.account, self.one_asks = account, threading.Lock()
        self.known, self.at = dict[str, bool](), -MAX_AGE_SECONDS

    def ready(self) -> Mapping[str, bool]:
        """Whether each node of the cluster is Ready, by its name. Raises NodesError."""
        with self.one_asks:
            if time.monotonic() - self.at >= MAX_AGE_SECONDS:
                self.known, self.at = self._fetch(), time.monotonic()
            return self.known

    def _fetch(self) -> dict[str, bool]:
        try:
            return read(kube(self.account, TIMEOUT_SECONDS).ask("GET", PATH, accept=TABLE))
        except (Answer, OSError, KeyError, TypeError, ValueError) as error:
            raise NodesError(f"{type(error).__name__}: {error}") from None


def read(table: Mapping[str, Any]) -> dict[str, bool]:
    """Of a table of nodes, by name. A cordoned node is `Ready,SchedulingDisabled`. Raises KeyError, ValueError."""
    columns = [column["name"] for column in table["columnDefinitions"]]
    name, status = columns.index("Name"), columns.index("Status")
    return {row["cells"][name]: READY in row["cells"][status].split(",") for row in table["rows"] or ()}


def unasked(_region: str, _machines: Collection[str]) -> str:
    """Where no account may list nodes."""
    return ""


def stop(ready: Callable[[], Mapping[str, bool]], region: str, machines: Collection[str]) -> str:
    """Why none of these may be ended now, with a code in front; empty if they may. `machines` are all that the region's
    cloud has, as their nodes are called: nodes of machines that are gone say nothing about a region.
    """
    try:
        known = ready()
    except NodesError as error:
        return f"nodes-unknown: nobody can tell how the nodes of {region} are: {error}"
    nodes = [known[machine] for machine in machines if machine in known]
    silent = nodes.count(False)
    metrics.nodes.labels(region, "ready").set(len(nodes) - silent)
    metrics.nodes.labels(region, "not-ready").set(silent)
    if not out_of_sight(silent, len(nodes)):
        return ""
    return (
        f"region-not-ready: {silent} of the {len(nodes)} nodes of {region} are NotReady, and above {SHARE:.0%} no "
        "machine goes there"
    )
