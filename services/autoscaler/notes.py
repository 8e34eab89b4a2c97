"""`python3 -m services.autoscaler.notes`: keeps for a day why pods waited and what was decided, in ConfigMaps.

A program beside the one that answers the autoscaler: thousands of pods are read here, and hold up no answer there. It
writes only where its own pod's autoscaler leads.
"""

import argparse
import gc
import socket
import sys
import time
from pathlib import Path

from kube_http import Answer
from services import ending
from services.kube import ACCOUNT, kube

from . import settings
from .backoffs import Backoffs, seconds
from .recorder import Names, Owners, Recorder

# A look takes at most this share of its time: thousands of pods are looked at less often.
PAUSE_SECONDS, SHARE = 10.0, 0.1


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.autoscaler.notes", description=__doc__)
    parser.add_argument("--settings", type=Path, required=True, help="JSON, as the add-on's stack writes it")
    parser.add_argument("--decisions", type=Path, required=True, help="the file that the service keeps")
    parser.add_argument("--status", required=True, metavar="NAME", help="of the autoscaler's status ConfigMap")
    parser.add_argument("--lease", required=True, metavar="NAME", help="that the autoscaler leads by")
    parser.add_argument("--history", required=True, metavar="NAME", help="of the ConfigMaps, to which numbers come")
    parser.add_argument(
        "--backoff", required=True, metavar="FIRST,MOST,FORGOTTEN", help="the autoscaler's flags of that name"
    )
    parser.add_argument("--buys-from", type=int, default=-10, metavar="N", help="pods of a lower priority buy nothing")
    parser.add_argument(
        "--webhooks", type=Path, metavar="FOLDER", help="a file a team: the address that is told of waits"
    )
    parser.add_argument("--owner", default="", metavar="TEAM", help="is told of what is no other team's")
    parser.add_argument("--account", type=Path, default=ACCOUNT, metavar="FOLDER", help="of the pod's token")
    given = parser.parse_args()
    try:
        flags = Backoffs(*(seconds(part) for part in given.backoff.split(",")))
        configured = settings.read(given.settings)
    except (settings.SettingsError, TypeError, ValueError, OSError) as error:
        sys.stderr.write(f"autoscaler's notes: {error}\n")
        return 1
    names = Names(given.status, given.lease, given.history, socket.gethostname())
    owners = Owners(given.webhooks, given.owner)
    book = Recorder(kube(given.account), configured, names, given.decisions, flags, given.buys_from, owners)
    gc.freeze()
    over = ending.asked()
    pause = 0.0
    while not over.wait(pause):
        began = time.monotonic()
        try:
            book.step(time.time())
        except (Answer, OSError, ValueError) as error:
            sys.stderr.write(f"autoscaler's notes: {error}\n")
            sys.stderr.flush()
        pause = max(PAUSE_SECONDS, (time.monotonic() - began) / SHARE)
    book.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
