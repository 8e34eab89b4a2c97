"""Security groups of a control plane's machines on Azure, compiled from the same rules as those of AWS.

A balancer there has no group and hands packets on as they came: who may reach the balancer may reach its servers. Parts
of the cluster are known by their planned addresses.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from components.network.azure import groups as azure_groups
from components.network.azure.groups import ANY, FIRST, PROBES, REST, STEP

from ..firewall import Rule, rules
from ..machines import API_PORT, ClusterSpec, Role

DIRECTIONS: Mapping[str, Literal["Inbound", "Outbound"]] = {"in": "Inbound", "out": "Outbound"}
BALANCER = "balancer"


class Ruled(NamedTuple):
    """`peers` are prefixes or one of Azure's tags; `ports` as Azure writes them."""

    name: str
    priority: int
    direction: Literal["Inbound", "Outbound"]
    access: Literal["Allow", "Deny"]
    protocol: str
    peers: tuple[str, ...]
    ports: str
    why: str


def groups(spec: ClusterSpec, supernet: str) -> dict[Role, tuple[Ruled, ...]]:
    """By part, each direction with priorities of its own, in the order of the rules' names."""
    found = [rule for rule in rules(spec, supernet) if BALANCER not in (rule.part, rule.peer)]
    parts: tuple[Role, ...] = ("etcd", "api")
    return {part: tuple(_ruled(spec, part, [rule for rule in found if rule.part == part])) for part in parts}


def _ruled(spec: ClusterSpec, part: Role, own: list[Rule]) -> Iterable[Ruled]:
    addresses = {
        name: tuple(f"{machine.address}/32" for machine in machines)
        for name, machines in (("etcd", spec.etcd), ("api", spec.api))
    }
    for word, direction in DIRECTIONS.items():
        ours = sorted(rule for rule in own if rule.direction == word)
        for number, rule in enumerate(sorted(ours, key=lambda rule: rule.name)):
            peers = addresses.get(rule.peer, (rule.peer,))
            ports = str(rule.first) if rule.first == rule.last else f"{rule.first}-{rule.last}"
            yield Ruled(rule.name, FIRST + number * STEP, direction, "Allow", "Tcp", peers, ports, rule.why)
        if part == "api" and word == "in":
            yield Ruled(
                "api-in-probes",
                PROBES,
                direction,
                "Allow",
                "Tcp",
                ("AzureLoadBalancer",),
                str(API_PORT),
                "checks by Azure",
            )
        yield Ruled(f"{part}-{word}-rest", REST, direction, "Deny", ANY, (ANY,), ANY, "nothing else")


def written(found: Iterable[Ruled]) -> list[dict[str, Any]]:
    """As the group takes them."""
    return [azure_groups.written(rule, _far(rule.peers)) for rule in found]


def _far(peers: tuple[str, ...]) -> dict[str, Any]:
    return {"address_prefix": peers[0]} if len(peers) == 1 else {"address_prefixes": list(peers)}
