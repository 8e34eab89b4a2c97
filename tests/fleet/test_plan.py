"""The address plan: whatever comes and goes, what lives never moves, and nothing is given twice."""

import datetime
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.address import ledger as ledgers
from fleet.address.blocks import Block, Pool, overlaps, parse
from fleet.address.ledger import Ledger
from fleet.address.names import SUPERNET, TUNNELS, parent_of
from fleet.address.plan import REST_DAYS, AddressPlan, Draft, draft
from fleet.address.reserved import TUNNEL_RESERVED, reserved_blocks
from fleet.loader import load
from fleet.model import Cluster, Fleet, Region, Site

DAY = datetime.date(2026, 1, 1)
BASE = load(Path(__file__).parent / "good/smallest.yaml").model_copy(update={"supernet": "10.0.0.0/8"})

region = st.builds(
    Region,
    cloud=st.sampled_from(["aws", "azure"]),
    zones=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True),
    size=st.sampled_from(["small", "medium"]),
    laptops=st.booleans(),
    cidr=st.sampled_from([None, None, "10.2.0.0/16", "10.7.0.0/16"]),
)
site = st.builds(
    Site,
    gateways=st.lists(st.sampled_from(["192.0.2.1", "192.0.2.2"]), min_size=1, max_size=2, unique=True),
    asn=st.just(65010),
    size=st.sampled_from(["small", "medium"]),
    cidr=st.sampled_from([None, None, "192.168.40.0/24", "10.2.128.0/20"]),
)
PINS = {parse(cidr) for cidr in ("10.2.0.0/16", "10.7.0.0/16", "192.168.40.0/24", "10.2.128.0/20")}
cluster = st.builds(
    Cluster,
    region=st.just("r0"),
    kubernetes=st.just("1.36.2"),
    size=st.just("small"),
    etcd_members=st.sampled_from([3, 5]),
    api_servers=st.sampled_from([2, 3, 5]),
)
fleets = st.builds(
    lambda regions, sites, clusters: BASE.model_copy(
        update={"regions": regions, "sites": sites, "clusters": clusters if "r0" in regions else {}}
    ),
    st.dictionaries(st.sampled_from([f"r{n}" for n in range(5)]), region, min_size=1),
    st.dictionaries(st.sampled_from(["s0", "s1"]), site),
    st.dictionaries(st.sampled_from(["c0", "c1"]), cluster),
)


def runs(history: list[tuple[Fleet, int]]) -> Iterator[tuple[Ledger | None, Draft, datetime.date]]:
    ledger, day = None, DAY
    for fleet, days in history:
        day += datetime.timedelta(days=days)
        result = draft(fleet, ledger, day)
        yield ledger, result, day
        ledger = result.ledger


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(fleets, st.integers(0, 45)), min_size=1, max_size=6))
def test_any_sequence_of_adds_and_removes_keeps_the_promises(history: list[tuple[Fleet, int]]) -> None:
    for old, result, day in runs(history):
        live = {name: entry.block for name, entry in result.ledger.live.items()}
        resting = {name: rest.block for name, rest in result.ledger.resting.items()}
        families: dict[str, list[tuple[str, Block]]] = {}
        for name, block in [*live.items(), *resting.items()]:
            families.setdefault(parent_of(name), []).append((name, block))
        for members in families.values():
            assert overlaps(members) == []
        for name, block in live.items():
            parent = parent_of(name)
            if parent == SUPERNET:
                assert block in PINS or not any(block.overlaps(taken) for taken in reserved_blocks())
                assert block in PINS or parse("10.0.0.0/8").holds(block)
            elif parent == TUNNELS:
                azure = parse("169.254.21.0/24").holds(block) or parse("169.254.22.0/24").holds(block)
                assert azure or not any(parse(cidr).overlaps(block) for cidr, _ in TUNNEL_RESERVED)
            else:
                assert live[parent].holds(block)
        if old is not None:
            for name, entry in old.live.items():
                assert live.get(name, entry.block) == entry.block, f"{name} moved"
                assert name in live or name in resting
            for name, rest in old.resting.items():
                if (day - rest.released).days < REST_DAYS and name not in live:
                    assert resting[name] == rest.block, f"{name} rested too short"


@settings(max_examples=50, deadline=None)
@given(fleets, st.randoms())
def test_the_order_of_the_file_means_nothing(fleet: Fleet, random: object) -> None:
    def shuffled(entries: dict[str, object]) -> dict[str, object]:
        items = list(entries.items())
        random.shuffle(items)  # type: ignore[attr-defined]
        return dict(items)

    turned = fleet.model_copy(update={key: shuffled(getattr(fleet, key)) for key in ("regions", "sites", "clusters")})
    assert draft(fleet, None, DAY).ledger == draft(turned, None, DAY).ledger


@settings(max_examples=50, deadline=None)
@given(fleets)
def test_planning_again_changes_nothing(fleet: Fleet) -> None:
    first = draft(fleet, None, DAY)
    again = draft(fleet, first.ledger, DAY + datetime.timedelta(days=400))
    assert again.changes == ()
    assert again.ledger == first.ledger


def with_regions(**regions: Region) -> Fleet:
    return BASE.model_copy(update={"regions": {name.replace("_", "-"): entry for name, entry in regions.items()}})


R = Region(cloud="aws", zones=["a"])


def test_a_name_that_returns_while_its_prefix_rests_gets_it_back() -> None:
    first = draft(with_regions(one=R, two=R), None, DAY)
    gone = draft(with_regions(two=R), first.ledger, DAY)
    assert {change.kind for change in gone.changes} == {"released"}
    back = draft(with_regions(one=R, two=R, aaa=R), gone.ledger, DAY + datetime.timedelta(days=REST_DAYS - 1))
    assert back.plan.region("one") == first.plan.region("one")


def test_a_released_prefix_is_reused_only_after_it_has_rested() -> None:
    first = draft(with_regions(one=R, two=R), None, DAY)
    gone = draft(with_regions(two=R), first.ledger, DAY)
    soon = draft(with_regions(two=R, new=R), gone.ledger, DAY + datetime.timedelta(days=REST_DAYS - 1))
    late = draft(with_regions(two=R, new=R), gone.ledger, DAY + datetime.timedelta(days=REST_DAYS))
    assert soon.plan.region("new").block != first.plan.region("one").block
    assert late.plan.region("new").block == first.plan.region("one").block


def test_a_change_of_size_is_refused_rather_than_moved() -> None:
    first = draft(with_regions(one=R), None, DAY)
    bigger = draft(with_regions(one=Region(cloud="aws", zones=["a"], size="large")), first.ledger, DAY)
    assert [refusal.entry for refusal in bigger.refusals] == [("regions", "one")], "one line, not one for every part"
    assert "a live prefix never moves" in bigger.refusals[0].what
    assert bigger.plan.region("one").block == first.plan.region("one").block


def test_pins_are_honoured_and_kept_clear() -> None:
    pinned = with_regions(one=Region(cloud="aws", zones=["a"], cidr="10.2.0.0/16"), two=R, three=R)
    plan = draft(pinned, None, DAY).plan
    assert plan.region("one").block == "10.2.0.0/16"
    assert overlaps([(name, parse(cidr)) for name, cidr in plan.aggregates().items()]) == []


def test_a_full_supernet_is_refused_with_what_is_left() -> None:
    tiny = BASE.model_copy(update={"supernet": "10.128.0.0/16", "regions": {"one": R, "two": R}})
    result = draft(tiny, None, DAY)
    assert "no room for region/two" in result.refusals[0].what


def test_reserved_ranges_of_the_fleet_are_avoided() -> None:
    from fleet.model import Reserved

    fleet = with_regions(one=R).model_copy(update={"reserved": [Reserved(cidr="10.0.0.0/9", why="the office")]})
    assert draft(fleet, None, DAY).plan.region("one").block == "10.128.0.0/16"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(9, 30), max_size=60))
def test_a_pool_gives_disjoint_blocks_of_the_asked_size(lengths: list[int]) -> None:
    pool, root = Pool(parse("10.0.0.0/8")), parse("10.0.0.0/8")
    taken = [(str(n), block) for n, length in enumerate(lengths) if (block := pool.take(length))]
    assert overlaps(taken) == []
    assert all(root.holds(block) and block.start % block.addresses == 0 for _, block in taken)
    assert pool.free_addresses == root.addresses - sum(block.addresses for _, block in taken)


def test_who_owns_an_address() -> None:
    plan = draft(with_regions(one=R), None, DAY).plan
    network = parse(plan.region("one").zones["a"].private)
    assert plan.owner(network.start + 5) == "region/one/zone/a/private"
    assert plan.owner("11.0.0.1") is None
    assert plan.owners(["11.0.0.1", str(Block(network.start, 32)).removesuffix("/32")]) == [
        None,
        "region/one/zone/a/private",
    ]
    with pytest.raises(ValueError, match="not an IPv4 address"):
        plan.owner("10.0.0")


def test_a_ledger_survives_the_way_through_its_file(tmp_path: Path) -> None:
    first = draft(with_regions(one=R, two=R), None, DAY)
    gone = draft(with_regions(two=R), first.ledger, DAY)
    ledgers.write(tmp_path / "fleet.lock.yaml", gone.ledger)
    assert ledgers.load(tmp_path / "fleet.lock.yaml") == gone.ledger


def test_machines_spread_over_zones_and_stay_where_they_are_when_a_zone_is_added() -> None:
    two, three = Region(cloud="aws", zones=["b", "a"]), Region(cloud="aws", zones=["c", "b", "a"])
    main = Cluster(region="one", kubernetes="1.36.2", etcd_members=3, api_servers=2)
    first = draft(with_regions(one=two).model_copy(update={"clusters": {"main": main}}), None, DAY)
    grown = main.model_copy(update={"etcd_members": 5})
    later = draft(with_regions(one=three).model_copy(update={"clusters": {"main": grown}}), first.ledger, DAY)

    def machines(plan: AddressPlan) -> dict[str, set[str]]:
        return {
            zone: {n for n in given.addresses if "balancer" not in n}
            for zone, given in plan.region("one").zones.items()
        }

    assert machines(first.plan) == {
        "a": {"shares", "main/etcd-1", "main/etcd-3", "main/api-1"},
        "b": {"shares", "main/etcd-2", "main/api-2"},
    }
    assert machines(later.plan) == {
        "a": {"shares", "main/etcd-1", "main/etcd-3", "main/api-1"},
        "b": {"shares", "main/etcd-2", "main/etcd-5", "main/api-2"},
        "c": {"shares", "main/etcd-4"},
    }
    assert {change.kind for change in later.changes} == {"new"}


def test_single_addresses_lie_in_the_kept_part_and_never_where_the_clouds_sit() -> None:
    fleet = with_regions(one=Region(cloud="aws", zones=["a"], size="small"))
    cluster = Cluster(region="one", kubernetes="1.36.2", etcd_members=5, api_servers=5)
    zone = draft(fleet.model_copy(update={"clusters": {"main": cluster}}), None, DAY).plan.region("one").zones["a"]
    kept, block = parse(zone.fixed), parse(zone.private)
    assert (kept.start, kept.length) == (block.start, 27)
    inside = [parse(f"{address}/32").start - kept.start for address in zone.addresses.values()]
    assert sorted(inside) == list(range(4, 4 + 12))


def test_clusters_that_find_no_room_for_their_machines_are_refused() -> None:
    fleet = with_regions(one=Region(cloud="aws", zones=["a"], size="small"))
    clusters = {f"c{n}": Cluster(region="one", kubernetes="1.36.2", etcd_members=5, api_servers=5) for n in range(3)}
    refused = draft(fleet.model_copy(update={"clusters": clusters}), None, DAY).refusals
    assert all("no address is left for region/one/zone/a/private/c" in refusal.what for refusal in refused)
    assert refused
