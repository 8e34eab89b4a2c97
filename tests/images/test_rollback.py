"""Rollbacks in two regions of the local AWS: ended early after each write, and to images that are gone or not ours."""

from pathlib import Path

import pytest

from fleet.image_names import STABLE, parameter
from images import channels
from images.errors import ImageError
from images.stores.aws.store import Aws

from . import store_bed as bed

REGIONS = bed.REGIONS[:2]
OLD, NEW = "cpu-1.36.2-000000000000", "cpu-1.36.2-111111111111"


def promoted(store: Aws, *names: str) -> None:
    for name in names:
        channels.do(store, channels.promotion(channels.look(store), name, STABLE, force=True), "alice", "promote")


def rolled_back(store: Aws, writes: int | None = None) -> None:
    """With a number: it ends early, after so many writes."""
    moves, _ = channels.rollback(channels.look(store), None, None)
    channels.do(store, moves[:writes], "bob", channels.ROLLBACK)


def said(store: Aws) -> list[tuple[str, str]]:
    """What is stable and what is retired, in each region."""
    found = []
    for there in channels.look(store).values():
        held = {slot.channel: there.name(one.image) for slot, one in there.pointers.items()}
        found.append((held["stable"], held["retired"]))
    return found


def test_whichever_write_it_ends_after_the_same_command_ends_it(endpoint: str, tmp_path: Path) -> None:
    store = bed.store(endpoint, tmp_path, "rolled", REGIONS)
    for region in REGIONS:
        for name in (OLD, NEW):
            bed.registered(store, region, name)
    promoted(store, OLD)
    for writes in range(1, 4):
        promoted(store, NEW)
        rolled_back(store, writes)
        rolled_back(store)
        assert said(store) == [(OLD, NEW)] * 2, writes
    rolled_back(store, 1)
    rolled_back(store)
    assert said(store) == [(NEW, OLD)] * 2, "a second one goes forth again"


def test_no_channel_is_led_to_an_image_that_is_gone(endpoint: str, tmp_path: Path) -> None:
    store = bed.store(endpoint, tmp_path, "gone", REGIONS)
    first = {region: bed.registered(store, region, "first", tagged=False) for region in REGIONS}
    for region in REGIONS:
        name = parameter("gone", bed.KUBERNETES)
        store.of(region)("ssm").put_parameter(Name=name, Value=first[region], Type="String")
        bed.registered(store, region, NEW)
    promoted(store, NEW)
    before = said(store)
    east = store.of(REGIONS[1])("ec2")
    east.deregister_image(ImageId=first[REGIONS[1]])
    with pytest.raises(ImageError, match=rf"^{first[REGIONS[1]]} is not in us-east-1.*promote NAME --force.*Nothing"):
        rolled_back(store)
    assert said(store) == before, "not in the other region either"
    there = bed.store(endpoint, tmp_path, "gone", REGIONS[:1])
    rolled_back(there)
    assert said(there) == [(first[REGIONS[0]], NEW)], "one that is there needs no tags of ours"
