"""What comes next in an update, from what is; and that it goes on from wherever it was left."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from landbridge.kubernetes_update.run import How, Update, UpdateError
from landbridge.kubernetes_update.steps import Pool, Seen, Step, steps

OLD, NEW = "1.35.8", "1.36.2"
LATER = datetime(2026, 12, 1, 22, tzinfo=UTC)
MACHINES = ("main-api-1", "main-api-2", "main-etcd-1")


def seen(**other: object) -> Seen:
    """All of it to do: a pool in a cloud, one at a site, and one whose machines are no nodes."""
    pools = {
        "west": Pool("us-west-2", site=False, joins=True, kubelets={"i-1": OLD, "i-2": OLD}),
        "room": Pool("lab", site=True, joins=True, kubelets={"lab-host-1": OLD}),
        "shell": Pool("us-west-2", site=False, joins=False, kubelets={}),
    }
    first = Seen("main", NEW, OLD, OLD, dict.fromkeys(MACHINES, OLD), [], {"west": OLD, "main-addons": OLD}, pools, {})
    return first._replace(**other)  # type: ignore[arg-type]


def states(found: Sequence[Step]) -> list[tuple[str, str]]:
    return [(one.kind, one.state) for one in found]


FOLLOWED = {"file": NEW, "published": NEW, "machines": dict.fromkeys(MACHINES, NEW)}


def test_all_of_it_in_the_order_of_the_skew_policy() -> None:
    assert states(steps(seen())) == [
        ("file", "to do"),
        ("publish", "to do"),
        ("machines", "to do"),
        ("follow", "to do"),
        ("pool", "to do"),
        ("hosts", "people"),
    ]


def test_half_of_it() -> None:
    half = seen(**{**FOLLOWED, "machines": {"main-api-1": NEW, "main-api-2": OLD, "main-etcd-1": NEW}})
    machines = steps(half)[2]
    assert (machines.state, machines.left) == ("to do", 1)
    assert machines.words == "1 of 3 machines of the control plane are replaced, one at a time"
    west = half.pools["west"]._replace(kubelets={"i-1": NEW, "i-2": OLD})
    assert (
        steps(half._replace(pools={"west": west}))[4].words == "1 of 2 machines of west are replaced, a part at a time"
    )


def test_all_is_done() -> None:
    pools = {"west": Pool("us-west-2", site=False, joins=True, kubelets={"i-1": NEW})}
    over = seen(**FOLLOWED, followers={"west": NEW}, pools=pools)
    assert {one.state for one in steps(over)} == {"done"}
    assert {one.state for one in steps(over._replace(pools={}, followers={}))} == {"done"}


def test_newer_images_of_the_same_version_are_rolled_too() -> None:
    pools = {"west": Pool("us-west-2", site=False, joins=True, kubelets={"i-1": NEW, "i-2": NEW}, older=1)}
    found = steps(seen(**FOLLOWED, followers={"west": NEW}, pools=pools, behind=["main-etcd-1"]))
    assert [(one.kind, one.left) for one in found if one.state == "to do"] == [("machines", 1), ("pool", 1)]


def test_windows_are_of_the_region_and_of_each_pool() -> None:
    found = steps(seen(opens={"main": LATER, "west": None}))
    assert (found[2].state, found[2].opens) == ("waits", LATER)
    assert found[4].state == "to do"


def update(how: How) -> Update:
    return Update(lambda: None, NEW, how, lambda _: None, lambda _: None)  # type: ignore[arg-type, return-value]


def test_a_window_of_the_control_plane_stops_all_and_one_of_a_pool_that_pool() -> None:
    published = seen(file=NEW, published=NEW, opens={"main": LATER})
    assert update(How()).next(steps(published)) is None
    waits = update(How(wait=True)).next(steps(published))
    assert waits is not None
    assert (waits.kind, waits.state) == ("machines", "waits")
    pools = {"west": seen().pools["west"], "east": seen().pools["west"]}
    both = seen(**FOLLOWED, followers={"west": NEW}, pools=pools, opens={"west": LATER})
    found = update(How()).next(steps(both))
    assert found is not None
    assert found.name == "east"


def test_what_was_done_and_is_not_so_is_not_done_for_ever() -> None:
    this = update(How())
    this.tried.add(("file", "main"))
    with pytest.raises(UpdateError, match=f"that was done, and is not so: the fleet file says {NEW}"):
        this.next(steps(seen()))
    # Work that stays leaves a pool behind; that is no error.
    this.tried = {("pool", "west")}
    assert this.next(steps(seen(**FOLLOWED, followers={"west": NEW}))) is None
