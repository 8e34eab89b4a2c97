"""`python3 -m services.log_history give|fetch`: gives the past to who begins, or fetches it before."""

import argparse
import sys
from pathlib import Path

from services import ending

from .fetching import fetch
from .giving import served


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.log_history", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    give, fetches = verbs.add_parser("give"), verbs.add_parser("fetch")
    for one in (give, fetches):
        one.add_argument("--data", type=Path, required=True, help="the store's folder")
    give.add_argument("--store", default="http://127.0.0.1:9428", help="%(default)s")
    give.add_argument("--listen", default=":9430", help="for /history, /metrics and /healthz; %(default)s")
    fetches.add_argument("--own", required=True, help="the pod's name, with which its own address begins")
    fetches.add_argument("addresses", nargs=2, metavar="URL", help="of both who give")
    given = parser.parse_args()
    try:
        if given.verb == "fetch":
            fetch(given.data, next(one for one in given.addresses if not one.startswith(f"http://{given.own}.")))
            return 0
        pages = served(given.listen, given.data, given.store)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"log history: {error}\n")
        return 1
    over = ending.asked()
    over.wait()
    pages.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
