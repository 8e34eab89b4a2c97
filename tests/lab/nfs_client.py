"""Runs inside a machine of the lab: writes to an NFS share without a pause, then reads all again. By libnfs.

python3 nfs_client.py SERVER EXPORT FILE SECONDS
"""

import ctypes
import ctypes.util
import hashlib
import json
import os
import sys
import time
from typing import Any

# libnfs 4.0 sends no more than 4 KiB at once by version 4 of NFS, heads included.
RECORD_BYTES = 2048
VERSION, MODE = 4, 0o644


class Share:
    """One mount. Every call waits as long as it takes, as a hard mount does. Raises OSError."""

    def __init__(self, server: str, export: str) -> None:
        name = ctypes.util.find_library("nfs")
        if name is None:
            raise OSError("libnfs is not installed")
        self.library = ctypes.CDLL(name)
        self.library.nfs_init_context.restype = ctypes.c_void_p
        self.library.nfs_get_error.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p(self.library.nfs_init_context())
        self._do("nfs_set_version", VERSION)
        self._do("nfs_mount", server.encode(), export.encode())

    def _do(self, name: str, *words: Any) -> int:
        done = int(getattr(self.library, name)(self.context, *words))
        if done < 0:
            raise OSError(-done, f"{name}: {self.library.nfs_get_error(self.context)!r}")
        return done

    def create(self, path: str) -> None:
        # By version 4 what it creates is open for reading alone.
        file = ctypes.c_void_p()
        self._do("nfs_creat", path.encode(), MODE, ctypes.byref(file))
        self.close(file)

    def opened(self, path: str, flags: int) -> ctypes.c_void_p:
        file = ctypes.c_void_p()
        self._do("nfs_open", path.encode(), flags, ctypes.byref(file))
        return file

    def write(self, file: ctypes.c_void_p, data: bytes) -> None:
        if self._do("nfs_write", file, ctypes.c_uint64(len(data)), data) != len(data):
            raise OSError("not all was written")

    def read(self, file: ctypes.c_void_p) -> bytes:
        kept = ctypes.create_string_buffer(RECORD_BYTES)
        count = self._do("nfs_read", file, ctypes.c_uint64(RECORD_BYTES), kept)
        return kept.raw[:count]

    def sync(self, file: ctypes.c_void_p) -> None:
        self._do("nfs_fsync", file)

    def close(self, file: ctypes.c_void_p) -> None:
        self._do("nfs_close", file)


def main(server: str, export: str, name: str, seconds: str) -> None:
    share, written, read = Share(server, export), hashlib.sha256(), hashlib.sha256()
    share.create(f"/{name}")
    file = share.opened(f"/{name}", os.O_WRONLY)
    begun = last = time.monotonic()
    size, pause = 0, 0.0
    while last - begun < float(seconds):
        data = os.urandom(RECORD_BYTES)
        share.write(file, data)
        written.update(data)
        size += len(data)
        now = time.monotonic()
        pause, last = max(pause, now - last), now
    share.sync(file)
    share.close(file)
    file = share.opened(f"/{name}", os.O_RDONLY)
    while data := share.read(file):
        read.update(data)
    told = {"bytes": size, "pause_seconds": pause, "written": written.hexdigest(), "read": read.hexdigest()}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
