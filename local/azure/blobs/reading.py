"""What is read of blobs: their bytes, their properties, their blocks and pages."""

import base64
import re
from html import escape

from werkzeug.wrappers import Response

from ..errors import ArmError
from .contents import PAGE_BYTES, Blob, md5
from .request import Ask, answer, conditions, web_time, xml

RANGE = re.compile(r"bytes=(\d+)-(\d*)")


def headers(ask: Ask, blob: Blob) -> dict[str, str | None]:
    now = ask.blobs.find(blob.name)
    return {
        **blob.headers,
        **{f"x-ms-meta-{name}": value for name, value in blob.metadata.items()},
        **{f"x-ms-copy-{name}": value for name, value in blob.copied.items()},
        "ETag": blob.etag,
        "Last-Modified": web_time(blob.modified),
        "Accept-Ranges": "bytes",
        "x-ms-creation-time": web_time(blob.created),
        "x-ms-blob-type": blob.kind,
        "x-ms-lease-status": "unlocked",
        "x-ms-lease-state": "available",
        "x-ms-server-encrypted": "true",
        "x-ms-version-id": blob.version,
        "x-ms-is-current-version": "true" if blob.version and blob is now else None,
        "x-ms-access-tier": "Hot" if blob.kind == "BlockBlob" else None,
        "x-ms-access-tier-inferred": "true" if blob.kind == "BlockBlob" else None,
        "x-ms-blob-sequence-number": "0" if blob.kind == "PageBlob" else None,
    }


def get(ask: Ask) -> Response:
    ask.grant.require("read", ask.place, ask.blob)
    blob = ask.found()
    conditions(ask, blob, reading=True)
    sent = headers(ask, blob)
    wanted = span(ask, blob.content.size)
    if wanted is None:
        return answer(200, blob.content.read(), sent)
    start, end = wanted
    data = blob.content.read(start, end - start + 1)
    if whole := sent.pop("Content-MD5", None):
        sent["x_ms_blob_content_md5"] = whole
    if ask.headers.get("x-ms-range-get-content-md5") == "true":
        sent["Content-MD5"] = base64.b64encode(md5(data)).decode()
    return answer(206, data, {"Content-Range": f"bytes {start}-{end}/{blob.content.size}", **sent})


def span(ask: Ask, size: int) -> tuple[int, int] | None:
    """First and last byte that a request's range names; None for all. Raises ArmError."""
    text = ask.headers.get("x-ms-range") or ask.headers.get("range")
    if not text:
        return None
    found = RANGE.fullmatch(text)
    if not found:
        return None  # as the service does: a range that it does not understand is for all
    start, end = int(found[1]), int(found[2] or size - 1)
    if start >= size or end < start:
        message = "The range specified is invalid for the current size of the resource."
        raise ArmError(416, "InvalidRange", message, headers=(("Content-Range", f"bytes */{size}"),))
    return start, min(end, size - 1)


def head(ask: Ask) -> Response:
    ask.grant.require("read", ask.place, ask.blob)
    blob = ask.found()
    conditions(ask, blob, reading=True)
    return answer(200, b"", {"Content-Length": str(blob.content.size), **headers(ask, blob)})


def block_list(ask: Ask) -> Response:
    ask.grant.require("read", ask.place, ask.blob)
    wanted = ask.query.get("blocklisttype", "committed").lower()
    entry = ask.blobs.entries.get(ask.blob)
    if entry is None or (entry.current is None and not entry.waiting):
        raise ArmError(404, "BlobNotFound", "The specified blob does not exist.")
    there = entry.current.blocks if entry.current else []
    text = ""
    for name, blocks in (("Committed", there), ("Uncommitted", list(entry.waiting.items()))):
        if wanted in (name.lower(), "all"):
            listed = "".join(
                f"<Block><Name>{escape(id_)}</Name><Size>{content.size}</Size></Block>" for id_, content in blocks
            )
            text += f"<{name}Blocks>{listed}</{name}Blocks>"
    size = str(entry.current.content.size) if entry.current else "0"
    etag = entry.current.etag if entry.current else None
    return xml(f"<BlockList>{text}</BlockList>", {"ETag": etag, "x-ms-blob-content-length": size})


def page_list(ask: Ask) -> Response:
    ask.grant.require("read", ask.place, ask.blob)
    blob = ask.found()
    if blob.kind != "PageBlob":
        raise ArmError(409, "InvalidBlobType", "The blob type is invalid for this operation.")
    ranges: list[list[int]] = []
    for page in sorted(blob.pages):
        if ranges and ranges[-1][1] == page - 1:
            ranges[-1][1] = page
        else:
            ranges.append([page, page])
    text = "".join(
        f"<PageRange><Start>{first * PAGE_BYTES}</Start><End>{(last + 1) * PAGE_BYTES - 1}</End></PageRange>"
        for first, last in ranges
    )
    size = str(blob.content.size)
    return xml(f"<PageList>{text}</PageList>", {"ETag": blob.etag, "x-ms-blob-content-length": size})
