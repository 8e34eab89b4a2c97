"""`python3 -m services.autoscaler`: answers the Cluster Autoscaler until it is told to end."""

import argparse
import functools
import gc
import os
import sys
from pathlib import Path

import grpc

from services import ending
from services.azure.identity import identity_option, replaced
from services.freeze import frozen
from services.pages import watched

from . import bookings, clouds, decisions, nodes, settings
from .rehearsal import rehearsed
from .scaling import Scaling
from .service import Service, serve

GRACE_SECONDS, LOOK_SECONDS = 5, 10.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.autoscaler", description=__doc__)
    parser.add_argument("--settings", type=Path, required=True, help="JSON, as the add-on's stack writes it")
    parser.add_argument("--pair", type=Path, required=True, help="folder of ca.crt, server.crt and server.key")
    parser.add_argument("--listen", default="127.0.0.1:8086", help="for the autoscaler; %(default)s")
    parser.add_argument("--metrics", default=":8087", help="for /metrics and /healthz; %(default)s")
    parser.add_argument(
        "--freeze", type=Path, metavar="FOLDER", help="of a ConfigMap that stops all ends, if it is there"
    )
    parser.add_argument("--decisions", type=Path, metavar="FILE", help="keeps what is decided there too")
    parser.add_argument(
        "--account",
        type=Path,
        metavar="FOLDER",
        help="of a service account that may list nodes: while many of a region are NotReady none of its machines goes",
    )
    identity_option(parser)
    parser.add_argument(
        "--bookings", action="store_true", help="as --account, ends what is booked for runs that have begun"
    )
    parser.add_argument("--dry-run", action="store_true", help="decides and says so, and changes nothing in any cloud")
    given = parser.parse_args()
    if given.decisions:
        decisions.keep(given.decisions)
    if given.dry_run:
        decisions.mark(dry_run=True)
    try:
        stopped = functools.partial(nodes.stop, nodes.Nodes(given.account).ready) if given.account else nodes.unasked
        cloud = rehearsed if given.dry_run else clouds.cloud
        scaling = Scaling(settings.read(given.settings), lambda: frozen(given.freeze), cloud, stopped)
        server = serve(Service(scaling), given.listen, credentials(given.pair))
        metrics_server = watched(given.metrics)
    except (settings.SettingsError, ValueError, OSError) as error:
        sys.stderr.write(f"autoscaler's cloud side: {error}\n")
        return 1
    scaling.start()
    if given.bookings and given.account:
        bookings.Bookings(given.account).start()
    gc.freeze()
    over = ending.asked()
    while not over.wait(LOOK_SECONDS):
        if replaced(given.identity):
            sys.stderr.write("autoscaler's cloud side: its identity in Azure is another now: it begins anew\n")
            break
    server.stop(GRACE_SECONDS).wait()
    metrics_server.shutdown()
    return 0


def credentials(pair: Path) -> grpc.ServerCredentials:
    """Whoever calls must have the pair's own client certificate. Raises OSError."""
    chain = [((pair / "server.key").read_bytes(), (pair / "server.crt").read_bytes())]
    return grpc.ssl_server_credentials(chain, (pair / "ca.crt").read_bytes(), require_client_auth=True)


if __name__ == "__main__":
    code = main()
    # Each line is out already. Python's own end aborts (SIGABRT) where a thread that looks at a cloud is just writing.
    os._exit(code)
