"""Where balancers' rules lead, for the machines service: frontends' ports, who stands behind, how he is asked if well.

Azure docs, "Azure Load Balancer health probes" and "Azure Load Balancer distribution modes".
"""

from collections.abc import Iterator
from typing import Any

from . import ids
from .compute import limits
from .compute import own_api as compute
from .kinds import World
from .network_state import network_of
from .resources.balancers import BALANCER, FRONTENDS, PROBES, RULES
from .store import Resource

# "… the probe must receive an HTTP 200 within …": no other code will do.
GOOD_CODES = "200"
LONGEST_WAIT_SECONDS = 30.0


def rules(world: World) -> Iterator[dict[str, Any]]:
    """One for each rule. `check` None: nobody is asked, and all are well."""
    members = list(_members(world))
    for balancer in world.store.all(BALANCER):
        fronts = {one["id"].lower(): one["properties"] for one in balancer.properties[FRONTENDS]}
        probes = {one["id"].lower(): one["properties"] for one in balancer.properties.get(PROBES) or ()}
        for rule in balancer.properties.get(RULES) or ():
            properties = rule["properties"]
            front = fronts[properties["frontendIPConfiguration"]["id"].lower()]
            probe = probes.get(((properties.get("probe") or {}).get("id") or "").lower())
            pool = properties["backendAddressPool"]["id"]
            yield {
                "id": rule["id"],
                "network": network_of(front["subnet"]["id"]),
                "address": front["privateIPAddress"],
                "port": properties["frontendPort"],
                "protocol": properties["protocol"].lower(),
                "sticky": properties["loadDistribution"] != "Default",
                "check": _check(probe) if probe else None,
                "sick_too": bool(probe and probe.get("noHealthyBackendsBehavior") == "AllProbedUp"),
                "targets": [
                    {"id": id_, "address": address, "port": properties["backendPort"]}
                    for id_, address, pools in members
                    if any(ids.same(one, pool) for one in pools)
                ],
            }


def _members(world: World) -> Iterator[tuple[str, str, list[str]]]:
    """Configurations of machines that run: id, address, pools."""
    for one in limits.machines(world):
        if one.state.get("power") == "running":
            yield from _configurations(world, one)


def _configurations(world: World, machine: Resource) -> Iterator[tuple[str, str, list[str]]]:
    for nic in compute.interfaces(world, machine):
        for one in nic["properties"]["ipConfigurations"]:
            pools = [of["id"] for of in one["properties"].get("loadBalancerBackendAddressPools") or ()]
            yield one["id"], one["properties"]["privateIPAddress"], pools


def _check(probe: dict[str, Any]) -> dict[str, Any]:
    """As `local.supervisor.checks` reads it. `numberOfProbes` is not looked at, as on Azure."""
    interval = float(probe["intervalInSeconds"])
    return {
        "protocol": probe["protocol"].upper(),
        "port": str(probe["port"]),
        "path": probe.get("requestPath") or "/",
        "interval": interval,
        "seconds": min(interval, LONGEST_WAIT_SECONDS),
        "up": probe["probeThreshold"],
        "down": probe["probeThreshold"],
        "codes": GOOD_CODES,
    }
