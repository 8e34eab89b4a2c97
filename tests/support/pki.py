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
    SERVICE_ACCOUNTS,
    Certificate,
    Generations,
    break_glass,
    certificates,
)
from components.control_plane.rotation import ENCRYPTION, all_generations
from local.providers import tls

Pair = tuple[str, str]


def _key(**given: Any) -> dict[str, Any]:
    return tls._private_key({"ecdsaCurve": "P256", "rsaBits": 2048, **given})[1]


class Vault:
    """Every generation of a cluster's keys, each made when it is first asked for, as `Authority` has them."""

    def __init__(self, spec: ClusterSpec) -> None:
        self.spec = spec
        self.made: dict[tuple[str, int], Any] = {}
        self.leaves: dict[tuple[str, int], Pair] = {}

    def authority(self, name: str, number: int) -> Pair:
        """Its certificate and key."""
        if (name, number) not in self.made:
            key = str(_key(algorithm="ECDSA")["privateKeyPem"])
            inputs = {
                "privateKeyPem": key,
                "subject": {"commonName": f"{self.spec.name}-{name}-{number}"},
                "isCaCertificate": True,
                "setSubjectKeyId": True,
                "validityPeriodHours": AUTHORITY_HOURS,
                "allowedUses": ["cert_signing", "crl_signing", "digital_signature"],
            }
            self.made[name, number] = (str(tls._self_signed(inputs)[1]["certPem"]), key)
        pair: Pair = self.made[name, number]
        return pair

    def service_accounts(self, number: int) -> Pair:
        """The public key and the private one."""
        if (SERVICE_ACCOUNTS, number) not in self.made:
            pair = _key(algorithm="RSA")
            self.made[SERVICE_ACCOUNTS, number] = (pair["publicKeyPem"], pair["privateKeyPem"])
        found: Pair = self.made[SERVICE_ACCOUNTS, number]
        return found

    def encryption(self, number: int) -> str:
        return str(self.made.setdefault((ENCRYPTION, number), base64.b64encode(os.urandom(32)).decode()))

    def leaf(self, wish: Certificate, number: int, *, hours: int = CERTIFICATE_HOURS) -> Pair:
        """A certificate and its key; asked again, the same one."""
        if (wish.name, number) not in self.leaves:
            key = str(_key(algorithm="ECDSA")["privateKeyPem"])
            crt, signer = self.authority(wish.authority, number)
            signed_ = _signed(wish, key, {wish.authority: crt}, {wish.authority: signer}, hours)
            self.leaves[wish.name, number] = (signed_, key)
        return self.leaves[wish.name, number]

    def material(self, at: Mapping[str, Generations], *, hours: int = CERTIFICATE_HOURS) -> Material:
        """What all machines' bundles are made from, and the break-glass credential."""
        wanted = [c for machine in self.spec.machines for c in certificates(self.spec, machine)]
        pairs = {w.name: self.leaf(w, at[w.authority].signing, hours=hours) for w in [*wanted, break_glass(self.spec)]}
        accounts = at[SERVICE_ACCOUNTS]
        return Material(
            authorities={n: "".join(self.authority(n, number)[0] for number in at[n].ordered) for n in AUTHORITIES},
            authority_keys={name: self.authority(name, at[name].signing)[1] for name in AUTHORITIES},
            certificates={name: crt for name, (crt, _) in pairs.items()},
            keys={name: key for name, (_, key) in pairs.items()},
            service_accounts=(
                "".join(self.service_accounts(number)[0] for number in accounts.ordered),
                self.service_accounts(accounts.signing)[1],
            ),
            encryption_keys={number: self.encryption(number) for number in at[ENCRYPTION].ordered},
        )


def material(spec: ClusterSpec, *, hours: int = CERTIFICATE_HOURS) -> Material:
    """Of a cluster that never rotated."""
    return Vault(spec).material(all_generations({}), hours=hours)


def signed(wish: Certificate, made: Material, *, hours: int = CERTIFICATE_HOURS) -> Pair:
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
    return str(
        tls._locally_signed(
            {
                "certRequestPem": request["certRequestPem"],
                "caCertPem": authorities[wish.authority],
                "caPrivateKeyPem": authority_keys[wish.authority],
                "validityPeriodHours": hours,
                "allowedUses": ["digital_signature", *wish.uses],
            }
        )[1]["certPem"]
    )
