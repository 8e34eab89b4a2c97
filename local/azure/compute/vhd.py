"""VHDs in storage accounts, which images are made from: page blobs of a fixed disk with its footer.

Azure docs, "Prepare a VHD to upload": a fixed VHD, aligned to 1 MiB, and a footer of 512 bytes that begins with
"conectix" (Virtual Hard Disk Image Format Specification 1.0).
"""

from urllib.parse import unquote, urlsplit

from ..errors import ArmError, bad_request
from ..kinds import World
from ..store import Resource

FOOTER_BYTES, COOKIE = 512, b"conectix"
ALIGNED_BYTES, GIB = 1 << 20, 1 << 30


def size_gib(world: World, account: Resource, uri: str) -> int:
    """How large its disk is. Raises ArmError for what is no VHD of the account."""
    told = urlsplit(uri)
    if told.scheme != "https" or not (told.hostname or "").startswith(f"{account.id.name.lower()}.blob."):
        raise _wrong(uri, f"it is no blob of {account.id.text}")
    container, _, name = unquote(told.path).removeprefix("/").partition("/")
    place = world.store.find(f"{account.id.text}/blobServices/default/containers/{container}")
    entry = place.state.get("blobs", {}).get(name) if place else None
    blob = entry.current if entry else None
    if blob is None:
        raise _wrong(uri, "there is no such blob")
    size = blob.content.size - FOOTER_BYTES
    if blob.kind != "PageBlob" or blob.content.read(max(0, size), len(COOKIE)) != COOKIE:
        raise _wrong(uri, "it is no page blob with a fixed VHD")
    if size % ALIGNED_BYTES:
        raise _wrong(uri, "its disk is not a whole number of MiB")
    return int(-(-size // GIB))


def _wrong(uri: str, why: str) -> ArmError:
    return bad_request("InvalidParameter", f"The source blob {uri} cannot be made an image: {why}.")
