"""Who reads or writes a disk's bytes: beginGetAccess and endGetAccess, and what is at the address that they give.

Azure docs, "Upload a VHD to Azure": a disk that waits for its contents gives an address to write pages to, and is one
like others once that is taken back. One that has run out is given anew by the same call ("Disks - Grant Access").
"""

import secrets
import time
import uuid
from typing import Any

from .. import names
from ..blobs.contents import Blob, Content
from ..errors import ArmError, bad_request, conflict
from ..kinds import Later, World, Write
from ..store import Resource
from . import vhd

READY, UPLOADING, READING, UNATTACHED = "ReadyToUpload", "ActiveUpload", "ActiveSAS", "Unattached"
# While somebody has an address of it, or nothing is in it yet.
OPEN = (READY, UPLOADING, READING)
# "uploadSizeBytes": with the footer.
LEAST_BYTES, MOST_BYTES = (20 << 20) + vhd.FOOTER_BYTES, (32 << 40) + vhd.FOOTER_BYTES
LONGEST_SECONDS = (1 << 32) - 1
# State before → of which access → state with it.
STEPS = {
    (READY, "Write"): UPLOADING,
    (UPLOADING, "Write"): UPLOADING,
    (UNATTACHED, "Read"): READING,
    (READING, "Read"): READING,
}
BLOB = "abcd"  # as Azure calls every disk's


def prepare(write: Write, size_bytes: int) -> int:
    """A new disk waits for so many bytes; gives its size in GiB. Raises ArmError."""
    if not LEAST_BYTES <= size_bytes <= MOST_BYTES or (size_bytes - vhd.FOOTER_BYTES) % vhd.ALIGNED_BYTES:
        message = (
            f"The value '{size_bytes}' of parameter 'creationData.uploadSizeBytes' is not from {LEAST_BYTES} to "
            f"{MOST_BYTES}, or no whole number of MiB and {vhd.FOOTER_BYTES} bytes of a footer."
        )
        raise bad_request("InvalidParameter", message)
    write.properties["diskState"] = READY
    write.new.state["contents"] = Blob(BLOB, Content(size=size_bytes), "PageBlob")
    return -(-(size_bytes - vhd.FOOTER_BYTES) // vhd.GIB)


def refuse_open(disk: Resource) -> None:
    """Raises ArmError while somebody has an address of it."""
    if disk.properties.get("diskState") in (UPLOADING, READING):
        message = (
            f"There is an active shared access signature outstanding for disk {disk.id.name}. Call EndGetAccess before "
            f"attaching or deleting the disk."
        )
        raise conflict("OperationNotAllowed", message)


def begin(write: Write) -> Later:
    body, disk = write.body, write.new
    access, seconds = body.get("access"), body.get("durationInSeconds")
    if access not in ("Read", "Write") or not isinstance(seconds, int) or not 0 < seconds <= LONGEST_SECONDS:
        raise bad_request("InvalidParameter", f"'access' {access} or 'durationInSeconds' {seconds} is invalid.")
    if strange := [name for name in ("fileFormat", "getSecureVMGuestStateSAS") if body.get(name) not in (None, "VHD")]:
        raise bad_request("InvalidParameter", f"The local Azure does not do what {strange[0]} asks for.")
    before = str(disk.properties.get("diskState"))
    if (before, access) not in STEPS or disk.body.get("managedBy"):
        raise conflict("OperationNotAllowed", f"{access} access to disk {disk.id.name} is refused in state {before}.")
    if "contents" not in disk.state:
        raise bad_request("InvalidParameter", f"The local Azure has no contents of disk {disk.id.name}.")

    def over() -> dict[str, Any]:
        disk.properties["diskState"] = STEPS[before, access]
        given = disk.state.get("access") or {"container": secrets.token_hex(6), "key": secrets.token_urlsafe(24)}
        disk.state["access"] = {**given, "kind": access, "until": time.time() + seconds}
        disk.changed()
        query = f"sv=2018-03-28&sr=b&si={uuid.uuid4()}&sig={given['key']}"
        return {"accessSAS": f"https://{names.DISKS}/{given['container']}/{BLOB}?{query}"}

    return Later(over)


def end(write: Write) -> Later:
    disk = write.new

    def over() -> None:
        if disk.properties.get("diskState") == UPLOADING and (why := vhd.problem(disk.state["contents"].content)):
            raise bad_request("InvalidVhd", f"Disk '{BLOB}' of {disk.id.name} is not a supported VHD: {why}.")
        if disk.properties.get("diskState") in (UPLOADING, READING):
            disk.properties["diskState"] = UNATTACHED
            disk.state.pop("access", None)
            disk.changed()

    return Later(over)


def find(world: World, types: tuple[str, ...], container: str, key: str, *, writes: bool) -> Resource:
    """The disk that an address leads to. Raises ArmError for an address that is none, or no longer one."""
    for type_ in types:
        for disk in world.store.all(type_):
            access = disk.state.get("access") or {}
            if access.get("container") != container or not secrets.compare_digest(access["key"], key):
                continue
            if time.time() > access["until"]:
                raise ArmError(
                    403, "AuthenticationFailed", "Server failed to authenticate the request: it has expired."
                )
            if writes and access["kind"] != "Write":
                message = "This request is not authorized to perform this operation using this permission."
                raise ArmError(403, "AuthorizationPermissionMismatch", message)
            return disk
    raise ArmError(403, "AuthenticationFailed", "Server failed to authenticate the request.")
