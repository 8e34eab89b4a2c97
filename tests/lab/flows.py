"""Runs inside the lab's machines, with nothing but Python: flows of small questions, and bulk over TCP.

python3 flows.py serve ADDRESS...
python3 flows.py ask EVERY_SECONDS FROM,FROM... TO,TO...   until its input ends; then says what became of them
python3 flows.py send|fetch FROM TO BYTES
"""

import itertools
import json
import select
import socket
import sys
import threading
import time
from typing import IO

PORT = 7007
LATE_SECONDS = 3.0
KNOCKS, KNOCK_SECONDS = 3, 0.2
CHUNK = 1 << 16


def serve(*addresses: str) -> None:
    for address in addresses:
        asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asked.bind((address, PORT))
        threading.Thread(target=_echo, args=(asked,), daemon=True).start()
    listening = socket.create_server(("0.0.0.0", PORT))
    while True:
        threading.Thread(target=_bulk, args=(listening.accept()[0],), daemon=True).start()


def _echo(asked: socket.socket) -> None:
    while True:
        what, who = asked.recvfrom(2048)
        asked.sendto(what, who)


def _bulk(one: socket.socket) -> None:
    """The first line says who sends, and how much; the other side says when all is there."""
    with one:
        # What comes right behind the line may be in the file already, and then it is in the socket no more.
        heard = one.makefile("rb")
        what, size = heard.readline().split()
        if what == b"fetch":
            one.sendall(bytes(int(size)))
            heard.read(1)
        else:
            _take(heard, int(size))
            one.sendall(b".")


def _take(heard: IO[bytes], size: int) -> None:
    while size > 0:
        got = heard.read(min(size, CHUNK))
        if not got:
            raise SystemExit("it ended too early")
        size -= len(got)


def bulk(what: str, source: str, target: str, size: str) -> None:
    with socket.create_connection((target, PORT), timeout=30, source_address=(source, 0)) as one:
        one.sendall(f"{what} {size}\n".encode())
        if what == "fetch":
            _take(one.makefile("rb"), int(size))
            one.sendall(b".")
        else:
            one.sendall(bytes(int(size)))
            one.recv(1)


def ask(every_seconds: str, sources: str, targets: str) -> None:
    every = float(every_seconds)
    ways = {}
    for source in sources.split(","):
        for target in targets.split(","):
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.bind((source, 0))
            one.setblocking(False)
            ways[one] = (f"{source}-{target}", (target, PORT))
    begun = time.monotonic()
    sent = dict.fromkeys(ways, 0)
    heard: dict[socket.socket, dict[int, float]] = {one: {} for one in ways}
    ends, due = 0.0, begun
    while not ends or time.monotonic() < ends:
        now = time.monotonic()
        if not ends and now >= due:
            due = max(due + every, now)
            for one, (_, target) in ways.items():
                sent[one] += 1
                try:
                    one.sendto(str(sent[one]).encode(), target)
                except OSError:
                    continue  # counts as lost
        waited = [*ways] if ends else [sys.stdin, *ways]
        for one in select.select(waited, [], [], max(0.0, min(due - time.monotonic(), every)))[0]:
            if one is sys.stdin:
                ends = time.monotonic() + LATE_SECONDS
                continue
            try:
                heard[one].setdefault(int(one.recv(64)), time.monotonic())
            except OSError:
                continue
    over = ends - LATE_SECONDS
    gaps = {}
    for one in ways:
        times = sorted([begun, over, *(at for at in heard[one].values() if at < over)])
        gaps[one] = max(later - earlier for earlier, later in itertools.pairwise(times))
    flows = [
        {"name": name, "sent": sent[one], "lost": sent[one] - len(heard[one]), "gap_seconds": gaps[one]}
        for one, (name, _) in ways.items()
    ]
    sys.stdout.write(json.dumps(flows))


def knock(kind: str, source: str, target: str, port: str) -> None:
    for _ in range(KNOCKS):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM) as one:
            one.bind((source, 0))
            one.settimeout(KNOCK_SECONDS)
            try:
                one.connect((target, int(port)))
                one.send(b"?")
            except OSError:
                continue
        time.sleep(KNOCK_SECONDS / 4)


if __name__ == "__main__":
    what, words = sys.argv[1], sys.argv[2:]
    if what in {"serve", "ask"}:
        {"serve": serve, "ask": ask}[what](*words)
    else:
        {"send": bulk, "fetch": bulk, "udp": knock, "tcp": knock}[what](what, *words)
