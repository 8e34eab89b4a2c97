"""Azure for the local cloud. `python -m local.azure.server --port N --home FOLDER [--tls A:PORT] [--issuers A:PORT]`.

On the port it answers our own API, over plain HTTP on loopback; on `--tls` Azure's names, with certificates from
FOLDER/azure-authority; on `--issuers` those of authorities below that one, over plain HTTP, as everybody does.
All it holds lies in FOLDER/worlds/azure: what was answered outlives the process.
"""

import argparse
import json
import logging
import signal
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from local.worlds import moment

if __name__ == "__main__":  # before anything takes the clock by name
    moment.install()

from werkzeug.wrappers import Request as Incoming
from werkzeug.wrappers import Response

from local import changes, hosts_file
from local.authority import Authority
from local.tls import serve_names, serve_plainly
from local.worlds import control, start, wsgi
from local.worlds.world import StoredWorld

from . import federation, names, state
from .application import Application
from .attestation import PATH, Attestation
from .kinds import World
from .operations import Operations
from .own_api import PREFIX, OwnApi
from .resources import KINDS
from .store import Store

CHANGE_SECONDS = 20.0
# Marks a call of our own API.
OWN = "landbridge.own"
BESIDE = {("POST", "changes"), ("POST", "attested")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--tls", default=f"{names.ADDRESS}:{names.PORT}")
    parser.add_argument("--issuers")
    options = parser.parse_args()
    start.same_order()
    # werkzeug writes a line a request, with query strings that can hold secrets.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    from werkzeug.serving import make_server

    federation.authorities.append(options.home / "authority/ca.crt")  # the local AWS's
    application = Application(World(Store(), Operations(), KINDS))
    address, _, port = options.tls.rpartition(":")
    authority = Authority(options.home / "azure-authority")
    attestation = Attestation(authority)
    own_api = OwnApi(application, attestation)
    world = StoredWorld(state.cloud(application.world, both(application, own_api)), options.home / "worlds/azure")
    start.restore(world)
    others = [serve_names(keeping(world), authority, address, int(port), _known)]
    if options.issuers:
        at, _, number = options.issuers.rpartition(":")
        others.append(serve_plainly(issuers(attestation), at, int(number)))
    # Last: once this port answers, all of it is there.
    own = make_server("127.0.0.1", options.port, keeping(world, own_api), threaded=True)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=shut, args=([own, *others],)).start())
    for server in others:
        threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True).start()
    threading.Thread(target=tell_names, args=(application, options.home / "cloud.hosts"), daemon=True).start()
    own.serve_forever(poll_interval=0.2)
    world.end()


def both(application: wsgi.Wsgi, own_api: wsgi.Wsgi) -> wsgi.Wsgi:
    """One that answers what is kept of either."""
    return lambda environ, start: (own_api if OWN in environ else application)(environ, start)


def keeping(world: StoredWorld, own_api: wsgi.Wsgi | None = None) -> wsgi.Wsgi:
    """What a server serves: calls are kept before their answers, but for those that only wait or sign."""

    def serve(environ: Any, start_response: Any) -> Any:
        called = (environ["REQUEST_METHOD"], environ.get("PATH_INFO", "").removeprefix(PREFIX))
        if own_api and called in BESIDE:
            return own_api(environ, start_response)
        body = wsgi.read(environ)
        if own_api and called in control.CALLS:
            status, answer = control.answer(world, called[1], body)
            return Response(json.dumps(answer), status, content_type="application/json")(environ, start_response)
        if own_api:
            environ[OWN] = True
        return wsgi.say(start_response, world.execute(wsgi.call(environ, body)))

    return serve


def tell_names(application: Application, hosts: Path) -> None:
    """Keeps the local cloud's hosts file at the names that there are; nothing where there is no such file."""
    version = 0
    while True:
        version = changes.await_change(version, CHANGE_SECONDS)
        with application.lock:
            found = list(names.owned(application.world.store))
        if hosts.exists():
            hosts_file.lay(hosts, "".join(f"{names.ADDRESS} {name}\n" for name in sorted(found)), "the local Azure")


def issuers(attestation: Attestation) -> Any:
    """A WSGI application that has the certificate of those documents' signer's issuer."""

    def answer(environ: Any, start_response: Any) -> Any:
        incoming = Incoming(environ)
        wanted = (names.PKI, unquote(PATH))
        found = (incoming.host.partition(":")[0], incoming.path) == wanted
        kind = "application/pkix-cert"
        response = Response(attestation.issuer(), content_type=kind) if found else Response("Not found", 404)
        return response(environ, start_response)

    return answer


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
