"""`python3 -m services.gpu_metrics`: tells what the GPUs of its machine do, until it is told to end."""

import argparse
import functools
import os
import socket
import sys

from services import ending
from services.pages import watched

from . import metrics
from .driver import Driver

LISTEN_SECONDS = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.gpu_metrics", description=__doc__)
    parser.add_argument("--listen", default=":9400", metavar="ADDRESS", help="for /metrics and /healthz; %(default)s")
    parser.add_argument(
        "--node",
        default=os.environ.get("NODE_NAME") or socket.gethostname(),
        metavar="NAME",
        help="the label Hostname; $NODE_NAME, or else the name of the host",
    )
    given = parser.parse_args()
    driver = Driver(say)
    try:
        pages = watched(given.listen, functools.partial(metrics.page, driver.look, given.node))
    except (ValueError, OSError) as error:
        say(str(error))
        return 1
    # Xids are heard from its start on.
    driver.look()
    over = ending.asked()
    while not over.wait(LISTEN_SECONDS):
        driver.listen()
    pages.shutdown()
    return 0


def say(why: str) -> None:
    sys.stderr.write(f"gpu_metrics: {why}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    code = main()
    # A driver that hangs keeps its thread.
    os._exit(code)
