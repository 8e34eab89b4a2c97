"""Azure for this machine's scripts: its identity's tokens, instance metadata, blobs of the fleet's containers.

Not named after the cloud alone: `azure` is the folder of Azure's own packages.
"""

import base64
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

from machine import EARLY_SECONDS, UNCHANGED, Body, Refused, Slice, Text, patiently, send

META = "http://169.254.169.254/metadata/"
INSTANCE, TOKEN = "2021-02-01", "2018-02-01"
STORAGE = "https://storage.azure.com"
# Of Blob's API; every bucket is a container of this name in an account of its own.
VERSION, CONTAINER = "2023-11-03", "fleet"
# Azure takes 5,000 MiB in one piece and 50,000 blocks; etcd's quota of 8 GiB is more than one piece.
PART_BYTES = 256 << 20
THROTTLED = 429
# Of the metadata service: documented as passing ("Managed identities: error handling").
PASSING = (404, 410, THROTTLED)


def metadata(path: str, version: str, **query: str) -> Any:
    """A document of the instance metadata service. Raises Refused or OSError."""
    url = f"{META}{path}?{urlencode({'api-version': version, **query})}"
    return json.loads(
        patiently(
            lambda: send("GET", url, {"Metadata": "true"}, Text(b""))[0],
            lambda refused: refused.status >= 500 or refused.status in PASSING,
        )
    )


def instance() -> Any:
    """What Azure says of this machine: `compute` and `network`."""
    return metadata("instance", INSTANCE)


class Azure:
    """Azure's services, spoken to as this machine's identity. An account's name says in which region it is."""

    def __init__(self) -> None:
        self.tokens: dict[str, tuple[str, float]] = {}
        # Of the last answer.
        self.headers: dict[str, str] = {}

    def token(self, resource: str) -> str:
        """Of the machine's one identity, for a service, such as STORAGE."""
        text, ends = self.tokens.get(resource, ("", 0.0))
        if ends < time.time() + EARLY_SECONDS:
            told = metadata("identity/oauth2/token", TOKEN, resource=resource)
            text = str(told["access_token"])
            self.tokens[resource] = text, float(told["expires_on"])
        return text

    def ask(
        self,
        method: str,
        url: str,
        resource: str,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The answer's body. Asks again when Azure fails, throttles or is silent. Raises Refused or OSError."""

        def once() -> bytes:
            given = {**(headers or {}), "Authorization": f"Bearer {self.token(resource)}"}
            data, self.headers = send(method, url, given, body or Text(b""))
            return data

        return patiently(once, lambda refused: refused.status >= 500 or refused.status == THROTTLED)

    def blob(
        self,
        method: str,
        place: str,
        query: Mapping[str, str] | None = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        url = place + (f"?{urlencode(query)}" if query else "")
        return self.ask(method, url, STORAGE, body, {**(headers or {}), "x-ms-version": VERSION})

    def url(self, bucket: str, key: str) -> str:
        """Its address, for people too."""
        return f"https://{bucket}.blob.core.windows.net/{CONTAINER}" + (f"/{quote(key)}" if key else "")

    def newer(self, bucket: str, key: str, etag: str) -> str | None:
        """A blob's text unless it is still the one of this mark; `headers` have its mark then. Raises as `ask`."""
        try:
            given = {"If-None-Match": etag} if etag else {}
            return self.blob("GET", self.url(bucket, key), headers=given).decode()
        except Refused as refused:
            if refused.status == UNCHANGED and etag:
                return None
            raise

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self._whole(bucket, key, Text(data), {})

    def upload(self, bucket: str, key: str, path: Path, about: Mapping[str, str]) -> None:
        """Puts a file into a bucket; `about` becomes the blob's metadata, whose names may come back in another case."""
        size, meta = path.stat().st_size, {f"x-ms-meta-{name}": value for name, value in about.items()}
        if size <= PART_BYTES:
            self._whole(bucket, key, Slice(path, 0, size), meta)
            return
        # Blocks that no list names are gone after a week: nothing is to be given up here.
        place, names = self.url(bucket, key), []
        for number, offset in enumerate(range(0, size, PART_BYTES)):
            names.append(base64.b64encode(f"{number:06}".encode()).decode())
            part = Slice(path, offset, min(PART_BYTES, size - offset))
            self.blob("PUT", place, {"comp": "block", "blockid": names[-1]}, part)
        listed = "".join(f"<Latest>{name}</Latest>" for name in names)
        text = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{listed}</BlockList>'.encode()
        self.blob("PUT", place, {"comp": "blocklist"}, Text(text), meta)

    def _whole(self, bucket: str, key: str, body: Body, headers: Mapping[str, str]) -> None:
        self.blob("PUT", self.url(bucket, key), body=body, headers={**headers, "x-ms-blob-type": "BlockBlob"})

    def keys(self, bucket: str, prefix: str, after: str) -> list[str]:
        """Of blobs below `prefix`, those that stand behind `after` in the alphabet."""
        query, found = {"restype": "container", "comp": "list", "prefix": prefix}, []
        while True:
            answer = ElementTree.fromstring(self.blob("GET", self.url(bucket, ""), query))  # noqa: S314  (Azure itself)
            found += [one.text or "" for one in answer.iterfind("Blobs/Blob/Name")]
            query["marker"] = answer.findtext("NextMarker") or ""
            if not query["marker"]:
                return [key for key in found if key > after]
