"""What tests of pools begin with: a region that is real, a cluster that only publishes what a pool reads, and its pools.

For machines of a control plane take minutes, and no pool's stack asks them anything.
"""

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from stacks.outputs import ClusterOutputs
from tests.local.providers.test_engine import Project
from tests.support import cloud as clouds
from tests.support.cloud import COMMAND, ROOT, Cloud
from tests.support.node_certificates import certificate

BOOT_SECONDS = 180
STACKS = """\
import runpy, sys
sys.path.insert(0, {root!r})
runpy.run_path({root!r} + "/stacks", run_name="__main__")
"""
AUTHORITY = certificate("kubernetes", organization="landbridge", ca=True).pem


class Pools:
    """The region with its cluster's outputs, and the program of every stack.

    `before` is what stood without pools; `previewed` what previews said of the `judged` pools while nothing at all
    stood, and `without_image` that of the `imageless` one before there was any.
    """

    region: ClassVar[str]
    pools: ClassVar[Sequence[str]]
    judged: ClassVar[Sequence[str]]
    imageless: ClassVar[str]
    before: dict[str, Any]
    previewed: dict[str, str]
    without_image: str

    def __init__(self, folder: Path, cloud: Cloud) -> None:
        self.cloud, self.backend = cloud, cloud.home / "local/test/state"
        self.project = Project(folder, cloud, name="landbridge", state=self.backend, phrase="local")
        self.program(STACKS.format(root=str(ROOT)))

    def program(self, text: str) -> None:
        (self.project.folder / "__main__.py").write_text(text)

    def publish(self) -> None:
        """The cluster's outputs."""
        told = {**dict.fromkeys(ClusterOutputs.__annotations__, "-"), "authority": AUTHORITY}
        self.program("import pulumi\n" + "".join(f"pulumi.export({key!r}, {told[key]!r})\n" for key in told))
        self.run("up", "--yes", "--skip-preview", "-s", "main")
        self.program(STACKS.format(root=str(ROOT)))

    def run(self, *arguments: str, code: int | None = 0) -> str:
        return self.project.pulumi(*arguments, code=code, before=[f"LANDBRIDGE_FLEET={self.cloud.fleet}"])

    def up(self, pool: str, *arguments: str, code: int | None = 0) -> str:
        return self.run("up", "--yes", "--skip-preview", "-s", pool, *arguments, code=code)

    def preview(self, pool: str, code: int | None = 0) -> str:
        """Under the policies."""
        return self.run("preview", "--policy-pack", str(ROOT / "policies"), "-s", pool, code=code)

    def state(self, stack: str) -> dict[str, Any]:
        return dict(json.loads((self.backend / f".pulumi/stacks/landbridge/{stack}.json").read_text()))

    def outputs(self, stack: str) -> dict[str, Any]:
        return dict(json.loads(self.run("stack", "output", "--json", "-s", stack)))

    def local(self, *arguments: str) -> str:
        """The output of `landbridge local`."""
        words = [COMMAND, "local", *arguments]
        return subprocess.run(
            words, capture_output=True, text=True, env=self.cloud._environment(), check=False, timeout=60
        ).stdout

    def publish_images(self) -> None:
        """What machines without and with GPUs start from."""
        raise NotImplementedError

    def standing(self) -> dict[str, Any]:
        """What the region holds, and whatever outside of it a pool could leave."""
        raise NotImplementedError

    def cluster_of(self, group: str) -> str:
        """What a scaling group's tag says."""
        raise NotImplementedError

    def booted(self, machine: str) -> str:
        """Its log, once it has booted its bundle."""
        log = self.local("logs", machine)
        return log if "boot: done" in log else ""


def brought_up(bed: type[Pools], folders: pytest.TempPathFactory, fleet: str) -> Iterator[Pools]:
    cloud = clouds.make(folders.mktemp("pools"), fleet)
    try:
        cloud.run("preview", "--local", bed.region)  # makes the region's stack, and nothing in it
        made = bed(folders.mktemp("program") / "p", cloud)
        for stack in ("main", *made.pools):
            made.run("stack", "init", stack)
        made.without_image = made.preview(made.imageless, code=None)
        made.publish_images()
        made.previewed = {pool: made.preview(pool) for pool in made.judged}
        cloud.run("up", "--local", "--yes", made.region)
        made.publish()
        made.before = made.standing()
        for pool in made.pools:
            made.up(pool)
        yield made
    finally:
        cloud.stop()
