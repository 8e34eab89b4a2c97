"""The local Azure's world: an operation that was going on when its server was killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from . import bed
from .bed import GROUP, Azure


@pytest.fixture
def azure(tmp_path: Path) -> Iterator[Azure]:
    yield from bed.served(tmp_path)


def test_an_operation_that_was_going_on_ends_after_a_kill(azure: Azure) -> None:
    local = azure.local
    local.own("pace", {"seconds": 30})
    body = {"location": "southcentralus", "properties": {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}}
    path = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/slow"
    operation = local.put(path, body).headers["Azure-AsyncOperation"].partition("azure.com")[2]
    azure.kill()
    azure.start()
    assert local.ask("GET", operation, version=None).json()["status"] == "InProgress"
    local.own("finish", {}, "POST")
    azure.end()
    azure.start()
    assert local.ask("GET", operation, version=None).json()["status"] == "Succeeded"
    assert local.ask("GET", path).json()["properties"]["provisioningState"] == "Succeeded"
