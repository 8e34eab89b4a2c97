"""`python3 -m services.fleet_metrics`: shows what clouds and buckets say, until it is told to end."""

import argparse
import gc
import sys
import time
from pathlib import Path

from services import ending
from services.azure.identity import identity_option, replaced
from services.pages import watched

from . import settings
from .errors import SettingsError
from .sources import Sources, planned, sources

# How often it looks whether its identity was made anew.
LOOK_SECONDS = 10.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.fleet_metrics", description=__doc__)
    parser.add_argument("--settings", type=Path, required=True, help="JSON, as the add-on's stack writes it")
    parser.add_argument("--metrics", default=":8091", help="for /metrics and /healthz; %(default)s")
    parser.add_argument(
        "--read-seconds", type=float, default=300.0, metavar="N", help="how often each source is asked; %(default)s"
    )
    identity_option(parser)
    given = parser.parse_args()
    try:
        told = settings.read(given.settings)
        asked = Sources(sources(told), time.time())
        planned(told)
        pages = watched(given.metrics)
    except (SettingsError, ValueError, OSError) as error:
        sys.stderr.write(f"fleet metrics: {error}\n")
        return 1
    over = ending.asked()
    gc.freeze()
    due = 0.0
    while not over.is_set() and not replaced(given.identity):
        if time.monotonic() >= due:
            due = time.monotonic() + given.read_seconds
            asked.step(time.time())
        over.wait(min(LOOK_SECONDS, given.read_seconds))
    pages.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
