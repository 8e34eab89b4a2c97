"""Key material of a cluster as the tls provider would make it, for tests of bundles."""

import base64
import os
from collections.abc import Mapping
from typing import Any

from components.control_plane.bundle import Material
from components.control_plane.machines import ClusterSpec
from components.control_plane.pki import (
    AUTHORITIES,
    AUTHORITY_HOURS,
    CERTIFICATE_HOURS,
    Certificate,
    break_glass,
    certificates,
)
from local.providers import tls


def _key(**given: Any) -> dict[str, Any]:
    return tls._private_key({"ecdsaCurve": "P256", "rsaBits": 2048, **given})[1]


def material(spec: ClusterSpec, *, hours: int = CERTIFICATE_HOURS) -> Material:
    authority_keys = {name: _key(algorithm="ECDSA")["privateKeyPem"] for name in AUTHORITIES}
    authorities = {
        name: tls._self_signed(
            {
                "privateKeyPem": authority_keys[name],
                "subject": {"commonName": name},
                "isCaCertificate": True,
                "validityPeriodHours": AUTHORITY_HOURS,
                "allowedUses": ["cert_signing", "crl_signing", "digital_signature"],
            }
        )[1]["certPem"]
        for name in AUTHORITIES
    }
    found, keys = {}, {}
    wanted = [c for machine in (*spec.etcd, *spec.api) for c in certificates(spec, machine)]
    for wish in [*wanted, break_glass(spec)]:
        keys[wish.name] = _key(algorithm="ECDSA")["privateKeyPem"]
        found[wish.name] = _signed(wish, keys[wish.name], authorities, authority_keys, hours)
    pair = _key(algorithm="RSA")
    accounts = (pair["publicKeyPem"], pair["privateKeyPem"])
    return Material(authorities, authority_keys, found, keys, accounts, base64.b64encode(os.urandom(32)).decode())


def signed(wish: Certificate, made: Material, *, hours: int = CERTIFICATE_HOURS) -> tuple[str, str]:
    """One more certificate and its key, by an authority of `made`."""
    key = str(_key(algorithm="ECDSA")["privateKeyPem"])
    return _signed(wish, key, made.authorities, made.authority_keys, hours), key


def _signed(
    wish: Certificate, key: str, authorities: Mapping[str, str], authority_keys: Mapping[str, str], hours: int
) -> str:
    request = tls._request(
        {
            "privateKeyPem": key,
            "subject": {"commonName": wish.common_name, "organization": wish.organization},
            "dnsNames": list(wish.hosts),
            "ipAddresses": list(wish.addresses),
        }
    )[1]
    return tls._locally_signed(
        {
            "certRequestPem": request["certRequestPem"],
            "caCertPem": authorities[wish.authority],
            "caPrivateKeyPem": authority_keys[wish.authority],
            "validityPeriodHours": hours,
            "allowedUses": ["digital_signature", *wish.uses],
        }
    )[1]["certPem"]
