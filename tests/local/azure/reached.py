"""Azure's names lead to a local Azure, for programs of this process that know of no other one."""

import socket
from typing import Any

import pytest
import urllib3.util.connection

from .support import LocalAzure


def by_name(patch: pytest.MonkeyPatch, azure: LocalAzure) -> None:
    """Until the patch is undone; its authority is trusted."""

    def local(connect: Any) -> Any:
        def connected(address: tuple[str, int], *args: Any, **more: Any) -> socket.socket:
            made: socket.socket = connect(("127.0.0.1", azure.tls) if address[1] == 443 else address, *args, **more)
            return made

        return connected

    # Azure's own clients connect by urllib3, others by the standard library.
    for module in (socket, urllib3.util.connection):
        patch.setattr(module, "create_connection", local(module.create_connection))
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        patch.setenv(name, str(azure.authority))
    patch.setenv("no_proxy", "*")
