"""A refused connection gets a named cause. The errors are those that kubectl, etcdctl and curl really print."""

from datetime import UTC, datetime, timedelta

import pytest

from landbridge.pki.diagnosis import diagnose

from .test_certificates import KUBERNETES, signed

CERTIFICATE = signed("bob", KUBERNETES, 1)["outputs"]["certPem"]
LATER = datetime.now(UTC) + timedelta(days=4)
REFUSED = [
    "error: You must be logged in to the server (Unauthorized)",
    "couldn't get current server API group list: the server has asked for the client to provide credentials",
    "remote error: tls: expired certificate",
    "rpc error: code = Unavailable: error reading from server: remote error: tls: bad certificate",
    "curl: (56) OpenSSL SSL_read: error:0A000415:SSL routines::tlsv1 alert certificate expired",
]


@pytest.mark.parametrize("error", REFUSED)
def test_an_expired_client_certificate_is_named(error: str) -> None:
    told = diagnose(error, CERTIFICATE, LATER)
    assert told is not None
    assert told.startswith("The client certificate cn-bob expired on ")
    assert "(3 days ago)" in told or "(2 days ago)" in told
    assert "landbridge cluster roll" in told


@pytest.mark.parametrize("error", REFUSED)
def test_a_valid_one_that_is_refused_is_of_another_authority(error: str) -> None:
    told = diagnose(error, CERTIFICATE)
    assert told is not None
    assert "its authority (main-kubernetes-1) was dropped by a rotation, or this is another cluster" in told


def test_one_that_is_not_valid_yet_means_a_wrong_clock() -> None:
    told = diagnose(REFUSED[0], CERTIFICATE, datetime.now(UTC) - timedelta(days=2))
    assert told is not None
    assert "begins only on" in told


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            "Unable to connect to the server: tls: failed to verify certificate: x509: certificate has expired or is not "
            "yet valid: current time 2028-01-02T00:00:00Z is after 2027-11-21T16:34:36Z",
            "The server's certificate expired on 2027-11-21T16:34:36Z.",
        ),
        (
            "x509: certificate has expired or is not yet valid: current time 2026-01-02T00:00:00Z is before "
            "2026-11-21T16:34:36Z",
            "one of the two clocks is wrong",
        ),
        (
            "tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of ...)",
            "an authority that is not trusted here",
        ),
        (
            "x509: certificate is valid for main-api-1, localhost, not elsewhere.example.com",
            "holds for main-api-1, localhost, not for elsewhere.example.com",
        ),
    ],
)
def test_the_servers_side_is_told_apart(error: str, words: str) -> None:
    told = diagnose(error, CERTIFICATE)
    assert told is not None
    assert words in told


@pytest.mark.parametrize(
    ("error", "certificate"),
    [
        ('Error from server (NotFound): pods "x" not found', CERTIFICATE),
        ("dial tcp 10.132.0.6:6443: connect: connection refused", CERTIFICATE),
        ('Error from server (Forbidden): pods is forbidden: User "bob" cannot list', CERTIFICATE),
        (REFUSED[0], None),
        ("", CERTIFICATE),
    ],
)
def test_what_is_no_matter_of_certificates_gets_none(error: str, certificate: str | None) -> None:
    assert diagnose(error, certificate) is None


def test_a_certificate_that_is_no_pem_is_said_so() -> None:
    assert "can't be read" in (diagnose(REFUSED[0], "nonsense") or "")
