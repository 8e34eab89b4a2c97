"""What a machine of an image is like once it runs."""

import re
from typing import Any

import pytest
from conftest import found
from testinfra.host import Host

pytestmark = pytest.mark.usefixtures("running")

SERVICES = ("chrony", "ssh", "systemd-networkd", "systemd-resolved", "prometheus-node-exporter")
SYSCTL = re.compile(r"^([\w.]+)\s*=\s*(\S+)", re.MULTILINE)


def test_no_unit_has_failed(host: Host) -> None:
    assert found(host, "systemctl list-units --failed --no-legend --plain") == []


def test_services_run(host: Host) -> None:
    assert [name for name in SERVICES if not host.service(name).is_running] == []


def test_it_runs_the_kernel_that_was_baked(host: Host, made: dict[str, Any]) -> None:
    assert host.check_output("uname -r") == made["kernel"]


def test_the_kernel_has_our_settings(host: Host) -> None:
    wanted = dict(SYSCTL.findall(host.file("/etc/sysctl.d/50-landbridge.conf").content_string))
    assert len(wanted) > 5
    given = {name: host.check_output(f"cat /proc/sys/{name.replace('.', '/')}") for name in wanted}
    assert given == wanted


def test_modules_are_loaded(host: Host) -> None:
    assert {"overlay", "br_netfilter"} <= {line.split()[0] for line in found(host, "cat /proc/modules")}


def test_it_has_a_name_and_keys_of_its_own(host: Host) -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", host.file("/etc/machine-id").content_string.strip())
    assert host.file("/etc/ssh/ssh_host_ed25519_key").mode == 0o600


def test_the_root_has_grown_to_its_disk(host: Host) -> None:
    # The one disk that no partition and no other device is.
    disk = found(host, "lsblk --bytes --noheadings --nodeps --output SIZE,TYPE | awk '$2 == \"disk\" {print $1}'")
    size = found(host, "df --block-size=1 --output=size / | tail -1")
    assert int(size[0]) > 0.8 * int(disk[0])


def test_limits_are_those_of_training(host: Host) -> None:
    limits = found(host, "systemctl show --property=DefaultLimitMEMLOCK,DefaultLimitNOFILE")
    assert limits == ["DefaultLimitMEMLOCK=infinity", "DefaultLimitNOFILE=1048576"]


def test_sshd_takes_keys_alone(host: Host) -> None:
    options = set(found(host, "sshd -T"))
    assert {"passwordauthentication no", "permitrootlogin no", "kbdinteractiveauthentication no"} <= options


def test_metrics_are_told(host: Host) -> None:
    assert host.socket("tcp://0.0.0.0:9100").is_listening or host.socket("tcp://:::9100").is_listening


def test_no_swap(host: Host) -> None:
    assert len(found(host, "cat /proc/swaps")) == 1


def test_chrony_takes_what_each_cloud_s_machines_follow(host: Host) -> None:
    output = host.check_output(
        "cd /usr/local/lib/landbridge && python3 -c 'import clock; "
        'print(clock.BY_LINK + clock.BY_HOST.format(device=clock.DEVICE), end="")\' > /run/clock.conf'
        " && chronyd -p -f /run/clock.conf"
    )
    assert [line.split()[0] for line in output.splitlines()] == ["server", "refclock"]
