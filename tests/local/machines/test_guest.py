"""What guests are told and by whom, without starting one; tests/e2e/test_guests.py starts one."""

import base64
import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.machines import tap
from local.machines.guest import Guest, credential, lacking
from local.machines.lease import command
from local.machines.network import Interface, hardware_address
from local.supervisor.guests import Guests

INTERFACE = Interface(("10.0.3.20/22",))


def test_a_subnet_s_router_is_its_first_address() -> None:
    assert (tap.gateway(INTERFACE), tap.netmask(INTERFACE)) == ("10.0.0.1", "255.255.252.0")


def test_a_credential_has_systemd_write_the_files() -> None:
    name, _, text = credential({"etc/ssl/cert.pem": "an authority\n", "etc/other": "two\nlines\n"}).partition("=")
    assert name == "io.systemd.credential.binary:tmpfiles.extra"
    lines = [line.split() for line in base64.b64decode(text).decode().splitlines()]
    assert [line[:6] for line in lines] == [
        ["f+~", "/etc/ssl/cert.pem", "0644", "root", "root", "-"],
        ["f+~", "/etc/other", "0644", "root", "root", "-"],
    ]
    assert [base64.b64decode(line[6]).decode() for line in lines] == ["an authority\n", "two\nlines\n"]


def test_a_guest_has_no_more_of_this_computer_than_it_may(tmp_path: Path) -> None:
    large = Guest("one", tmp_path, ("10.0.3.20/22",), image=tmp_path, domain="", kind="m7i.metal", cpus=192,
                  memory_mib=786432, disk_gib=1000)  # fmt: skip
    words = large.command(tmp_path / "disk", "m1", hardware_address(INTERFACE))
    assert (words[words.index("-smp") + 1], words[words.index("-m") + 1]) == ("2", "8192")
    assert "type=1,manufacturer=Amazon EC2,product=m7i.metal" in words
    assert "tap,id=net,ifname=m1,script=no,downscript=no" in words


@pytest.mark.skipif(bool(lacking()), reason=f"no guest can run here: {lacking()}")
def test_a_stack_is_chosen_and_left(tmp_path: Path) -> None:
    guests = Guests(tmp_path / "guests.json")
    assert guests.choose({"stack": "test/cpu", "disk": "a"}) == {"test/cpu": "a"}
    assert Guests(tmp_path / "guests.json").disks == {"test/cpu": "a"}, "the next machines service knows it, too"
    assert guests.choose({"stack": "test/cpu", "disk": None}) == {}


@pytest.mark.parametrize("told", [{}, {"stack": "test/cpu"}, {"stack": 1, "disk": None}])
def test_other_words_are_refused(tmp_path: Path, told: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="disk, stack"):
        Guests(tmp_path / "guests.json").choose(told)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("local.machines.guest.SYSTEM", "")
    assert "sudo apt-get install dnsmasq-base" in (lacking() or "")
    with pytest.raises(OSError, match="dnsmasq-base"):
        Guests(tmp_path / "guests.json").choose({"stack": "test/cpu", "disk": "a"})


HELD = """
ip link set lo up
ip tuntap add dev m1 mode tap && ip link set m1 up
ip addr add 10.0.0.1/32 dev m1 && ip addr add {resolver}/32 dev m1
echo ready
exec cat > /dev/null
"""
ASK = """
import socket, sys
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.settimeout(5)
line.sendto(bytes.fromhex(sys.argv[2]), (sys.argv[1], 53))
print(line.recv(1500).hex())
"""
# In a network of its own: a guest that QEMU refuses, then one that runs, then what is left of it.
LIFE = """
import json, subprocess, sys
from pathlib import Path
from local.machines.guest import Guest
from local.machines.machine import MachineError

def cards():
    told = json.loads(subprocess.run(["ip", "-json", "address"], capture_output=True, check=True).stdout)
    return [[a["local"] for a in one["addr_info"]] for one in told if one["ifname"] != "lo"]

folder = Path(sys.argv[1])
guest = Guest("one", folder / "one", ("10.0.3.20/22",), image=folder / "image", domain="test.internal",
              kind="m7i.large", cpus=1, memory_mib=-5, disk_gib=1)
try:
    guest.start()
    refused = ""
except MachineError as error:
    refused = str(error)
after = cards()
guest.memory_mib = 256
guest.start()
during = [guest.running, cards()]
guest.stop(0.2)
print(json.dumps([refused, after, during, guest.running, cards()]))
"""
DNSMASQ = shutil.which("dnsmasq", path=f"{os.environ['PATH']}:/usr/sbin")


class Served:
    """dnsmasq with a guest's command line, in a network of its own."""

    def __init__(self, hosts: Path) -> None:
        words = ["unshare", "--net", "sh", "-c", HELD.format(resolver=tap.RESOLVER)]
        self.keeper = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.keeper.stdout
        assert self.keeper.stdout.readline() == b"ready\n"
        self.inside = ["nsenter", f"--net=/proc/{self.keeper.pid}/ns/net"]
        self.server = subprocess.Popen([*self.inside, *command(hosts, INTERFACE, "m1", "test.internal")])

    def asked(self, name: str) -> tuple[int, str]:
        """The answer's code, and its last four bytes as an address where there is one."""
        labels = b"".join(bytes([len(one)]) + one.encode() for one in name.split(".")) + bytes(1)
        question = random.randbytes(2) + struct.pack("!HHHHH", 0x100, 1, 0, 0, 0) + labels + struct.pack("!HH", 1, 1)
        words = [*self.inside, "python3", "-c", ASK, tap.RESOLVER, question.hex()]
        deadline = time.monotonic() + 10
        while (done := subprocess.run(words, capture_output=True, text=True, check=False)).returncode:
            assert time.monotonic() < deadline, done.stderr
        told = bytes.fromhex(done.stdout)
        return told[3] & 15, socket.inet_ntoa(told[-4:]) if told[7] else ""

    def end(self) -> None:
        self.server.kill()
        self.server.wait()
        self.keeper.kill()
        self.keeper.wait()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "hosts").write_text("10.0.0.6 api.main.example.com\n")
    found = Served(tmp_path / "hosts")
    yield found
    found.end()


@pytest.mark.skipif(bool(lacking()) or not DNSMASQ, reason=f"no guest can run here: {lacking()}")
def test_its_resolver_knows_the_network_s_names_and_no_others(served: Served) -> None:
    assert served.asked("api.main.example.com") == (0, "10.0.0.6")
    nxdomain = 3
    assert served.asked("www.example.com") == (nxdomain, "")


@pytest.mark.skipif(bool(lacking()) or os.geteuid() != 0, reason=f"no guest can run here: {lacking()}")
def test_nothing_is_left_of_a_guest_that_ended_or_never_began(tmp_path: Path) -> None:
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(tmp_path / "image"), "100M"], check=True)
    words = ["unshare", "--net", sys.executable, "-c", LIFE, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    refused, after, during, running, left = json.loads(done.stdout)
    assert refused.startswith("QEMU does not start one: ")
    assert after == []
    assert during == [True, [["10.0.0.1", tap.RESOLVER]]]
    assert (running, left) == (False, [])
