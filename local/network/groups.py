"""A network's security groups as a firewall of its router. Pure.

VPC user guide, "Security groups": rules only allow, all groups of an interface count together, and answers to what was
let through need no rule.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from .routers import CLOUD_INTERFACE, METADATA, PLATFORM, filtering, short_name

EVERYTHING, ANY = "-1", -1
HTTPS, API = 443, 6443
DIRECTIONS = {"in": ("saddr", "accept"), "out": ("daddr", "return")}


def ruleset(network: Mapping[str, Any], machines: str, hub: str) -> str:
    """`machines` and `hub` are what names of interfaces to machines and to hubs begin with."""
    by_groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for one in network["interfaces"]:
        by_groups[tuple(one["groups"])].append(one["address"])
    watched = {of: addresses for of, addresses in by_groups.items() if of}
    definitions = [*_members(network["interfaces"], network["groups"]), *_chains(watched, network["groups"])]
    definitions += answered([address for one in network["endpoints"] for address in one["addresses"]], METADATA)
    lines = [
        "ct state established,related accept",
        # Metadata and APIs: groups have no say in the one, and our programs open the way to the other.
        f'iifname "{machines}*" ct original ip daddr {{ {METADATA}, {PLATFORM} }} accept',
        # Commands run in the local cloud itself, and stand for a laptop of the fleet's.
        f'iifname "{CLOUD_INTERFACE}" ip saddr {METADATA} tcp dport {API} accept',
        _map("out", watched),
        *(
            f"ct original ip daddr {address} accept"
            for of, found in by_groups.items()
            if not of
            for address in sorted(found)
        ),
        _map("in", watched),
        f'oifname "{hub}*" accept',
    ]
    return filtering(*filter(None, lines), definitions="".join(f"    {one}\n" for one in definitions))


def _map(direction: str, watched: Mapping[tuple[str, ...], list[str]]) -> str:
    chains = [
        f"{address} : jump {_chain(direction, of)}"
        for of, found in sorted(watched.items())
        for address in sorted(found)
    ]
    # Whom it was for at first: an endpoint's packets go on to the local cloud.
    side = "ct original ip daddr" if direction == "in" else "ip saddr"
    return f"{side} vmap {{ {', '.join(chains)} }}" if chains else ""


def answered(endpoints: list[str], at: str) -> list[str]:
    """The local cloud answers for endpoints of its APIs, at its address `at`, by way of this router and by no other."""
    if not endpoints:
        return []
    to = f"ip daddr {{ {', '.join(sorted(endpoints))} }} tcp dport {HTTPS} dnat to {at}"
    back = f'oifname "{CLOUD_INTERFACE}" ct status dnat snat to {min(endpoints)}'
    return [
        f"chain to_cloud {{ type nat hook prerouting priority dstnat; {to}; }}",
        f"chain from_endpoint {{ type nat hook postrouting priority srcnat; {back}; }}",
    ]


def _members(interfaces: list[dict[str, Any]], groups: Mapping[str, Any]) -> Iterator[str]:
    """Sets of those groups that rules of others name."""
    rules = (rule for group in groups.values() for rule in [*group["in"], *group["out"]])
    for name in sorted({rule["group"] for rule in rules if rule["group"]}):
        addresses = sorted({one["address"] for one in interfaces if name in one["groups"]})
        elements = f" elements = {{ {', '.join(addresses)} }};" if addresses else ""
        yield f"set {_set(name)} {{ type ipv4_addr;{elements} }}"


def _chains(watched: Mapping[tuple[str, ...], list[str]], groups: Mapping[str, Any]) -> Iterator[str]:
    for of in sorted(watched):
        for direction in DIRECTIONS:
            rules = [rule for name in of for rule in groups.get(name, {direction: ()})[direction]]
            lines = sorted({line for rule in rules if (line := _rule(direction, rule))})
            yield f"chain {_chain(direction, of)} {{ {' '.join(f'{line};' for line in [*lines, 'counter drop'])} }}"


def _rule(direction: str, rule: Mapping[str, Any]) -> str:
    """Nothing for what is of IPv6 alone."""
    side, verdict = DIRECTIONS[direction]
    whom = rule["cidr"] or (f"@{_set(rule['group'])}" if rule["group"] else "")
    return " ".join(filter(None, [f"ip {side} {whom}", _what(rule), verdict])) if whom else ""


def _what(rule: Mapping[str, Any]) -> str:
    protocol, ports = rule["protocol"], rule["ports"]
    if protocol == EVERYTHING:
        return ""
    if protocol in ("tcp", "udp"):
        low, high = ports
        return f"{protocol} dport {low}" if low == high else f"{protocol} dport {low}-{high}"
    # An ICMP type, or a protocol that has no ports.
    typed = protocol == "icmp" and ports[0] != ANY
    return f"icmp type {ports[0]}" if typed else f"ip protocol {protocol}"


def _chain(direction: str, of: tuple[str, ...]) -> str:
    return short_name(f"{direction}_", " ".join(of))


def _set(group: str) -> str:
    return group.replace("-", "_")
