"""Who may log in, as bundle files: what they say, their modes, and what the real tools think of them."""

import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from components.boot import people
from components.boot.people import Login, files, logins
from components.control_plane.bundle import bundle, digests
from components.control_plane.firewall import rules
from components.control_plane.machines import ClusterSpec, cluster_spec
from fleet.address.plan import AddressPlan
from fleet.model import Fleet, Person
from fleet.people import LONGEST_NAME, TYPES, key_problem
from fleet.world import current
from tests.support import golden
from tests.support.pki import material

import people_revoked  # isort: skip

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# Public halves of pairs that nobody has kept.
KEYS = {
    "ed25519": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINOk5puLA41q4RMG4uMfUR+liE8kq7tWNAwN46qfVTGA",
    "ecdsa": (
        "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBLh3VyiANvnIFgYpzLN+te3TB0qE"
        "fmTAtBzPLx7LfvuGE+9FFbzj+LqwG/0klIDTThnW03pJlmDBYurMYNx9Xqc="
    ),
    "ecdsa521": (
        "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAES3Z+GheADg8i7iQyC0/4A3Lx1"
        "jEOVYF40hkDZTbZPwpCrEx/7gaDl6KpFSntMJsvNIGpUDRUyiZD9qStc/Jn4RgHn9VrFyp8d2JapX3bTEdnJa7J/OmFkT6b4g3jq"
        "shU1UgogpkpylcRxw8mdstK9kKn/3s7eHaKsaAXduxcsFtVCkw=="
    ),
    "rsa": (
        "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDAVr9d9x8jODnm81MMKA1hLN0RvnRDdL2dWTtisgxrTNZgFJs0SuZHoo4OLGk1"
        "bpN1vTttfllWqJjrP17pE0Op3L+HbBnxhDsTLpXlsWS8SUoAT7uUrQvoCAm9LnCbY4qElMycTPGMaJc06/xoKKKGtOEADvfbZVNW"
        "9/WXVFCTe+lGqduyAHY0Xrs5YhrL4dsg5YbgSvga0xwg5BU82XBSOuFEmRo5XNdreVMhhGuSNWvWo0lnXGOCqhCYwgQ/otfufJ8q"
        "17DyacFUooALISCHYuj2NJ72TnbwLkyimFLdhkz4gk7zKvlP+tviJvyYp/gO8FL+hSDTd6OrsP9JrMIJqIbUBtz6LIkNaLqMZmpo"
        "Q6ok11WslawRPwMvBhEAjuOvvasr9R0uH6/ruXzddHuHEatlbb9nu+BYHaKxUR8arbXszIjhrdQpm/X59gmsttsqJfSVJ8HA3eXU"
        "d2S7jrSWI0Tcs9GVIAE2fzgQJsuvBFR3r/ah+6thMUHkcCmkVlU="
    ),
    "sk-ed25519": (
        "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAINOk5puLA41q4RMG4uMfUR+liE8kq"
        "7tWNAwN46qfVTGAAAAABHNzaDo="
    ),
    "sk-ecdsa": (
        "sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyN"
        "TYAAABBBLh3VyiANvnIFgYpzLN+te3TB0qEfmTAtBzPLx7LfvuGE+9FFbzj+LqwG/0klIDTThnW03pJlmDBYurMYNx9XqcAAAAEc"
        "3NoOg=="
    ),
}
EVERYBODY = {
    "alice": Person(uid=3001, team="platform", keys=[f"{KEYS['ed25519']} alice@laptop", f"{KEYS['rsa']} at home"]),
    "bob": Person(uid=3002, team="research", keys=[f"{KEYS['ecdsa']} bob"]),
    "carol": Person(uid=3003, team="platform"),
    "dave": Person(uid=3004, team="platform", keys=[KEYS["ecdsa521"]]),
}


@pytest.fixture(scope="module")
def world() -> tuple[Fleet, AddressPlan]:
    made = current(ROOT / "fleet.yaml")
    return made.fleet.model_copy(update={"access": "ssh", "people": EVERYBODY}), made.plan


@pytest.fixture(scope="module")
def made(world: tuple[Fleet, AddressPlan]) -> dict[str, str]:
    return files(logins(world[0], "platform"), root=True)


@pytest.fixture(scope="module")
def spec(world: tuple[Fleet, AddressPlan]) -> ClusterSpec:
    return cluster_spec(*world, "main")


def laid(folder: Path, made: dict[str, str]) -> Path:
    """The files in a folder, with their modes."""
    for path, text in made.items():
        target = folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(int(people.MODES.get(path, "0644"), 8))
    return folder


@pytest.mark.golden
def test_the_files_and_the_doors_of_a_cluster_with_ssh(spec: ClusterSpec, world: tuple[Fleet, AddressPlan]) -> None:
    """What `access: ssh` adds to a machine, and to its security groups."""
    plain = cluster_spec(world[0].model_copy(update={"access": "ssm"}), world[1], "main")
    keys = material(spec)
    found = {}
    for machine in (spec.etcd[0], spec.api[0]):
        with_, without = bundle(spec, machine, keys), bundle(plain, machine, keys)
        assert not without.files.keys() - with_.files.keys()
        assert with_.keys == without.keys, "no private key is anybody's to log in with"
        found[machine.role] = {p: t.splitlines() for p, t in with_.files.items() if without.files.get(p) != t}
        told = digests(with_)["files"]
        modes = {path: entry["mode"] for path, entry in told.items() if entry["mode"] != "0644"}
        assert modes == {people.SUDOERS: "0440"}
    assert list(found["etcd"].items())[1:] != []
    target = "/etc/systemd/system/landbridge.target"
    assert {k: v for k, v in found["etcd"].items() if k != target} == {
        k: v for k, v in found["api"].items() if k != target
    }
    added = [list(rule) for rule in rules(spec, "10.128.0.0/9") if rule not in rules(plain, "10.128.0.0/9")]
    golden.compare(HERE / "golden/ssh.yaml", {"files": found["etcd"], "firewall": added})


def test_ssh_is_open_to_laptops_and_machine_rooms_and_to_nobody_else(
    spec: ClusterSpec, world: tuple[Fleet, AddressPlan]
) -> None:
    open_ = {
        rule.peer
        for rule in rules(spec, "10.128.0.0/9")
        if rule.first <= people.PORT <= rule.last and rule.direction == "in"
    }
    plan = world[1]
    assert open_ == {*plan.region("us-west-2").laptops, plan.site("lab").block}
    names = [rule.name for rule in rules(spec, "10.128.0.0/9")]
    assert len(set(names)) == len(names)


def test_without_ssh_there_is_neither_a_login_nor_a_door(world: tuple[Fleet, AddressPlan]) -> None:
    plain = cluster_spec(world[0].model_copy(update={"access": "ssm"}), world[1], "main")
    assert (plain.logins, plain.logins_from) == ((), ())
    assert not [path for path in bundle(plain, plain.etcd[0], material(plain)).files if "ssh" in path or "sudo" in path]
    assert files((), root=True) == {}


def test_only_the_team_s_people_with_keys_log_in(world: tuple[Fleet, AddressPlan]) -> None:
    assert [(one.name, one.uid, one.gid, len(one.keys)) for one in logins(world[0], "platform")] == [
        ("alice", 3001, 2001, 2),
        ("dave", 3004, 2001, 1),
    ]
    assert [one.name for one in logins(world[0], "research")] == ["bob"]


def test_without_root_there_are_no_rules_for_sudo(world: tuple[Fleet, AddressPlan]) -> None:
    assert people.SUDOERS not in files(logins(world[0], "research"), root=False)


def test_no_comment_of_a_key_reaches_a_machine(made: dict[str, str]) -> None:
    assert made[f"{people.KEYS}/alice"].splitlines() == [
        f"restrict,pty {KEYS['ed25519']} alice",
        f"restrict,pty {KEYS['rsa']} alice",
    ]
    assert "laptop" not in json.dumps(made)


@pytest.mark.skipif(not shutil.which("systemd-sysusers"), reason="systemd-sysusers is not installed")
def test_systemd_makes_the_users_and_groups_with_the_fleet_s_numbers(made: dict[str, str], tmp_path: Path) -> None:
    root = laid(tmp_path, made)
    longest = Login("a" * LONGEST_NAME, 3999, "t" * LONGEST_NAME, 2999, (KEYS["rsa"],))
    for one in (made, files([longest], root=False)):
        laid(root, one)
        told = subprocess.run(
            ["systemd-sysusers", f"--root={root}", Path(people.SYSUSERS).name],
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, told.stderr
    users = dict(line.split(":", 1) for line in (root / "etc/passwd").read_text().splitlines())
    assert users["alice"] == "x:3001:2001:alice of platform:/:/bin/bash"
    assert users["dave"].startswith("x:3004:2001:")
    assert "platform:x:2001:" in (root / "etc/group").read_text()
    if (root / "etc/shadow").exists():
        for line in (root / "etc/shadow").read_text().splitlines():
            assert line.split(":")[1] in ("!*", "!", "*"), "nobody has a password"


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")
def test_ssh_keygen_reads_each_key(made: dict[str, str], tmp_path: Path) -> None:
    root = laid(tmp_path, made)
    for name, count in (("alice", 2), ("dave", 1)):
        file = root / people.KEYS.lstrip("/") / name
        told = subprocess.run(["ssh-keygen", "-l", "-f", file], capture_output=True, text=True, check=True).stdout
        assert len(told.splitlines()) == count
        assert all(line.split()[2] == name for line in told.splitlines())


@pytest.mark.skipif(not shutil.which("sshd"), reason="sshd is not installed")
def test_sshd_takes_the_settings(made: dict[str, str], tmp_path: Path) -> None:
    root = laid(tmp_path, made)
    key = tmp_path / "host"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    command = [str(shutil.which("sshd")), "-t", "-f", root / people.SSHD.lstrip("/"), "-h", key]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    # A build without PAM says so and goes on.
    assert told.returncode == 0 or "privilege separation" in told.stderr.lower(), told.stderr


@pytest.mark.skipif(not shutil.which("visudo"), reason="visudo is not installed (package sudo)")
def test_sudo_takes_the_rules(made: dict[str, str], tmp_path: Path) -> None:
    file = laid(tmp_path, made) / people.SUDOERS.lstrip("/")
    assert stat.S_IMODE(file.stat().st_mode) == 0o440
    subprocess.run([str(shutil.which("visudo")), "-c", "-f", file], check=True)


@pytest.mark.parametrize("name", KEYS)
def test_every_kind_of_good_key_is_taken(name: str) -> None:
    assert key_problem(KEYS[name]) is None
    assert key_problem(f"{KEYS[name]} a comment with words") is None
    assert KEYS[name].split()[0] in TYPES


@pytest.mark.parametrize("name", KEYS)
def test_no_part_of_a_key_may_be_missing(name: str) -> None:
    kind, blob = KEYS[name].split()
    for cut in range(0, len(blob), 4):
        assert key_problem(f"{kind} {blob[:cut]}") is not None, cut
    assert key_problem(f"{kind} {blob}AAAA") is not None


@pytest.mark.parametrize(
    "text", ["", " ", "ssh-ed25519", "x", "-----BEGIN RSA PRIVATE KEY-----", "ssh-ed25519\tAAAA", "é", "\0"]
)
def test_what_is_no_key_is_never_quoted(text: str) -> None:
    problem = key_problem(text)
    assert problem is not None
    assert len(text) < 3 or text not in f"{problem.what} {problem.remedy}"


def test_a_list_that_is_here_already_is_taken_again_and_an_older_one_never(tmp_path: Path) -> None:
    """After a restart the revoked_list asks for all of it once more."""
    told = {"revoked": str(tmp_path / "revoked"), "bucket": "b", "object": "o", "authority": "a"}
    revoked_list = people_revoked.RevocationList(told, None)  # type: ignore[arg-type] - no cloud is asked
    assert revoked_list.newer("# list 1\n") == 1
    revoked_list.number_file.write_text('{"number": 3}')
    assert revoked_list.newer("# list 3\nserial: 7\n") == 3
    with pytest.raises(people_revoked.BadList, match="2 is lower than 3"):
        revoked_list.newer("# list 2\n")
    with pytest.raises(people_revoked.BadList, match="no number"):
        revoked_list.newer("serial: 7\n")
