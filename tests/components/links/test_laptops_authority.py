"""People's certificates, the list of revoked ones and their wrapped keys: as OpenSSL and OpenVPN have them."""

import base64
import datetime
import subprocess
from pathlib import Path

import pytest
from cryptography import x509

from components.links.laptops.authority import (
    LIST_DAYS,
    Authority,
    Revoked,
    common_name,
    ends,
    issue,
    listed,
    read,
    revocations,
)
from components.links.laptops.wrapping import client_key, server_key, wrapped

from .laptops_bed import WRAPPING, authority

GOLDEN = Path(__file__).parent / "golden/wrapping"
DAY = datetime.timedelta(days=1)


@pytest.fixture(scope="module")
def made() -> Authority:
    return authority()


@pytest.fixture
def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def verified(folder: Path, made: Authority, certificate: str, crl: str, purpose: str = "sslclient") -> str:
    for name, text in (("ca", made.certificate), ("one", certificate), ("crl", crl)):
        (folder / name).write_text(text)
    words = f"openssl verify -CAfile ca -CRLfile crl -crl_check -purpose {purpose} one"
    done = subprocess.run(words.split(), cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_a_certificate_is_a_client_s_until_it_is_revoked(
    made: Authority, now: datetime.datetime, tmp_path: Path
) -> None:
    one, other = issue(made, "alice", 90, now), issue(made, "alice", 90, now)
    nobody = revocations(made, [], 1, now)
    assert verified(tmp_path, made, one.pem, nobody) == "one: OK\n"
    assert "unsuitable certificate purpose" in verified(tmp_path, made, one.pem, nobody, "sslserver")
    without = revocations(made, [Revoked(one.serial, now, one.until)], 2, now)
    assert "certificate revoked" in verified(tmp_path, made, one.pem, without)
    assert verified(tmp_path, made, other.pem, without) == "one: OK\n", "alice's other one still counts"


def test_it_says_whose_it_is_and_which(made: Authority, now: datetime.datetime) -> None:
    one = issue(made, "alice", 90, now)
    found = x509.load_pem_x509_certificate(one.pem.encode())
    assert found.subject.rfc4514_string() == f"CN={common_name('alice', one.serial)}"
    assert f"{found.serial_number:x}" == one.serial
    assert len(one.serial) == 16
    assert ends(one.pem) == one.until == now + 90 * DAY


def test_none_outlives_the_authority(now: datetime.datetime) -> None:
    short = authority(hours=48)
    assert issue(short, "alice", 90, now).until == ends(short.certificate)


def test_a_list_is_read_again_and_only_from_its_authority(made: Authority, now: datetime.datetime) -> None:
    kept = Revoked("4a00000000000001", now - 9 * DAY, now + DAY)
    ended = Revoked("4a00000000000002", now - 9 * DAY, now - 2 * DAY)
    text = revocations(made, [kept, ended], 7, now)
    assert listed(text, made.certificate) == (7, now + LIST_DAYS * DAY, {kept.serial}), "an ended one needs no list"
    with pytest.raises(ValueError, match="not signed"):
        listed(text, authority().certificate)


def test_the_secret_s_text_is_an_authority() -> None:
    assert read('{"crt": "c", "key": "k", "wrapping": "w"}') == ("c", "k", "w")


def test_wrapped_keys_are_those_that_openvpn_makes() -> None:
    """Made by OpenVPN 2.6.14: --genkey tls-crypt-v2-server, and with it --genkey tls-crypt-v2-client."""
    server, client = ((GOLDEN / f"{name}.pem").read_text() for name in ("server", "client"))
    data = {text: base64.b64decode("".join(text.splitlines()[1:-1])) for text in (server, client)}
    own, seconds = data[client][:256], int((GOLDEN / "time").read_text())
    assert server_key(base64.b64encode(data[server]).decode()) == server
    assert client_key(base64.b64encode(data[server]).decode(), seconds, own) == client
    assert client_key(WRAPPING, seconds, own) != client


def test_each_client_has_a_key_of_its_own_and_servers_keys_are_whole() -> None:
    assert client_key(WRAPPING, 0) != client_key(WRAPPING, 0)
    with pytest.raises(ValueError, match="128 bytes, this one 3"):
        wrapped(b"abc", b"", b"")
