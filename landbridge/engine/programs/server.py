"""What programs are forks of: `python -m landbridge.engine.programs.server FD`, with a listening socket.

It ends with whoever holds the other end of its input. It must stay at one thread: a fork has no other.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
from pathlib import Path
from typing import NoReturn, get_args

from fleet.model import Cloud
from fleet.where import fleet_path

# What a stack's program and a policy pack import; of a cloud in the fleet, what lies in its module beside.
STACKS = ("stacks.links", "stacks.addons", "stacks.region", "stacks.cluster", "stacks.laptops", "stacks.pool")
NEEDED = (*STACKS, "stacks.pool.site", "policies.pack", "pulumi_policy")
# What the language host asks before each program, 0.4 s of a core each time; within a run the answer is the same.
LISTING = ["-m", "pip", "list", "-v", "--format", "json"]


def main(listener: socket.socket) -> None:
    """Serves until its input ends; returns in the child that a program is to run in."""
    gc.disable()  # nothing of what is imported is garbage: a sixth of the time
    for name in (*NEEDED, *(f"{stack}.{cloud}" for cloud in clouds() for stack in STACKS)):
        # A mistake in a module is told by the program that imports it.
        with contextlib.suppress(Exception, SystemExit):
            importlib.import_module(name)
    listed = listing()
    gc.freeze()  # a collection in a fork would copy all of this
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that mind a program
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(0, 0)
    while True:
        if 0 in dict(poll.poll()):
            sys.exit(0)
        client, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return mind(client, listed)
        client.close()


def clouds() -> list[str]:
    """Those of the fleet, by a look at the file's text: programs read it in earnest. All where it can't be read."""
    known = get_args(Cloud)
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = fleet_path().read_text()
        return [cloud for cloud in known if cloud in text]
    return [*known]


def listing() -> bytes:
    """What LISTING prints, found out by a fork: pip's modules are nobody else's. Empty when it failed."""
    with tempfile.TemporaryFile() as out:
        child = os.fork()
        if child == 0:
            for fd in (1, 2):
                os.dup2(out.fileno() if fd == 1 else os.open(os.devnull, os.O_WRONLY), fd)
            end(LISTING)
        _, status = os.waitpid(child, 0)
        out.seek(0)
        return b"" if status else out.read()


def mind(client: socket.socket, listed: bytes) -> None:
    """Forks the program, tells how it ended, and ends it if whoever asked goes first; returns in the program."""
    _, user, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    if user != os.getuid():
        os._exit(1)
    size, fds, _, _ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as stream:
        arguments, environment, folder = json.loads(stream.read(int.from_bytes(size, "big")))
    if arguments == LISTING and listed:
        with open(fds[1], "wb") as out:  # noqa: PTH123
            out.write(listed)
        client.sendall(bytes([0]))
        os._exit(0)
    program = os.fork()
    if program == 0:
        client.close()
        return become(arguments, environment, folder, fds)
    for fd in (0, 1, 2, *fds):
        os.close(fd)
    ended = os.pidfd_open(program)
    ready, _, _ = select.select([client.fileno(), ended], [], [])
    if ended not in ready:
        os.kill(program, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
    with contextlib.suppress(OSError):
        client.sendall(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def become(arguments: list[str], environment: dict[str, str], folder: str, fds: list[int]) -> None:
    """Makes this process what `python ARGUMENTS` would be, up to its first line."""
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[:] = arguments


def run(arguments: list[str]) -> None:
    """What the command line of a Python says, of the ways in which the language host calls one."""
    while arguments[0] == "-u":
        arguments = arguments[1:]
    if arguments[0] == "-c":
        sys.argv[:] = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    elif arguments[0] == "-m":
        sys.argv[:] = arguments[1:]
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = arguments
        # A folder's own place on the path is found by run_path.
        if not Path(arguments[0]).is_dir():
            sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
        runpy.run_path(arguments[0], run_name="__main__")


def end(arguments: list[str]) -> NoReturn:
    """Runs it and ends as a Python does, but for giving back a heap: in a fork, that copies all of it first."""
    code = 1
    try:
        run(arguments)
        code = 0
    except SystemExit as left:
        if left.code is not None and not isinstance(left.code, int):
            print(left.code, file=sys.stderr)  # noqa: T201 - as a Python does
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException as error:
        sys.excepthook(*sys.exc_info())
        code = 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
    end(list(sys.argv))
