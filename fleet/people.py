"""What people's entries must hold so that they can log in: names that machines do not have, and public keys."""

import base64
import binascii
from collections.abc import Iterator
from typing import NamedTuple

from .logins import by_certificate
from .model import Fleet

Wrong = tuple[tuple[str | int, ...], str, str]
# Of operators, in the certificate of the administrator.
ADMINS = "landbridge:admins"
# Of a team, in each certificate of its people.
GROUP = "landbridge:team:"
CURVES = {"nistp256": 65, "nistp384": 97, "nistp521": 133}
# Type of a key → its fields by name, as "The Secure Shell (SSH) Transport Layer Protocol" and OpenSSH's PROTOCOL.u2f
# have them. Ed25519 first: it is what a remedy proposes.
TYPES: dict[str, tuple[str, ...]] = {
    "ssh-ed25519": ("ed25519",),
    "sk-ssh-ed25519@openssh.com": ("ed25519", "application"),
    **{f"ecdsa-sha2-{curve}": ("curve", "point") for curve in CURVES},
    "sk-ecdsa-sha2-nistp256@openssh.com": ("curve", "point", "application"),
    "ssh-rsa": ("exponent", "modulus"),
}
LEAST_RSA_BITS = 2048
LONGEST_NAME = 31  # utmp's field, less its end; systemd-sysusers refuses a longer one
PRIVATE = ("PRIVATE KEY", "PuTTY-User-Key-File", "openssh-key-v1", "b3BlbnNzaC1rZXktdjE")
# Users and groups that images have (Debian's base-passwd, systemd, Ubuntu): who bore such a name would be one of them.
SYSTEM = (
    "adm admin audio avahi backup bin cdrom chrony crontab daemon dialout dip disk docker etcd fax floppy ftp games "
    "gnats halt input irc kmem kube kvm landbridge landscape list lock lp lpadmin lxd mail man messagebus mysql netdev "
    "news nfsnobody nobody nogroup ntp nvidia-persistenced operator plugdev polkitd postfix postgres proxy render root "
    "rpc rtkit sasl sgx shadow shutdown slurm src ssh sshd ssl-cert staff statd sudo sync sys syslog systemd-journal "
    "systemd-network systemd-resolve systemd-timesync tape tcpdump tftp tss tty ubuntu users usbmux utmp uucp uuidd "
    "video voice wheel www-data"
)
TAKEN = frozenset(SYSTEM.split())


class KeyProblem(NamedTuple):
    """Of one key: what it is, and what would be right. Never the key itself, which may be a secret."""

    what: str
    remedy: str


def group(team: str) -> str:
    """As the API knows it."""
    return f"{GROUP}{team}"


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry."""
    yield from _names(fleet)
    yield from _keys(fleet)
    if fleet.access == "ssh":
        yield from _access(fleet)


def _names(fleet: Fleet) -> Iterator[Wrong]:
    for kind, names in (("people", fleet.people), ("teams", fleet.teams)):
        for name in names:
            if name in TAKEN:
                what = f"{name} is a {'user' if kind == 'people' else 'group'} that machines have already"
                yield (kind, name), what, "Choose another name"
            elif len(name) > LONGEST_NAME:
                what = f"{name} has {len(name)} characters, and machines take {LONGEST_NAME} for a user or group"
                yield (kind, name), what, "Shorten it"


def _keys(fleet: Fleet) -> Iterator[Wrong]:
    owners: dict[str, str] = {}
    for name, person in fleet.people.items():
        for n, text in enumerate(person.keys):
            if problem := key_problem(text):
                yield ("people", name, "keys", n), f"a key of people.{name} {problem.what}", problem.remedy
                continue
            owner = owners.setdefault(text.split()[1], name)
            if owner != name or text.split()[1] in [other.split()[1] for other in person.keys[:n]]:
                whose = f"is {owner}'s already" if owner != name else "stands twice"
                yield (
                    ("people", name, "keys", n),
                    f"a key of people.{name} {whose}",
                    "A key belongs to one person, once",
                )


def _access(fleet: Fleet) -> Iterator[Wrong]:
    if by_certificate(fleet) and not any(person.team == fleet.owner for person in fleet.people.values()):
        what = f"access is ssh, and nobody is of the owner team {fleet.owner}: nobody could reach the clusters"
        yield ("access",), what, f"Add people of team {fleet.owner}, or use ssm"
    elif not by_certificate(fleet) and not any(p.team == fleet.owner and p.keys for p in fleet.people.values()):
        what = f"access is ssh, and nobody of the owner team {fleet.owner} has a key: nobody could reach the clusters"
        remedy = f"Give people of team {fleet.owner} keys, such as people.NAME.keys: [ssh-ed25519 AAAA…], or use ssm"
        yield ("access",), what, remedy
    if not fleet.sites and not any(region.laptops for region in fleet.regions.values()):
        what = "access is ssh, and there is nowhere to come from: no region has laptops, and there is no site"
        yield ("access",), what, "Set laptops: true in a region, or use ssm"


def key_problem(text: str) -> KeyProblem | None:
    """Why a text is no SSH public key that a machine would take; None when it is one."""
    if any(mark in text for mark in PRIVATE):
        remedy = "Make a new pair, for this one is no secret any more, and put the line of its .pub file here"
        return KeyProblem("is a PRIVATE key", remedy)
    form = "Put the one line of a .pub file here: its type, the key, a comment"
    if not text.isprintable() or text != text.strip():
        return KeyProblem("is not one line", form)
    kind, _, rest = text.partition(" ")
    if kind == "ssh-dss":
        return KeyProblem("is of type ssh-dss, which no server takes any more", "Make one with ssh-keygen -t ed25519")
    if kind not in TYPES:
        return KeyProblem(f"does not begin with a type of key such as {next(iter(TYPES))}", form)
    try:
        fields = list(_fields(base64.b64decode(rest.split(" ")[0], validate=True)))
    except (binascii.Error, ValueError):
        return KeyProblem("is cut off or changed", form)
    if len(fields) != len(TYPES[kind]) + 1 or fields[0] != kind.encode():
        return KeyProblem("is cut off or changed", form)
    return next(
        (found for name, value in zip(TYPES[kind], fields[1:], strict=True) if (found := _judged(kind, name, value))),
        None,
    )


def _fields(blob: bytes) -> Iterator[bytes]:
    """A key's parts, each after its length. Raises ValueError."""
    while blob:
        size = int.from_bytes(blob[:4], "big")
        if len(blob) < 4 + size:
            raise ValueError("it ends too soon")
        yield blob[4 : 4 + size]
        blob = blob[4 + size :]


def _judged(kind: str, name: str, value: bytes) -> KeyProblem | None:
    """What is wrong with one field."""
    curve = next((c for c in CURVES if c in kind), "")
    good = {
        "ed25519": len(value) == 32,
        "curve": value == curve.encode(),
        "point": len(value) == CURVES.get(curve) and value[:1] == b"\4",
        "exponent": bool(value) and value[-1] & 1 == 1,
        "modulus": bool(value) and value[-1] & 1 == 1,
        "application": bool(value),
    }
    if not good[name]:
        return KeyProblem("is cut off or changed", "Put the one line of a .pub file here")
    if name == "modulus" and (bits := int.from_bytes(value, "big").bit_length()) < LEAST_RSA_BITS:
        return KeyProblem(f"is RSA of {bits} bits, which is too weak", "Make one with ssh-keygen -t ed25519")
    return None
