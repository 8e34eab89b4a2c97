"""The Packer template, by a real Packer: its arguments are ones, and it finds what it names."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fleet import images as tags
from images.stores.aws.publish import ROOT_DEVICE
from images.stores.publishing import FLEET

TEMPLATE = Path(__file__).parents[2] / "images/packer"
PACKER = shutil.which("packer")
GIVEN = {"region": "us-west-2", "subnet_id": "subnet-0123456789abcdef0", "name": "cpu-1.36.2-0123456789ab"}
GIVEN |= {"fleet": "example", "kubernetes": "1.36.2"}
SAID = {"variant": "gpu", "kubernetes": "1.36.2", "driver": "580.95.05"}
needs_packer = pytest.mark.skipif(PACKER is None, reason="there is no packer: python3 tools/image.py --tests as root")


def validated(tmp_path: Path, change: tuple[str, str] = ("", "")) -> subprocess.CompletedProcess[str]:
    """Debian's 1.6.6 knows neither plugins nor what they brought since: both are left out."""
    folder = tmp_path / "packer"
    shutil.copytree(TEMPLATE, folder, ignore=shutil.ignore_patterns("plugins.pkr.hcl"))
    file = folder / "image.pkr.hcl"
    text = re.sub(r".*# since the plugin's 1\.0\n", "", file.read_text())
    assert change[0] in text
    file.write_text(text.replace(*change))
    checkout = tmp_path / "landbridge.tar.gz"
    checkout.touch()
    given = [f"-var={name}={value}" for name, value in {**GIVEN, "checkout": str(checkout)}.items()]
    command = [str(PACKER), "validate", *given, "."]
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "CHECKPOINT_DISABLE": "1"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env)


@needs_packer
def test_it_is_valid(tmp_path: Path) -> None:
    done = validated(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_packer
@pytest.mark.parametrize(
    "change", [("ena_support ", "ena_supports "), ("/bake.sh", "/bakes.sh"), ('type = string', 'type = strings')]
)  # fmt: skip
def test_what_is_wrong_is_found(tmp_path: Path, change: tuple[str, str]) -> None:
    assert validated(tmp_path, change).returncode != 0


def test_the_plugin_stands_apart() -> None:
    assert "required_plugins" in (TEMPLATE / "plugins.pkr.hcl").read_text()
    assert "required_plugins" not in (TEMPLATE / "image.pkr.hcl").read_text()


def test_its_image_can_be_promoted() -> None:
    """What a published one has, but for what a bake alone knows."""
    text = (TEMPLATE / "image.pkr.hcl").read_text()
    assert {FLEET, tags.TAG, tags.NAME, tags.VARIANT, tags.DRIVER} <= set(
        re.findall(r'"(landbridge:\w+)"\s+= var', text)
    )
    assert re.search(r"encrypt_boot\s+= true", text)
    assert re.findall(r'\sdevice_name\s+= "(.+?)"', text)[1] == ROOT_DEVICE


@pytest.mark.parametrize(
    ("said", "tagged", "goes_on"),
    [
        (SAID, "gpu 1.36.2 580.95.05", True),
        (SAID | {"driver": None}, "gpu 1.36.2 none", True),
        (SAID, "gpu 1.36.2 none", False),
        (SAID, "gpu 1.35.4 580.95.05", False),
        (SAID, "cpu 1.36.2 580.95.05", False),
    ],
)
def test_tags_say_what_was_baked_or_nothing_is_written(
    tmp_path: Path, said: dict[str, str], tagged: str, goes_on: bool
) -> None:
    """Its script with a builder's programs played."""
    programs, home = tmp_path / "bin", tmp_path / "checkout"
    programs.mkdir()
    for name, body in {
        "apt-get": "",
        "make": "",
        "tar": "",
        "lsblk": "echo disk",
        "dd": f'echo "$1" > {tmp_path}/disk',
    }.items():
        program(programs / name, body)
    document = json.dumps({"folder": "/images/one", **said})
    program(home / ".venv/bin/landbridge", f"[ \"$2\" = test ] || echo '{document}'")
    text = (TEMPLATE / "bake.sh").read_text().replace("mkdir /opt/landbridge", "").replace("/opt/landbridge", str(home))
    env = {"PATH": f"{programs}:/usr/bin:/bin", "BAKE": "--variant gpu", "TAGGED": tagged}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0, (tmp_path / "disk").exists()) == (goes_on, goes_on), done.stderr
    assert goes_on or f"its tags were to say {tagged}" in done.stderr


def program(file: Path, body: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
