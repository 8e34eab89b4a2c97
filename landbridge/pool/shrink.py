"""A pool shrinks by its idle machines alone: each is cordoned, looked at again, ended, and its node removed.

Never by desired capacity, which leaves it to the cloud who goes: machines are protected from that.
"""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from components.pools.hooks import COMPLETER, TERMINATION

from ..cluster import freeze
from ..cluster.joined import Tell
from ..cluster.session import Session
from ..errors import LandbridgeError
from ..site import nodes
from ..site.nodes import Node
from . import groups as scaling
from . import usage
from .sizes import Group, Machine, leaving

# Until the scheduler has seen the cordon: a pod that it had placed by then is seen in the second look.
SETTLE_SECONDS = {"real": 3.0, "local": 1.0}
GONE_SECONDS, PAUSE_SECONDS = 180.0, 1.0
# What EC2 says of an instance whose kubelet writes no more.
ENDING = {"shutting-down", "terminated"}


@dataclass
class Shrink:
    """One run. `removed` are machines that were ended, `kept` those left because something runs there: what."""

    session: Session
    pool: str
    tell: Tell
    removed: list[str] = field(default_factory=list)
    kept: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        region = self.session.world.fleet.pools[self.pool].region
        assert region is not None
        self.region: str = region
        self.kube, self.of = self.session.admin, self.session.at(region)
        self.groups: list[Group] = []
        self.launched: dict[str, datetime] = {}

    def candidates(self, groups: Sequence[Group], number: int) -> list[Machine]:
        """Who would go now. Raises LandbridgeError, also while the cluster is frozen."""
        if (frozen := freeze.frozen(self.kube)) is not None:
            raise LandbridgeError(
                f"No machine of {self.pool} goes: the cluster is frozen since {frozen.get('since', 'some time')} "
                f"({frozen.get('why', 'nobody said why')}). `{freeze.RELEASE}` releases it."
            )
        self.groups = list(groups)
        live = [machine.name for group in groups for machine in group.live]
        told = scaling.instances(self.session, self.region, live)
        # One that EC2 does not know any more is gone already, and first of all.
        newest = datetime.max.replace(tzinfo=UTC)
        self.launched = {name: told[name]["LaunchTime"] if name in told else newest for name in live}
        return self.next(number)

    def next(self, number: int) -> list[Machine]:
        work = usage.work(self.kube)
        self.kept = {name: work[name] for name in self.launched if name in work and name not in self.removed}
        return leaving(self.groups, self.launched, self.kept, number)

    def run(self, number: int) -> None:
        """Ends idle machines until `number` went or none is idle. Raises LandbridgeError."""
        tried = set[str]()
        while picked := [one for one in self.next(number - len(self.removed)) if one.name not in tried]:
            tried |= {machine.name for machine in picked}
            self.end_idle([machine.name for machine in picked])
        self.put_away()

    def end_idle(self, picked: Sequence[str]) -> None:
        """Ends those that are still idle once nothing more is scheduled there; the others work on."""
        there = usage.of_pool(self.kube, self.pool)
        held = [name for name in picked if name in there and not nodes.cordoned(there[name])]
        try:
            for name in held:
                nodes.patch(self.kube, name, {"spec": {"unschedulable": True}})
            time.sleep(SETTLE_SECONDS[self.session.place.world])
            work = usage.work(self.kube)
            for name in picked:
                if name in work:
                    self.tell(f"{name} got work meanwhile and stays: {', '.join(work[name])}")
                    continue
                self.end(name)
        finally:
            for name in held:
                if name not in self.removed:
                    nodes.patch(self.kube, name, {"spec": {"unschedulable": None}})

    def end(self, name: str) -> None:
        with scaling.asking(self.region):
            self.of("autoscaling").terminate_instance_in_auto_scaling_group(
                InstanceId=name, ShouldDecrementDesiredCapacity=True
            )
        self.removed.append(name)
        self.groups = [
            group._replace(machines=tuple(one for one in group.machines if one.name != name)) for group in self.groups
        ]
        self.tell(f"{name} goes")

    def put_away(self) -> None:
        """Ends the pause of each machine that goes, and removes its node when the machine has ended."""
        there = usage.of_pool(self.kube, self.pool)
        left, deadline, foreign = list(self.removed), time.monotonic() + GONE_SECONDS, set[str]()
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
