"""`access: ssh` for real: the bundle's users and keys on local machines, an SSH server in them, and the ssh command."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from landbridge.etcd.defrag import defrag
from landbridge.etcd.ring import Ctl
from landbridge.remote_execution import CommandResult, Instance, RemoteExecutionError, Ssh
from tests.landbridge import bed as beds
from tests.landbridge.bed import ROOT, Bed
from tests.support.waiting import eventually

asyncssh = pytest.importorskip("asyncssh", reason="asyncssh is not installed")
SSH = shutil.which("ssh")
pytestmark = pytest.mark.skipif(SSH is None, reason="the command ssh is not installed (package openssh-client)")
PEOPLE = """
people:
  alice: {{uid: 3001, team: platform, keys: ["{alice}"]}}
  bob: {{uid: 3002, team: research, keys: ["{bob}"]}}
  carol: {{uid: 3003, team: platform}}
"""


@dataclass
class Door:
    """The bed with a server in each machine; `become` sets up ssh as some person has it."""

    bed: Bed
    folder: Path
    ids: dict[str, str] = field(default_factory=dict)
    servers: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def key(self, name: str) -> str:
        """A new pair; the public half."""
        key = asyncssh.generate_private_key("ssh-ed25519", comment=f"{name}@laptop")
        key.write_private_key(str(self.folder / name))
        (self.folder / name).chmod(0o600)
        return str(key.export_public_key().decode().strip())

    def open(self, machine: str, instance: str) -> None:
        """Starts the server of a machine with a host key of its own, as a new instance would."""
        if machine in self.servers:
            self.close(machine)
        key = f"/etc/ssh/host-{instance}"
        asyncssh.generate_private_key("ssh-ed25519").write_private_key(str(self.bed.boxes[machine].disk) + key)
        address = self.bed.info.machines[machine].address
        run = ["env", f"PYTHONPATH={ROOT}", "PYTHONDONTWRITEBYTECODE=1", sys.executable, "-m", "tests.support.sshd"]
        command = self.bed.command(machine, [*run, address, key])
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert server.stdout
        assert server.stdout.readline() == "listens\n"
        self.servers[machine], self.ids[machine] = server, instance

    def close(self, machine: str) -> None:
        self.bed.boxes[machine].sh("pkill -f '[t]ests.support.sshd' || true")
        self.servers.pop(machine).wait(20)

    @property
    def way(self) -> Ssh:
        machines = self.bed.info.machines
        return Ssh(lambda: {m: Instance(id_, machines[m].address, "") for m, id_ in self.ids.items()}, ["alice"])


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    folder = tmp_path_factory.mktemp("ssh")
    door = Door(None, folder)  # type: ignore[arg-type]
    text = (ROOT / "fleet.yaml").read_text().partition("\npeople:\n")[0]
    people = PEOPLE.format(alice=door.key("alice"), bob=door.key("bob"))
    (folder / "fleet.yaml").write_text(text.replace("\nregions:", "\naccess: ssh\nregions:", 1) + people)
    shutil.copy(ROOT / "fleet.lock.yaml", folder)
    door.key("stranger")
    bed = beds.make(folder / "bed", api=False, fleet=folder / "fleet.yaml")
    (folder / "bed").mkdir()
    door.bed = next(bed)
    try:
        for machine in door.bed.info.etcd:
            eventually(lambda name=machine.name: door.bed.boxes[name].run("id", "alice").code == 0)
            door.open(machine.name, f"i-{machine.name}")
        yield door
    finally:
        for machine in list(door.servers):
            door.close(machine)
        bed.close()


Become = Callable[..., None]


@pytest.fixture
def become(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Become:
    """A person's own ssh settings stand in a file that a wrapper names; the wrapper is inside, as over the VPN."""

    def settle(name: str, key: str | None = None) -> None:
        lines = {
            "User": name,
            "IdentityFile": str(door.folder / (key or name)),
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "UserKnownHostsFile": str(tmp_path / "known_hosts"),
            "GlobalKnownHostsFile": "/dev/null",
        }
        (tmp_path / "config").write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
        wrapped = shlex.join(door.bed.around([str(SSH), "-F", str(tmp_path / "config")]))
        (tmp_path / "ssh").write_text(f'#!/bin/sh\nexec {wrapped} "$@"\n')
        (tmp_path / "ssh").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return settle


def test_the_bundle_s_people_have_accounts_without_passwords(door: Door) -> None:
    box = door.bed.boxes["main-etcd-1"]
    assert box.run("getent", "passwd", "alice").out == "alice:x:3001:2001:alice of platform:/:/bin/bash\n"
    assert box.run("getent", "passwd", "bob").code == box.run("getent", "passwd", "carol").code == 2
    assert box.sh("cut -d: -f1,2 /etc/shadow | grep alice").out.strip() in ("alice:!*", "alice:!", "alice:*")
    assert box.ctl("is-active", "landbridge-people").out.strip() == "active"
    assert not box.ctl("is-failed", "landbridge-sshd").out.startswith("failed")


def test_an_operator_runs_commands_as_root(door: Door, become: Become) -> None:
    become("alice")
    said = door.way.run("main-etcd-2", ["sh", "-c", "cat; hostname; id -u; echo 'it''s' >&2; exit 7"], b"in\n")
    assert said == CommandResult(7, "in\nmain-etcd-2\n0\n", "its\n")


def test_the_etcd_commands_work_and_give_what_the_local_way_gives(door: Door, become: Become) -> None:
    become("alice")
    ours, local = Ctl(door.way, door.bed.info), Ctl(door.bed.remote, door.bed.info)
    for ring in ("main", "events"):
        eventually(lambda ring=ring: local.look(ring).ails(door.bed.info.etcd) == [])
    names = [(member.name, member.id, member.leader) for member in local.look("main").members]
    assert [(member.name, member.id, member.leader) for member in ours.look("main").members] == names
    done = defrag(door.way, door.bed.info, "events", lambda _line: None)
    assert {one.member for one in done} == {machine.name for machine in door.bed.info.etcd}


@pytest.mark.parametrize(("name", "key"), [("bob", "bob"), ("alice", "bob"), ("alice", "stranger"), ("root", "alice")])
def test_nobody_else_is_let_in(door: Door, become: Become, name: str, key: str) -> None:
    become(name, key)
    with pytest.raises(RemoteExecutionError, match=r"Permission denied.*let in alice"):
        door.way.run("main-etcd-1", ["true"])


def test_a_replaced_machine_is_a_new_host_on_the_same_address(door: Door, become: Become) -> None:
    become("alice")
    assert door.way.run("main-etcd-3", ["true"]).code == 0
    door.open("main-etcd-3", "i-after")
    assert door.way.run("main-etcd-3", ["true"]).code == 0, "it has another id"
    door.ids["main-etcd-3"] = "i-main-etcd-3"
    with pytest.raises(RemoteExecutionError, match="Host key verification failed"):
        door.way.run("main-etcd-3", ["true"])
    door.ids["main-etcd-3"] = "i-after"
