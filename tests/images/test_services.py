"""The container of our own services in a baked image: it has what they need to run as nobody, and nothing more."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.addons.images import SERVICES
from images import bill, containers, running, services
from tests.support import images

GOLDEN = Path(__file__).parents[1] / "components/addons/golden"
ADDONS = ("cluster-autoscaler", "recorder", "fleet-metrics")
pytestmark = [pytest.mark.timeout(1800), pytest.mark.skipif(os.geteuid() != 0, reason="a bake wants root")]


@pytest.fixture(scope="module")
def archive() -> Path:
    folder = images.baked("cpu") / "root" / containers.FOLDER
    (one,) = [one for one in json.loads((folder / containers.LIST).read_text()) if one["name"] == str(SERVICES)]
    return folder / one["file"]


@pytest.fixture(scope="module")
def root(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("services")
    with tarfile.open(archive) as outer:
        layer = max(outer.getmembers(), key=lambda one: one.size)
        with tarfile.open(fileobj=outer.extractfile(layer)) as inner:
            inner.extractall(folder, filter="fully_trusted")
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def python(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """As a kubelet would start it: nobody, with the image's own environment."""
    chroot = shutil.which("chroot", path=running.path()) or "chroot"
    command = [chroot, f"--userspec={services.NOBODY}", str(root), "/usr/bin/python3", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=services.ENV)


def test_its_bill_has_it(archive: Path) -> None:
    told = json.loads((archive.parents[4] / bill.FOLDER / bill.BILL).read_text())["components"]
    (one,) = [one for one in told if one["type"] == "container" and one["name"] == SERVICES.repository]
    assert one["hashes"][0]["content"] == containers.read(archive).digest


def test_every_program_that_add_ons_start_in_it_runs_as_nobody(root: Path) -> None:
    texts = [(GOLDEN / f"{addon}.yaml").read_text() for addon in ADDONS]
    started = {module for text in texts for module in re.findall(r"- (services\.[\w.]+)\n", text)}
    assert len(started) >= 4
    for module in started:
        done = python(root, "-m", module, "--help")
        assert (done.returncode, done.stdout[:6]) == (0, "usage:"), (module, done.stderr)


def test_each_cloud_s_clients_are_in_it(root: Path) -> None:
    """They are loaded only where a cluster has machines in that cloud."""
    done = python(root, "-c", "import services.autoscaler.aws.cloud, services.autoscaler.azure.cloud")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_pod_s_end_shows_is_in_it_with_its_table_of_causes(root: Path) -> None:
    done = python(root, "-c", "from evidence.causes import causes; print(len(causes()))")
    assert int(done.stdout) > 10, done.stderr


def test_it_makes_its_certificates_and_trusts_the_public_authorities(root: Path) -> None:
    pair = root / "pair"
    pair.mkdir(mode=0o777)
    pair.chmod(0o777)
    assert python(root, "-m", "services.autoscaler.certificates", "/pair").returncode == 0
    assert {"ca.crt", "server.key"} <= {file.name for file in pair.iterdir()}
    shutil.rmtree(pair)
    trusted = python(root, "-c", "import ssl; print(len(ssl.create_default_context().get_ca_certs()))")
    assert int(trusted.stdout) > 100, trusted.stderr


def test_there_is_no_shell_and_nothing_becomes_root(root: Path) -> None:
    assert not [name for name in ("sh", "bash", "apt", "dpkg", "perl") if (root / "usr/bin" / name).exists()]
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in files if path.stat().st_mode & 0o6000] == []
