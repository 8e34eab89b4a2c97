"""Network security groups as a firewall of a virtual network's router. Pure.

Azure documentation, "How network security groups filter network traffic": a packet to a machine must pass its subnet's
group and its interface's, one from it the other way round; in a group the first rule that fits decides, by priority.
Answers to what was let through need no rule. Groups come with their rules in order, Azure's own ones last.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network, collapse_addresses
from typing import Any, NamedTuple

from .groups import API, HTTPS, answered
from .routers import CLOUD_INTERFACE, METADATA, PLATFORM, filtering, short_name

ANY, NETWORK, INTERNET, PROBES = "*", "VirtualNetwork", "Internet", "AzureLoadBalancer"
# Tags of services, without a region. In the local cloud all of these answer at one address.
SERVICES = frozenset(("AzureActiveDirectory", "AzureCloud", "AzureKeyVault", "AzureResourceManager", "Storage"))
VERDICTS = {"Allow": "return", "Deny": "counter drop"}
PORTLESS = {"Icmp": "icmp", "Esp": "esp", "Ah": "ah"}
SETS = (NETWORK_SET, OUTWARD_SET) = ("virtual_network", "outward")


class Sight(NamedTuple):
    """Where a packet is looked at: by which rules, and where it says for which address and port it is.

    A balancer has written the machine's into it by then: on the way out it counts for whom it was sent, on the way in
    who gets it. An endpoint's goes on to the local cloud.
    """

    name: str
    rules: str
    target: str
    port: str


OUT = Sight("out", "out", "ct original ip daddr", "ct original proto-dst")
IN = Sight("in", "in", "ip daddr", "th dport")
AT_END = Sight("end", "in", "ct original ip daddr", "th dport")
SIGHTS = (OUT, IN, AT_END)


def ruleset(vnet: Mapping[str, Any], learned: Iterable[str], ways_out: Iterable[str], kinds: tuple[str, ...]) -> str:
    """`kinds` are what names of interfaces to machines, to gateways and to peers begin with; `ways_out` are the
    addresses that reach the internet: what stands for it here are the addresses of both clouds' APIs, on their port.
    """
    machine, gateway, peer = kinds
    answering = f"{{ {METADATA}, {PLATFORM} }}"
    near = ", ".join((f'"{machine}*"', f'"{CLOUD_INTERFACE}"'))
    lines = [
        "ct state established,related accept",
        # Metadata, names and health, which no group judges.
        f'iifname "{machine}*" ct original ip daddr {answering} meta l4proto udp accept',
        f'iifname "{machine}*" ct original ip daddr {answering} tcp dport != {HTTPS} accept',
        # Commands run in the local cloud itself, and stand for a laptop of the fleet's.
        f'iifname "{CLOUD_INTERFACE}" ip saddr {METADATA} tcp dport {API} accept',
        *_forwarded(vnet, peer),
        _map(OUT, vnet),
        f"ct original ip daddr {answering} tcp dport {HTTPS} ip saddr @{OUTWARD_SET} accept",
        _map(AT_END, vnet),
        _map(IN, vnet),
        f'iifname {{ {near} }} oifname {{ "{gateway}*", "{peer}*" }} accept',
    ]
    definitions = [
        _set(NETWORK_SET, [*vnet["cidrs"], *learned, *_open_peers(vnet)]),
        _set(OUTWARD_SET, ways_out),
        *(_set(_group_set(name), found) for name, found in _members(vnet).items()),
        *_chains(vnet),
        *answered(sorted(_answered(vnet)), PLATFORM),
    ]
    return filtering(*filter(None, lines), definitions="".join(f"    {one}\n" for one in definitions))


def _forwarded(vnet: Mapping[str, Any], kind: str) -> Iterator[str]:
    """What a peer sends that is not its own, unless the peering takes that as well."""
    for peer in vnet["peers"]:
        if not peer["forwarded"]:
            cidrs = _elements(peer["cidrs"])
            yield f'iifname "{short_name(kind, peer["wire"])}" ip saddr != {{ {cidrs} }} counter drop'


def _open_peers(vnet: Mapping[str, Any]) -> list[str]:
    return [cidr for peer in vnet["peers"] if peer["open"] for cidr in peer["cidrs"]]


def _members(vnet: Mapping[str, Any]) -> dict[str, list[str]]:
    """Addresses of application security groups; those that rules name are there, empty or not."""
    found: dict[str, list[str]] = defaultdict(list)
    for group in vnet["groups"].values():
        for rule in (*group["in"], *group["out"]):
            for name in (*rule["source"]["groups"], *rule["target"]["groups"]):
                found[name] = []
    for one in vnet["interfaces"]:
        for name in one["within"]:
            found[name].append(one["address"])
    return found


def _set(name: str, cidrs: Iterable[str]) -> str:
    elements = _elements(cidrs)
    return f"set {name} {{ type ipv4_addr; flags interval;{f' elements = {{ {elements} }};' if elements else ''} }}"


def _elements(cidrs: Iterable[str]) -> str:
    return ", ".join(str(one) for one in collapse_addresses(IPv4Network(cidr) for cidr in cidrs))


def _answered(vnet: Mapping[str, Any]) -> set[str]:
    """Addresses of endpoints that the local cloud answers for."""
    return {address for one in vnet["endpoints"] for address in one["addresses"]}


def _map(sight: Sight, vnet: Mapping[str, Any]) -> str:
    ends = _answered(vnet)
    mine = [one for one in vnet["interfaces"] if sight is OUT or (one["address"] in ends) == (sight is AT_END)]
    chains = [f"{address} : jump {_chain(sight, of)}" for address, of in sorted(_judged_by(mine).items())]
    side = "ip saddr" if sight is OUT else sight.target
    return f"{side} vmap {{ {', '.join(chains)} }}" if chains else ""


def _judged_by(interfaces: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    return {one["address"]: tuple(one["groups"]) for one in interfaces}


def _chains(vnet: Mapping[str, Any]) -> Iterator[str]:
    """Each group's, and each pair's of a subnet's and an interface's, by what their rules would do."""
    pairs = sorted({tuple(one["groups"]) for one in vnet["interfaces"]})
    for sight in SIGHTS:
        for name in sorted({name for pair in pairs for name in pair}):
            yield _block(_group_chain(sight, name), _judged(vnet["groups"][name][sight.rules], sight))
        for pair in pairs:
            if sight is OUT:
                yield _block(_chain(sight, pair), [f"jump {_group_chain(sight, name)}" for name in reversed(pair)])
            else:
                yield _block(_chain(sight, pair), [*(f"jump {_group_chain(sight, name)}" for name in pair), "accept"])


def _block(name: str, lines: Iterable[str]) -> str:
    return f"chain {name} {{ {' '.join(f'{one};' for one in lines)} }}"


def _judged(rules: Iterable[Mapping[str, Any]], sight: Sight) -> Iterator[str]:
    """What no rule lets through does not pass."""
    for rule in rules:
        sides = [_whom(rule["source"], "ip saddr"), _whom(rule["target"], sight.target)]
        if None not in sides:
            yield " ".join([*filter(None, sides), *_what(rule, sight), VERDICTS[rule["access"]]])
    yield "counter drop"


def _whom(side: Mapping[str, Any], field: str) -> str | None:
    """What it matches, "" for everybody; None where nobody can be meant."""
    sends = field == "ip saddr"
    if side["groups"]:
        (name,) = side["groups"]
        return f"{field} @{_group_set(name)}"
    if ANY in side["prefixes"]:
        return ""
    (first, *_) = side["prefixes"]
    if first == NETWORK:
        return f"{field} @{NETWORK_SET}"
    if first == INTERNET:
        # No probe of health comes from there; what is reached there is the platform's address.
        outside = f"{field} != @{NETWORK_SET}"
        return f"{outside} {field} != {PLATFORM}" if sends else outside
    if first == PROBES:
        return f"{field} {PLATFORM}" if sends else None
    if first.partition(".")[0] in SERVICES:
        return None if sends else f"{field} {PLATFORM}"
    elements = _elements(_networks(side["prefixes"]))
    return f"{field} {{ {elements} }}" if elements else None


def _networks(prefixes: Iterable[str]) -> Iterator[str]:
    """Those of IPv4; a tag that nobody here has is none."""
    for one in prefixes:
        if one[:1].isdigit() and ":" not in one:
            yield one


def _what(rule: Mapping[str, Any], sight: Sight) -> Iterator[str]:
    protocol = rule["protocol"]
    if protocol in PORTLESS:
        yield f"ip protocol {PORTLESS[protocol]}"
        return
    sides = (("th sport", rule["source"]["ports"]), (sight.port, rule["target"]["ports"]))
    ports = [(at, found) for at, found in sides if found]
    if protocol != ANY:
        yield f"meta l4proto {protocol.lower()}"
    elif ports:
        yield "meta l4proto { tcp, udp }"
    yield from (f"{at} {_ranges(found)}" for at, found in ports)


def _ranges(ports: Iterable[Iterable[int]]) -> str:
    merged: list[list[int]] = []
    for low, high in sorted((low, high) for low, high in ports):
        if merged and low <= merged[-1][1] + 1:
            merged[-1][1] = max(high, merged[-1][1])
        else:
            merged.append([low, high])
    return f"{{ {', '.join(str(low) if low == high else f'{low}-{high}' for low, high in merged)} }}"


def _chain(sight: Sight, groups: tuple[str, ...]) -> str:
    return short_name(f"{sight.name}_", " ".join(groups))


def _group_chain(sight: Sight, group: str) -> str:
    return short_name(f"group_{sight.name}_", group)


def _group_set(group: str) -> str:
    return short_name("within_", group)
