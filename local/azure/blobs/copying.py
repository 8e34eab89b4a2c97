"""Copies of blobs inside the local Azure: of one account, or from another that lets the caller read."""

import uuid
from urllib.parse import parse_qsl, unquote, urlsplit

from werkzeug.wrappers import Response

from .. import firewall
from ..errors import ArmError
from ..names import service_of
from ..resources.storage_accounts import find
from . import grants, sas
from .contents import PAGE_BYTES, Blob, Blobs, Content, Keeping
from .grants import Grant
from .request import Ask, web_time, written
from .writing import may_write


def copy(ask: Ask) -> Response:
    """Copy Blob and Put Blob From URL; here, both are over when they are answered."""
    may_write(ask)
    from_ = source(ask)
    whole = Content(size=from_.content.size) if from_.kind == "PageBlob" else from_.content
    for page in from_.pages:
        whole.write(page * PAGE_BYTES, from_.content.read(page * PAGE_BYTES, PAGE_BYTES))
    made = Blob(ask.blob, whole, from_.kind, dict(from_.headers), ask.metadata() or dict(from_.metadata))
    made.blocks, made.pages = list(from_.blocks), set(from_.pages)
    if "x-ms-blob-type" in ask.headers:
        return written(201, ask.blobs.put(made))
    size = str(whole.size)
    source_url = ask.headers["x-ms-copy-source"].partition("?")[0]
    made.copied = {"id": str(uuid.uuid4()), "status": "success", "source": source_url, "progress": f"{size}/{size}"}
    made.copied["completion-time"] = web_time(made.modified)
    blob = ask.blobs.put(made)
    return written(202, blob, {"x-ms-copy-id": made.copied["id"], "x-ms-copy-status": "success"})


def source(ask: Ask) -> Blob:
    """What x-ms-copy-source names, for whom may read it. Raises ArmError."""
    url = urlsplit(ask.headers["x-ms-copy-source"])
    service = service_of(url.hostname or "")
    account = find(ask.world, service[1]) if service and service[0] == "blob" else None
    missing = ArmError(404, "CannotVerifyCopySource", "The specified blob does not exist.")
    if account is None:
        raise missing
    denied = ArmError(403, "CannotVerifyCopySource", "This request is not authorized to perform this operation.")
    if not firewall.lets_in(ask.world, account, "blob"):
        raise denied
    container, _, name = unquote(url.path).lstrip("/").partition("/")
    query = {key.lower(): value for key, value in parse_qsl(url.query, keep_blank_values=True)}
    service_id = f"{account.id.text}/blobServices/default"
    place = ask.world.store.find(f"{service_id}/containers/{container}")
    if place is None:
        raise missing
    if "sig" in query:
        grant = Grant(ask.world, account, signature=sas.verify(account, query, container, name))
    elif authorization := ask.headers.get("x-ms-copy-source-authorization"):
        grant = grants.bearer(ask.world, account, authorization)
    else:
        grant = ask.grant if account is ask.account else Grant(ask.world, account)
    if not grant.may("read", place, name):
        raise denied
    blobs = Blobs(place, Keeping.of(ask.world.store.get(service_id)))
    found = blobs.find(name, query.get("versionid"), query.get("snapshot"))
    if found is None:
        raise missing
    return found
