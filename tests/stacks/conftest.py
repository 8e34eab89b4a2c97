"""The whole example fleet on a local cloud, brought up once for all tests of its stacks."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.providers.test_engine import Project
from tests.support.cloud import ROOT, Cloud

STATES = "local/example/state/.pulumi/stacks/landbridge"


@pytest.fixture(scope="package")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    folder = tmp_path_factory.mktemp("example")
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        (folder / name).write_text((ROOT / name).read_text())
    made = Cloud(folder / "home", folder / "fleet.yaml")
    try:
        # Pools and add-ons have a fleet of their own: tests/e2e/test_hybrid.py.
        regions = ("us-west-2", "us-east-1", "eu-west-1", "southcentralus")
        made.run("up", "--local", "--yes", *regions, "links", "main", "us-west-2-laptops")
        shutil.copytree(made.home / STATES, folder / "states")
        yield made
    finally:
        made.stop()


@pytest.fixture
def states(cloud: Cloud) -> Path:
    """As they were when all had come up. A refresh later on writes down what another stack did to a resource, too."""
    return cloud.home.parent / "states"


@pytest.fixture
def project(cloud: Cloud, tmp_path: Path) -> Iterator[Project]:
    """A project whose programs stand beside the fleet's stacks and can read from them."""
    made = Project(tmp_path / "p", cloud, name="landbridge", state=cloud.home / "local/example/state", phrase="local")
    yield made
    made.pulumi("stack", "rm", "dev", "--yes", "--force")
