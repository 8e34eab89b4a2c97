"""The second example fleet on the real engine: control plane in Azure, GPUs in a machine room. All of it that is built."""

from collections.abc import Iterator

import pytest

from fleet.loader import load
from stacks.catalogue import catalogue
from tests.e2e.test_lifecycle import changes
from tests.fleet.test_examples import AZURE
from tests.support.cloud import Cloud

pytestmark = pytest.mark.cloud


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    folder = tmp_path_factory.mktemp("room")
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        (folder / name).write_text((AZURE.parent / name).read_text())
    made = Cloud(folder / "home", folder / "fleet.yaml")
    yield made
    made.stop()


def test_it_comes_up_by_its_committed_ledger_and_stays_unchanged(cloud: Cloud) -> None:
    created = changes(cloud.report("up", "--local", "--yes"))
    assert created.keys() == {stack.name for stack in catalogue(load(cloud.fleet))}
    assert all(set(counts) == {"created"} for counts in created.values()), created
    unchanged = changes(cloud.report("up", "--local", "--yes", "--expect-no-changes"))
    assert all(set(counts) == {"same"} for counts in unchanged.values()), unchanged


def test_the_room_has_four_tunnels_to_its_region(cloud: Cloud) -> None:
    told = cloud.report("links", "check", "--local", code=None)
    assert {one["tunnel"] for one in told["tunnels"]} == {f"lab/southcentralus/{n}" for n in (1, 2, 3, 4)}
