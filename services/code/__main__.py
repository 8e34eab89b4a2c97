"""`python3 -m services.code --tree s3://BUCKET/teams/TEAM/code/trees/DIGEST.json --into /code`: an init container."""

import argparse
import os
import sys
import time
from pathlib import Path

from fleet import fitness
from fleet.team_code import MIB

from . import host
from .errors import FetchError
from .fetch import fetch
from .pack_cache import PackCache
from .patience import patiently
from .peers import Peers
from .source import Source, place


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.code", description=__doc__)
    parser.add_argument("--tree", required=True, metavar="URL", help="the tree of the code, in S3 or in Azure")
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER", help="an empty one, or of a former fetch")
    parser.add_argument(
        "--cache", type=Path, metavar="FOLDER", help="keeps packs there for other pods, which then need no cloud"
    )
    parser.add_argument("--cache-mib", type=int, default=10 * 1024, help="most that the cache keeps; %(default)s")
    parser.add_argument(
        "--away-seconds", type=float, default=1800.0, help="how long to try again where the cloud is away; %(default)s"
    )
    parser.add_argument("--wait-for", default="", metavar="NAMES", help="hosts that have to be there, with commas")
    parser.add_argument("--wait-seconds", type=float, default=600.0, help="how long; %(default)s")
    parser.add_argument("--look-at", metavar="ADDRESS", help="the host: one that is unfit ends this with 75")
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="a folder that the run finds there")
    given = parser.parse_args()
    os.umask(0o022)  # whoever the run is, it may read its code
    # First of all: on a host whose shares are away the rest would wait for ever.
    if given.look_at and host.unfit(given.look_at, say):
        time.sleep(host.CLOSED_SECONDS)
        return fitness.EXIT_CODE
    begun = time.monotonic()
    peers = Peers([name for name in given.wait_for.split(",") if name])
    try:
        cache = PackCache(given.cache) if given.cache else None
        source = Source(place(given.tree))
        fetched = patiently(lambda: fetch(source, given.into, cache), given.away_seconds)
        if cache:
            cache.clean(given.cache_mib * MIB)
        if given.make:
            given.make.mkdir(parents=True, exist_ok=True)
        seconds = time.monotonic() - begun
        peers.wait(given.wait_seconds)
    except (FetchError, OSError) as error:
        sys.stderr.write(f"code: {' '.join(str(error).split())}\n")
        return 1
    sys.stdout.write(f"code: {fetched.files} files, {fetched.size_bytes / MIB:.1f} MiB, {seconds:.1f} seconds\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
