"""Stand-ins for EC2 and for the API server, for tests of what the joining service does between the two."""

from typing import Any
from xml.etree import ElementTree

from tests.components.pools.joining_bed import WEST

import instances  # isort: skip
import instances_aws  # isort: skip
import kube_http  # isort: skip

ONE, TWO = "i-0123456789abcdef0", "i-0123456789abcdef1"


class Ec2:
    """One region: id → state, all in one group; `down` while it does not answer."""

    def __init__(self, **states: str) -> None:
        self.states = {name.replace("_", "-"): state for name, state in states.items()}
        self.calls: list[dict[str, str]] = []
        self.down = False

    def __call__(self, action: str, **asked: str) -> ElementTree.Element:
        assert action == "DescribeInstances"
        self.calls.append(asked)
        if self.down:
            raise OSError("no route")
        values = {value for name, value in asked.items() if "Value" in name}
        found = [n for n in self.states if asked["Filter__1__Name"] != "instance-id" or n in values]
        start = int(asked.get("NextToken", 0))
        items = "".join(
            f"<item><instanceId>{n}</instanceId><instanceState><name>{self.states[n]}</name></instanceState>"
            f"<privateIpAddress>10.0.0.1</privateIpAddress><tagSet><item><key>{instances_aws.GROUP}</key><value>g</value></item>"
            "</tagSet></item>"
            for n in found[start : start + 2]
        )
        more = f"<nextToken>{start + 2}</nextToken>" if start + 2 < len(found) else ""
        text = (
            f'<R xmlns="x"><reservationSet><item><instancesSet>{items}</instancesSet></item></reservationSet>{more}</R>'
        )
        return ElementTree.fromstring(text)


def region(ec2: Ec2) -> instances.Region:
    return instances.Region(WEST, instances_aws.Ec2(["g"], ec2))


def thing(
    name: str, place: str = WEST, pool: str = "west-gpu", gpus: int = 0, ready: str = "True", *taints: str
) -> Any:
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "7",
            "labels": {"landbridge.dev/pool": pool, "landbridge.dev/place": place},
        },
        "spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]},
        "status": {
            "allocatable": {"nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": ready}],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        },
    }


class Api:
    """The API server's objects by path; every call is kept. `answers` fail a call instead."""

    def __init__(self, **things: Any) -> None:
        self.things = dict(things)
        self.calls: list[tuple[str, str]] = []
        self.bodies: list[Any] = []
        self.answers: dict[tuple[str, str], int] = {}

    def ask(self, method: str, path: str, body: Any = None, kind: str = "") -> Any:
        self.calls.append((method, path))
        self.bodies.append(body)
        if status := self.answers.get((method, path)):
            raise kube_http.Answer(status, "no")
        if method == "GET" and path not in self.things:
            raise kube_http.Answer(404, "not found")
        if method == "PUT":
            self.things[path] = body
        return self.things.get(path, {})

    def done(self, method: str) -> list[str]:
        return [path for asked, path in self.calls if asked == method]
