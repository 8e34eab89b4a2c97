"""A person's profile: one file for the usual clients, with everything inline. No script, no plugin."""

from collections.abc import Sequence
from typing import NamedTuple

from .authority import Certificate
from .spec import MTU, PORT


class Profile(NamedTuple):
    """What one file is made of. `addresses` are the servers' public ones; `authority` and `wrapping` PEM."""

    person: str
    fleet: str
    region: str
    addresses: Sequence[str]
    authority: str
    certificate: Certificate
    wrapping: str


def text(profile: Profile) -> str:
    """OpenVPN's own form. A client tries the servers in any order, and the next one when one does not answer."""
    one = profile.certificate
    lines = [
        f"# {profile.person}: fleet {profile.fleet}, region {profile.region}.",
        f"# Certificate {one.serial}, until {one.until:%Y-%m-%d}. It holds a private key: keep it to yourself.",
        "client",
        "dev tun",
        *(f"remote {address} {PORT} udp" for address in profile.addresses),
        "remote-random",
        "resolv-retry infinite",
        "nobind",
        "persist-key",
        "persist-tun",
        "remote-cert-tls server",
        "tls-version-min 1.3",
        "data-ciphers AES-256-GCM",
        f"tun-mtu {MTU}",
        "verb 3",
    ]
    parts = {
        "ca": profile.authority,
        "cert": one.pem,
        "key": one.key,
        "tls-crypt-v2": profile.wrapping,
    }
    return "\n".join([*lines, *(f"<{name}>\n{content.strip()}\n</{name}>" for name, content in parts.items())]) + "\n"
