"""The examples of programs where Landbridge is a wheel in an environment of its own, and no checkout is on any path."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from landbridge.places import written_whole
from stacks.outputs import ClusterOutputs, PoolOutputs
from tests.support.cloud import ROOT
from tests.test_wheel import VERSION, Installed, wheel

from . import bed

# A control plane for each example, hosts of languages from source, npm's packages.
pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(3600)]
EXAMPLE = ROOT / "examples/own-program"
SECONDS = 900
PLUGINS = ("aws", "azure-native", "kubernetes", "tls", "random")
IMAGE = """\
import boto3
boto3.client("ssm", region_name="us-west-2").put_parameter(
    Name="/own/images/cpu/1.36.2/stable", Value="ami-0c00000000000c001", Type="String"
)
"""
__all__ = ["wheel"]  # its fixture


class World(NamedTuple):
    """Where a user has Landbridge, the fleet of the examples, and a state that the region is in."""

    installed: Installed
    fleet: Path

    @property
    def house(self) -> Path:
        return self.installed.packages / "landbridge/house"

    @property
    def programs(self) -> Path:
        return self.installed.home / f"data/landbridge/{VERSION}"

    def landbridge(self, *words: str) -> str:
        before, *after = " ".join(words).split(" -- ", 1)
        own = [*before.split(), "--fleet", str(self.fleet), *(["--", *words[words.index("--") + 1 :]] if after else [])]
        return self.installed.run("landbridge", *own, seconds=SECONDS).stdout

    def pulumi(self, folder: Path, *words: str) -> str:
        """Inside the local cloud; what is on its path is the user's."""
        path = os.pathsep.join(map(str, (self.programs / "bin", bed.LANGUAGES, self.installed.bin, os.environ["PATH"])))
        settings = {
            **bed.OFFLINE,
            "PATH": path,
            "PULUMI_BACKEND_URL": written_whole(f"file://{self.installed.home}/state/landbridge/local/own/state"),
            "PULUMI_CONFIG_PASSPHRASE": "local",
            "PULUMI_HOME": str(self.installed.home / "pulumi"),
        }
        before = ["env", "-C", str(folder), *(f"{name}={value}" for name, value in settings.items())]
        return self.landbridge("local", "exec", "--", *before, "pulumi", "--non-interactive", *words)


@pytest.fixture(scope="module")
def world(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """With a copy of the examples in which no path leads to the checkout."""
    installed = Installed(wheel, tmp_path_factory.mktemp("installed"))
    shutil.copytree(EXAMPLE, installed.work / "own")
    made = World(installed, installed.work / "own/fleet.yaml")
    installed.run("landbridge", "setup", "--local", seconds=SECONDS)
    try:
        made.landbridge("up", "--local", "--yes", "us-west-2")
        made.landbridge("local", "exec", "--", str(installed.bin / "python"), "-c", IMAGE)
        yield made
    finally:
        installed.run("landbridge", "local", "forget", "--yes")


def in_python(world: World, folder: Path) -> str:
    """The SDK stands where the program finds it; gives the runtime of its Pulumi.yaml."""
    place = bed.installed(sdk(world, folder, "python"))
    program = folder / "__main__.py"
    program.write_text(f"import sys\nsys.path.insert(0, {str(place)!r})\n{program.read_text()}")
    return f"{{name: python, options: {{virtualenv: {world.installed.environment}}}}}"


def in_typescript(world: World, folder: Path) -> str:
    """The same by npm."""
    bed.build_languages()
    made = sdk(world, folder, "nodejs")
    bed.run(folder, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", f"@pulumi/landbridge@file:{made}")
    # What its script would do, which newer versions of npm run no more unasked, and older ones before tsc is there.
    bed.run(folder, "npx", "--no-install", "tsc", "-p", "node_modules/@pulumi/landbridge")
    return "nodejs"


def in_yaml(_: World, __: Path) -> str:
    """It takes the package as it is."""
    bed.build_languages()
    return "yaml"


LANGUAGES: dict[str, Callable[[World, Path], str]] = {
    "python": in_python,
    "typescript": in_typescript,
    "yaml": in_yaml,
}


def sdk(world: World, folder: Path, language: str) -> Path:
    """Of the environment's own plugin."""
    (made := folder.with_name(f"sdk-{language}")).mkdir()
    return bed.sdk(made, language, world.installed.bin / "pulumi-resource-landbridge")


def project(world: World, folder: Path, runtime: str) -> None:
    """The example's own with the local cloud's plugins; ours is on the PATH, as where the environment is active."""
    plugins = "".join(f"    - {{name: {name}, path: {world.house / 'local/plugins' / name}}}\n" for name in PLUGINS)
    _, resources, rest = (folder / "Pulumi.yaml").read_text().partition("resources:\n")
    (folder / "Pulumi.yaml").write_text(
        f"name: own-program\nruntime: {runtime}\nconfig:\n  fleet: {world.fleet}\nplugins:\n  providers:\n{plugins}"
        f"{resources}{rest}"
    )


def test_every_example_is_tried() -> None:
    assert sorted(LANGUAGES) == sorted(path.name for path in EXAMPLE.iterdir() if path.is_dir())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_makes_the_cluster(world: World, language: str) -> None:
    folder = world.fleet.parent / language
    project(world, folder, LANGUAGES[language](world, folder))
    world.pulumi(folder, "stack", "init", language)
    world.pulumi(folder, "up", "--yes", "--skip-preview")
    told = json.loads(world.pulumi(folder, "stack", "output", "--json"))
    assert sorted(told["second"]) == sorted(ClusterOutputs.__annotations__)
    assert sorted(told["second-cpu"]) == sorted(PoolOutputs.__annotations__)
    assert told["endpoint"] == "https://second.us-west-2.fleet.example.com:6443"
    world.pulumi(folder, "up", "--yes", "--skip-preview", "--expect-no-changes")
    # Protected things too: names of the next one's are the same.
    world.pulumi(folder, "destroy", "--yes", "--skip-preview", "--ignore-protect", "--remove")
