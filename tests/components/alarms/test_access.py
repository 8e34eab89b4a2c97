"""Who may tell whom: the documents against a golden file, and names that a cloud takes."""

from pathlib import Path

import pytest

from components.alarms.aws import access
from fleet import cloud_alarms
from fleet.model import Fleet
from fleet.world import current
from tests.support import golden
from tests.support.cloud import ROOT

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return current(ROOT / "fleet.yaml").fleet.model_copy(update={"cloud_alarms": ["ops@example.com"]})


@pytest.mark.golden
def test_what_lets_alarms_in(fleet: Fleet) -> None:
    value = {
        "topic": access.topic_policy(fleet, "us-west-2"),
        "key": access.key_statement(fleet, "us-west-2"),
        "told": {region: cloud_alarms.told(fleet, region) for region in fleet.regions},
        "short": cloud_alarms.short(fleet),
    }
    golden.compare(HERE / "golden/alarms.yaml", value)


def test_nobody_is_told_of_a_fleet_without_addresses(fleet: Fleet) -> None:
    silent = fleet.model_copy(update={"cloud_alarms": []})
    assert {*(tuple(cloud_alarms.told(silent, region)) for region in fleet.regions)} == {()}


def test_a_group_s_short_name_is_one_that_azure_takes(fleet: Fleet) -> None:
    long = fleet.model_copy(update={"fleet": "a-fleet-with-a-long-name"})
    assert len(cloud_alarms.short(long)) <= cloud_alarms.SHORT
    assert cloud_alarms.short(long) != cloud_alarms.short(long.model_copy(update={"fleet": "a-fleet-with-another"}))
