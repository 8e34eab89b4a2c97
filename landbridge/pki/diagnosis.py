"""What a refused connection means in terms of certificates: an error's text and a certificate → one named cause."""

import re
from datetime import UTC, datetime

from cryptography import x509

from .certificates import common_name

# How programs say that one side did not like the other's certificate: kubectl, Go's TLS (etcdctl), OpenSSL.
CLIENT_REFUSED = re.compile(
    r"must be logged in to the server|asked for the client to provide credentials|\bUnauthorized\b"
    r"|remote error: tls: (?:expired|bad|unknown) certificate"
    r"|tlsv1[23]? alert (?:certificate expired|bad certificate|unknown ca)",
    re.IGNORECASE,
)
SERVER_EXPIRED = re.compile(
    r"certificate has expired or is not yet valid(?:: current time (\S+) is (after|before) (\S+))?"
)
SERVER_UNKNOWN = re.compile(r"certificate signed by unknown authority|unable to get local issuer certificate")
SERVER_NAME = re.compile(r"certificate is (?:not )?valid for (.+?), not (\S+)")
ANEW = "Write the kubeconfig anew: `landbridge kubeconfig`."
DATE = "%Y-%m-%d %H:%M UTC"


def diagnose(error: str, cert_pem: str | None = None, now: datetime | None = None) -> str | None:
    """Why a call was refused, if certificates are the reason; None when they are not, or when it can't be told.

    `cert_pem` is the client certificate that was shown. Which side is at fault is in the words: a server's end is told
    by the client itself, a client's by the server, and kubectl then only says "Unauthorized".
    """
    now = now or datetime.now(UTC)
    if found := SERVER_EXPIRED.search(error):
        if found[2] == "before":
            return (
                f"The server's certificate begins only on {found[3]}, and the clock here says {found[1]}: one of the "
                "two clocks is wrong. Correct it."
            )
        when = f" on {found[3]}" if found[3] else ""
        return f"The server's certificate expired{when}. {_renew('its machine')}"
    if SERVER_UNKNOWN.search(error):
        return (
            "The server's certificate is signed by an authority that is not trusted here: it was rotated since this "
            f"kubeconfig was written, or this is another cluster. {ANEW}"
        )
    if found := SERVER_NAME.search(error):
        return f"The server's certificate holds for {found[1]}, not for {found[2]}. Use one of its names."
    if CLIENT_REFUSED.search(error) and cert_pem:
        return _client(cert_pem, now)
    return None


def _client(cert_pem: str, now: datetime) -> str | None:
    try:
        certificate = x509.load_pem_x509_certificate(cert_pem.encode())
    except ValueError:
        return f"The client certificate can't be read: it is not PEM. {ANEW}"
    name, begins, ends = (
        common_name(certificate.subject),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
    )
    if now >= ends:
        return (
            f"The client certificate {name} expired on {ends:{DATE}} ({_ago(now, ends)} ago). {_renew('the machines')}"
        )
    if now < begins:
        return f"The client certificate {name} begins only on {begins:{DATE}}: the clock here is behind. Correct it."
    return (
        f"The client certificate {name} is valid until {ends:{DATE}}, and the server refuses it all the same: its "
        f"authority ({common_name(certificate.issuer)}) was dropped by a rotation, or this is another cluster. {ANEW}"
    )


def _renew(whom: str) -> str:
    return (
        f"Make it anew: `landbridge up --refresh CLUSTER`. Bring it to {whom}: `landbridge cluster roll CLUSTER`. "
        "What ends next: `landbridge pki status`."
    )


def _ago(now: datetime, then: datetime) -> str:
    return f"{days} days" if (days := (now - then).days) > 1 else f"{int((now - then).total_seconds() // 3600)} hours"
