"""Where packages are not installed that only some fleets need, commands and stacks say which, and what to do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet.extras import EXTRAS, missing, of_import
from landbridge.errors import USAGE

ROOT = Path(__file__).parents[2]
FLEET = """\
fleet: small
owner: ops
domain: small.example.com
supernet: 10.128.0.0/12
state: {backend: "s3://small-state", secrets: "awskms://alias/small"}
aws: {account_id: "123456789012"}
azure: {subscription_id: 00000000-0000-0000-0000-000000000001, tenant_id: 00000000-0000-0000-0000-000000000002}
regions:
  us-west-2: {cloud: aws, zones: [a]}
  southcentralus: {cloud: azure, zones: ["1"]}
teams:
  ops: {gid: 2000}
"""


def run(home: Path, extra: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A module where nothing of an extra is installed."""
    return subprocess.run(
        [sys.executable, "-m", "tests.support.absent", ",".join(EXTRAS[extra].modules), *words],
        cwd=ROOT,
        env={**os.environ, "LANDBRIDGE_HOME": str(home / "home"), "LANDBRIDGE_FLEET": str(home / "fleet.yaml")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "fleet.yaml").write_text(FLEET)
    done = run(tmp_path, "azure", "landbridge", "plan", "--write")
    assert done.returncode == 0, done.stderr
    return tmp_path


AZURE = (
    "fleet.yaml: southcentralus: a region in Azure wants Python packages that are not installed (pulumi_azure_native). "
    "Install them: pip install 'landbridge[azure]', or in a checkout `make setup`."
)


@pytest.mark.parametrize("command", ["up", "preview", "destroy"])
def test_a_region_in_azure_without_its_packages_is_told_before_anything_begins(home: Path, command: str) -> None:
    done = run(home, "azure", "landbridge", command)
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (USAGE, AZURE)
    assert "Traceback" not in done.stderr


def test_a_stack_says_so_too(home: Path) -> None:
    done = run(home, "azure", "stacks")
    assert done.returncode == 1
    assert AZURE in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_command_finds_missing_on_its_way_is_told_in_the_same_words(home: Path) -> None:
    done = run(home, "azure", "landbridge", "image", "list", "--published", "--region", "southcentralus")
    assert done.returncode == USAGE, done.stderr
    assert "pip install 'landbridge[azure]'" in done.stderr
    assert "crash.log" not in done.stderr


def test_the_local_cloud_without_its_packages_is_told_and_not_started(home: Path) -> None:
    for words in (["up", "--local"], ["local", "start"]):
        done = run(home, "local", "landbridge", *words)
        assert done.returncode == USAGE, done.stderr
        assert "The local cloud wants Python packages" in done.stderr
        assert "pip install 'landbridge[local]'" in done.stderr
        assert not (home / "home/local/cloud.log").exists()


def test_other_modules_are_nobody_s_extra() -> None:
    assert of_import("azure.mgmt.compute").startswith("a region in Azure")
    assert of_import("frobnicate") == of_import(None) == ""
    assert [extra for extra in EXTRAS if missing(extra)] == []
