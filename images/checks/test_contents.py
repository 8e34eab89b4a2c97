"""What lies in an image: what was asked for, and nothing that is a bake's own."""

import os
from typing import Any

import pytest
from conftest import FOLDER, found
from testinfra.host import Host

# What of Debian's, Ubuntu's and ours may run as its owner. More is a way to become root.
SETUID = {
    "/usr/bin/chfn",
    "/usr/bin/chsh",
    "/usr/bin/gpasswd",
    "/usr/bin/mount",
    "/usr/bin/newgrp",
    "/usr/bin/passwd",
    "/usr/bin/su",
    "/usr/bin/sudo",
    "/usr/bin/sudo.ws",
    "/usr/bin/umount",
    "/usr/lib/dbus-1.0/dbus-daemon-launch-helper",
    "/usr/lib/openssh/ssh-keysign",
    "/usr/sbin/mount.nfs",
}
OWN = ("/etc", "/root", "/home", "/var", "/opt", "/usr/local")


def test_packages_are_those_of_the_bill(host: Host, bill: dict[str, Any]) -> None:
    expected = {f"{one['name']} {one['version']}" for one in bill["components"] if one["type"] == "library"}
    there = found(host, "dpkg-query --show --showformat='${db:Status-Abbrev}${Package} ${Version}\\n'")
    assert {line.removeprefix("ii ") for line in there} == expected


def test_programs_are_those_of_the_bill(host: Host, bill: dict[str, Any]) -> None:
    expected = {one["name"]: one["hashes"][0]["content"] for one in bill["components"] if one["type"] == "application"}
    lines = found(host, "cd /usr/local/bin && find . -type f -printf '%P\\0' | xargs -0 --no-run-if-empty sha256sum")
    assert {name: digest for digest, name in (line.split() for line in lines)} == expected


def test_programs_say_their_versions(host: Host, bill: dict[str, Any], made: dict[str, Any]) -> None:
    versions = {one["name"]: one["version"] for one in bill["components"] if one["type"] == "application"}
    if not made["node"]:
        pytest.skip("no node of a cluster")
    assert versions["kubelet"] == made["kubernetes"]
    for program in ("kubelet", "containerd"):
        assert f"v{versions[program]}" in host.check_output(f"/usr/local/bin/{program} --version")


def test_one_kernel_with_its_modules(host: Host, made: dict[str, Any]) -> None:
    # Ubuntu has an empty folder beside it.
    assert found(host, "ls /usr/lib/modules/*/modules.dep") == [f"/usr/lib/modules/{made['kernel']}/modules.dep"]
    for file in (f"/boot/vmlinuz-{made['kernel']}", f"/usr/lib/modules/{made['kernel']}/modules.dep"):
        assert host.file(file).size > 0, file
    assert host.file(f"/boot/initrd.img-{made['kernel']}").size > 1 << 20


def test_units_are_enabled_and_masked(host: Host, made: dict[str, Any]) -> None:
    for state, units in ((state, units) for state, units in made["units"].items() if units):
        lines = host.run(f"systemctl is-enabled {' '.join(units)}").stdout.split()
        assert dict(zip(units, lines, strict=True)) == dict.fromkeys(units, state)


def test_nothing_upgrades_by_itself(host: Host) -> None:
    assert found(host, "ls /usr/bin/apt-get /usr/bin/unattended-upgrade 2>/dev/null || true") == []


def test_no_key_lies_there(host: Host, asleep: None) -> None:
    folders = " ".join(OWN)
    named = found(host, f"grep -rlE 'BEGIN [A-Z ]*PRIVATE KEY' {folders} || test $? = 1")
    # Containers are archives of others' code, which speaks of keys; each has its digest in the bill.
    assert [path for path in named if not path.startswith("/var/lib/landbridge/containers/")] == []
    assert found(host, f"find {folders} -name authorized_keys -o -name 'ssh_host_*'") == []


def test_no_log_and_no_cache_lies_there(host: Host, asleep: None) -> None:
    assert found(host, "find /var/log /var/cache/apt /var/lib/apt/lists /tmp /var/tmp /var/crash -type f || true") == []


def test_nothing_names_a_machine(host: Host, asleep: None) -> None:
    assert host.file("/etc/machine-id").size == 0
    names = ("/etc/hostname", "/etc/nvme/hostid", "/var/lib/dbus/machine-id", "/var/lib/systemd/random-seed")
    assert [name for name in names if host.file(name).exists] == []


def test_nobody_has_a_password(host: Host) -> None:
    lines = [line.split(":") for line in found(host, "cat /etc/shadow")]
    assert {name: secret for name, secret, *_ in lines if secret.strip("!*")} == {}


def test_nobody_more_becomes_root(host: Host) -> None:
    assert set(found(host, "find / -xdev -type f -perm /6000 -user root -perm /4000")) <= SETUID


def test_no_file_can_be_written_by_all(host: Host) -> None:
    assert found(host, "find / -xdev '(' -type f -o -type d -not -perm -1000 ')' -perm -002") == []


def test_pods_network_plugins_are_there(host: Host, made: dict[str, Any]) -> None:
    if not made["node"]:
        pytest.skip("no node of a cluster")
    for plugin in ("loopback", "bridge", "host-local", "portmap"):
        assert host.file(f"/opt/cni/bin/{plugin}").mode & os.X_OK, plugin


def test_licences_are_kept(host: Host) -> None:
    assert len(found(host, "ls -d /usr/share/doc/*/copyright")) > 100


def test_it_says_what_it_is(host: Host) -> None:
    for name in ("bill.json", "provenance.json"):
        assert host.file(f"{FOLDER}/{name}").mode == 0o644
