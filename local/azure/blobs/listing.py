"""Lists of containers, and of the blobs of one ("List Blobs"), with prefix, delimiter, marker and what is of before."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape

from werkzeug.wrappers import Response

from ..errors import ArmError
from ..resources.blob_services import CONTAINER
from .contents import DAY_SECONDS, Blob, Entry
from .request import Ask, changed, web_time, xml

MOST = 5000
INCLUDES = {"versions", "snapshots", "deleted", "metadata", "copy", "deletedwithversions"}


def blobs(ask: Ask) -> Response:
    prefix = ask.query.get("prefix")
    ask.grant.require("list", ask.place, prefix=prefix)
    include = {one for one in ask.query.get("include", "").lower().split(",") if one}
    if strange := include - INCLUDES:
        raise ArmError(400, "InvalidQueryParameterValue", f"The local Azure lists no {sorted(strange)[0]}.")
    stored, most = ask.blobs, _most(ask)
    delimiter, marker = ask.query.get("delimiter", ""), ask.query.get("marker", "")
    items: list[str] = []
    count, following, groups = 0, "", set()
    for name, entry in sorted(stored.entries.items()):
        if not name.startswith(prefix or "") or name < marker:
            continue
        at = name.find(delimiter, len(prefix or "")) if delimiter else -1
        group = name[: at + len(delimiter)] if at >= 0 else None
        found = [] if group else list(_shown(entry, include))
        if group in groups or not (group or found):
            continue
        if group and not any(True for _ in _shown(entry, include)):
            continue
        if count >= most:
            following = group or name
            break
        if group:
            groups.add(group)
            items.append(f"<BlobPrefix><Name>{escape(group)}</Name></BlobPrefix>")
            count += 1
        else:
            items += [_item(ask, one, entry, include) for one in found]
            count += len(found)
    text = (
        f'<EnumerationResults ServiceEndpoint="{escape(_endpoint(ask))}" ContainerName="{escape(ask.container)}">'
        f"{_echo(ask)}<Blobs>{''.join(items)}</Blobs>{_next(following)}</EnumerationResults>"
    )
    return xml(text)


def _shown(entry: Entry, include: set[str]) -> Iterable[Blob]:
    """Oldest first: what is past, then the present."""
    for one in entry.past:
        wanted = (
            (one.deleted is None or include & {"deleted", "deletedwithversions"})
            and (one.snapshot is None or one.deleted is not None or "snapshots" in include)
            and (one.version is None or one.snapshot is not None or "versions" in include)
        )
        if wanted:
            yield one
    if entry.current:
        yield entry.current


def _item(ask: Ask, blob: Blob, entry: Entry, include: set[str]) -> str:
    fields = {
        "Creation-Time": web_time(blob.created),
        "Last-Modified": web_time(blob.modified),
        "Etag": blob.etag.strip('"'),
        "Content-Length": str(blob.content.size),
        **{name: blob.headers.get(name, "") for name in ("Content-Type", "Content-Encoding", "Content-Language")},
        **{name: blob.headers.get(name, "") for name in ("Content-MD5", "Cache-Control", "Content-Disposition")},
        "BlobType": blob.kind,
        "AccessTier": "Hot" if blob.kind == "BlockBlob" else "",
        "AccessTierInferred": "true" if blob.kind == "BlockBlob" else "",
        "LeaseStatus": "unlocked",
        "LeaseState": "available",
        "ServerEncrypted": "true",
    }
    flags = ""
    if blob.deleted is not None:
        days = ask.blobs.keeping.deleted_days
        left = days - int((time.time() - blob.deleted) / DAY_SECONDS)
        gone = web_time(datetime.fromtimestamp(blob.deleted, UTC))
        fields |= {"DeletedTime": gone, "RemainingRetentionDays": str(max(left, 0))}
        flags += "<Deleted>true</Deleted>"
    if blob.snapshot:
        flags += f"<Snapshot>{blob.snapshot}</Snapshot>"
    if blob.version and include & {"versions", "deletedwithversions"}:
        flags += f"<VersionId>{blob.version}</VersionId>"
        flags += "<IsCurrentVersion>true</IsCurrentVersion>" if blob is entry.current else ""
    metadata = ""
    if "metadata" in include:
        metadata = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in blob.metadata.items())
        metadata = f"<Metadata>{metadata}</Metadata>"
    properties = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in fields.items() if value)
    return f"<Blob><Name>{escape(blob.name)}</Name>{flags}<Properties>{properties}</Properties>{metadata}</Blob>"


def containers(ask: Ask) -> Response:
    ask.grant.require_container("read", ask.service.id.text)
    prefix, marker, most = ask.query.get("prefix", ""), ask.query.get("marker", ""), _most(ask)
    every = {one.id.name: one for one in ask.world.store.children(ask.service, CONTAINER)}
    names = sorted(name for name in every if name.startswith(prefix) and name >= marker)
    items = "".join(
        f"<Container><Name>{name}</Name><Properties><Last-Modified>{web_time(changed(every[name]))}"
        f"</Last-Modified><Etag>{every[name].etag}</Etag><LeaseStatus>unlocked</LeaseStatus>"
        "<LeaseState>available</LeaseState></Properties></Container>"
        for name in names[:most]
    )
    following = names[most] if len(names) > most else ""
    start = f'<EnumerationResults ServiceEndpoint="{escape(_endpoint(ask))}">{_echo(ask)}'
    return xml(f"{start}<Containers>{items}</Containers>{_next(following)}</EnumerationResults>")


def _endpoint(ask: Ask) -> str:
    return str(ask.account.properties["primaryEndpoints"]["blob"])


def _most(ask: Ask) -> int:
    text = ask.query.get("maxresults", str(MOST))
    if not text.isdigit() or int(text) < 1:
        raise ArmError(400, "OutOfRangeQueryParameterValue", f"maxresults is 1 to {MOST}.")
    return min(int(text), MOST)


def _echo(ask: Ask) -> str:
    names = (("prefix", "Prefix"), ("marker", "Marker"), ("maxresults", "MaxResults"), ("delimiter", "Delimiter"))
    return "".join(f"<{tag}>{escape(ask.query[name])}</{tag}>" for name, tag in names if ask.query.get(name))


def _next(marker: str) -> str:
    return f"<NextMarker>{escape(marker)}</NextMarker>" if marker else "<NextMarker />"
