"""`python3 -m services.maintenance`: keeps to what is planned on machines, until it is told to end."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fleet import maintenance
from kube_http import Answer, Json, follow
from kube_lease import Lease
from services.freeze import frozen
from services.kube import ACCOUNT, kube
from services.pages import watched

from . import nodes, settings
from .keeper import Keeper

LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{maintenance.SPACE}/leases/landbridge-{maintenance.ACCOUNT}"
# The lease is given up after ten seconds: a call must not take longer.
LEASE_CALL_SECONDS = 4.0
# At most so long between two looks.
LOOK_SECONDS = 5.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.maintenance", description=__doc__)
    parser.add_argument("--settings", type=Path, required=True, help="JSON, as the add-on's stack writes it")
    parser.add_argument("--replica", required=True, metavar="NAME", help="the pod's own: it holds the lease by it")
    parser.add_argument("--account", type=Path, default=ACCOUNT, metavar="FOLDER", help="of the pod's token")
    parser.add_argument("--freeze", type=Path, metavar="FOLDER", help="of a ConfigMap that stops all that deletes")
    parser.add_argument("--webhooks", type=Path, metavar="FOLDER", help="a file a team: the address that is told")
    parser.add_argument("--metrics", default=":8090", help="for /metrics and /healthz; %(default)s")
    given = parser.parse_args()
    try:
        told = settings.read(given.settings)
        pages = watched(given.metrics)
    except (settings.SettingsError, ValueError, OSError) as error:
        say(str(error))
        return 1
    keeper = Keeper(kube(given.account), told, lambda: frozen(given.freeze), say, webhooks=given.webhooks)
    over = threading.Event()

    def end(*_: object) -> None:
        over.set()
        keeper.changed.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    lease = Lease(kube(given.account, LEASE_CALL_SECONDS), LEASE, given.replica, say)
    # Who acts while another one may is ended at once.
    threading.Thread(target=lease.hold, args=(lost,), daemon=True).start()
    while not lease.leads and not over.wait(1.0):
        pass
    seen, problem = ([] if over.is_set() else begin(keeper)), ""
    while not over.is_set():
        keeper.changed.clear()
        wait = LOOK_SECONDS
        if all(one.is_set() for one in seen):
            try:
                wait = min(LOOK_SECONDS, max(0.0, keeper.step() - keeper.now()))
                problem = ""
            except (Answer, OSError) as error:
                if str(error) != problem:
                    say(problem := str(error))
        keeper.changed.wait(wait)
    try:
        lease.release()
    except (Answer, OSError) as error:
        say(f"the lease was not given back: {error}")
    pages.shutdown()
    return 0


def begin(keeper: Keeper) -> list[threading.Event]:
    """Watches plans and nodes; each event says that all were seen once."""
    return [
        begun(keeper, maintenance.PATH, maintenance.read, keeper.plans, keeper.plan_seen),
        begun(keeper, nodes.PATH, nodes.read, keeper.nodes, keeper.node_seen),
    ]


def begun(
    keeper: Keeper, path: str, read: Callable[[Json], Any], known: dict[str, Any], seen: Callable[[str, Json], None]
) -> threading.Event:
    there = threading.Event()

    def listed(found: list[Any]) -> None:
        keeper.listed(known, found)
        there.set()

    threading.Thread(target=follow, args=(keeper.kube, path, read, listed, seen, say), name=path, daemon=True).start()
    return there


def lost(why: str) -> None:
    say(f"it leads no more: {why}")
    os._exit(1)


def say(why: str) -> None:
    sys.stderr.write(f"maintenance: {why}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    code = main()
    # Threads that watch are cut off.
    os._exit(code)
