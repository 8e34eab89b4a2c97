"""The local cloud's own process: runs inside the namespace, keeps the children alive, and ends with them.

Started by `local.client` as `python -m local.daemon --home FOLDER --way NAME --ready FD`. On FD it writes one JSON line
as soon as the cloud answers, or the reason why it does not. Ends on SIGTERM. FOLDER/cloud.json stays locked for as
long as the daemon lives: who can lock it knows that there is none, whatever process has the number by now. A child that
dies is started again, with its world, which lies in FOLDER like all that the next daemon needs (see `local.standing`).
"""

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from . import standing
from .azure.names import ADDRESS as AZURE_ADDRESS
from .azure.names import ALWAYS as AZURE_NAMES
from .environment import AUTHORITIES
from .machines import network
from .processes import PartError, Processes
from .waiting import persist

READY_SECONDS = 180.0
TAKE_SECONDS = 2.0
# How often it looks whether anybody could still stop it.
LOOK_SECONDS = 5.0


class DaemonError(Exception):
    """Why the local cloud could not start or had to end."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--way", required=True)
    parser.add_argument("--ready", type=int, required=True)
    arguments = parser.parse_args()
    with os.fdopen(arguments.ready, "w") as ready, (arguments.home / "cloud.json").open("a+") as record:
        try:
            live(arguments.home, arguments.way, record, ready)
        except (DaemonError, PartError, standing.StandingError, OSError) as error:
            log(f"ended: {error}")
            if not ready.closed:
                with contextlib.suppress(DaemonError):  # nobody hears it
                    tell(ready, {"error": str(error)})
            sys.exit(1)


def live(home: Path, way: str, record: TextIO, ready: TextIO) -> None:
    """From the first breath to the last. Raises DaemonError, PartError and StandingError."""
    take(record)
    identity = {
        "pid": os.getpid(),
        "life": uuid.uuid4().hex,
        "generation": standing.prepare(home),
        "way": way,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    record.truncate(0)
    record.write(json.dumps(identity))
    record.flush()
    loopback_up()
    # Networks' routers let in what our own programs say from instance metadata's address, which must stay the sender.
    network.hold(AZURE_ADDRESS, "host")
    own_hosts_file(home / "cloud.hosts")
    own_authorities(home / "cloud.crt")
    # Blocked, signals wait for `sigtimedwait`: no handler, no race.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD})
    parts = Processes(home, log)
    try:
        parts.start()
        parts.await_up(READY_SECONDS)
        trust(home)
        log(f"ready, life {identity['life']}")
        tell(ready, identity)
        supervise(parts, home)
    finally:
        parts.end()


def tell(ready: TextIO, message: Mapping[str, object]) -> None:
    """One line to the starter. Raises DaemonError when that has gone: a cloud nobody waited for is not kept."""
    try:
        ready.write(json.dumps(message) + "\n")
        ready.close()
    except BrokenPipeError:
        raise DaemonError("its starter went away") from None


def take(record: TextIO) -> None:
    """Locks the record. A `status` may hold it for a moment; whoever holds it longer is another daemon."""
    try:
        persist(lambda: fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB), TAKE_SECONDS, 0.02, BlockingIOError)
    except BlockingIOError:
        raise DaemonError("another local cloud lives in the same folder") from None


def supervise(parts: Processes, home: Path) -> None:
    """Returns on SIGTERM or SIGINT; raises PartError, and DaemonError when the home is gone."""
    while True:
        wait = parts.tend()
        heard = signal.sigtimedwait(
            {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}, LOOK_SECONDS if wait is None else wait
        )
        if heard is None:
            if not (home / "cloud.json").exists():
                raise DaemonError(f"its folder {home} was removed")
        elif heard.si_signo != signal.SIGCHLD:
            log(f"ended by {signal.Signals(heard.si_signo).name}")
            return


def loopback_up() -> None:
    """What `ip link set lo up` does, without iproute2."""
    siocgifflags, siocsifflags, iff_up = 0x8913, 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH14x", b"lo", 0)
        _, flags = struct.unpack("16sH14x", fcntl.ioctl(sock, siocgifflags, request))
        fcntl.ioctl(sock, siocsifflags, struct.pack("16sH14x", b"lo", flags | iff_up))


def own_hosts_file(hosts: Path) -> None:
    """Lays `hosts` over /etc/hosts, in this mount namespace only. Whoever plans names writes them into it, in place."""
    hosts.write_text(f"127.0.0.1 localhost\n::1 localhost\n{AZURE_ADDRESS} {' '.join(AZURE_NAMES)}\n")
    lay_over(hosts, Path("/etc/hosts"))


def own_authorities(file: Path) -> None:
    """Lays `file` over those whom this computer trusts, in this mount namespace only. Nobody is in it yet."""
    file.write_text("")
    for place in AUTHORITIES:
        if Path(place).exists():
            lay_over(file, Path(place))


def trust(home: Path) -> None:
    """Programs in the local cloud trust its clouds' authorities and no other, from now on."""
    authorities = [home / "authority/ca.crt", home / "azure-authority/ca.crt"]
    (home / "cloud.crt").write_text("".join(one.read_text() for one in authorities))


def lay_over(file: Path, place: Path) -> None:
    """Raises DaemonError."""
    libc = ctypes.CDLL(None, use_errno=True)
    ms_bind = 0x1000
    if libc.mount(str(file).encode(), str(place).encode(), None, ms_bind, None) != 0:
        code = ctypes.get_errno()
        raise DaemonError(f"cannot mount {file} over {place}: {os.strerror(code)}")


def log(text: str) -> None:
    """A line in the log, which is where stderr leads."""
    sys.stderr.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} local cloud {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
