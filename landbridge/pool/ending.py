"""The end of a pool's machines: each is told to go, its pause is ended, and its node removed when it has ended."""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from components.pools.hooks import COMPLETER, TERMINATION

from ..cluster.joined import Tell
from ..cluster.session import Session
from ..errors import LandbridgeError
from ..site.nodes import Node
from . import groups as scaling
from . import usage

GONE_SECONDS, PAUSE_SECONDS = 180.0, 1.0
# What EC2 says of an instance whose kubelet writes no more.
ENDING = {"shutting-down", "terminated"}


@dataclass
class Ending:
    """Of machines of one pool in a region."""

    session: Session
    pool: str
    tell: Tell

    def __post_init__(self) -> None:
        region = self.session.world.fleet.pools[self.pool].region
        assert region is not None
        self.region: str = region
        self.kube, self.of = self.session.admin, self.session.at(region)

    def end(self, name: str, *, replace: bool) -> None:
        """With `replace` its scaling group starts another at once, else it gets smaller. Raises RegionError."""
        with scaling.asking(self.region):
            self.of("autoscaling").terminate_instance_in_auto_scaling_group(
                InstanceId=name, ShouldDecrementDesiredCapacity=not replace
            )
        self.tell(f"{name} goes")

    def put_away(self, names: Collection[str]) -> None:
        """Ends the pause of each machine that goes, and removes its node when the machine has ended."""
        there = usage.of_pool(self.kube, self.pool)
        left, deadline, foreign = list(names), time.monotonic() + GONE_SECONDS, set[str]()
        while left:
            states = self.states(left)
            foreign |= self.complete([name for name in left if states.get(name) == "Terminating:Wait"])
            known = scaling.instances(self.session, self.region, left)
            for name in [one for one in left if one not in known or known[one]["State"]["Name"] in ENDING]:
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

    def states(self, names: Collection[str]) -> dict[str, str]:
        found = scaling.of_pool(self.session, self.pool)
        return {one.name: one.state for group in found for one in group.machines if one.name in names}

    def complete(self, waiting: Sequence[str]) -> set[str]:
        """Ends the pause that this fleet has put there; machines that others hold are returned.

        The pause is for putting the node away, which is done: whoever else would do so finds nothing left.
        """
        if not waiting:
            return set()
        foreign, client = set[str](), self.of("autoscaling")
        groups = {one.name: group.name for group in scaling.of_pool(self.session, self.pool) for one in group.machines}
        for group in {groups[name] for name in waiting if name in groups}:
            with scaling.asking(self.region):
                hooks = client.describe_lifecycle_hooks(AutoScalingGroupName=group)["LifecycleHooks"]
            for name in (name for name in waiting if groups.get(name) == group):
                foreign |= self.continue_(name, group, hooks)
        return foreign

    def continue_(self, name: str, group: str, hooks: Sequence[Mapping[str, Any]]) -> set[str]:
        ending = [hook for hook in hooks if hook["LifecycleTransition"] == TERMINATION["lifecycle_transition"]]
        for hook in (hook for hook in ending if ours(hook)):
            try:
                self.of("autoscaling").complete_lifecycle_action(
                    LifecycleHookName=hook["LifecycleHookName"],
                    AutoScalingGroupName=group,
                    InstanceId=name,
                    LifecycleActionResult="CONTINUE",
                )
            except ClientError as error:
                # Another has ended the pause between our look and now.
                if error.response["Error"]["Code"] != "ValidationError":
                    raise LandbridgeError(f"The pause of {name} can't be ended: {error}") from None
        if others := [hook["LifecycleHookName"] for hook in ending if not ours(hook)]:
            self.tell(f"{name} waits for those who have set {', '.join(others)}")
            return {name}
        return set()

    def remove_node(self, node: Node | None) -> None:
        """The one that was seen, not one that came under its name since."""
        if node is None:
            return
        name, uid = node["metadata"]["name"], node["metadata"]["uid"]
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        said = self.kube.run("delete", f"--raw=/api/v1/nodes/{name}", "--filename=-", stdin=json.dumps(body))
        if said.code != 0 and "NotFound" not in said.err and "not found" not in said.err:
            self.tell(f"the node {name} is left for the cluster to remove: {said.why}")


def ours(hook: Mapping[str, Any]) -> bool:
    try:
        return bool(json.loads(hook.get("NotificationMetadata") or "{}").get("completer") == COMPLETER)
    except (ValueError, AttributeError):
        return False
