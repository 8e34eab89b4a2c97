"""Network security groups as `local.network.rules` reads them: each group's rules in order, Azure's own ones last."""

from collections.abc import Mapping
from typing import Any

from .kinds import World
from .resources.security import DEFAULTS, GROUP, RULE
from .store import Resource

DIRECTIONS = {"Inbound": "in", "Outbound": "out"}
ALL_PORTS = "*"


def groups(world: World) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By id in small letters: rules in `in` and in `out`."""
    return {one.id.key: _group(world, one) for one in world.store.all(GROUP)}


def _group(world: World, group: Resource) -> dict[str, list[dict[str, Any]]]:
    rules = [one.properties for one in world.store.children(group, RULE)] + [_default(*one) for one in DEFAULTS]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in DIRECTIONS.values()}
    for one in sorted(rules, key=lambda rule: int(rule["priority"])):
        found[DIRECTIONS[one["direction"]]].append(_rule(one))
    return found


def _default(priority: int, _: str, access: str, direction: str, source: str, target: str) -> dict[str, Any]:
    common = {"priority": priority, "access": access, "direction": direction, "protocol": "*"}
    return {**common, "sourceAddressPrefix": source, "destinationAddressPrefix": target}


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    sides = {"source": _side(rule, "source"), "target": _side(rule, "destination")}
    return {"access": rule["access"], "protocol": rule["protocol"], **sides}


def _side(rule: Mapping[str, Any], side: str) -> dict[str, Any]:
    """`groups` are application security groups; `ports` first and last ones, none: all."""
    ports = _either(rule, f"{side}PortRange")
    return {
        "prefixes": _either(rule, f"{side}AddressPrefix"),
        "groups": [str(one["id"]).lower() for one in rule.get(f"{side}ApplicationSecurityGroups") or ()],
        "ports": [] if ALL_PORTS in ports else [_range(one) for one in ports],
    }


def _either(rule: Mapping[str, Any], name: str) -> list[str]:
    """What Azure takes as one or as several."""
    one = rule.get(name)
    return [one] if one else list(rule.get(f"{name}{'es' if name.endswith('x') else 's'}") or ())


def _range(text: str) -> list[int]:
    low, _, high = text.partition("-")
    return [int(low), int(high or low)]
