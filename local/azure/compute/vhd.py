"""VHDs that images are made from: a page blob of an account, or what was uploaded to a disk.

Azure docs, "Prepare a VHD to upload": a fixed VHD, aligned to 1 MiB, and a footer of 512 bytes that begins with
"conectix" (Virtual Hard Disk Image Format Specification 1.0).
"""

import struct
from urllib.parse import unquote, urlsplit

from ..blobs.contents import Content
from ..errors import ArmError, bad_request
from ..kinds import World
from ..store import Resource

FOOTER_BYTES, COOKIE = 512, b"conectix"
SIZE, TYPE, CHECKSUM, FIXED = 48, 60, 64, 2
ALIGNED_BYTES, GIB = 1 << 20, 1 << 30


def size_gib(world: World, account: Resource, uri: str) -> int:
    """How large its disk is. Raises ArmError for what is no VHD of the account."""
    url = urlsplit(uri)
    if url.scheme != "https" or not (url.hostname or "").startswith(f"{account.id.name.lower()}.blob."):
        raise _wrong(uri, f"it is no blob of {account.id.text}")
    container, _, name = unquote(url.path).removeprefix("/").partition("/")
    place = world.store.find(f"{account.id.text}/blobServices/default/containers/{container}")
    entry = place.state.get("blobs", {}).get(name) if place else None
    blob = entry.current if entry else None
    if blob is None:
        raise _wrong(uri, "there is no such blob")
    if blob.kind != "PageBlob":
        raise _wrong(uri, "it is no page blob with a fixed VHD")
    if why := problem(blob.content):
        raise _wrong(uri, why)
    return int(-(-(blob.content.size - FOOTER_BYTES) // GIB))


def problem(content: Content) -> str:
    """What is wrong with a VHD; empty where nothing is."""
    size = content.size - FOOTER_BYTES
    footer = content.read(max(0, size), FOOTER_BYTES)
    if footer[: len(COOKIE)] != COOKIE:
        return f"its footer's cookie is not '{COOKIE.decode()}'"
    (stated,), (type_,), (checksum,) = (
        struct.unpack_from(form, footer, at) for form, at in ((">Q", SIZE), (">I", TYPE), (">I", CHECKSUM))
    )
    if ~(sum(footer) - sum(footer[CHECKSUM : CHECKSUM + 4])) & 0xFFFFFFFF != checksum:
        return "its footer's checksum is wrong"
    if type_ != FIXED:
        return "it is no fixed VHD"
    if stated != size:
        return f"its footer says {stated} bytes, and its disk has {size}"
    return "its disk is not a whole number of MiB" if size % ALIGNED_BYTES else ""


def _wrong(uri: str, why: str) -> ArmError:
    return bad_request("InvalidParameter", f"The source blob {uri} cannot be made an image: {why}.")
