"""What answers at ACCOUNT.blob.core.windows.net: from a request's method, path and `comp` to what is done."""

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from werkzeug.wrappers import Request as Incoming
from werkzeug.wrappers import Response

from local.tls import RAW_HEADERS

from ..errors import ArmError
from ..kinds import World
from ..resources.storage_accounts import find
from . import containers, copying, grants, listing, reading, writing
from .request import Ask, answer

VERSION = re.compile(r"20\d\d-\d\d-\d\d")
OLDEST, NEWEST = "2017-11-09", "2026-12-31"  # tokens are taken from the first on
Act = Callable[[Ask], Response]
# Level, method, restype and comp → what is done.
ACTS: Mapping[tuple[str, str, str, str], Act] = {
    ("service", "GET", "", "list"): listing.containers,
    ("service", "POST", "service", "userdelegationkey"): containers.delegation_key,
    ("container", "PUT", "container", ""): containers.create,
    ("container", "GET", "container", ""): containers.properties,
    ("container", "HEAD", "container", ""): containers.properties,
    ("container", "DELETE", "container", ""): containers.delete,
    ("container", "PUT", "container", "metadata"): containers.set_metadata,
    ("container", "GET", "container", "list"): listing.blobs,
    ("blob", "PUT", "", ""): writing.put,
    ("blob", "PUT", "", "block"): writing.put_block,
    ("blob", "PUT", "", "blocklist"): writing.put_block_list,
    ("blob", "PUT", "", "page"): writing.put_page,
    ("blob", "PUT", "", "properties"): writing.set_properties,
    ("blob", "PUT", "", "metadata"): writing.set_metadata,
    ("blob", "PUT", "", "snapshot"): writing.snapshot,
    ("blob", "PUT", "", "undelete"): writing.undelete,
    ("blob", "GET", "", ""): reading.get,
    ("blob", "HEAD", "", ""): reading.head,
    ("blob", "GET", "", "metadata"): reading.head,
    ("blob", "HEAD", "", "metadata"): reading.head,
    ("blob", "GET", "", "blocklist"): reading.block_list,
    ("blob", "GET", "", "pagelist"): reading.page_list,
    ("blob", "DELETE", "", ""): writing.delete,
}
# What would change the meaning of a request, and is not done here.
UNKNOWN = (
    "x-ms-lease-id",
    "x-ms-tags",
    "x-ms-encryption-key",
    "x-ms-encryption-scope",
    "x-ms-if-tags",
    "x-ms-source-range",
)


def serve(world: World, incoming: Incoming, name: str) -> Response:
    raw = incoming.environ.get(RAW_HEADERS) or list(incoming.headers.items())
    # Names of metadata keep their case.
    headers = {key if key.lower().startswith("x-ms-meta-") else key.lower(): value for key, value in raw}
    version = headers.get("x-ms-version", "")
    try:
        made = _answer(world, incoming, name, headers)
    except ArmError as error:
        made = refusal(incoming.method, error)
    made.headers["x-ms-version"] = version or OLDEST
    if client := headers.get("x-ms-client-request-id"):
        made.headers["x-ms-client-request-id"] = client
    return made


def _answer(world: World, incoming: Incoming, name: str, headers: Mapping[str, str]) -> Response:
    account = find(world, name)
    if account is None or "blob" not in account.properties.get("primaryEndpoints", {}):
        raise ArmError(404, "ResourceNotFound", "The specified resource does not exist.")
    query = {key.lower(): value for key, value in incoming.args.items()}
    version = headers.get("x-ms-version") or query.get("sv") or (OLDEST if "authorization" not in headers else "")
    if not VERSION.fullmatch(version) or not OLDEST <= version <= NEWEST:
        message = f"The value for one of the HTTP headers is not in the correct format: x-ms-version is '{version}'."
        raise ArmError(400, "InvalidHeaderValue", message)
    if strange := [header for header in UNKNOWN if header in headers]:
        raise ArmError(400, "UnsupportedHeader", f"The local Azure does not know the header {strange[0]}.")
    container, _, blob = incoming.path.removeprefix("/").partition("/")
    target = str(incoming.environ.get("REQUEST_URI") or incoming.full_path)
    grant = grants.of(world, account, incoming.method, target, headers, query, (container, blob))
    service = world.store.get(f"{account.id.text}/blobServices/default")
    given: Any = {**headers, "x-ms-version": version}
    ask = Ask(
        world, account, service, incoming.method, container, blob, query, given, incoming.get_data(cache=True), grant
    )
    level = "blob" if blob else "container" if container else "service"
    act = ACTS.get((level, incoming.method, query.get("restype", "").lower(), query.get("comp", "").lower()))
    if act is writing.put and "x-ms-copy-source" in headers:
        act = copying.copy
    if act is None:
        message = f"The local Azure does not know {incoming.method} of a {level} with comp={query.get('comp', '')}."
        raise ArmError(400, "UnsupportedQueryParameter", message)
    return act(ask)


def refusal(method: str, error: ArmError) -> Response:
    inside = f"<Code>{error.code}</Code><Message>{escape(error.message)}</Message>"
    body = f'<?xml version="1.0" encoding="utf-8"?><Error>{inside}</Error>'
    empty = method == "HEAD" or error.status == 304
    headers = {
        "x-ms-error-code": error.code,
        "Content-Type": None if empty else "application/xml",
        **dict(error.headers),
    }
    return answer(error.status, b"" if empty else body.encode(), headers)
