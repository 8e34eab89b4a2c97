"""Azure's names lead to a local Azure, for programs of this process that know of no other one."""

import socket
from typing import Any

import pytest

from .support import LocalAzure


def by_name(patch: pytest.MonkeyPatch, azure: LocalAzure) -> None:
    """Until the patch is undone; its authority is trusted."""
    connect = socket.create_connection

    def local(address: tuple[str, int], *args: Any, **more: Any) -> socket.socket:
        return connect(("127.0.0.1", azure.tls) if address[1] == 443 else address, *args, **more)

    patch.setattr(socket, "create_connection", local)
    patch.setenv("SSL_CERT_FILE", str(azure.authority))
    patch.setenv("no_proxy", "*")
