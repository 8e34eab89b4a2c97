"""A cluster for workers, and machines of its pool west-gpu."""

import sys
from collections.abc import Callable, Iterator

import pytest

from tests.components.pools.joining_cluster import Cluster, make
from tests.local.workers.worker import Worker


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from make(tmp_path_factory.mktemp("workers"), gone=2, **{"pass": 0.5})


@pytest.fixture(scope="module")
def instances(cluster: Cluster) -> list[str]:
    return cluster.grow("example-west-gpu", 4)


@pytest.fixture
def worker(cluster: Cluster) -> Iterator[Callable[..., Worker]]:
    """Makes workers that end with the test."""
    made: list[Worker] = []

    def one(*given: str, **more: str) -> Worker:
        made.append(Worker(cluster, *given, **more))
        return made[-1]

    yield one
    for each in made:
        # Shown when the test fails.
        sys.stdout.write(f"{each.name}:\n{each.log()}")
        each.stop()
