"""A machine's bundle: every file it needs, as a dict path → content, and the manifest that vouches for them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from components.boot import people

from . import api, etcd
from .machines import ClusterSpec, Machine
from .pki import TRUST, certificates
from .units import TARGET, UNITS, target

# Below a bundle's prefix: what names its files, signed.
MANIFEST = "manifest.json"
PUBLIC_MODE, KEY_MODE = "0644", "0600"
END = "-----END CERTIFICATE-----\n"


class Material(NamedTuple):
    """PEM texts from the tls provider: authorities by name, certificates and private keys by certificate name.

    Where several generations are trusted, an authority is their certificates one after the other, the one that signs
    first. `service_accounts` is public PEMs, in that order, too, and the private one that signs; `encryption_keys` are
    base64 of 32 bytes by generation, the one that writes first.
    """

    authorities: Mapping[str, str]
    authority_keys: Mapping[str, str]
    certificates: Mapping[str, str]
    keys: Mapping[str, str]
    service_accounts: tuple[str, str]
    encryption_keys: Mapping[int, str]


class Bundle(NamedTuple):
    """`files` may be read by whoever may read the bucket; `keys` come from the secrets store alone."""

    machine: str
    files: dict[str, str]
    keys: dict[str, str]


FILES = {"etcd": etcd.files, "api": api.files}


def bundle(spec: ClusterSpec, machine: Machine, material: Material) -> Bundle:
    of_people = people.files(spec.logins, root=True, authority=spec.vouching, certificate=spec.shown)
    files = {**FILES[machine.role](spec, machine), **of_people}
    units = [path.rpartition("/")[2] for path in files if path.startswith(UNITS)]
    # What a timer starts must not start with the machine.
    timed = {name.replace(".timer", ".service") for name in units if name.endswith(".timer")}
    files[f"{UNITS}/{TARGET}"] = target(f"Everything of {machine.name}", set(units) - timed)
    keys: dict[str, str] = {}
    for trust in TRUST[machine.role]:
        files[f"{trust.file}.crt"] = material.authorities[trust.authority]
        if trust.key:
            files[f"{trust.file}-signing.crt"] = _first(material.authorities[trust.authority])
            keys[f"{trust.file}.key"] = material.authority_keys[trust.authority]
    for certificate in certificates(spec, machine):
        files[f"{certificate.file}.crt"] = material.certificates[certificate.name]
        keys[f"{certificate.file}.key"] = material.keys[certificate.name]
    if machine.role == "api":
        public, private = material.service_accounts
        files[f"{api.PKI}/service-accounts.pub"] = public
        keys[f"{api.PKI}/service-accounts.key"] = private
        keys[f"{api.CONFIG}/encryption.json"] = json.dumps(api.encryption(material.encryption_keys))
    return Bundle(machine.name, dict(sorted(files.items())), dict(sorted(keys.items())))


def _first(pems: str) -> str:
    """Of certificates one after the other."""
    return pems[: pems.index(END) + len(END)]


def digests(made: Bundle) -> dict[str, dict[str, dict[str, str]]]:
    """What a machine checks before it writes a file: digest and mode, of files and of keys. None of it is secret."""
    return {
        "files": {
            path: {"sha256": _digest(text), "mode": people.MODES.get(path, PUBLIC_MODE)}
            for path, text in made.files.items()
        },
        "keys": {path: {"sha256": _digest(text), "mode": KEY_MODE} for path, text in made.keys.items()},
    }


def version(contents: Mapping[str, Any]) -> str:
    """Of a bundle's digests: changes with any file, and with nothing else."""
    return _digest(json.dumps(contents, sort_keys=True))[:16]


def manifest(prefix: str, contents: Mapping[str, Any], secret_version: str) -> str:
    """The text that is signed: it vouches for files and keys of one machine and names where both lie."""
    named = {"prefix": prefix, "version": version(contents), "secret_version": secret_version}
    return json.dumps({**named, **contents}, sort_keys=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
