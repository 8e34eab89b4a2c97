"""Rollbacks in two regions of the local AWS to images that are gone or not ours."""

from pathlib import Path

import pytest

from fleet.image_names import parameter
from images import channels
from images.errors import ImageError
from images.stores.aws.store import Aws

from ..store_bed import KUBERNETES, promoted, said
from . import bed

REGIONS = bed.REGIONS[:2]
NEW = "cpu-1.36.2-111111111111"


def rolled_back(store: Aws) -> None:
    moves, _ = channels.rollback(channels.look(store), None, None)
    channels.do(store, moves, "bob", channels.ROLLBACK)


def test_no_channel_is_led_to_an_image_that_is_gone(endpoint: str, tmp_path: Path) -> None:
    store = bed.store(endpoint, tmp_path, "gone", REGIONS)
    first = {region: bed.registered(store, region, "first", tagged=False) for region in REGIONS}
    for region in REGIONS:
        name = parameter("gone", KUBERNETES)
        store.of(region)("ssm").put_parameter(Name=name, Value=first[region], Type="String")
        bed.registered(store, region, NEW)
    promoted(store, NEW)
    before = said(store), said(store, "retired")
    east = store.of(REGIONS[1])("ec2")
    east.deregister_image(ImageId=first[REGIONS[1]])
    with pytest.raises(ImageError, match=rf"^{first[REGIONS[1]]} is not in us-east-1.*promote NAME --force.*Nothing"):
        rolled_back(store)
    assert (said(store), said(store, "retired")) == before, "not in the other region either"
    there = bed.store(endpoint, tmp_path, "gone", REGIONS[:1])
    rolled_back(there)
    assert (said(there), said(there, "retired")) == ([first[REGIONS[0]]], [NEW]), (
        "one that is there needs no tags of ours"
    )
