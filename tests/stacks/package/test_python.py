"""Programs of a user's own in Python on the local cloud: a region that one makes, and what is told when it can't."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stacks.outputs import RegionOutputs
from tests.local.providers.test_engine import Project
from tests.support.cloud import ROOT, Cloud

from . import bed

# A region, and previews of all: minutes where others work on the machine, too.
pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
EXAMPLE = ROOT / "examples/own-program"
SECONDS = 800
HEAD = "import sys\nsys.path.insert(0, {sdk!r})\n"
REGION = """\
import pulumi
import pulumi_landbridge as landbridge
fleet = pulumi.Config().require("fleet")
here = landbridge.Region("here", fleet={fleet}, region={region!r})
pulumi.export("here", here.outputs)
pulumi.export("network", here.network_id)
pulumi.export("subnets", here.private_subnet_ids)
"""
CLUSTER = """\
stacks = {"us-west-2": here.outputs}
second = landbridge.Cluster("second", fleet=fleet, cluster="second", stacks=stacks)
landbridge.Pool("one", fleet=fleet, pool="second-cpu", stacks={**stacks, "second": second.outputs})
landbridge.Pool("two", fleet=fleet, pool="second-system", stacks={**stacks, "second": second.outputs})
landbridge.AddOns("inside", fleet=fleet, cluster="second", stacks={**stacks, "second": second.outputs})
"""
LINKS = """\
there = landbridge.Region("there", fleet=fleet, region="eu-west-1")
linked = landbridge.Links("between", fleet=fleet, stacks={"us-west-2": here.outputs, "eu-west-1": there.outputs})
pulumi.export("between", linked.outputs)
"""


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """The example's fleet with one region more, of which nothing is there."""
    folder = tmp_path_factory.mktemp("own")
    text = (EXAMPLE / "fleet.yaml").read_text()
    assert text.count("regions:\n") == 1
    (folder / "fleet.yaml").write_text(text.replace("regions:\n", "regions:\n  eu-west-1: {cloud: aws, zones: [a]}\n"))
    (folder / "fleet.lock.yaml").write_text((EXAMPLE / "fleet.lock.yaml").read_text())
    made = Cloud(folder / "home", folder / "fleet.yaml")
    made.plan()
    made.run("preview", "--local", "us-west-2")  # makes the stack, and nothing in it
    for variant in ("cpu", "gpu"):
        name, image = f"/own/images/{variant}/1.36.2/stable", "ami-0c00000000000c001"
        made.python(f"client('ssm', 'us-west-2').put_parameter(Name={name!r}, Value={image!r}, Type='String')")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bed.installed(bed.sdk(tmp_path_factory.mktemp("sdk"), "python"))


@pytest.fixture
def project(tmp_path: Path, cloud: Cloud) -> Iterator[Project]:
    made = bed.project(tmp_path / "project", cloud)
    yield made
    made.pulumi("destroy", "--yes", "--skip-preview", "--ignore-protect", "--remove", code=None, seconds=SECONDS)


def run(project: Project, sdk: Path, text: str, *arguments: str, code: int | None = 0) -> str:
    (project.folder / "__main__.py").write_text(HEAD.format(sdk=str(sdk)) + text)
    return project.pulumi(*arguments, code=code, seconds=SECONDS)


def up(project: Project, sdk: Path, text: str, *arguments: str) -> dict[str, Any]:
    run(project, sdk, text, "up", "--yes", "--skip-preview", *arguments)
    return dict(json.loads(project.pulumi("stack", "output", "--json")))


def below(project: Project, component: str) -> list[dict[str, Any]]:
    """What a component has in the state."""
    state = json.loads((project.backend / ".pulumi/stacks/own-program/dev.json").read_text())
    return [one for one in state["checkpoint"]["latest"]["resources"] if f"::{component}$" in one["urn"]]


def test_a_region_is_made_with_its_outputs(project: Project, sdk: Path) -> None:
    text = REGION.format(fleet="fleet", region="eu-west-1")
    told = up(project, sdk, text)
    assert sorted(told["here"]) == sorted(RegionOutputs.__annotations__)
    assert told["network"] == told["here"]["network_id"]
    assert told["subnets"] == told["here"]["private_subnet_ids"]
    made = below(project, "landbridge:index:Region")
    assert len(made) > 40
    assert {one["urn"].rpartition("::")[2].partition("-")[0] for one in made} == {"here"}
    assert up(project, sdk, text, "--expect-no-changes") == told


def test_nothing_is_there_and_a_preview_sees_all_five(project: Project, sdk: Path) -> None:
    said = run(project, sdk, REGION.format(fleet="fleet", region="us-west-2") + CLUSTER + LINKS, "preview")
    for name in ("here-network", "second-control-plane", "one-pool", "two-pool", "inside-add-ons", "between-links"):
        assert name in said


@pytest.mark.matrix
def test_regions_are_linked(project: Project, sdk: Path) -> None:
    text = REGION.format(fleet="fleet", region="us-west-2") + LINKS
    told = up(project, sdk, text)
    assert told["between"] == {"regions": ["eu-west-1", "us-west-2"], "connections": {}}
    assert "aws:ec2transitgateway/peeringAttachment:PeeringAttachment" in {
        one["type"] for one in below(project, "landbridge:index:Links")
    }
    assert up(project, sdk, text, "--expect-no-changes") == told


def test_what_is_wrong_is_told_as_a_problem_of_the_fleet(project: Project, sdk: Path) -> None:
    for fleet, region, why in (
        ("fleet", "mars", "fleet.yaml has no stack mars. Its stacks: eu-west-1, us-west-2, "),
        ("'gone.yaml'", "us-west-2", "there is no file /"),
    ):
        said = " ".join(run(project, sdk, REGION.format(fleet=fleet, region=region), "preview", code=None).split())
        assert "landbridge:index:Region resource 'here' has a problem: - property fleet with value" in said
        assert f"has a problem: {why}" in said
        assert "component.py" not in said, "no traceback"
