"""The Packer template, by a real Packer: its arguments are ones, and it finds what it names."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TEMPLATE = Path(__file__).parents[2] / "images/packer"
PACKER = shutil.which("packer")
GIVEN = {"region": "us-west-2", "subnet_id": "subnet-0123456789abcdef0", "name": "cpu-1.36.2-0123456789ab"}
pytestmark = pytest.mark.skipif(PACKER is None, reason="there is no packer: python3 tools/image.py --tests as root")


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


def test_it_is_valid(tmp_path: Path) -> None:
    done = validated(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "change", [("ena_support ", "ena_supports "), ("/bake.sh", "/bakes.sh"), ('type = string', 'type = strings')]
)  # fmt: skip
def test_what_is_wrong_is_found(tmp_path: Path, change: tuple[str, str]) -> None:
    assert validated(tmp_path, change).returncode != 0


def test_the_plugin_stands_apart() -> None:
    assert "required_plugins" in (TEMPLATE / "plugins.pkr.hcl").read_text()
    assert "required_plugins" not in (TEMPLATE / "image.pkr.hcl").read_text()
