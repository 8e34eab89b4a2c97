"""Which machine types are offered where. moto has AWS's own list of one day; here every type is offered in every zone,
so that a fleet which the local cloud brings up is one that it offers.

What is told otherwise is set: POST /landbridge-api/offerings {"us-west-2": {"p5.48xlarge": {"zones": ["us-west-2a"],
"gpus": 4}}}: the zones that have it ([]: it is not offered), and how many GPUs it is said to have; {} takes all back.
"""

import copy
import json
from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.ec2.models.instance_types import INSTANCE_TYPES

from .patching import override

FIELDS = {"zones", "gpus"}
_told: dict[str, dict[str, dict[str, Any]]] = {}


def install() -> None:
    @override(EC2Backend, "describe_instance_type_offerings")
    def describe_instance_type_offerings(
        self: Any,
        original: Any,  # noqa: ARG001
        location_type: str | None = None,
        filters: Any = None,
    ) -> Any:
        kind = location_type or "region"
        wanted = (filters or {}).get("instance-type") or [*INSTANCE_TYPES]
        return [
            {"InstanceType": name, "LocationType": kind, "Location": place}
            for name in wanted
            if name in INSTANCE_TYPES
            for place in _places(self.region_name, name, kind)
            if self.matches_filters({"InstanceType": name, "Location": place}, filters or {}, kind)
        ]

    @override(EC2Backend, "describe_instance_types")
    def describe_instance_types(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        """A type that no zone has is not described either."""
        told = _told.get(self.region_name, {})
        found = [(told.get(one["InstanceType"], {}), one) for one in original(*args, **given)]
        offered = [(otherwise, one) for otherwise, one in found if otherwise.get("zones") != []]
        return [_with_gpus(one, otherwise["gpus"]) if "gpus" in otherwise else one for otherwise, one in offered]


def _places(region: str, name: str, kind: str) -> list[str]:
    zones = RegionsAndZonesBackend.zones.get(region, [])
    told = _told.get(region, {}).get(name, {}).get("zones")
    here = [zone for zone in zones if told is None or zone.name in told]
    if kind == "region":
        return [region] if here else []
    return [str(zone.zone_id if kind == "availability-zone-id" else zone.name) for zone in here]


def _with_gpus(told: Any, gpus: int) -> Any:
    changed = copy.deepcopy(dict(told))
    changed["GpuInfo"]["Gpus"][0]["Count"] = gpus
    return changed


def listing() -> dict[str, dict[str, dict[str, Any]]]:
    """What is told otherwise."""
    return _told


def put(body: bytes) -> dict[str, dict[str, dict[str, Any]]]:
    """Replaces all. Raises ValueError."""
    wanted = dict(json.loads(body))
    for region, types in wanted.items():
        for name, one in types.items():
            if name not in INSTANCE_TYPES:
                raise ValueError(f"there is no machine type {name}")
            if strange := one.keys() - FIELDS:
                raise ValueError(f"{name} in {region} has no {', '.join(sorted(strange))}")
    _told.clear()
    _told.update(wanted)
    return _told
