"""What pods write into the caBundle of their API, and when they make another certificate."""

import base64
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from services.api_certificate import LIFE, MOST, RENEWAL, kept, made, merged, own, write

HOST = "metrics-server.landbridge-monitoring.svc"
NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def numbers(bundle: str) -> list[int]:
    return [one.serial_number for one in x509.load_pem_x509_certificates(base64.b64decode(bundle))]


def at(days: int) -> x509.Certificate:
    return own(made(HOST, NOW + days * DAY))


def test_a_certificate_is_its_host_s_alone_and_vouches_for_nobody(tmp_path: Path) -> None:
    pair = made(HOST, NOW)
    certificate = own(pair)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [HOST]
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    file = tmp_path / "pair.pem"
    write(file, pair)
    assert file.stat().st_mode & 0o777 == 0o600
    # As a server reads it: both out of one file.
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(file)
    key = serialization.load_pem_private_key(pair, None)
    assert key.public_key() == certificate.public_key()


def test_a_bundle_has_those_of_all_pods_that_have_not_run_out() -> None:
    first, second = at(0), at(1)
    bundle = merged(merged("", first, NOW), second, NOW + DAY)
    assert numbers(bundle) == [first.serial_number, second.serial_number]
    assert merged(bundle, second, NOW + DAY) == bundle, "written again it is the same"
    third = at(32)
    assert numbers(merged(bundle, third, NOW + LIFE + 2 * DAY)) == [third.serial_number]


def test_a_bundle_stays_short_and_keeps_its_own() -> None:
    bundle = ""
    for hours in range(MOST + 5):
        bundle = merged(bundle, own(made(HOST, NOW + timedelta(hours=hours))), NOW + DAY)
    assert len(numbers(bundle)) == MOST
    old = own(made(HOST, NOW - DAY))
    found = numbers(merged(bundle, old, NOW + DAY))
    assert (len(found), found[0]) == (MOST, old.serial_number)


def test_what_is_no_bundle_is_written_anew() -> None:
    one = at(0)
    for bad in ("%%%", base64.b64encode(b"no certificate").decode()):
        assert numbers(merged(bad, one, NOW)) == [one.serial_number]


def test_another_one_is_made_in_time_and_for_another_host(tmp_path: Path) -> None:
    file = tmp_path / "pair.pem"
    assert kept(file, HOST, NOW) is None
    pair = made(HOST, NOW)
    write(file, pair)
    assert kept(file, HOST, NOW + LIFE - RENEWAL - DAY) == pair
    assert kept(file, HOST, NOW + LIFE - RENEWAL) is None
    assert kept(file, "other.svc", NOW) is None
    file.write_text("rubbish")
    assert kept(file, HOST, NOW) is None
