"""The socket on which services say that they are ready, as sd_notify(3) does."""

import contextlib
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from .context import NOTIFY_SOCKET
from .loop import Loop

CREDENTIALS = struct.Struct("3i")
# The sender's process and what it said, NAME → value.
Heard = Callable[[int, dict[str, str]], None]


class Notify:
    """Hears datagrams; the kernel vouches for who sent them."""

    def __init__(self, loop: Loop, heard: Heard, path: str = NOTIFY_SOCKET) -> None:
        self.heard = heard
        Path(path).unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(path)
        # Services of every user speak here.
        Path(path).chmod(0o777)
        loop.watch(self.socket.fileno(), self.take)

    def take(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                data, extras, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(256))
                sender = 0
                for level, kind, content in extras:
                    if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                        sender = CREDENTIALS.unpack(content[: CREDENTIALS.size])[0]
                    elif (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                        # Descriptors to keep (FDSTORE) are not honoured; unread they would pile up in init.
                        for (descriptor,) in struct.iter_unpack("i", content):
                            os.close(descriptor)
                lines = data.decode(errors="replace").splitlines()
                self.heard(sender, dict(line.split("=", 1) for line in lines if "=" in line))
