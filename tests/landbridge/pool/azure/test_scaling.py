"""`landbridge pool` on scale sets of the local Azure and nodes of a real API server."""

from collections.abc import Iterator

import pytest

from landbridge.demo import burst_state
from landbridge.demo.burst import Burst
from landbridge.errors import LandbridgeError
from landbridge.pool import images, listing
from landbridge.pool.regions import RegionError
from landbridge.pool.resize import Outcome, Resize
from landbridge.pool.roll import How, Roll
from tests.landbridge.pool.azure.bed import REGION, SIZE, Bed, make
from tests.local.azure.conftest import azure  # noqa: F401
from tests.local.azure.support import LocalAzure
from tests.support.apiserver import server


@pytest.fixture(scope="module")
def whole(azure: LocalAzure, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:  # noqa: F811
    folder = tmp_path_factory.mktemp("pools")
    with server(folder, controllers=False) as api:
        yield from make(azure, folder, api)


@pytest.fixture
def bed(whole: Bed) -> Iterator[Bed]:
    yield whole
    whole.azure.own("faults", [])
    whole.azure.own("capacity", [])
    whole.azure.own("quotas", {})
    whole.dead.clear()


def sized(bed: Bed, pool: str, number: int, *, wait: bool = True, seconds: float = 60) -> Outcome:
    bed.told.clear()
    return Resize(bed.session, pool, bed.told.append, lambda _question: None).run(number, wait=wait, seconds=seconds)


def told(bed: Bed, pool: str) -> listing.State:
    (found,) = [one for one in listing.look(bed.session) if one.pool == pool]
    return found


def test_a_pool_grows_evenly_over_its_zones_and_its_machines_become_nodes(bed: Bed) -> None:
    outcome = sized(bed, "big", 3)
    assert (outcome.done, outcome.ready, outcome.desired) == (True, 3, {"both-big-1": 2, "both-big-2": 1})
    state = told(bed, "big")
    assert (state.desired, state.running, state.ready, state.trouble) == (3, 3, 3, ())
    assert state.image is not None
    assert (state.image.name, dict(state.image.machines), state.image.older) == ("bake-1.0.0", {"bake-1.0.0": 3}, 0)
    assert set(bed.machines("big")) <= set(bed.nodes())


def test_it_shrinks_by_idle_machines_and_their_nodes_go(bed: Bed) -> None:
    busy = sorted(bed.machines("big"))[0]
    bed.pod("work", busy)
    outcome = sized(bed, "big", 0)
    bed.end_pod("work")
    assert outcome.busy == {busy: ["default/work"]}
    assert len(outcome.removed) == 2
    assert not outcome.done
    assert list(bed.machines("big")) == [busy]
    assert [name for name in bed.nodes() if name.startswith("both-big")] == [busy]
    assert sized(bed, "big", 0).done
    assert [bed.capacity(name) for name in bed.sets("big")] == [0, 0]


def test_what_one_zone_has_no_hardware_for_is_asked_of_the_next_and_what_failed_goes(bed: Bed) -> None:
    bed.azure.own("capacity", [{"location": REGION, "size": SIZE, "zone": "1", "most": 0, "leaves_failed": True}])
    with pytest.raises(LandbridgeError, match=r"both-big-1 launches none: (Zonal)?AllocationFailed") as late:
        sized(bed, "big", 2, seconds=1)
    assert "what one group can't launch is asked of the pool's others" in str(late.value)
    state = told(bed, "big")
    assert state.running == 1
    assert any("both-big-1 launches none" in one for one in state.trouble)
    outcome = sized(bed, "big", 2)
    assert (outcome.ready, outcome.desired) == (2, {"both-big-1": 0, "both-big-2": 2})
    assert set(bed.machines("big").values()) == {"Succeeded"}, "nothing that failed holds a place"
    assert told(bed, "big").trouble == ()
    sized(bed, "big", 0)


def test_a_quota_is_told_with_what_to_do_and_nothing_is_asked_for(bed: Bed) -> None:
    bed.azure.own("quotas", {REGION: {"cores": 0}})
    with pytest.raises(
        RegionError, match=r"both-cpu-all can't be asked for 1 machines: .*quota.*ask for more"
    ) as error:
        sized(bed, "cpu", 1)
    assert REGION in str(error.value)
    assert bed.capacity("both-cpu-all") == 0


def test_a_region_that_is_throttled_is_silent_and_says_for_how_long(bed: Bed) -> None:
    match = {"method": "PATCH", "type": "Microsoft.Compute/virtualMachineScaleSets"}
    bed.azure.own("faults", [{"match": match, "status": 429, "code": "TooManyRequests", "retry_after_seconds": 600}])
    with pytest.raises(RegionError, match=r"no more such calls for another 600 s"):
        sized(bed, "cpu", 1)


def test_a_burst_counts_machines_that_azure_has_forgotten(bed: Bed) -> None:
    mine = burst_state.pools(bed.fleet, "main")
    assert list(mine) == ["big"]
    burst = Burst(bed.session, 2, mine, 1, {"big": 2}, {"big": 0}, burst_state.launched(bed.session, mine))
    sized(bed, "big", 2)
    found = burst.look()["big"]
    assert (found.asked, found.machines, found.ready) == (2, 2, 2)
    sized(bed, "big", 0)
    burst.look()
    burst.count()
    assert burst.bought == {"big": 2}
    assert burst.left(burst.row[-1][1]) == {}


def rolled(bed: Bed, pool: str) -> Roll:
    bed.told.clear()
    this = Roll(bed.session, pool, How(seconds=60), bed.told.append, lambda _question: None)
    this.run()
    return this


def test_a_roll_brings_all_machines_to_the_promoted_image_one_at_a_time(bed: Bed) -> None:
    sized(bed, "big", 2)
    before, old = set(bed.machines("big")), {name: one["metadata"]["uid"] for name, one in bed.nodes().items()}
    assert rolled(bed, "big").outcome.replaced == {}, "all are current"
    bed.promote("big", "2.0.0")
    with pytest.raises(LandbridgeError, match=r"start from .*/versions/1\.0\.0.* `landbridge up big --local` first"):
        images.wanted(bed.session, "big")
    bed.up("big")
    state = told(bed, "big")
    assert state.image is not None
    assert (state.image.name, state.image.older) == ("bake-2.0.0", 2)
    this = rolled(bed, "big")
    assert set(this.outcome.replaced) == before
    assert this.outcome.done
    assert this.outcome.at_a_time == 1
    after = set(bed.machines("big"))
    assert len(after) == 2
    assert not after & before
    assert not {name for name in before if name in bed.nodes()}, old
    state = told(bed, "big")
    assert state.image is not None
    assert (dict(state.image.machines), state.trouble) == ({"bake-2.0.0": 2}, ())


def test_a_successor_that_azure_does_not_give_stops_the_roll_and_is_named(bed: Bed) -> None:
    bed.promote("big", "3.0.0")
    bed.up("big")
    match = {"method": "PATCH", "type": "Microsoft.Compute/virtualMachineScaleSets"}
    bed.azure.own("faults", [{"match": match, "status": 409, "code": "AllocationFailed"}])
    with pytest.raises(LandbridgeError, match=r"has ended, and nobody comes in its place: .*AllocationFailed"):
        rolled(bed, "big")
    assert len(bed.machines("big")) == 1, "only one was away"
