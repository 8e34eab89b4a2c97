"""A gateway that is a whole machine runs the rendered folder unchanged: kernel ESP, XFRM interfaces, systemd-networkd.

The regions' ends have ESP in user space, which speaks it in UDP, as to a gateway behind a NAT.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from images import running
from images.errors import ImageError
from tests.support import images

from . import report
from .guest import GuestGateway, GuestLab
from .lab import example
from .machines import LabError

REGION = "us-west-2"
pytestmark = pytest.mark.timeout(2400)


@pytest.fixture(scope="module")
def image(possible: None) -> Path:
    try:
        running.check({**running.NEEDED, **running.BOOT_NEEDED}, root=True)
    except ImageError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error), pytrace=False)
        pytest.skip(f"NO GUEST IS STARTED: {error}")
    return images.baked("gateway")


@pytest.fixture(scope="module")
def lab(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuestLab]:
    made = GuestLab(tmp_path_factory.mktemp("guest"), *example(), regions=[REGION])
    made.image = image
    made.begin()
    yield made
    made.close()
    shutil.rmtree(made.logs)  # gigabytes


@pytest.fixture(scope="module")
def gateway(lab: GuestLab) -> GuestGateway:
    found: Any = lab.gateway
    assert isinstance(found, GuestGateway)
    report.note("a guest's units started", f"{found.started_seconds:.0f} s")
    report.note("its two tunnels up, from its install on", f"{lab.took_seconds:.0f} s")
    return found


def test_the_script_installs_the_folder_and_both_tunnels_come_up(lab: GuestLab, gateway: GuestGateway) -> None:
    assert gateway.installed.endswith("changed\n")
    assert gateway.established() == {f"{REGION}-1", f"{REGION}-2"}
    assert lab.settled()


def test_esp_is_the_kernel_s_and_its_interfaces_are_of_systemd_networkd(gateway: GuestGateway) -> None:
    states = gateway.machine.run("ip", "xfrm", "state")
    for end in gateway.spec.ends:
        assert f"if_id {end.key:#x}" in states
        told = gateway.machine.run("networkctl", "status", end.device, "--lines=0")
        assert f"/etc/systemd/network/50-{end.device}.network" in told
        assert "configured" in told
        assert "xfrm" in gateway.machine.run("ip", "-details", "link", "show", end.device)


def test_the_site_s_host_and_a_region_s_reach_each_other(lab: GuestLab) -> None:
    here, there = lab.addresses(lab.lan)[0], lab.addresses(lab.networks[REGION])[0]
    assert " 0% packet loss" in lab.host.run("ping", "-c", "5", "-i", "0.3", "-W", "5", "-I", here, there)
    back = lab.hubs[REGION].host.run("ping", "-c", "5", "-i", "0.3", "-W", "5", "-I", there, here)
    assert " 0% packet loss" in back


def test_its_own_check_finds_all_good(gateway: GuestGateway) -> None:
    told = gateway.verified()
    assert (told["healthy"], told["differs"], told["troubles"]) == (True, [], [])


def test_a_second_install_changes_nothing(gateway: GuestGateway) -> None:
    before = gateway.machine.run("ip", "xfrm", "state")
    assert gateway.install() == "nothing to do\n"
    assert gateway.machine.run("ip", "xfrm", "state").count("proto esp") == before.count("proto esp")


def test_a_spoilt_file_is_taken_back(lab: GuestLab, gateway: GuestGateway, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt"
    shutil.copytree(gateway.rendered, spoilt)
    name = f"etc/swanctl/conf.d/{REGION}-1.conf"
    (spoilt / name).write_text("connections {\n    this is no connection\n")
    gateway.bring(spoilt)
    with pytest.raises(LabError, match="The files of before are back"):
        gateway.install()
    assert gateway.machine.run("cat", f"/{name}") == (gateway.rendered / name).read_text()
    assert lab.settled()
    assert gateway.verified()["healthy"] is True
