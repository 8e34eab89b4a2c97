"""One local Azure for a file's tests, and an empty group for each test."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from azure.mgmt.compute import ComputeManagementClient

from tests.support.wires import Wires

from .machines import Pools
from .network_support import Place
from .packets_support import Networks
from .support import SUBSCRIPTION, LocalAzure, served


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAzure]:
    home: Path = tmp_path_factory.mktemp("azure")
    yield from served(home)


@pytest.fixture
def group(azure: LocalAzure) -> Iterator[str]:
    """The name of a resource group of the test's own, in southcentralus."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    made: Any = azure.put(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}", {"location": "southcentralus"})
    assert made.status_code == 201
    yield name
    azure.own("faults", [])
    azure.own("pace", {})


@pytest.fixture
def place(group: str) -> str:
    """The group's id."""
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}"


@pytest.fixture
def here(azure: LocalAzure, place: str) -> Place:
    return Place(azure, place)


@pytest.fixture(scope="module")
def compute(azure: LocalAzure) -> Any:
    """Azure's client of Compute."""
    return azure.client(ComputeManagementClient)


@pytest.fixture
def pools(azure: LocalAzure, compute: Any, group: str) -> Iterator[Pools]:
    """A test's scale set, which is gone after it: quotas and hardware count the machines of all groups."""
    pools = Pools(azure, compute, group)
    yield pools
    azure.own("faults", [])
    azure.own("pace", {})
    azure.ask("DELETE", pools.path)
    azure.own("capacity", [])
    azure.own("quotas", {})


@pytest.fixture
def wires(tmp_path: Path) -> Iterator[Wires]:
    made = Wires(tmp_path)
    yield made
    made.close()


@pytest.fixture
def networks(azure: LocalAzure, here: Place, wires: Wires) -> Networks:
    here.network()
    return Networks(azure, here, wires)
