"""The look-up on the real engine and the local Azure, as a stack's program makes it: what is missing is a sentence."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.loader import load
from fleet.model import Fleet
from landbridge.clouds.azure import gallery
from landbridge.places import Place
from local.azure import sign_in
from tests.images.azure import bed
from tests.local.azure.support import SUBSCRIPTION, LocalAzure, served
from tests.local.providers.azure.project import Plugins, Project, plugins

FLEET = f"""\
fleet: looks-up
domain: both.example.com
owner: ops
supernet: 10.128.0.0/9
teams: {{ops: {{gid: 2000}}}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {sign_in.TENANT}}}
regions:
  southcentralus: {{cloud: azure, zones: ["1"]}}
"""
PROGRAM = """\
from components.boot.azure import image
from fleet.loader import load
from pathlib import Path

async def program():
    fleet = load(Path("FILE"))
    wanted = image.Wanted("pool burst", "southcentralus", "1.36.2", "gpu", "stable", 8)
    pulumi.export("image", await image.version(fleet, wanted, here))

pulumi.run(program)
"""


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAzure]:
    yield from served(tmp_path_factory.mktemp("azure"))


@pytest.fixture(scope="module")
def made(azure: LocalAzure) -> Iterator[Plugins]:
    yield from plugins(azure)


@pytest.fixture
def fleet_file(tmp_path: Path) -> Path:
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    return file


def test_a_preview_says_what_to_do_until_there_is_an_image_and_then_names_it(
    azure: LocalAzure, made: Plugins, fleet_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, fleet = Project(tmp_path / "project", made), load(fleet_file)
    project.program(textwrap.dedent(PROGRAM).replace("FILE", str(fleet_file)))
    missing = project.pulumi("preview", code=None)
    assert "pool burst in southcentralus: there is no image (gpu-1.36.2, channel stable): /subscriptions/" in missing
    assert "Bake one and promote it: `landbridge image publish NAME`, then `landbridge image promote NAME`." in missing
    assert "Traceback" not in missing
    monkeypatch.setattr(gallery, "clients", lambda _: bed.clients(azure))
    ensure(fleet, tmp_path, "candidate")
    assert "gpu-1.36.2, channel stable says none in southcentralus" in project.pulumi("preview", code=None)
    id_ = ensure(fleet, tmp_path, "stable")
    project.up()
    assert project.outputs()["image"] == id_


def ensure(fleet: Fleet, folder: Path, channel: str) -> str | None:
    place = Place("local", folder, "", "", folder)
    return gallery.ensure(place, "southcentralus", fleet, "1.36.2", "gpu", channel)  # type: ignore[arg-type]
