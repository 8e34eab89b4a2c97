"""`python3 -m services.log_reader`: answers teams' queries until it is told to end."""

import argparse
import sys
from pathlib import Path

from services import ending
from services.kube import ACCOUNT, kube

from .callers import Callers
from .reader import served


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.log_reader", description=__doc__)
    parser.add_argument("--store", action="append", default=[], metavar="NAME=URL", help="a VictoriaLogs; several")
    parser.add_argument("--team", action="append", default=[], metavar="TEAM", help="whose people may ask; several")
    parser.add_argument("--account", type=Path, default=ACCOUNT, help="with the token to ask the API; %(default)s")
    parser.add_argument("--listen", default=":8092", help="for queries, /metrics and /healthz; %(default)s")
    given = parser.parse_args()
    try:
        stores = {name: url for name, _, url in (one.partition("=") for one in given.store)}
        pages = served(given.listen, stores, Callers(kube(given.account), given.team))
    except (ValueError, OSError) as error:
        sys.stderr.write(f"log reader: {error}\n")
        return 1
    over = ending.asked()
    over.wait()
    pages.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
