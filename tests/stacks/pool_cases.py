"""What holds of pools in every cloud; test_pool.py and azure/test_pool.py take these in, each with pools of its own."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from stacks.outputs import PoolOutputs, SitePoolOutputs
from tests.local.machines.inside import eventually
from tests.stacks.pool_bed import BOOT_SECONDS, Pools
from tests.support import golden


def for_each_pool(metafunc: pytest.Metafunc, pools: Sequence[str], golden: Sequence[str]) -> None:
    """What pytest_generate_tests of a file does that takes the cases in."""
    if "pool" in metafunc.fixturenames:
        metafunc.parametrize("pool", golden if "folder" in metafunc.fixturenames else pools)


@pytest.fixture
def folder(request: pytest.FixtureRequest) -> Path:
    """Where the golden files of this cloud lie."""
    return request.path.parent / "golden"


@pytest.mark.golden
def test_a_pool_s_resources_are_those_of_the_golden_file(pools: Pools, pool: str, folder: Path) -> None:
    found = golden.resources(pools.state(pool), {pools.region: pools.state(pools.region)})
    golden.compare(folder / f"pool.{pool}.yaml", found)


def test_a_second_up_changes_nothing(pools: Pools, pool: str) -> None:
    pools.up(pool, "--refresh", "--expect-no-changes")


def test_policies_can_judge_a_pool_before_anything_stands_and_find_no_fault(pools: Pools) -> None:
    for output in pools.previewed.values():
        assert "landbridge@" in output, "the pack ran"
        assert "mandatory" not in output
        assert re.search(r"\+ \d+ to create", output)


def test_a_pool_without_an_image_is_refused_at_preview(pools: Pools) -> None:
    output = " ".join(pools.without_image.split())
    assert f"pool {pools.imageless} in {pools.region}: there is no image" in output
    assert "Bake one and promote it" in output
    assert "Traceback" not in output


def test_it_publishes_the_contract_and_no_secret(pools: Pools, pool: str) -> None:
    outputs = pools.outputs(pool)
    contract = PoolOutputs if "groups" in outputs else SitePoolOutputs
    assert outputs.keys() == contract.__annotations__.keys()
    assert "[secret]" not in json.dumps(outputs)
    assert "PRIVATE KEY" not in json.dumps(pools.state(pool))
    for name in outputs.get("groups", {}).values():
        assert pools.cluster_of(name) == "main"


def destroying_asks_and_leaves_nothing(pools: Pools, protected: str) -> None:
    """The last of all: a file calls it at its end."""
    refused = pools.run("destroy", "--yes", "--skip-preview", "-s", protected, code=None)
    assert "is protected" in " ".join(refused.split()) or "cannot be deleted" in refused
    for pool in pools.pools:
        pools.run("state", "unprotect", "--all", "--yes", "-s", pool)
        pools.run("destroy", "--yes", "--skip-preview", "-s", pool)
    eventually(lambda: pools.standing() == pools.before, BOOT_SECONDS)
