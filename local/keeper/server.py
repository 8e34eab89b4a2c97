"""The machines service's process: `python -m local.keeper.server --port N --home FOLDER --aws URL`.

A child of the daemon. It answers on its port with the list of its machines, which says that it is up; on the address
of instance metadata it answers machines.
"""

import argparse
import http.server
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from .aws import Aws, AwsGoneError
from .keeper import Keeper
from .metadata import Server

UP_SECONDS = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--aws", required=True)
    options = parser.parse_args()
    aws = Aws(options.aws)
    keeper = Keeper(options.home, aws)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=leave, args=(keeper,)).start())
    metadata = Server(keeper.find, aws)
    threading.Thread(target=metadata.serve_forever, daemon=True).start()
    try:
        aws.await_up(UP_SECONDS)
        threading.Thread(target=status_server(options.port, keeper).serve_forever, daemon=True).start()
        keeper.follow()
    except AwsGoneError as error:
        keeper.end()
        sys.exit(f"machines: the local AWS has gone: {error}")


def leave(keeper: Keeper) -> None:
    keeper.end()
    os._exit(0)


def status_server(port: int, keeper: Keeper) -> http.server.HTTPServer:
    """Lists the machines to whoever asks."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Not a line a call."""

        def do_GET(self) -> None:
            body = json.dumps([resident.described() for resident in list(keeper.residents.values())]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    main()
