"""The end of a pool's machines: each is told to go, its pause is ended, and its node removed when it has ended."""

import json
import time
from collections.abc import Collection
from dataclasses import dataclass

from landbridge.cluster.session import Session
from landbridge.cluster.waiting import Tell
from landbridge.site.nodes import Node

from . import cloud as scaling
from . import groups, usage

GONE_SECONDS, PAUSE_SECONDS = 180.0, 1.0
# Of a machine whose end is paused until its node is put away, where a cloud has such pauses.
WAITS = "Terminating:Wait"


@dataclass
class Termination:
    """Of machines of one pool in a region."""

    session: Session
    pool: str
    tell: Tell

    def __post_init__(self) -> None:
        region = self.session.world.fleet.pools[self.pool].region
        assert region is not None
        self.region: str = region
        self.kube = self.session.admin

    def end(self, name: str, *, replace: bool) -> None:
        """With `replace` its scaling group starts another, else it gets smaller. Raises RegionError."""
        scaling.at(self.session, self.region).end(name, replace=replace)
        self.tell(f"{name} goes")

    def put_away(self, names: Collection[str]) -> None:
        """Ends the pause of each machine that goes, and removes its node when the machine has ended."""
        there = usage.of_pool(self.kube, self.pool)
        left, deadline, foreign = list(names), time.monotonic() + GONE_SECONDS, set[str]()
        while left:
            cloud, found = scaling.at(self.session, self.region), groups.of_pool(self.session, self.pool)
            states = {one.name: one.state for group in found for one in group.machines}
            foreign |= cloud.let_go(found, [name for name in left if states.get(name) == WAITS], self.tell)
            known = cloud.about(left)
            for name in [one for one in left if one not in known or known[one].terminating]:
                self.remove_node(there.get(name))
                left.remove(name)
            left = [name for name in left if name not in foreign]
            if left and time.monotonic() > deadline:
                self.tell(
                    f"Still on their way out: {', '.join(left)}. The cluster removes their nodes when they ended."
                )
                return
            if left:
                time.sleep(PAUSE_SECONDS)

    def remove_node(self, node: Node | None) -> None:
        """The one that was seen, not one that came under its name since."""
        if node is None:
            return
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        result = self.kube.run("delete", f"--raw=/api/v1/nodes/{name}", "--filename=-", stdin=json.dumps(body))
        if result.code != 0 and "NotFound" not in result.err and "not found" not in result.err:
            self.tell(f"the node {name} is left for the cluster to remove: {result.why}")
