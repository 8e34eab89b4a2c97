"""The bundles that a site's pool has published, its own and those of single hosts: in its cluster's home bucket."""

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from components.control_plane.bundle import MANIFEST
from components.pools.site.enrolment import Pointer
from landbridge.clouds.cloud import CloudError
from landbridge.cluster import info
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError

FIELDS = ("region", "bucket", "prefix", "verify_key")


class Published(NamedTuple):
    """`signed_manifest` is the manifest's text with its signature; `files` what it vouches for, by path."""

    region: str
    bucket: str
    prefix: str
    verify_key: str
    signed_manifest: dict[str, str]
    files: dict[str, str]

    @property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.signed_manifest["manifest"])
        return found

    @property
    def version(self) -> str:
        return str(self.manifest["version"])

    @property
    def digests(self) -> dict[str, str]:
        return {path: one["sha256"] for path, one in self.manifest["files"].items()}

    @property
    def handed(self) -> bytes:
        """As on_machine/site_host.py takes a bundle."""
        return json.dumps({**self.signed_manifest, "files": self.files}).encode()


def read(session: Session, pool: str, hosts: Collection[str]) -> dict[str, Published]:
    """What each of the pool's hosts is to have. Raises LandbridgeError when its stack has published nothing."""
    outputs = info.published(session.place, pool)
    if not all(outputs.get(field) for field in FIELDS):
        up = info.up(session.place, pool)
        raise LandbridgeError(f"The pool {pool} has published no bundle for its hosts yet. Run `{up}`.")
    own: Mapping[str, str] = outputs.get("own_prefixes") or {}
    wanted = {host: str(own.get(host) or outputs["prefix"]) for host in hosts}
    found = {prefix: _fetched(session, pool, outputs, prefix) for prefix in dict.fromkeys(wanted.values())}
    return {host: found[prefix] for host, prefix in wanted.items()}


def _fetched(session: Session, pool: str, outputs: Mapping[str, Any], prefix: str) -> Published:
    region, name, verify_key = (str(outputs[field]) for field in ("region", "bucket", "verify_key"))
    bucket, key = session.cloud_at(region).bucket(name), f"{prefix}/{MANIFEST}"
    try:
        signed = json.loads(_there(bucket.read(key)))
        key = f"{prefix}/{json.loads(signed['manifest'])['version']}.json"
        files = json.loads(_there(bucket.read(key)))
    except CloudError as error:
        raise LandbridgeError(f"The bundle of pool {pool} can't be read: {error}. {HINT}") from None
    except (ValueError, KeyError) as error:
        raise LandbridgeError(f"The bundle {bucket.where(key)} of pool {pool} can't be read: {error}. {HINT}") from None
    return Published(region, name, prefix, verify_key, signed, files)


def _there(body: bytes | None) -> bytes:
    if body is None:
        raise ValueError("it is not there")
    return body


HINT = "If it is not there, bring the stack up"


def pointer(session: Session, published: Published, seconds: int) -> Pointer:
    """With addresses that whoever has them can read the bundle by, and nothing else, for so long."""
    bucket, version = session.cloud_at(published.region).bucket(published.bucket), published.version
    manifest, files = (bucket.get_url(f"{published.prefix}/{name}", seconds) for name in (MANIFEST, f"{version}.json"))
    return Pointer(published.prefix, version, published.verify_key, manifest, files)
