"""What is written of blobs: whole ones, blocks and their lists, pages, settings, snapshots; and deletes."""

import base64
import binascii
import xml.etree.ElementTree as ElementTree

from werkzeug.wrappers import Response

from ..errors import ArmError
from .contents import PAGE_BYTES, Blob, Content, md5
from .reading import span
from .request import Ask, answer, conditions, web_time, written

MOST_BLOCKS = 50_000
LARGEST_PAGE_BLOB_BYTES = 8 << 40


def may_write(ask: Ask) -> Blob | None:
    """What is there now. Raises ArmError for who may not write there, and for conditions that do not hold."""
    there = ask.blobs.find(ask.blob)
    ask.grant.require("write" if there else "create", ask.place, ask.blob)
    conditions(ask, there)
    return there


def put(ask: Ask) -> Response:
    may_write(ask)
    kind = ask.headers.get("x-ms-blob-type")
    if kind == "PageBlob":
        size = ask.headers.get("x-ms-blob-content-length", "")
        if not size.isdigit() or int(size) % PAGE_BYTES or int(size) > LARGEST_PAGE_BLOB_BYTES:
            raise ArmError(400, "InvalidHeaderValue", f"x-ms-blob-content-length is in pages of {PAGE_BYTES} bytes.")
        blob = Blob(ask.blob, Content(size=int(size)), kind, ask.settings(), ask.metadata())
        return written(201, ask.blobs.put(blob))
    if kind != "BlockBlob":
        raise ArmError(400, "InvalidHeaderValue", f"The local Azure has no blobs of the type {kind}.")
    data = ask.checked_body()
    plain = {"Content-Type": ask.headers["content-type"]} if ask.headers.get("content-type") else {}
    sum_ = base64.b64encode(md5(data)).decode()
    settings = {**ask.settings(), "Content-MD5": sum_}
    if "x-ms-blob-content-type" not in ask.headers:
        settings |= plain
    blob = ask.blobs.put(Blob(ask.blob, Content(data), kind, settings, ask.metadata()))
    return written(201, blob, {"Content-MD5": sum_})


def put_block(ask: Ask) -> Response:
    there = ask.blobs.find(ask.blob)
    ask.grant.require("write" if there else "create", ask.place, ask.blob)
    id_ = _block_id(ask.query.get("blockid", ""))
    entry = ask.blobs.entry(ask.blob)
    if there and there.kind != "BlockBlob":
        raise ArmError(409, "InvalidBlobType", "The blob type is invalid for this operation.")
    if any(len(known) != len(id_) for known in entry.waiting):
        raise ArmError(400, "InvalidBlobOrBlock", "The specified blob or block content is invalid.")
    if len(entry.waiting) >= 2 * MOST_BLOCKS:
        raise ArmError(409, "BlockCountExceedsLimit", "The uncommitted block count cannot exceed 100,000.")
    data = ask.checked_body()
    entry.waiting[id_] = Content(data)
    return answer(
        201, b"", {"Content-MD5": base64.b64encode(md5(data)).decode(), "x-ms-request-server-encrypted": "true"}
    )


def _block_id(text: str) -> str:
    try:
        if text and len(base64.b64decode(text, validate=True)) <= 64:
            return text
    except (binascii.Error, ValueError):
        pass
    raise ArmError(400, "InvalidQueryParameterValue", "blockid is base64 of at most 64 bytes.")


def put_block_list(ask: Ask) -> Response:
    may_write(ask)
    entry = ask.blobs.entry(ask.blob)
    committed = dict(entry.current.blocks) if entry.current else {}
    places = {
        "Latest": {**committed, **entry.waiting},
        "Uncommitted": entry.waiting,
        "Committed": committed,
    }
    blocks = []
    for node in parsed(ask.body):
        content = places.get(node.tag, {}).get((node.text or "").strip())
        if content is None:
            raise ArmError(400, "InvalidBlockList", "The specified block list is invalid.")
        blocks.append(((node.text or "").strip(), content))
    if len(blocks) > MOST_BLOCKS:
        raise ArmError(400, "BlockListTooLong", f"The block list may not contain more than {MOST_BLOCKS} blocks.")
    whole = Content()
    for _, content in blocks:
        whole.add(content)
    blob = Blob(ask.blob, whole, "BlockBlob", ask.settings(), ask.metadata(), blocks=blocks)
    return written(201, ask.blobs.put(blob))


def parsed(body: bytes) -> ElementTree.Element:
    """Raises ArmError."""
    if b"<!" in body:  # no entities: nothing that clients send has any
        raise ArmError(400, "InvalidXmlDocument", "The specified XML is not syntactically valid.")
    try:
        return ElementTree.fromstring(body)  # noqa: S314 - no entities, see above
    except ElementTree.ParseError:
        raise ArmError(400, "InvalidXmlDocument", "The specified XML is not syntactically valid.") from None


def put_page(ask: Ask) -> Response:
    ask.grant.require("write", ask.place, ask.blob)
    blob = ask.found()
    conditions(ask, blob)
    if blob.kind != "PageBlob":
        raise ArmError(409, "InvalidBlobType", "The blob type is invalid for this operation.")
    wanted = span(ask, blob.content.size)
    if wanted is None or wanted[0] % PAGE_BYTES or (wanted[1] + 1) % PAGE_BYTES:
        raise ArmError(400, "InvalidPageRange", f"The page range is in pages of {PAGE_BYTES} bytes.")
    pages = range(wanted[0] // PAGE_BYTES, (wanted[1] + 1) // PAGE_BYTES)
    clear = ask.headers.get("x-ms-page-write") == "clear"
    data = bytes(len(pages) * PAGE_BYTES) if clear else ask.checked_body()
    if len(data) != len(pages) * PAGE_BYTES:
        raise ArmError(400, "InvalidPageRange", "The body has not as many bytes as the range.")
    blob.content.write(wanted[0], data)
    blob.pages = blob.pages - set(pages) if clear else blob.pages | set(pages)
    blob.touched()
    return written(201, blob, {"x-ms-blob-sequence-number": "0"})


def set_properties(ask: Ask) -> Response:
    ask.grant.require("write", ask.place, ask.blob)
    blob = ask.found()
    conditions(ask, blob)
    blob.headers = ask.settings()
    size = ask.headers.get("x-ms-blob-content-length")
    if size and (blob.kind != "PageBlob" or int(size) != blob.content.size):
        raise ArmError(400, "UnsupportedHeader", "The local Azure changes no page blob's size.")
    blob.touched()
    return written(200, blob)


def set_metadata(ask: Ask) -> Response:
    ask.grant.require("write", ask.place, ask.blob)
    blob = ask.found()
    conditions(ask, blob)
    if ask.blobs.keeping.versions:  # "Set Blob Metadata" makes a new version, too
        made = Blob(blob.name, blob.content, blob.kind, dict(blob.headers), ask.metadata(), blocks=blob.blocks)
        made.pages = blob.pages
        return written(200, ask.blobs.put(made))
    blob.metadata = ask.metadata()
    blob.touched()
    return written(200, blob)


def snapshot(ask: Ask) -> Response:
    ask.grant.require("write", ask.place, ask.blob)
    blob = ask.found()
    conditions(ask, blob)
    made = ask.blobs.snapshot(blob, ask.metadata())
    return answer(
        201,
        b"",
        {"ETag": made.etag, "Last-Modified": web_time(made.modified), "x-ms-snapshot": made.snapshot},
    )


def delete(ask: Ask) -> Response:
    of_version = "versionid" in ask.query
    ask.grant.require("delete version" if of_version else "delete", ask.place, ask.blob)
    blob = ask.found()
    conditions(ask, blob)
    if of_version and blob is ask.blobs.find(ask.blob):
        message = "The operation is not allowed on the root blob: the version is the current one."
        raise ArmError(403, "OperationNotAllowedOnRootBlob", message)
    blobs = ask.blobs
    blobs.delete(blob, ask.headers.get("x-ms-delete-snapshots"))
    return answer(202, b"", {"x-ms-delete-type-permanent": "false" if blobs.keeping.deleted_days else "true"})


def undelete(ask: Ask) -> Response:
    ask.grant.require("write", ask.place, ask.blob)
    ask.blobs.undelete(ask.blob)
    return answer(200)
