"""Security groups of a region's subnets on Azure, compiled from the port matrix. Machines have their own beside.

A packet must pass its subnet's group and its interface's: a subnet's lets the fleet's own prefix through to machines,
whose groups judge it, and to endpoints and shares only what the matrix has.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from fleet.laptops import PORT

from ..ports import WORLD, Group

FIRST, STEP = 100, 10
# Azure's health probes come from its platform address, which this tag stands for.
PROBES, TO_MACHINES, REST = 4000, 4010, 4096
ANY = "*"


class Rule(NamedTuple):
    """One inbound rule. `ports` and prefixes as Azure writes them; `source` may be one of its tags."""

    name: str
    priority: int
    access: Literal["Allow", "Deny"]
    protocol: str
    source: str
    to: str
    ports: str
    why: str


class Judged(Protocol):
    """A rule of machines' own groups, which judge what goes out, too. `ports` as Azure writes them."""

    @property
    def name(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def direction(self) -> Literal["Inbound", "Outbound"]: ...
    @property
    def access(self) -> Literal["Allow", "Deny"]: ...
    @property
    def protocol(self) -> str: ...
    @property
    def ports(self) -> str: ...
    @property
    def why(self) -> str: ...


def written(rule: Judged, far: Mapping[str, Any]) -> dict[str, Any]:
    """As a group takes it. `far` is who is at the other end, such as address_prefix: what comes in comes from there,
    and the rest goes there.
    """
    near, there = ("destination", "source") if rule.direction == "Inbound" else ("source", "destination")
    return {
        "name": rule.name,
        "priority": rule.priority,
        "direction": rule.direction,
        "access": rule.access,
        "protocol": rule.protocol,
        "source_port_range": ANY,
        "destination_port_range": rule.ports,
        "description": rule.why,
        f"{near}_address_prefix": ANY,
        **{f"{there}_{name}": value for name, value in far.items()},
    }


def rules(
    groups: Sequence[Group], places: Mapping[str, str], shares_cidr: str, *, laptops: bool = False
) -> Mapping[str, tuple[Rule, ...]]:
    """By name of the group. `groups` are the matrix's; `places` are the fleet's own prefixes by name.

    `shares_cidr` is the shares' one address. `laptops`: servers for them stand in public subnets.
    """
    rows = {group.name: group for group in groups}
    why = "groups of machines judge what comes to them"
    to_machines = [
        Rule(name, TO_MACHINES + n, "Allow", ANY, cidr, ANY, ANY, why) for n, (name, cidr) in enumerate(places.items())
    ]
    no_more = Rule("shares-rest", FIRST + 99 * STEP, "Deny", ANY, ANY, shares_cidr, ANY, "nothing but what is above")
    return {
        "private": _closed(*to_machines),
        "fixed": _closed(*_allowed(rows.get("shares"), shares_cidr), no_more, *to_machines),
        "public": _closed(*_allowed(rows.get(WORLD), ANY), *(_LAPTOPS if laptops else ()), *to_machines),
        "endpoints": _closed(*_allowed(rows.get("endpoints"), ANY)),
        "names": _closed(*_allowed(rows.get("names"), ANY)),
        "questions": _closed(),
    }


# Behind what the fleet file opens.
_LAPTOPS = (
    Rule("laptops", TO_MACHINES - 1, "Allow", "Udp", "Internet", ANY, str(PORT), "laptops, from wherever people are"),
)


def _allowed(group: Group | None, to: str) -> tuple[Rule, ...]:
    return tuple(
        Rule(rule.name, FIRST + n * STEP, "Allow", rule.protocol.capitalize(), rule.cidr, to, str(rule.port), rule.why)
        for n, rule in enumerate(group.rules if group else ())
    )


def _closed(*rules: Rule) -> tuple[Rule, ...]:
    """With the two that every group ends in: without them Azure lets the whole network in."""
    probes = Rule("probes", PROBES, "Allow", ANY, "AzureLoadBalancer", ANY, ANY, "health of what balancers lead to")
    rest = Rule("rest", REST, "Deny", ANY, ANY, ANY, ANY, "nothing else")
    return tuple(sorted((*rules, probes, rest), key=lambda rule: rule.priority))
