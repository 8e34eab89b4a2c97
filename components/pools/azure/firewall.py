"""The security group of a pool's machines on Azure, compiled from the same rules as that of AWS.

It knows no kinds of ICMP messages, so all that tunnels say of packets comes in from the fleet. What Azure lets
in and out by itself, the whole network and the internet, is closed behind the pool's own rules.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from components.network.azure import groups
from components.network.azure.groups import ANY, FIRST, PROBES, REST, STEP

from ..firewall import ALL_PROTOCOLS, OWN, Rule

DIRECTIONS: dict[str, Literal["Inbound", "Outbound"]] = {"in": "Inbound", "out": "Outbound"}


class Ruled(NamedTuple):
    """`peer` is a prefix, a tag of Azure's, or OWN; `ports` as Azure writes them."""

    name: str
    priority: int
    direction: Literal["Inbound", "Outbound"]
    access: Literal["Allow", "Deny"]
    protocol: str
    peer: str
    ports: str
    why: str


def ruled(rules: Iterable[Rule]) -> tuple[Ruled, ...]:
    """By name, each direction with priorities of its own. A new rule moves those behind it, all in one write."""
    found: list[Ruled] = []
    for direction, azure_direction in DIRECTIONS.items():
        ours = sorted((rule for rule in rules if rule.direction == direction), key=lambda rule: rule.name)
        found += [
            Ruled(
                rule.name,
                FIRST + n * STEP,
                azure_direction,
                "Allow",
                _protocol(rule),
                rule.peer,
                _ports(rule),
                rule.why,
            )
            for n, rule in enumerate(ours)
        ]
        if direction == "in":
            found.append(
                Ruled(
                    "in-probes", PROBES, azure_direction, "Allow", ANY, "AzureLoadBalancer", ANY, "health of balancers"
                )
            )
        found.append(Ruled(f"{direction}-rest", REST, azure_direction, "Deny", ANY, ANY, ANY, "nothing else"))
    return tuple(found)


def written(rules: Iterable[Ruled], own_id: Any) -> list[dict[str, Any]]:
    """As the group takes them; `own_id` is the group of addresses that stands for the pool's own machines."""
    return [groups.written(rule, _far(rule.peer, own_id)) for rule in rules]


def _far(peer: str, own_id: Any) -> dict[str, Any]:
    return {"application_security_groups": [{"id": own_id}]} if peer == OWN else {"address_prefix": peer}


def _protocol(rule: Rule) -> str:
    return ANY if rule.protocol == ALL_PROTOCOLS else rule.protocol.capitalize()


def _ports(rule: Rule) -> str:
    if rule.protocol == "icmp" or rule.first is None:
        return ANY
    return str(rule.first) if rule.first == rule.last else f"{rule.first}-{rule.last}"
