"""A whole cluster in which a team queues its runs: two hosts at a site, and what can be bought in two regions."""

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from components.addons import controllers, system_pods
from tests.components.pools.joining_client import eventually
from tests.support import saved
from tests.support.cloud import COMMAND, Cloud

from .standing import kubectl
from .worlds import HYBRID, WORLDS

WITHOUT = HYBRID.replace("storage:\n", "images: {runs: registry.example.com/train:1}\nstorage:\n").replace(
    "{homes: {path: /homes}}", "{homes: {path: /homes}, results: {path: /results}}"
)
QUEUED = WITHOUT.replace("lab: {gid: 2001}", "lab: {gid: 2001, queues: {main: {gpus: 16, borrows: 0}}}")
SPACE = controllers.SPACE
READY_SECONDS = 300


class Queued:
    """One `cluster` of a fleet; a fleet with one needs it not to be named."""

    def __init__(self, cloud: Cloud, cluster: str = "") -> None:
        self.cloud = cloud
        self.which = ("--cluster", cluster) if cluster else ()

    def kubectl(self, *words: str, stdin: str = "") -> str:
        return kubectl(self.cloud, *self.which, *words, stdin=stdin)

    def get(self, *words: str) -> Any:
        return json.loads(self.kubectl("get", *words, "-o", "json"))

    def make(self, manifest: dict[str, Any]) -> None:
        self.kubectl("create", "-f", "-", stdin=json.dumps(manifest))

    def refused(self, manifest: dict[str, Any]) -> str:
        """What the API says of something that it does not take."""
        command = [COMMAND, "kubectl", "--local", *self.which, "--fleet", str(self.cloud.fleet), "create", "-f", "-"]
        done = subprocess.run(
            command,
            input=json.dumps(manifest),
            capture_output=True,
            text=True,
            env=self.cloud._environment(),
            check=False,
            timeout=120,
        )
        assert done.returncode, done.stdout
        return done.stderr

    def ready(self, name: str) -> bool:
        status = self.get("-n", SPACE, "deployment", name)["status"]
        return int(status.get("readyReplicas", 0)) == system_pods.REPLICAS


@pytest.fixture(scope="session")
def queued(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queued]:
    """For the files that tests/conftest.py gives to one worker."""
    with saved.opened(tmp_path_factory, "at-rest", *WORLDS["at-rest"]) as cloud:
        cloud.fleet.write_text(QUEUED)
        early = cloud.run("queue", "--local", code=2).stderr
        assert "main has no queues yet. fleet.yaml has some, of lab: `landbridge up --local" in " ".join(early.split())
        yield begun(cloud)


def begun(cloud: Cloud, cluster: str = "") -> Queued:
    """With the queues that its fleet file has."""
    cloud.run("up", "--local", "--yes", seconds=900)
    found = Queued(cloud, cluster)
    for name in ("kueue", "jobset"):
        eventually(partial(found.ready, name), READY_SECONDS)
    return found
