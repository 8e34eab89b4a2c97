"""A request to the blobs' service in its parts, and the pieces of its answers that all share."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

from werkzeug.wrappers import Response

from .. import ids
from ..errors import ArmError
from ..kinds import World
from ..resources.blob_services import CONTAINER
from ..store import Resource
from .contents import Blob, Blobs, Keeping, md5
from .grants import Grant

METADATA = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Header of an answer → of a request that sets it.
SET = {
    "Content-Type": "x-ms-blob-content-type",
    "Content-Encoding": "x-ms-blob-content-encoding",
    "Content-Language": "x-ms-blob-content-language",
    "Content-Disposition": "x-ms-blob-content-disposition",
    "Cache-Control": "x-ms-blob-cache-control",
    "Content-MD5": "x-ms-blob-content-md5",
}


@dataclass
class Ask:
    """`headers` have names in small letters, but those of metadata; `container` and `blob` may be empty."""

    world: World
    account: Resource
    service: Resource
    method: str
    container: str
    blob: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    grant: Grant

    @property
    def container_id(self) -> str:
        return f"{self.service.id.text}/containers/{self.container}"

    @property
    def place(self) -> Resource:
        """The container. Raises ArmError."""
        found = self.world.store.find(self.container_id)
        if found is None or not ids.same(found.id.type, CONTAINER):
            raise ArmError(404, "ContainerNotFound", "The specified container does not exist.")
        return found

    @property
    def blobs(self) -> Blobs:
        return Blobs(self.place, Keeping.of(self.service))

    def found(self) -> Blob:
        """The blob that the path and the query name. Raises ArmError."""
        return self.blobs.get(self.blob, self.query.get("versionid"), self.query.get("snapshot"))

    def metadata(self) -> dict[str, str]:
        """Raises ArmError."""
        metadata = {name[10:]: value for name, value in self.headers.items() if name.lower().startswith("x-ms-meta-")}
        for name in metadata:
            if not METADATA.fullmatch(name):
                raise ArmError(400, "InvalidMetadata", f"The metadata specified is invalid: {name}.")
        return metadata

    def settings(self) -> dict[str, str]:
        """The headers that a blob is answered with from now on."""
        found = {name: self.headers[given] for name, given in SET.items() if self.headers.get(given)}
        return {"Content-Type": "application/octet-stream", **found}

    def checked_body(self) -> bytes:
        """Raises ArmError for one that is another than its sender says."""
        given = self.headers.get("content-md5")
        if given and base64.b64encode(md5(self.body)).decode() != given:
            raise ArmError(
                400, "Md5Mismatch", "The MD5 value specified in the request did not match what was computed."
            )
        return self.body


def conditions(ask: Ask, blob: Blob | None, *, reading: bool = False) -> None:
    """If-Match and its sisters. Raises ArmError ("Specifying conditional headers")."""
    wanted, unwanted = ask.headers.get("if-match"), ask.headers.get("if-none-match")
    missed = ArmError(412, "ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met.")
    if wanted and (blob is None or wanted not in ("*", blob.etag, blob.etag.strip('"'))):
        raise missed
    if unwanted == "*" and blob is not None and not reading:
        raise ArmError(409, "BlobAlreadyExists", "The specified blob already exists.")
    if blob is None:
        return
    same = unwanted in (blob.etag, blob.etag.strip('"'), "*") if unwanted else False
    at = blob.modified.replace(microsecond=0)
    since, until = (_time(ask.headers.get(name)) for name in ("if-modified-since", "if-unmodified-since"))
    if until and at > until:
        raise missed
    if same or (since and at <= since and not unwanted):
        raise ArmError(304, "ConditionNotMet", "") if reading else missed


def _time(text: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(text) if text else None
    except ValueError:
        raise ArmError(400, "InvalidHeaderValue", f"'{text}' is no time.") from None


def web_time(at: datetime) -> str:
    return format_datetime(at.astimezone(UTC), usegmt=True)


def changed(container: Resource) -> datetime:
    return datetime.fromisoformat(container.properties["lastModifiedTime"])


def answer(status: int, body: bytes = b"", headers: Mapping[str, str | None] | None = None) -> Response:
    """A header that is None is left out."""
    made = Response(body, status)
    made.headers.pop("Content-Type", None)
    for name, value in (headers or {}).items():
        if value is not None:
            made.headers[name] = value
    return made


def written(status: int, blob: Blob, headers: Mapping[str, str | None] | None = None) -> Response:
    """What a write of a blob is answered with."""
    standard = {
        "ETag": blob.etag,
        "Last-Modified": web_time(blob.modified),
        "x-ms-version-id": blob.version,
        "x-ms-request-server-encrypted": "true",
    }
    return answer(status, b"", {**standard, **(headers or {})})


def xml(text: str, headers: Mapping[str, str | None] | None = None) -> Response:
    body = f'<?xml version="1.0" encoding="utf-8"?>{text}'.encode()
    return answer(200, body, {"Content-Type": "application/xml", **(headers or {})})
