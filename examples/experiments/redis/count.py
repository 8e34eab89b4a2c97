"""Hosts take numbers from one counter, each once, by the protocol of Redis itself: no client has to be installed."""

import os
import socket
import time
from urllib.parse import urlsplit

SERVER = urlsplit(os.environ["REDIS_URL"])
LAST, PATIENCE_SECONDS = 100, 60.0


def connect() -> socket.socket:
    """The server may still be starting."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return socket.create_connection((SERVER.hostname, SERVER.port), timeout=PATIENCE_SECONDS)
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.2)


with connect() as line:
    answers, mine = line.makefile(), []
    line.sendall(f"AUTH {SERVER.password}\r\n".encode())
    answers.readline()
    while True:
        line.sendall(b"INCR counter\r\n")
        number = int(answers.readline().lstrip(":"))
        if number > LAST:
            break
        mine.append(number)
print(f"host {os.environ['RANK']} has counted {len(mine)} of {LAST}", flush=True)
