"""People's certificates by a real sshd with the rendered files, and a real ssh: who gets in, and who no more."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from components.boot import people
from components.boot.certificates import Certificate, Revoked, issue, issue_host, public_line, revocations
from components.boot.clients import called, known_hosts
from components.boot.people import Authority, Login
from fleet.logins import REVOKED
from tests.support.aws import machine as aws_machine

from . import report
from .laptops import AWS, ROOT, SECONDS
from .machines import LabError, Machine, awaited, joined

NODE, LAPTOP, NETWORK, BUCKET = "192.0.2.1", "192.0.2.2", "192.0.2.0/24", "example"
# What a client takes machines of a pool for.
POOL = "pools.us-west-2.fleet.example.com"
# Of the owner team; dave is of another one, so that machines of alice's do not know him.
TEAM = (Login("alice", 3001, "platform", 2001, ()), Login("bob", 3002, "platform", 2001, ()))
KINDS = {"alice": "ed25519", "bob": "ecdsa", "dave": "rsa"}
GONE_SECONDS = 60.0
REGION = aws_machine.REGIONS[0]


class Bed:
    """A machine that the team may log in to, and a laptop, which plays AWS besides."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0
        self.authority = Ed25519PrivateKey.generate()
        self.node, self.laptop = Machine("node", folder), Machine("laptop", folder)
        joined(self.laptop, "machines", self.node, "eth0")
        self.laptop.ip(f"addr add {LAPTOP}/24 dev machines")
        self.node.ip(f"addr add {NODE}/24 dev eth0", f"route add default via {LAPTOP}")
        self.keys = {name: self._pair(name, kind) for name, kind in KINDS.items()}
        self._aws()
        self._serve()

    def _pair(self, name: str, kind: str) -> str:
        """A person's own, on the laptop; gives the public line."""
        self.laptop.run("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", name, "-f", f"/run/{name}")
        return self.laptop.read(f"/run/{name}.pub").strip()

    def _aws(self) -> None:
        self.node.run("hostname", "node")
        # sudo asks for the machine's own name.
        hosts = f"127.0.0.1 localhost node\n{aws_machine.HOSTS}"
        self.node.write({**aws_machine.trust(self.folder), "/etc/hosts": hosts})
        words = (sys.executable, "-c", AWS, str(self.folder))
        running = self.laptop.start(*words, seconds=SECONDS, env={"PYTHONPATH": str(ROOT)}, out=subprocess.PIPE)
        assert running.stdout is not None
        if running.stdout.readline() != b"serves\n":
            raise LabError(f"the stand-in of AWS does not serve: {self.laptop.log.read_text()[-800:]}")

    def _serve(self) -> None:
        """What the bundle's units do, and Debian's sshd with Debian's own configuration."""
        vouching = Authority(public_line(self.authority), REGION, BUCKET)
        self.hosts, self.stranger = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        own = Ed25519PrivateKey.generate()
        shown = issue_host(self.hosts, "shell", [POOL], public_line(own))
        made = people.files(TEAM, root=True, authority=vouching, certificate=shown)
        made[people.HOST_KEY] = own.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
        # What it keeps would be the host's.
        self.node.run("mount", "-t", "tmpfs", "tmpfs", "/var/lib")
        self.node.write(made)
        self.node.run("chmod", "600", people.HOST_KEY)
        self.node.run("systemd-sysusers", people.SYSUSERS)
        Path(self.node.root / people.REVOKED.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        self.node.run("touch", people.REVOKED)
        self.node.run("sh", "-c", "mkdir -p /run/sshd && ssh-keygen -A && chmod 440 /etc/sudoers.d/landbridge")
        self.node.run("/usr/sbin/sshd", "-t")
        self.node.start("/usr/sbin/sshd", "-D", "-E", "/run/sshd.log", seconds=SECONDS)
        script = f"{people.SCRIPTS}/people_revoked.py"
        self.node.start(sys.executable, script, seconds=SECONDS)
        awaited("sshd", lambda: "listening on" in self.log(), 10)

    def log(self) -> str:
        """sshd's."""
        file = self.node.root / "run/sshd.log"
        return file.read_text() if file.exists() else ""

    def given(self, person: str, *, hours: float = 1.0, now: datetime | None = None, key: str = "") -> Certificate:
        """A certificate that lies on the laptop beside the person's key."""
        made = issue(self.authority, person, key or self.keys[person], hours, now or datetime.now(UTC))
        self.laptop.write({f"/run/{person}-cert.pub": made.text})
        return made

    def log_in(
        self, person: str, *command: str, user: str = "", strange: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """By the person's key, with the certificate that lies beside it, if any.

        The laptop knows the hosts' authority and no host; or a `strange` one.
        """
        options = ("-F", "/run/config", "-i", f"/run/{person}", "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes")
        known = known_hosts([POOL], public_line(self.stranger if strange else self.hosts))
        self.laptop.write({"/run/known_hosts": known, "/run/config": called([NETWORK], [LAPTOP], POOL)})
        host = ("-o", "StrictHostKeyChecking=yes", "-o", "UserKnownHostsFile=/run/known_hosts", "-o", "LogLevel=ERROR")
        return self.laptop.attempt("ssh", *options, *host, f"{user or person}@{NODE}", *(command or ("id", "-un")))

    def publish(self, *revoked: Certificate, number: int = 0, key: Ed25519PrivateKey | None = None) -> int:
        """Lays the list as `landbridge` does; its number."""
        self.number += 1
        text = revocations(
            key or self.authority,
            [Revoked(one.serial, one.until) for one in revoked],
            number or self.number,
            datetime.now(UTC),
        )
        file = self.folder / "bucket" / BUCKET / REVOKED
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return number or self.number

    def at(self, number: int) -> bool:
        try:
            return bool(json.loads(self.node.read(f"{people.REVOKED}.json"))["number"] == number)
        except FileNotFoundError:
            return False

    def close(self) -> None:
        self.node.close()
        self.laptop.close()


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, possible: None) -> Iterator[Bed]:
    made = Bed(tmp_path_factory.mktemp("ssh"))
    yield made
    made.close()


def denied(done: subprocess.CompletedProcess[str]) -> bool:
    return done.returncode == 255 and "Permission denied (publickey)" in done.stdout


def test_a_key_alone_lets_nobody_in(bed: Bed) -> None:
    assert denied(bed.log_in("alice"))


@pytest.mark.parametrize("person", ["alice", "bob"])
def test_a_certificate_lets_its_person_in(bed: Bed, person: str) -> None:
    made = bed.given(person)
    done = bed.log_in(person)
    assert (done.returncode, done.stdout) == (0, f"{person}\n")
    assert f"Accepted publickey for {person}" in bed.log()
    assert f"ID {person}.{made.serial} (serial {int(made.serial, 16)})" in bed.log()


def test_a_host_is_known_by_its_certificate_alone(bed: Bed) -> None:
    bed.given("alice")
    assert bed.log_in("alice").returncode == 0
    refused = bed.log_in("alice", strange=True)
    assert (refused.returncode, "Host key verification failed" in refused.stdout) == (255, True), refused.stdout
    keys = bed.laptop.run("ssh-keyscan", "-t", "rsa,ecdsa,ed25519", NODE)
    assert [line.split()[1] for line in keys.splitlines() if line[0] != "#"] == ["ssh-ed25519"], "no other key is shown"


def test_who_was_let_in_is_root_by_sudo(bed: Bed) -> None:
    bed.given("alice")
    assert bed.log_in("alice", "sudo", "-n", "id", "-un").stdout == "root\n"


def test_a_certificate_is_of_one_person_and_of_no_other_name(bed: Bed) -> None:
    bed.given("alice")
    assert denied(bed.log_in("alice", user="bob"))
    assert denied(bed.log_in("alice", user="root"))


def test_another_team_s_certificate_lets_nobody_in(bed: Bed) -> None:
    bed.given("dave")
    assert denied(bed.log_in("dave"))
    assert denied(bed.log_in("dave", user="alice"))


def test_a_certificate_ends(bed: Bed) -> None:
    bed.given("alice", now=datetime.now(UTC) - timedelta(hours=2), hours=1)
    assert denied(bed.log_in("alice"))
    assert "Certificate invalid: expired" in bed.log()
    bed.given("alice", now=datetime.now(UTC) + timedelta(hours=1))
    assert denied(bed.log_in("alice")), "nor before it begins"


def test_another_authority_s_certificate_lets_nobody_in(bed: Bed) -> None:
    made = issue(Ed25519PrivateKey.generate(), "alice", bed.keys["alice"], 1, datetime.now(UTC))
    bed.laptop.write({"/run/alice-cert.pub": made.text})
    assert denied(bed.log_in("alice"))


def test_a_certificate_forwards_nothing(bed: Bed) -> None:
    bed.given("alice")
    words = ("-F", "none", "-i", "/run/alice", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no")
    known = ("-o", "UserKnownHostsFile=/dev/null", "-W", f"{NODE}:22")
    done = bed.laptop.attempt("ssh", *words, *known, f"alice@{NODE}", seconds=5)
    assert "administratively prohibited" in done.stdout, done.stdout


def test_a_revoked_certificate_lets_nobody_in_and_the_next_one_does(bed: Bed) -> None:
    lost, other = bed.given("alice"), bed.given("bob")
    assert bed.log_in("alice").returncode == 0
    bed.publish(lost)
    took = awaited("the end of alice's certificate", lambda: denied(bed.log_in("alice")), GONE_SECONDS)
    report.note("a revoked SSH certificate lets nobody in", f"{took:.1f} s", f"{GONE_SECONDS:g} s")
    assert bed.log_in("bob").returncode == 0, other
    bed.given("alice")
    assert bed.log_in("alice").returncode == 0


def test_a_list_that_the_authority_has_not_signed_is_not_taken(bed: Bed) -> None:
    lost = bed.given("alice")
    good = bed.publish(lost)
    awaited("the list", lambda: bed.at(good), GONE_SECONDS)
    assert denied(bed.log_in("alice"))
    refused = bed.publish(number=bed.number + 50, key=Ed25519PrivateKey.generate())
    awaited("a word of it", lambda: "is not taken: " in bed.node.log.read_text(), GONE_SECONDS)
    assert not bed.at(refused)
    assert denied(bed.log_in("alice"))
    older = bed.publish(number=1)
    awaited("a word of it", lambda: "is lower than" in bed.node.log.read_text(), GONE_SECONDS)
    assert not bed.at(older)
    assert denied(bed.log_in("alice")), "nor an older one"
