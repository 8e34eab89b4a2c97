"""The machines service's process: `python -m local.supervisor.server --port N --home FOLDER --aws URL --azure URL`.

A child of the daemon. It answers on its port with the list of its machines, which says that it is up; on the address
of instance metadata it answers machines.
"""

import argparse
import http.server
import json
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from local.machines.machine import MachineError
from local.machines.network import NetworkError

from .aws.cloud import Aws
from .aws.metadata import AwsMetadata
from .azure.cloud import Azure
from .azure.metadata import AzureMetadata
from .cloud import CloudError
from .metadata import Server
from .supervisor import Supervisor

# Moto alone loads for a minute where many tests share two cores.
UP_SECONDS = 150.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--aws", required=True)
    parser.add_argument("--azure", required=True)
    options = parser.parse_args()
    # A machine takes a dozen, and its way to the API through a balancer as many again.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    aws, azure = Aws(options.aws), Azure(options.azure)
    supervisor = Supervisor(options.home, (aws, azure))
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=leave, args=(supervisor,)).start())
    metadata = Server(supervisor.find, {aws.name: AwsMetadata(aws), azure.name: AzureMetadata(azure)})
    threading.Thread(target=metadata.serve_forever, daemon=True).start()
    try:
        for cloud in (aws, azure):
            cloud.await_up(UP_SECONDS)
    except CloudError as error:
        sys.exit(f"machines: a cloud does not come up: {error}")
    threading.Thread(target=status_server(options.port, supervisor).serve_forever, daemon=True).start()
    supervisor.follow()


def leave(supervisor: Supervisor) -> None:
    supervisor.end()
    os._exit(0)


def status_server(port: int, supervisor: Supervisor) -> http.server.HTTPServer:
    """Lists the machines to whoever asks; POST has a site's host stand up, DELETE takes it down.

    POST to /guests tells from which disk a stack's next machines start.
    """
    posted: dict[str, Callable[[Any], Any]] = {"/hosts": supervisor.stand_up, "/guests": supervisor.guests.choose}

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Not a line a call."""

        def do_GET(self) -> None:
            self.say(200, supervisor.described())

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            self.attempt(lambda: posted[self.path](json.loads(data)))

        def do_DELETE(self) -> None:
            self.attempt(lambda: supervisor.hosts.take_down(self.path.rpartition("/")[2]))

        def attempt(self, work: Callable[[], Any]) -> None:
            try:
                self.say(200, work())
            except LookupError as error:
                self.say(404, str(error.args[0]))
            except (MachineError, NetworkError, OSError, ValueError) as error:
                self.say(500, str(error))

        def say(self, status: int, content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    main()
