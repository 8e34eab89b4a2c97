"""Each host sends its number to the first, which sends back the sum: an all-reduce without a library."""

import os
import socket
import time

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
FIRST = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
PATIENCE_SECONDS = 60.0


def lead(own: int) -> int:
    """Rank 0: hears all the others, and answers each of them."""
    with socket.create_server(("", FIRST[1])) as server:
        others = [server.accept()[0] for _ in range(WORLD - 1)]
        total = own + sum(int(one.makefile().readline()) for one in others)
        for one in others:
            one.sendall(f"{total}\n".encode())
            one.close()
    return total


def join(own: int) -> int:
    """All others. The first may not listen yet."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with socket.create_connection(FIRST, timeout=PATIENCE_SECONDS) as line:
                line.sendall(f"{own}\n".encode())
                return int(line.makefile().readline())
        except ConnectionError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.2)


mine = RANK + 1
print(f"rank {RANK} of {WORLD} has {mine}", flush=True)
print(f"the sum is {(lead if RANK == 0 else join)(mine)}", flush=True)
