"""The local cloud's own process: runs inside the namespace, keeps the children alive together, and ends with them.

Started by `local.client` as `python -m local.daemon --home FOLDER --way NAME --ready FD`. On FD it writes one JSON line
as soon as the cloud answers, or the reason why it does not. Ends on SIGTERM. FOLDER/cloud.json stays locked for as
long as the daemon lives: who can lock it knows that there is none, whatever process has the number by now.
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
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TextIO

from .azure.names import ADDRESS as AZURE_ADDRESS
from .azure.names import ALWAYS as AZURE_NAMES
from .azure.names import PORT as AZURE_PORT
from .environment import AUTHORITIES, AWS_URL, AZURE_URL
from .machines import network

READY_SECONDS = 90.0
END_SECONDS = 3.0
TAKE_SECONDS = 2.0
# How often it looks whether anybody could still stop it.
LOOK_SECONDS = 5.0


class Child(NamedTuple):
    """A process of the local cloud, ready when its port answers."""

    name: str
    module: str
    port: int
    flags: tuple[str, ...] = ()

    def argv(self, home: Path) -> list[str]:
        flags = [flag.format(home=home) for flag in self.flags]
        return [sys.executable, "-m", self.module, "--port", str(self.port), *flags]


AZURE_FLAGS = ("--azure", f"{AZURE_ADDRESS}:{AZURE_PORT}", "--azure-authority", "{home}/azure-authority/ca.crt")
CHILDREN = (
    Child("AWS API", "local.aws.server", 5000, ("--home", "{home}")),
    Child("Azure API", "local.azure.server", 5003, ("--home", "{home}", "--issuers", f"{AZURE_ADDRESS}:80")),
    Child("provider host", "local.providers.host", 5001, ("--aws", AWS_URL, *AZURE_FLAGS)),
    Child(
        "machines service", "local.keeper.server", 5002, ("--home", "{home}", "--aws", AWS_URL, "--azure", AZURE_URL)
    ),
)


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
        except (DaemonError, OSError) as error:
            log(f"ended: {error}")
            if not ready.closed:
                with contextlib.suppress(DaemonError):  # nobody hears it
                    tell(ready, {"error": str(error)})
            sys.exit(1)


def live(home: Path, way: str, record: TextIO, ready: TextIO) -> None:
    """From the first breath to the last. Raises DaemonError when a child did not start or died."""
    take(record)
    identity = {
        "pid": os.getpid(),
        "generation": uuid.uuid4().hex,
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
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for child in CHILDREN:
            children[child.name] = subprocess.Popen(
                child.argv(home), stdin=subprocess.DEVNULL, preexec_fn=die_with_parent
            )
        await_ports(children)
        trust(home)
        log(f"ready, generation {identity['generation']}")
        tell(ready, identity)
        supervise(children, home)
    finally:
        end(list(children.values()))


def tell(ready: TextIO, told: Mapping[str, object]) -> None:
    """One line to the starter. Raises DaemonError when that has gone: a cloud nobody waited for is not kept."""
    try:
        ready.write(json.dumps(told) + "\n")
        ready.close()
    except BrokenPipeError:
        raise DaemonError("its starter went away") from None


def take(record: TextIO) -> None:
    """Locks the record. A `status` may hold it for a moment; whoever holds it longer is another daemon."""
    deadline = time.monotonic() + TAKE_SECONDS
    while True:
        try:
            return fcntl.flock(record, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise DaemonError("another local cloud lives in the same folder") from None
            time.sleep(0.02)


def supervise(children: dict[str, "subprocess.Popen[bytes]"], home: Path) -> None:
    """Returns on SIGTERM or SIGINT; raises DaemonError when a child has died or the home is gone."""
    while True:
        heard = signal.sigtimedwait({signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}, LOOK_SECONDS)
        if heard is None:
            if not (home / "cloud.json").exists():
                raise DaemonError(f"its folder {home} was removed")
        elif heard.si_signo != signal.SIGCHLD:
            log(f"ended by {signal.Signals(heard.si_signo).name}")
            return
        else:
            check(children)


def check(children: dict[str, "subprocess.Popen[bytes]"]) -> None:
    for name, process in children.items():
        if process.poll() is not None:
            raise DaemonError(f"the {name} (process {process.pid}) {end_in_words(process.returncode)}")


def end_in_words(code: int) -> str:
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"


def await_ports(children: dict[str, "subprocess.Popen[bytes]"]) -> None:
    """Waits until every child's port answers."""
    deadline = time.monotonic() + READY_SECONDS
    for child in CHILDREN:
        while not answers(child.port):
            check(children)
            if time.monotonic() > deadline:
                raise DaemonError(f"the {child.name} did not answer on port {child.port} within {READY_SECONDS:.0f} s")
            time.sleep(0.02)


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def end(processes: Sequence["subprocess.Popen[bytes]"]) -> None:
    """Asks the children to end, and makes those that do not."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + END_SECONDS
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def die_with_parent() -> None:
    """In a child before exec: the kernel kills it when the daemon dies, even by SIGKILL; signals are its own again."""
    libc = ctypes.CDLL(None)
    libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


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
