"""The bundles that a site's pool has published, its own and those of single hosts: in its cluster's home bucket."""

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from components.pools.bundle import MANIFEST
from components.pools.enrolment import Pointer

from ..cluster import info
from ..cluster.session import Session
from ..errors import LandbridgeError
from ..etcd.store import signer

FIELDS = ("region", "bucket", "prefix", "verify_key")


class Published(NamedTuple):
    """`sealed` is the manifest's text with its signature; `files` what it vouches for, by path."""

    region: str
    bucket: str
    prefix: str
    verify_key: str
    sealed: dict[str, str]
    files: dict[str, str]

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.sealed["manifest"])
        return found

    @property
    def version(self) -> str:
        return str(self.told["version"])

    @property
    def digests(self) -> dict[str, str]:
        return {path: one["sha256"] for path, one in self.told["files"].items()}

    @property
    def handed(self) -> bytes:
        """As on_machine/site_host.py takes a bundle."""
        return json.dumps({**self.sealed, "files": self.files}).encode()


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
    region, bucket, verify_key = (str(outputs[field]) for field in ("region", "bucket", "verify_key"))
    s3 = session.at(region)("s3")
    key = f"{prefix}/{MANIFEST}"
    try:
        sealed = json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
        key = f"{prefix}/{json.loads(sealed['manifest'])['version']}.json"
        files = json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
    except (ClientError, BotoCoreError, ValueError, KeyError) as error:
        raise LandbridgeError(
            f"The bundle s3://{bucket}/{key} of pool {pool} can't be read: {error}. {NEEDS}"
        ) from None
    return Published(region, bucket, prefix, verify_key, sealed, files)


NEEDS = "You need s3:GetObject on it, and kms:Decrypt with its region's key; if it is not there, bring the stack up."


def pointer(published: Published, seconds: int) -> Pointer:
    """With addresses that whoever has them can read the bundle by, and nothing else, for so long."""
    client = signer(published.region)

    def address(name: str) -> str:
        what = {"Bucket": published.bucket, "Key": f"{published.prefix}/{name}"}
        return str(client.generate_presigned_url("get_object", Params=what, ExpiresIn=seconds))

    version = published.version
    return Pointer(published.prefix, version, published.verify_key, address(MANIFEST), address(f"{version}.json"))
