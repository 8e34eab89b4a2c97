"""Security groups of a region's subnets on Azure, compiled from the port matrix. Machines have their own beside.

A packet must pass its subnet's group and its interface's: a subnet's lets the fleet's own prefix through to machines,
whose groups judge it, and to endpoints and shares only what the matrix has.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from .ports import WORLD, Group

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


def rules(groups: Sequence[Group], places: Mapping[str, str], shares_cidr: str) -> Mapping[str, tuple[Rule, ...]]:
    """By name of the group. `groups` are the matrix's; `places` are the fleet's own prefixes by name.

    `shares_cidr` is the shares' one address.
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
        "public": _closed(*_allowed(rows.get(WORLD), ANY), *to_machines),
        "endpoints": _closed(*_allowed(rows.get("endpoints"), ANY)),
        "names": _closed(*_allowed(rows.get("names"), ANY)),
        "questions": _closed(),
    }


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
