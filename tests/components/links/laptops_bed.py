"""The example's servers for laptops, and an authority as the tls provider would make it."""

import base64
from typing import Any

from components.links.laptops.authority import Authority
from components.links.laptops.machine import Material
from components.links.laptops.spec import LaptopsSpec, Server, laptops_spec
from components.links.laptops.wrapping import SERVER_BYTES, server_key
from fleet.world import World
from local.providers import tls

REGION = "us-west-2"
# No secret: nobody's servers have it.
WRAPPING = base64.b64encode(bytes(range(SERVER_BYTES))).decode()


def spec_of(world: World, region: str = REGION) -> LaptopsSpec:
    found = laptops_spec(world.fleet, world.plan, region)
    assert found is not None
    return found


def authority(hours: float = 24 * 365) -> Authority:
    key = _key()
    inputs = {
        "privateKeyPem": key,
        "subject": {"commonName": "example-us-west-2-laptops"},
        "isCaCertificate": True,
        "setSubjectKeyId": True,
        "validityPeriodHours": hours,
        "allowedUses": ["cert_signing", "crl_signing"],
    }
    return Authority(str(tls._self_signed(inputs)[1]["certPem"]), key, WRAPPING)


def material(made: Authority, server: Server) -> Material:
    """What the region's stack makes for a server."""
    key = _key()
    inputs: dict[str, Any] = {"privateKeyPem": key, "subject": {"commonName": server.host}, "dnsNames": [server.host]}
    asked = {
        "certRequestPem": tls._request(inputs)[1]["certRequestPem"],
        "caCertPem": made.certificate,
        "caPrivateKeyPem": made.key,
        "validityPeriodHours": 24 * 365,
        "allowedUses": ["digital_signature", "server_auth"],
    }
    certificate = str(tls._locally_signed(asked)[1]["certPem"])
    return Material(made.certificate, certificate, key, server_key(made.wrapping), made.certificate)


def _key() -> str:
    return str(tls._private_key({"algorithm": "ECDSA", "ecdsaCurve": "P256"})[1]["privateKeyPem"])
