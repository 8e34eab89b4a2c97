"""Machines: their networks, what they see of the host, how they end, and that their data stay."""

import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local import namespace

from .host import REPOSITORY, Host
from .writing import service, shell

HOSTS = "10.132.0.5 one one.example.com\n10.132.16.6 two two.example.com\n"
LISTEN = "python3 -c \"import socket; s=socket.create_server(('',7000)); \n[s.accept()[0].send(b'hello') for i in range(9)]\""
SAY = "import socket,sys; print(socket.create_connection((sys.argv[1], 7000), 2).recv(9).decode())"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path, ["unshare", *namespace.usable_mode().make])
    yield made
    made.close()


def threads(mark: str) -> list[str]:
    """Processes of this whole machine whose command has the mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if mark in words:
                found.append(words)
    return found


def sleeping(mark: str) -> int:
    return sum(words.startswith((f"sleep {mark}", f"/bin/sleep {mark}")) for words in threads(mark))


def gone(mark: str) -> bool:
    deadline = time.monotonic() + 5
    while threads(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not threads(mark)


def test_machines_reach_each_other_by_name_and_with_addresses_of_their_own_alone(here: Host) -> None:
    one = here.machine("one", "10.132.0.5/20", hosts=HOSTS)
    two = here.machine("two", "10.132.16.6/20", hosts=HOSTS)
    listen = "ExecStart=/usr/bin/python3 -c \"import socket; s=socket.create_server(('',7000)); list(map(lambda i: s.accept()[0].send(b'hello'), range(9)))\""
    for box in (one, two):
        box.load({"a.service": service(listen)})
        box.sh("systemctl start a; while ! grep -q :1B58 /proc/net/tcp; do sleep 0.02; done")
    talk = [
        box.run("python3", "-c", SAY, name)
        for box, name in ((one, "two"), (two, "one.example.com"), (one, "localhost"))
    ]
    assert [said.out for said in talk] == ["hello\n"] * 3, talk
    assert "unreachable" in one.run("python3", "-c", SAY, "10.132.0.77").err
    # With another's address it is not heard.
    assert two.sh("ip addr add 10.132.0.99/32 dev lo; ping -c 1 -W 1 -I 10.132.0.99 10.132.0.5").code != 0
    assert two.sh("ping -c 1 -W 1 10.132.0.5").code == 0
    assert one.run("hostname").out == "one\n"
    # All is left to the router, with the machine's own address.
    assert "dev eth0 src 10.132.0.5" in one.run("ip", "route", "get", "169.254.169.254").out
    # A card and its address move to another machine.
    here("machines['one'].plug(network.Interface(('10.132.0.9/20',), 'eth1'))")
    code = "10.132.0.9"
    assert two.run("python3", "-c", SAY, code).out == "hello\n"
    here("machines['one'].unplug('eth1'); machines['two'].plug(network.Interface(('10.132.0.9/20',), 'eth1'))")
    assert one.run("python3", "-c", SAY, code).out == "hello\n"
    # New names reach machines that run.
    one.do("write_hosts", HOSTS + "10.132.16.6 new\n")
    assert one.run("python3", "-c", SAY, "new").out == "hello\n"


def test_stop_leaves_no_process_and_no_card_and_data_stay(here: Host) -> None:
    mark = f"8{os.getpid()}"
    stubborn = service(shell(f'trap "" TERM; sleep {mark} & while :; do sleep 0.1; done'), "TimeoutStopSec=100ms")
    polite = service(
        shell('trap "echo bye > /var/lib/said; exit" TERM; touch /run/ready; while :; do sleep 0.02; done')
    )
    box = here.machine("one", "10.132.0.5/20")
    box.load({"a.service": stubborn, "b.service": polite})
    box.sh(
        f"systemctl start a b; setsid sleep {mark} >/dev/null 2>&1 & echo kept > /srv/f; echo lost > /tmp/f; echo lost > /run/f; "
        f"wait_for '[ -e /run/ready ]'; wait_for '[ $(pgrep -fc \"^(/bin/)?sleep {mark}\") = 2 ]'"
    )
    assert sleeping(mark) == 2
    before = here("result = machines['one'].interfaces['eth0']")
    assert box.do("stop") is True
    assert threads(mark) == []
    assert threads(str(box.disk.parent)) == []
    assert (box.disk / "var/lib/said").read_text() == "bye\n"
    assert here("result = network.shown(end)", end=before) is False
    assert here("result = machines['one'].running") is False
    box.do("start")
    assert box.sh("cat /srv/f; ls /tmp/f /run/f; systemctl start b; systemctl is-active b").out == "kept\nactive\n"


def test_a_machine_that_hangs_is_ended_by_force(here: Host) -> None:
    box = here.machine("one", "10.132.0.5/20")
    box.load({"a.service": service(shell('trap "" TERM; while :; do sleep 0.1; done'))})
    box.ctl("start", "a")
    assert box.do("stop", 0.2) is False
    assert threads(str(box.disk.parent)) == []


def test_everything_ends_when_the_local_cloud_is_killed(here: Host) -> None:
    mark = f"9{os.getpid()}"
    box = here.machine("one", "10.132.0.5/20")
    box.load({"a.service": service(f"ExecStart=/bin/sleep {mark}")})
    box.ctl("start", "a")
    assert sleeping(mark) == 1
    here.process.send_signal(signal.SIGKILL)
    here.process.wait()
    assert gone(f"sleep {mark}")
    assert gone(str(box.disk.parent))
    assert "the local cloud is gone" in (box.disk.parent / "console.log").read_text()


def test_the_host_is_read_only_and_hidden_beyond_its_programs(here: Host, tmp_path: Path) -> None:
    program = tmp_path / "made-up"
    program.write_text("#!/bin/sh\necho I run\n")
    program.chmod(0o755)
    box = here.machine(
        "one", "10.132.0.5/20", programs={"etcd": str(program)}, files={"/etc/kubernetes/x": "image's\n"}
    )
    said = box.sh(
        f"etcd; cat /etc/kubernetes/x; for f in /usr/bin/x /usr/local/bin/etcd /bin/sh {REPOSITORY}/x /sys/x; do touch $f 2>/dev/null && echo wrote $f; done; "
        f"ls {tmp_path} 2>/dev/null; touch /etc/x /var/x /home/x /usr/local/lib/landbridge/x /data && echo own; "
        "head -c1 /dev/urandom | wc -c; ls -d /proc/[0-9]* | wc -l"
    )
    *words, count = said.out.split("\n")[:-1]
    assert words == ["I run", "image's", "own", "1"]
    assert int(count) < 6
    assert not Path("/usr/local/lib/landbridge").exists()
    assert (box.disk / "usr/local/lib/landbridge/x").exists()


def test_volumes_come_and_go_while_a_machine_runs(here: Host, tmp_path: Path) -> None:
    volume = tmp_path / "vol-1"
    volume.mkdir()
    (volume / "f").write_text("data\n")
    box = here.machine("one", "10.132.0.5/20")
    box.load({"var-lib-etcd.mount": "[Mount]\nWhat=/dev/landbridge/etcd\nWhere=/var/lib/etcd\nType=ext4\n"})
    box.ctl("--no-block", "start", "var-lib-etcd.mount")
    here("machines['one'].attach('/dev/landbridge/etcd', Path(volume))", volume=str(volume))
    said = box.sh(
        "systemctl start var-lib-etcd.mount; cat /var/lib/etcd/f; echo more > /var/lib/etcd/g; systemctl stop var-lib-etcd.mount"
    )
    assert said.out == "data\n", said
    box.do("detach", "/dev/landbridge/etcd")
    assert (volume / "g").read_text() == "more\n"
    assert box.sh("ls /dev/landbridge /var/lib/etcd").out.split() == ["/dev/landbridge:", "/var/lib/etcd:"]
    assert volume.exists()


def test_one_folder_has_one_machine(here: Host) -> None:
    box = here.machine("one", "10.132.0.5/20")
    with pytest.raises(RuntimeError, match="running already"):
        box.do("start")
    with pytest.raises(RuntimeError, match="a machine is running in"):
        here("machines['two'] = Machine('two', machines['one'].folder, ('10.132.0.6/20',)); machines['two'].start()")
    assert here("result = machines['two'].running") is False
    assert box.run("true").code == 0


def test_a_machine_that_cannot_start_leaves_nothing(here: Host) -> None:
    with pytest.raises(RuntimeError, match=r"10\.132\.0\.500"):
        here.machine("one", "10.132.0.500/20")
    with pytest.raises(RuntimeError, match="No such file"):
        here.machine("two", "10.132.0.6/20", volumes={"/data": "/missing/folder"})
    assert threads(f"{here.folder}/") == []


NOBODY = 65534


def python_for_others(folder: Path) -> str:
    """An interpreter that any user may run, with the packages of this one."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = next((path for path in (f"/usr/bin/{version}", f"/usr/local/bin/{version}") if Path(path).exists()), None)
    if base is None:
        pytest.skip(f"no {version} that other users may run")
    subprocess.run([base, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
    packages = next((folder / "venv").glob("lib/*/site-packages"))
    (packages / "ours.pth").write_text(f"{sysconfig.get_path('purelib')}\n{REPOSITORY}\n")
    return str(folder / "venv/bin/python")


@pytest.mark.skipif(os.geteuid() != 0, reason="the others run as an ordinary user already")
def test_an_ordinary_user_has_machines_too() -> None:
    with tempfile.TemporaryDirectory() as made:  # pytest's own folders are closed to other users
        folder = Path(made)
        os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o755)
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        host = Host(folder, [*become, "unshare", *namespace.USER.make], python_for_others(folder))
        try:
            ordinary(host)
        finally:
            host.close()
        assert gone(made)


def ordinary(host: Host) -> None:
    one = host.machine("one", "10.132.0.5/20", hosts=HOSTS, users=["builder"])
    two = host.machine("two", "10.132.16.6/20", hosts=HOSTS)
    limits = ("LimitMEMLOCK=infinity", "OOMScoreAdjust=-500", "Nice=-5", "User=builder", "StateDirectory=a")
    listen = shell("id -un > /var/lib/a/me; exec python3 -m http.server 7000")
    one.load({"a.service": service(listen, *limits), "b.service": service("User=nosuch", "ExecStart=/bin/true")})
    one.sh("systemctl start a b; while ! grep -q :1B58 /proc/net/tcp; do sleep 0.02; done")
    said = two.run("python3", "-c", "import urllib.request as u; print(u.urlopen('http://one:7000').status)")
    assert said.out == "200\n", said
    assert one.run("cat", "/var/lib/a/me").out == "root\n"
    log = one.log("a.service")
    assert "User=builder: this user namespace has no user but root, so it runs as root" in log
    assert "OOMScoreAdjust stays at" in log
    assert "User=nosuch: there is no such user" in one.log("b.service")
    one.do("attach", "/dev/landbridge/v", str(host.folder / "two"))
    assert (
        one.sh("ls /dev/landbridge/v/machine.json; systemctl restart a; touch /usr/x").out
        == "/dev/landbridge/v/machine.json\n"
    )
    # Said once, though it was started twice.
    assert one.log("a.service").count("no user but root") == 1
    # etcd's disks are mounted so; how access times are kept is not an ordinary user's to change, the rest is.
    one.load({"srv-b.mount": "[Mount]\nWhat=/var/lib/a\nWhere=/srv/b\nOptions=noatime,nodev\n"})
    one.sh("systemctl start srv-b.mount")
    assert "nodev" in one.sh("grep ' /srv/b ' /proc/self/mounts").out
    assert one.do("stop") is True
    one.do("start")
    assert one.run("cat", "/var/lib/a/me").out == "root\n"
