"""A cluster whose home region changes keeps its own prefixes; what lies in a region's network is the new region's."""

import datetime
from pathlib import Path

from fleet.address.blocks import parse
from fleet.address.plan import draft
from fleet.loader import load
from fleet.model import Cluster, Region

DAY = datetime.date(2026, 1, 1)
FLEET = load(Path(__file__).parent / "good/smallest.yaml").model_copy(update={"supernet": "10.0.0.0/8"})
REGIONS = {"west": Region(cloud="aws", zones=["a", "b", "c"]), "east": Region(cloud="aws", zones=["a", "b"])}


def home(region: str) -> Cluster:
    return Cluster(region=region, kubernetes="1.36.2", etcd_members=3, api_servers=2)


def test_pods_and_services_stay_and_machines_get_addresses_in_the_new_region() -> None:
    other = home("west")
    fleet = FLEET.model_copy(update={"regions": REGIONS, "clusters": {"main": home("west"), "other": other}})
    before = draft(fleet, None, DAY)
    moved = draft(fleet.model_copy(update={"clusters": {"main": home("east"), "other": other}}), before.ledger, DAY)
    assert moved.plan.cluster("main") == before.plan.cluster("main")
    assert moved.plan.cluster("other") == before.plan.cluster("other")
    assert not moved.refusals
    here = {
        part: (zone, address)
        for zone, given in moved.plan.region("east").zones.items()
        for part, address in given.addresses.items()
        if part.startswith("main/")
    }
    machines = {"main/etcd-1", "main/etcd-2", "main/etcd-3", "main/api-1", "main/api-2"}
    assert machines < set(here)
    for zone, address in here.values():
        assert parse(moved.plan.region("east").zones[zone].fixed).holds(parse(f"{address}/32"))
    # In the lost region it has none any more, and nobody else gets them for a while.
    zones = moved.plan.region("west").zones.values()
    assert not [part for zone in zones for part in zone.addresses if part.startswith("main/")]
    assert {change.kind for change in moved.changes if "/main/" in change.name} == {"new", "released"}
    assert {
        part for zone in before.plan.region("west").zones.values() for part in zone.addresses if "other/" in part
    } == {part for zone in zones for part in zone.addresses if "other/" in part}
