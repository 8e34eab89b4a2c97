"""One Python for all machines of a supervisor, with all of it imported: each machine's first process is a fork of it.

`python -m local.machines.zygote FD ROOM`, with a socket on which `local.machines.zygotes` asks. It ends with the other
end of that socket. It must stay at one thread: a fork has no other. ROOM is where processes write their names.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
from pathlib import Path

from . import boot, kernel, ready_made

# Beside what machines run of ours: what scripts of bundles, user-data among them, take from Python's library.
LIBRARY = "argparse base64 datetime hmac http.client http.server ipaddress random runpy secrets ssl subprocess"
LIBRARY += " tempfile tomllib urllib.request xml.etree.ElementTree"


def main(requests: socket.socket) -> None:
    for name in (*LIBRARY.split(), *(f"local.{module}" for module, *_ in ready_made.MODULES.values())):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all of this
    kernel.adopt_orphans()
    # Nobody asks how they ended: whoever keeps a machine holds a handle of it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 4096, 3)
        if not message:
            return
        if os.fork() == 0:
            bear(requests, Path(json.loads(message)), *descriptors)
        for one in descriptors:
            os.close(one)


def bear(requests: socket.socket, folder: Path, console: int, lifeline: int, ready: int) -> None:
    """Never returns: answers with the machine's first process, which the zygote inherits, or with why there is none."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        os.setsid()
        kernel.own_mounts()
        kernel.own_rest()
        pid = os.fork()
    except OSError as error:
        requests.sendall(json.dumps({"error": f"no namespaces for a machine: {error}"}).encode())
        os._exit(1)
    if pid:
        socket.send_fds(requests, [json.dumps({"pid": pid}).encode()], [os.pidfd_open(pid)])
        os._exit(0)
    requests.close()
    become(folder, console, lifeline, ready)


def become(folder: Path, console: int, lifeline: int, ready: int) -> None:
    """The first process of the machine in `folder`, to its end."""
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream in (1, 2):
            os.dup2(console, stream)
        os.close(console)
        ready_made.name(["init", str(folder)])
        boot.main(folder, lifeline, ready)
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(2, f"init: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
