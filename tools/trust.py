"""Whom the commands of the set-up trust when they fetch: the system's store of authorities, as a company fills it.

Go and apt take it by themselves. uv and pip bring a list of their own, in which no company's authority is; they are
told to take the system's. What a user has set for himself counts before that.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

# As Go looks for it: Debian and Ubuntu, Fedora and Red Hat, SUSE, older ones, Alpine and others.
STORES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
# Any of these is a user's own word to uv, or to pip.
UV_OWN = ("SSL_CERT_FILE", "SSL_CERT_DIR", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS")
PIP_OWN = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def trusting(environment: Mapping[str, str], stores: Sequence[str] = STORES) -> dict[str, str]:
    """The environment, with the system's store for those that would not take it; SSL_CERT_FILE for pip, too."""
    store = next((place for place in stores if Path(place).exists()), "")
    more = {}
    if store and not any(name in environment for name in UV_OWN):
        more["UV_SYSTEM_CERTS"] = "true"
    if (bundle := environment.get("SSL_CERT_FILE") or store) and not any(name in environment for name in PIP_OWN):
        # Weaker than a `cert` in pip's own settings.
        more["REQUESTS_CA_BUNDLE"] = bundle
    return {**environment, **more}
