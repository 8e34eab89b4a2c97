"""People's certificates and the list of revoked ones, by what OpenSSH's own tool thinks of them."""

import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from components.boot import people
from components.boot.certificates import LISTED, Revoked, issue, listed, public_line, revocations
from components.boot.people import Authority, files, logins
from fleet.model import Fleet, Person
from fleet.world import current

from .test_people import EVERYBODY, KEYS, ROOT

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
AUTHORITY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
needs_keygen = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    found = current(ROOT / "fleet.yaml").fleet
    return found.model_copy(update={"access": "ssh", "ssh": "certificates", "people": EVERYBODY})


@needs_keygen
@pytest.mark.parametrize("name", KEYS)
def test_every_kind_of_key_is_signed(name: str, tmp_path: Path) -> None:
    """Also those on hardware tokens."""
    made = issue(AUTHORITY, "alice", f"{KEYS[name]} a comment", 8, NOW)
    file = tmp_path / "alice-cert.pub"
    file.write_text(made.text)
    words = ["ssh-keygen", "-L", "-f", file]
    told = subprocess.run(words, capture_output=True, text=True, check=True, env={"TZ": "UTC"}).stdout
    lines = [line.strip() for line in told.splitlines()]
    assert f'Key ID: "alice.{made.serial}"' in lines
    assert "Valid: from 2026-03-01T08:55:00 to 2026-03-01T17:00:00" in lines
    assert lines[lines.index("Principals:") + 1] == "alice"
    assert lines[lines.index("Extensions:") + 1 :] == ["permit-pty"]
    (tmp_path / "plain.pub").write_text(KEYS[name])
    plain = subprocess.run(
        ["ssh-keygen", "-l", "-f", tmp_path / "plain.pub"], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    assert any(line.startswith("Public key:") and plain in line for line in lines), "it is that key which is signed"


def test_two_certificates_are_two() -> None:
    one, other = (issue(AUTHORITY, "alice", KEYS["ed25519"], 1, NOW) for _ in "ab")
    assert one.serial != other.serial
    assert one.text != other.text


def test_a_list_names_what_is_revoked_until_a_day_after_its_end() -> None:
    gone = [Revoked("b", NOW + timedelta(hours=1)), Revoked("a", NOW), Revoked("c", NOW - LISTED)]
    text = revocations(AUTHORITY, gone, 7, NOW)
    assert text.startswith("# list 7\nserial: 0xa\nserial: 0xb\n-----BEGIN")
    assert listed(text, public_line(AUTHORITY)) == (7, {"a", "b"})


@pytest.mark.parametrize("change", [("list 7", "list 8"), ("serial: 0xa\n", ""), ("serial: 0xa", "serial: 0xb")])
def test_a_changed_list_is_nobody_s(change: tuple[str, str]) -> None:
    text = revocations(AUTHORITY, [Revoked("a", NOW)], 7, NOW)
    with pytest.raises(ValueError, match="not signed"):
        listed(text.replace(*change), public_line(AUTHORITY))
    with pytest.raises(ValueError, match="not signed"):
        listed(text, public_line(Ed25519PrivateKey.generate()))


def test_whoever_is_of_the_team_has_an_account(fleet: Fleet) -> None:
    """Carol has no key in the fleet file: hers may be signed all the same."""
    assert [one.name for one in logins(fleet, "platform")] == ["alice", "carol", "dave"]
    assert isinstance(fleet.people["carol"], Person)


def test_with_an_authority_no_key_by_itself_lets_anybody_in(fleet: Fleet) -> None:
    found = logins(fleet, "platform")
    made = files(found, root=True, authority=Authority("ssh-ed25519 AAAA", "us-west-2", "example"))
    told = dict(line.split(" ", 1) for line in made[people.SSHD].splitlines())
    assert told["AuthorizedKeysFile"] == "none"
    assert told["TrustedUserCAKeys"] == people.AUTHORITY
    assert told["RevokedKeys"] == people.REVOKED
    assert made[people.AUTHORITY] == "ssh-ed25519 AAAA\n"
    assert not [path for path in made if path.startswith(people.KEYS)]
    assert f"touch {people.REVOKED}\nExecStart=/usr/sbin/sshd -t\n" in made[f"{people.UNITS}/{people.SSHD_UNIT}"]
    assert f"{people.UNITS}/{people.REVOKED_UNIT}" in made


def test_a_site_s_host_has_no_way_to_the_list_and_does_not_ask(fleet: Fleet) -> None:
    made = files(logins(fleet, "platform"), root=False, authority=Authority("ssh-ed25519 AAAA"))
    assert not [path for path in made if "revoked" in path or path.endswith(".py")]
    assert f"RevokedKeys {people.REVOKED}\n" in made[people.SSHD]
