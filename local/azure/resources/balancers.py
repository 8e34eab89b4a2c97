"""Standard internal load balancers: addresses in subnets, pools of machines behind them, probes and rules."""

import copy
from typing import Any

from .. import addresses, ids, regions
from ..errors import bad_request
from ..kinds import SLOW, Kind, World, Write
from ..references import id_of
from ..store import Resource
from . import common
from .interfaces import settle_subnet, wish

BALANCER = "Microsoft.Network/loadBalancers"
INTERFACE = "Microsoft.Network/networkInterfaces"
FRONTENDS, POOLS, PROBES = "frontendIPConfigurations", "backendAddressPools", "probes"
RULES = "loadBalancingRules"
EMPTY = ("inboundNatRules", "inboundNatPools", "outboundRules")
KNOWN = frozenset((FRONTENDS, POOLS, PROBES, RULES, *EMPTY))
FIELDS = {
    FRONTENDS: ("privateIPAddress", "privateIPAllocationMethod", "privateIPAddressVersion", "subnet"),
    POOLS: ("drainPeriodInSeconds", "loadBalancerBackendAddresses"),
    PROBES: (
        *("protocol", "port", "intervalInSeconds", "numberOfProbes", "probeThreshold", "requestPath"),
        "noHealthyBackendsBehavior",
    ),
    RULES: (
        *("frontendIPConfiguration", "backendAddressPool", "backendAddressPools", "probe", "protocol", "frontendPort"),
        *("backendPort", "loadDistribution", "idleTimeoutInMinutes", "enableFloatingIP", "enableTcpReset"),
        "disableOutboundSnat",
    ),
}
READ_ONLY = (RULES, "backendIPConfigurations", *EMPTY)


def _check(write: Write) -> None:
    common.name(write)
    common.sku(write, "Standard", default="Standard")
    for at in EMPTY:
        if write.properties.get(at):
            raise common.invalid(f"{write.id.text}: an internal load balancer of the local Azure has no {at}.")
        write.properties[at] = []
    listed = {at: common.listed(write, at, fields, READ_ONLY) for at, fields in FIELDS.items()}
    if not listed[FRONTENDS]:
        raise common.invalid(f"{write.id.text} has no {FRONTENDS}.")
    wishes = [_frontend(write, one) for one in listed[FRONTENDS]]
    for one, allotted in zip(listed[FRONTENDS], addresses.allot(write.world, write.new, wishes), strict=True):
        one["properties"]["privateIPAddress"] = allotted.address
    for one in listed[POOLS]:
        if one["properties"].get("loadBalancerBackendAddresses"):
            raise common.invalid(f"{one['id']}: the local Azure's pools have interfaces and scale sets, no addresses.")
    for one in listed[PROBES]:
        _probe(write, one["properties"])
    for one in listed[RULES]:
        _rule(write, one["properties"], listed)
    _rules_apart(write, listed[RULES])
    common.guid(write)


def _frontend(write: Write, one: dict[str, Any]) -> tuple[Resource, str | None, str]:
    allowed = regions.zones(write.new.location)
    if any(zone not in allowed for zone in one.get("zones") or ()):
        raise common.invalid(f"{one['id']}: zones {one['zones']} are not zones of {write.new.location}.")
    for before in write.old.properties[FRONTENDS] if write.old else ():
        if ids.same(before["id"], one["id"]):
            common.same_zones(one["id"], before.get("zones"), one.get("zones"))
    subnet = settle_subnet(write, one["properties"], f"properties.{FRONTENDS}")
    return wish(write, one["properties"], subnet, one["id"])


def _probe(write: Write, of: dict[str, Any]) -> None:
    protocol = common.pick(write, of, "protocol", ("Tcp", "Http", "Https"))
    common.number(write, of, "port", 1, 65_535)
    common.number(write, of, "intervalInSeconds", 5, 2_147_483_646, 15)
    common.number(write, of, "numberOfProbes", 1, 2_147_483_646, 1)
    common.number(write, of, "probeThreshold", 1, 100, 1)
    if bool(of.get("requestPath")) != (protocol != "Tcp"):
        raise common.invalid(
            f"{write.id.text}: a probe by {protocol} has {'no' if protocol == 'Tcp' else 'a'} requestPath."
        )


def _own(write: Write, value: Any, at: str, listed: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """A reference to one of its own configurations."""
    id_ = id_of(write, value, f"properties.{RULES}.{at}.id")
    if not any(ids.same(one["id"], id_.text) for one in listed[at]):
        message = (
            f"Resource {id_.text} referenced by resource {write.id.text} was not found. Please make sure that the "
            "referenced resource exists, and that both resources are in the same region."
        )
        raise bad_request("InvalidResourceReference", message)
    return {"id": id_.text}


def _rule(write: Write, of: dict[str, Any], listed: dict[str, list[dict[str, Any]]]) -> None:
    of["frontendIPConfiguration"] = _own(write, of.get("frontendIPConfiguration"), FRONTENDS, listed)
    pools = of.get("backendAddressPools") or [of.get("backendAddressPool")]
    if len(pools) != 1:
        raise common.invalid(f"{write.id.text}: a rule of an internal load balancer has one pool.")
    of["backendAddressPool"] = _own(write, pools[0], POOLS, listed)
    of["backendAddressPools"] = [dict(of["backendAddressPool"])]
    if of.get("probe"):
        of["probe"] = _own(write, of["probe"], PROBES, listed)
    every = common.pick(write, of, "protocol", ("Tcp", "Udp", "All")) == "All"
    for at in ("frontendPort", "backendPort"):  # 0 on both, and only with All: all ports ("HA ports")
        common.number(write, of, at, 0 if every else 1, 0 if every else 65_535, of.get("frontendPort"))
    common.pick(write, of, "loadDistribution", ("Default", "SourceIP", "SourceIPProtocol"), "Default")
    common.number(write, of, "idleTimeoutInMinutes", 4, 100, 4)
    for at in ("enableFloatingIP", "enableTcpReset"):
        if not isinstance(of.setdefault(at, False), bool):
            raise common.invalid(f"{write.id.text}: {at} must be true or false.")
    of.setdefault("disableOutboundSnat", False)


def _rules_apart(write: Write, rules: list[dict[str, Any]]) -> None:
    for n, one in enumerate(rules):
        for other in rules[:n]:
            a, b = one["properties"], other["properties"]
            protocols = {a["protocol"], b["protocol"]}
            alike = len(protocols) == 1 or "All" in protocols
            if alike and _same_end(a, b, "frontendIPConfiguration", "frontendPort"):
                raise common.invalid(
                    f"Rules {other['name']} and {one['name']} of {write.id.text} have one frontend port."
                )
            floating = a["enableFloatingIP"] and b["enableFloatingIP"]
            if alike and not floating and _same_end(a, b, "backendAddressPool", "backendPort"):
                message = (
                    f"Load balancing rules {other['id']} and {one['id']} with floating IP disabled use the same "
                    f"protocol {a['protocol']} and backend port {a['backendPort']}, and must not be used with the same "
                    "backend address pool."
                )
                raise bad_request("RulesUseSameBackendPortProtocolAndPool", message)


def _same_end(one: dict[str, Any], other: dict[str, Any], at: str, port: str) -> bool:
    ports = {one[port], other[port]}
    return ids.same(one[at]["id"], other[at]["id"]) and (len(ports) == 1 or 0 in ports)


def _computed(world: World, balancer: Resource) -> dict[str, Any]:
    """Who refers to each of its configurations."""
    found: dict[str, Any] = {at: copy.deepcopy(balancer.properties.get(at, [])) for at in (FRONTENDS, POOLS, PROBES)}
    rules = balancer.properties.get(RULES, ())
    for at, by in ((FRONTENDS, "frontendIPConfiguration"), (POOLS, "backendAddressPool"), (PROBES, "probe")):
        for one in found[at]:
            users = [rule for rule in rules if ids.same((rule["properties"].get(by) or {}).get("id"), one["id"])]
            if users:
                one["properties"][RULES] = [{"id": rule["id"]} for rule in users]
    for pool in found[POOLS]:
        if members := [{"id": one} for one in _members(world, pool["id"])]:
            pool["properties"]["backendIPConfigurations"] = members
    return found


def _members(world: World, pool: str) -> list[str]:
    """Configurations of interfaces, and of those that a scale set's machine keeps in `state["interfaces"]`."""
    interfaces = [one.properties for one in world.store.all(INTERFACE)]
    interfaces += [
        interface["properties"] for one in world.store.all() for interface in one.state.get("interfaces", ())
    ]
    return [
        str(one["id"])
        for interface in interfaces
        for one in interface.get("ipConfigurations") or ()
        if any(ids.same(of["id"], pool) for of in one["properties"].get("loadBalancerBackendAddressPools") or ())
    ]


KINDS = (Kind(BALANCER, check=_check, computed=_computed, known=KNOWN, read_only=("resourceGuid",), slow=SLOW),)
