"""How long a run's code takes to a bucket: first launch, second with one line changed, and into a pod; against rsync.

The tree has 2,000 files of 200 MB in git. S3 is moto's, a process of its own on this computer. rsync copies the same
tree into a local folder, without any network; so the ratio flatters it. Not called `code`: Python's debugger would
import it in place of its own.
"""

import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet.team_code import MIB, folder, tree_key
from landbridge.clouds.aws.cloud import S3
from landbridge.code.folder import Limits, scan
from landbridge.code.known_packs import KnownPacks
from landbridge.code.ship import Shipped, ship
from landbridge.code.stat_cache import RACY_SECONDS
from landbridge.code.team_store import TeamStore
from services.code.fetch import fetch
from services.code.source import Source, place
from tests.support import s3
from tests.support.waiting import eventually

BUCKET, TEAM = "bench", "research"
FILES, BYTES, ROUNDS = 2000, 200_000_000, 5
GOAL_SECONDS = 2.0


def grown(root: Path) -> None:
    """As experiments are: many small files of text, a few large ones."""
    chance = random.Random(7)
    for n in range(FILES):
        path = root / f"part{n % 40}/module{n}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        size = 4_000_000 if n % 50 == 0 else (BYTES - 40 * 4_000_000) // (FILES - 40)
        path.write_bytes(chance.randbytes(size))
    (root / ".gitignore").write_text("__pycache__/\n")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "bench")):
        who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        subprocess.run(["git", *who, *words], cwd=root, check=True)


@contextmanager
def serving() -> Iterator[str]:
    """A moto of its own process: it must not share our interpreter's lock."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: answers(port), 60)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.monotonic()
    made = work()
    return time.monotonic() - begun, made


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name, serving() as url:
        root, cache, copy = Path(name) / "experiment", Path(name) / "cache", Path(name) / "copy"
        grown(root)
        client = s3.client(url)
        client.create_bucket(Bucket=BUCKET)
        store = TeamStore(S3(client, None, BUCKET), folder(TEAM))
        scans: list[float] = []

        def launch() -> Shipped:
            took, found = timed(lambda: scan(root, Limits(), (), cache))
            scans.append(took)
            return ship(found, store, KnownPacks(cache, BUCKET, TEAM))

        def pod() -> None:
            at = place(store.where(tree_key(done.digest)))
            fetch(Source(at, lambda: client), Path(name) / "pod")

        def rsync() -> None:
            subprocess.run(["rsync", "-a", f"{root}/", f"{copy}/"], check=True)

        there = shutil.which("rsync") is not None
        time.sleep(RACY_SECONDS)  # as people do, who do not launch in the moment of saving
        first, done = timed(launch)
        if there:
            rsync()
        seconds, rivals = [], []
        for n in range(ROUNDS):
            with (root / "part1/module1.py").open("ab") as file:
                file.write(f"# {n}\n".encode())
            took, done = timed(launch)
            assert done.new_files == 1, done
            seconds.append(took)
            if there:
                rivals.append(timed(rsync)[0])
        same, again = timed(launch)
        assert again.sent_bytes == 0
        into_pod, _ = timed(pod)
    second = statistics.median(seconds)
    print(f"code of {done.files} files, {BYTES / MIB:.0f} MiB, {os.cpu_count()} cores")
    print(f"first launch: {first:.2f} s, of it {scans[0]:.2f} s to look at the folder")
    spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
    look = statistics.median(scans[1:])
    print(
        f"with a line changed: {second:.2f} s ({spread}), of it {look:.2f} s to look; sent {done.sent_bytes / 1024:.0f} KiB"
    )
    print(f"with nothing changed: {same:.2f} s; into a pod: {into_pod:.2f} s")
    print(f"first / second launch: {first / second:.1f}; goal of the second: {GOAL_SECONDS} s")
    if there:
        rival = statistics.median(rivals)
        print(f"rsync of the same change into a local folder: {rival:.2f} s; launch / rsync: {second / rival:.1f}")
    else:
        print("rsync is not here: nothing to compare with")


if __name__ == "__main__":
    main()
