"""The warm provider host: one process with SDK types and cloud clients loaded, a gRPC port for every plugin start.

A plugin of its own process would import all that again for each provider of each stack: seconds, on every preview.
"""

import argparse
import gc
import json
import os
import signal
import socket
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from .aws.backend import Aws
from .azure.backend import Azure
from .azure.transport import Transport
from .kubernetes.servicer import KubernetesServicer
from .randoms import Random
from .servicer import Servicer
from .tls import Tls

LOOPBACK = "127.0.0.1"
MAX_MESSAGE_BYTES = 400 * 1024 * 1024  # the engine's own limit
# A plugin start; made when they are needed. More than the engine's calls at a time: Cancel must find a free one.
THREADS = 64


class _Starter(socketserver.StreamRequestHandler):
    """One launcher's connection: while it lasts, so does its provider."""

    def handle(self) -> None:
        line = self.rfile.readline()
        if not line:  # somebody only looked whether we are here
            return
        request = json.loads(line)
        plugins: dict[str, Any] = self.server.plugins  # type: ignore[attr-defined]
        servicer: Servicer = plugins[request["plugin"]](request.get("engine"))
        options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES), ("grpc.max_send_message_length", -1)]
        server = grpc.server(ThreadPoolExecutor(THREADS), options=options)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
        port = server.add_insecure_port(f"{LOOPBACK}:0")
        server.start()
        try:
            self.wfile.write(json.dumps({"port": port}).encode() + b"\n")
            self.wfile.flush()
            self.rfile.read()  # until the launcher goes
        finally:
            servicer.Cancel(None, None)  # nobody waits any more, so let nothing wait
            # A call in flight ends by itself: what it makes in the cloud must not be cut in half.
            server.stop(grace=30)


class _Host(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--aws", required=True, metavar="URL", help="where the local AWS answers")
    parser.add_argument("--azure", metavar="ADDRESS:PORT", help="where all of the local Azure's names answer")
    parser.add_argument("--azure-authority", type=Path, metavar="FILE", help="who has signed those names")
    options = parser.parse_args()
    # Nothing here may find real credentials or a proxy, whatever the environment holds.
    for name in [name for name in os.environ if name.startswith(("AWS_", "http", "HTTP"))]:
        del os.environ[name]
    host = _Host((LOOPBACK, options.port), _Starter)
    # Each takes the engine's address, where messages to the user go.
    host.plugins = {  # type: ignore[attr-defined]
        "aws": lambda _: Servicer(Aws(options.aws)),
        "tls": lambda _: Servicer(Tls()),
        "random": lambda _: Servicer(Random()),
        "kubernetes": KubernetesServicer,
    }
    if options.azure:
        transport = Transport(options.azure, options.azure_authority)
        host.plugins["azure-native"] = lambda _: _azure(transport)  # type: ignore[attr-defined]
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=host.shutdown).start())
    threading.Thread(target=_warm_up, daemon=True).start()
    host.serve_forever(poll_interval=0.2)


def _azure(transport: Transport) -> Servicer:
    threading.Thread(target=_warm_azure, daemon=True).start()
    return Servicer(Azure(transport))


@cache
def _warm_azure() -> None:
    """As `_warm_up`, for those who have something in Azure only: it takes seconds and 300 MB."""
    from . import sdk_types
    from .azure import models
    from .azure.tables import KINDS

    for token, kind in KINDS.items():
        sdk_types.input_type(token)
        if kind.model:
            models.places(models.model(kind.model))
    gc.freeze()


def _warm_up() -> None:
    """Loads what the first stack will ask for, while the user's program is still starting."""
    from . import sdk_types
    from .aws.tables import KINDS

    for token in KINDS:
        sdk_types.input_type(token)
    gc.freeze()  # what is loaded stays, and a full collection goes over all of it


def free_port() -> int:
    """For tests that run beside each other."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
