"""What a pool's stack reads and calls with, where its cluster is in another cloud."""

import asyncio
from typing import Any

import pytest

from components.pools.spec import pool_spec
from fleet.world import current
from stacks.pool import inputs
from tests.support.cloud import ROOT

HOME, AZURE = "us-west-2", "southcentralus"


@pytest.mark.parametrize(
    ("pool", "region", "asked"), [("south-gpu", AZURE, HOME), ("east-gpu", "us-east-1", "us-east-1")]
)
def test_the_cluster_s_machines_are_looked_at_in_their_own_cloud(
    pool: str, region: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any region's provider will do in AWS, whose look-ups name their region."""
    looked: list[Any] = []

    async def outputs(name: str) -> str:
        return name

    async def check(_world: Any, _stack: str, _cluster: str, provider: Any) -> None:
        looked.append(provider)

    monkeypatch.setattr(inputs, "region_outputs", outputs)
    monkeypatch.setattr(inputs, "cluster_outputs", outputs)
    monkeypatch.setattr(inputs.providers, "of", lambda _fleet, region: region)
    monkeypatch.setattr(inputs.tls, "Provider", lambda name: name)
    monkeypatch.setattr(inputs.versions, "check_follows", check)
    world = current(ROOT / "fleet.yaml")
    given = asyncio.run(inputs.given(world, region, pool_spec(world.fleet, world.plan, pool)))
    assert looked == [asked]
    assert (given.here, given.cluster) == (region, "main")
    assert set(given.providers) == {"azure-native" if region == AZURE else "aws", "tls"}
