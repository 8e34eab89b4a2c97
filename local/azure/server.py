"""Azure for the local cloud. `python -m local.azure.server --port N --home FOLDER [--tls ADDRESS:PORT]`.

On the port it answers our own API, over plain HTTP on loopback; on `--tls` Azure's names, with certificates from
FOLDER/azure-authority.
"""

import argparse
import logging
import signal
import socket
import threading
from pathlib import Path
from typing import Any

from local import changes, hosts_file
from local.authority import Authority
from local.tls import serve_names

from . import federation, names
from .application import Application
from .kinds import World
from .operations import Operations
from .own_api import OwnApi
from .store import Store

CHANGE_SECONDS = 20.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--tls", default=f"{names.ADDRESS}:{names.PORT}")
    options = parser.parse_args()
    # werkzeug writes a line a request, with query strings that can hold secrets.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    from werkzeug.serving import make_server

    federation.authorities.append(options.home / "authority/ca.crt")  # the local AWS's
    application = Application(World(Store(), Operations()))
    address, _, port = options.tls.rpartition(":")
    front = serve_names(application, Authority(options.home / "azure-authority"), address, int(port), _known)
    # Last: once this port answers, all of it is there.
    own = make_server("127.0.0.1", options.port, OwnApi(application), threaded=True)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=shut, args=([own, front],)).start())
    threading.Thread(target=front.serve_forever, args=(0.2,), daemon=True).start()
    threading.Thread(target=tell_names, args=(application, options.home / "cloud.hosts"), daemon=True).start()
    own.serve_forever(poll_interval=0.2)


def tell_names(application: Application, hosts: Path) -> None:
    """Keeps the local cloud's hosts file at the names that there are; nothing where there is no such file."""
    seen = 0
    while True:
        seen = changes.await_change(seen, CHANGE_SECONDS)
        with application.turn:
            found = list(names.owned(application.world.store))
        if hosts.exists():
            hosts_file.lay(hosts, "".join(f"{names.ADDRESS} {name}\n" for name in sorted(found)), "the local Azure")


def _known(name: str) -> bool:
    return names.service_of(name) is not None


def shut(servers: list[Any]) -> None:
    for server in servers:
        server.shutdown()


def free_port() -> int:
    """For tests that run beside each other."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
