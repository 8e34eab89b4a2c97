"""The package in other languages: SDKs that Pulumi makes of it, and the examples that use them on the local cloud."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.outputs import ClusterOutputs, PoolOutputs
from tests.local.providers.test_engine import Project
from tests.support.cloud import ROOT, Cloud

from . import bed

# Hosts of three languages from source, npm's packages, and a control plane for each example.
pytestmark = [pytest.mark.matrix, pytest.mark.timeout(3600)]
EXAMPLE = ROOT / "examples/own-program"
SECONDS = 800
COMPONENTS = ("region", "links", "cluster", "pool", "addOns")


@pytest.fixture(scope="module", autouse=True)
def languages() -> None:
    bed.build_languages()


@pytest.mark.parametrize(("language", "folder", "ending"), [("nodejs", "", "ts"), ("go", "landbridge", "go")])
def test_there_is_an_sdk(language: str, folder: str, ending: str, tmp_path: Path) -> None:
    made = bed.sdk(tmp_path, language) / folder
    text = {name: (made / f"{name}.{ending}").read_text() for name in COMPONENTS}
    assert all(f"landbridge:index:{name[0].upper()}{name[1:]}" in text[name] for name in COMPONENTS)
    assert "kubernetes" in text["cluster"].lower()


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    """The example's fleet, whose region stands."""
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        shutil.copy(EXAMPLE / name, tmp_path / name)
    made = Cloud(tmp_path / "home", tmp_path / "fleet.yaml")
    made.run("up", "--local", "--yes", "us-west-2")
    name, image = "/own/images/cpu/1.36.2/stable", "ami-0c00000000000c001"
    made.python(f"client('ssm', 'us-west-2').put_parameter(Name={name!r}, Value={image!r}, Type='String')")
    yield made
    made.stop()


def written(project: Project, language: str, runtime: str) -> None:
    """The example in the project's folder, whose Pulumi.yaml knows the local cloud's plugins."""
    own = (project.folder / "Pulumi.yaml").read_text()
    for file in (EXAMPLE / language).iterdir():
        shutil.copy(file, project.folder / file.name)
    theirs = (project.folder / "Pulumi.yaml").read_text()
    plugins = own[own.index("plugins:") :]
    # The plugin is named in `plugins`, since `packages` would install it first.
    rest = theirs.partition("resources:\n")
    (project.folder / "Pulumi.yaml").write_text(
        f"name: own-program\nruntime: {runtime}\nconfig:\n  fleet: {project.cloud.fleet}\n{plugins}{rest[1]}{rest[2]}"
    )


def makes_the_cluster(project: Project) -> None:
    path = [f"PATH={bed.path()}"]
    project.pulumi("up", "--yes", "--skip-preview", before=path, seconds=SECONDS)
    told = json.loads(project.pulumi("stack", "output", "--json", before=path))
    assert sorted(told["second"]) == sorted(ClusterOutputs.__annotations__)
    assert sorted(told["second-cpu"]) == sorted(PoolOutputs.__annotations__)
    assert told["endpoint"] == "https://second.us-west-2.fleet.example.com:6443"
    project.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes", before=path, seconds=SECONDS)


@pytest.mark.cloud
def test_the_example_in_python_makes_the_cluster_holds_steps_and_makes_it_anew(cloud: Cloud, tmp_path: Path) -> None:
    project = bed.project(tmp_path / "project", cloud)
    place = bed.installed(bed.sdk(tmp_path / "sdk", "python"))
    program, text = project.folder / "__main__.py", (EXAMPLE / "python/__main__.py").read_text()
    head = f"import sys\nsys.path.insert(0, {str(place)!r})\n"
    program.write_text(head + text)
    makes_the_cluster(project)
    # What it exported is what the next one is compared with.
    older = "second.outputs.apply(lambda told: {**told, 'kubernetes': '1.34.9'}))\n"
    program.write_text(head + text.replace("second.outputs)\n", older, 1))
    project.pulumi("up", "--yes", "--skip-preview", seconds=SECONDS)
    program.write_text(head + text)
    said = " ".join(project.pulumi("preview", code=None, seconds=SECONDS).split())
    assert "has a problem: fleet.yaml: cluster second: " in said
    # Protected things too: then the same is built anew, under the names that it had in the cloud.
    project.pulumi("destroy", "--yes", "--skip-preview", "--ignore-protect", seconds=SECONDS)
    assert "landbridge:index:" not in project.pulumi("stack", "--show-urns")
    makes_the_cluster(project)


@pytest.mark.cloud
def test_the_example_in_yaml_makes_the_cluster(cloud: Cloud, tmp_path: Path) -> None:
    project = bed.project(tmp_path / "project", cloud)
    written(project, "yaml", "yaml")
    makes_the_cluster(project)


@pytest.mark.cloud
def test_the_example_in_typescript_makes_the_cluster(cloud: Cloud, tmp_path: Path) -> None:
    project = bed.project(tmp_path / "project", cloud)
    written(project, "typescript", "nodejs")
    sdk = bed.sdk(tmp_path / "sdk", "nodejs")
    bed.run(
        project.folder,
        "npm",
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        f"@pulumi/landbridge@file:{sdk}",
    )
    # What its script would do, which newer versions of npm run no more unasked, and older ones before tsc is there.
    bed.run(project.folder, "npx", "--no-install", "tsc", "-p", "node_modules/@pulumi/landbridge")
    makes_the_cluster(project)
