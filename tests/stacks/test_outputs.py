"""The contract between stacks, and its page."""

import re

import pytest

from fleet.model import Fleet
from fleet.world import current
from stacks.catalogue import catalogue, no_stack, pools, unserved
from stacks.outputs import (
    AddOnsOutputs,
    ClusterOutputs,
    LaptopsOutputs,
    LinksOutputs,
    PoolOutputs,
    RegionOutputs,
    SitePoolOutputs,
)
from tests.support.cloud import ROOT

PAGE = (ROOT / "docs/guide/stack-outputs.md").read_text()


CONTRACTS = {
    "Of a region": RegionOutputs,
    "Of the links": LinksOutputs,
    "Of a cluster": ClusterOutputs,
    "Of the laptops": LaptopsOutputs,
    "Of a pool": PoolOutputs,
    "Of a site's pool": SitePoolOutputs,
    "Of a cluster's add-ons": AddOnsOutputs,
}


@pytest.mark.parametrize(("heading", "contract"), CONTRACTS.items())
def test_the_page_has_every_output_and_no_other(heading: str, contract: type) -> None:
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(contract.__annotations__)


@pytest.fixture
def fleet() -> Fleet:
    return current(ROOT / "fleet.yaml").fleet


def test_clusters_come_after_their_home_and_the_region_of_their_copies(fleet: Fleet) -> None:
    stacks = {stack.name: stack for stack in catalogue(fleet)}
    pools = ["site-gpu", "west-gpu", "east-gpu", "eu-gpu", "south-gpu", "cpu", "system"]
    assert list(stacks) == [
        "us-west-2",
        "us-east-1",
        "eu-west-1",
        "southcentralus",
        "links",
        "main",
        "us-west-2-laptops",
        *pools,
        "main-addons",
    ]
    assert stacks["east-gpu"].depends_on == ("us-east-1", "main")
    assert stacks["site-gpu"].depends_on == ("us-west-2", "main")
    assert set(stacks["main-addons"].depends_on) == {*fleet.regions, "main", "south-gpu"}
    assert (stacks["main"].kind, stacks["main"].region, stacks["main"].depends_on) == (
        "cluster",
        "us-west-2",
        ("us-west-2", "us-east-1"),
    )


def test_a_cluster_may_be_at_home_in_azure(fleet: Fleet) -> None:
    west = fleet.regions["us-west-2"].model_copy(update={"cloud": "azure"})
    changed = fleet.model_copy(update={"regions": {**fleet.regions, "us-west-2": west}})
    assert next(stack.kind for stack in catalogue(changed) if stack.name == "main") == "cluster"


def test_a_name_without_a_stack_is_told_the_names_there_are(fleet: Fleet) -> None:
    assert no_stack(fleet, "fleet.yaml", "mars").startswith("fleet.yaml has no stack mars. Its stacks: us-west-2, ")


def test_add_ons_come_after_pools_in_azure_on_whose_scale_sets_they_give_rights(fleet: Fleet) -> None:
    europe = fleet.regions["eu-west-1"].model_copy(update={"cloud": "azure"})
    changed = fleet.model_copy(update={"regions": {**fleet.regions, "eu-west-1": europe}})
    found = {stack.name: stack for stack in catalogue(changed)}
    assert found["eu-gpu"].region == "eu-west-1"
    assert "eu-gpu" in found["main-addons"].depends_on
    assert "west-gpu" not in found["main-addons"].depends_on


def test_laptops_without_a_cluster_are_told_of(fleet: Fleet) -> None:
    assert unserved(fleet) == []
    changed = fleet.model_copy(update={"clusters": {}, "pools": {}})
    assert [line.partition(",")[0] for line in unserved(changed)] == ["region us-west-2: laptops have no servers"]


def test_pools_have_stacks_of_their_own_after_region_and_cluster(fleet: Fleet) -> None:
    found = {stack.name: stack for stack in pools(fleet)}
    assert list(found) == ["site-gpu", "west-gpu", "east-gpu", "eu-gpu", "south-gpu", "cpu", "system"]
    assert found["site-gpu"][1:] == ("pool", "us-west-2", ("us-west-2", "main")), "a site's is at its cluster's home"
    assert found["east-gpu"][1:] == ("pool", "us-east-1", ("us-east-1", "main"))
    azure = fleet.regions["us-east-1"].model_copy(update={"cloud": "azure"})
    changed = fleet.model_copy(update={"regions": {**fleet.regions, "us-east-1": azure}})
    assert [stack.region for stack in pools(changed) if stack.name == "east-gpu"] == ["us-east-1"]
