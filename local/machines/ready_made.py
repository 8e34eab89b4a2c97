"""Programs that need no exec: a fork of init has them imported already, and becomes one in a hundredth of the time.

Those are our own stand-ins, and scripts for a Python of init's own version. Everything else is executed.
"""

import contextlib
import ctypes
import importlib
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from . import root
from .waiting import readable

MODULES = root.MODULES
STANDARD = f"python{sys.version_info.major}.{sys.version_info.minor}"
PLACES = {f"/usr/local/bin/{name}": name for name in root.COMMANDS}
PLACES |= {f"/usr/sbin/{name}": name for name in root.ELSEWHERE}
LONGEST_LINE = 200
Program = Callable[[], object]


def of(program: str, argv: Sequence[str]) -> Program | None:
    """What to call instead of executing `program`; None if it must be executed."""
    with contextlib.suppress(OSError):
        if (name := PLACES.get(program)) and Path(program).read_text() == root.COMMANDS[name]:
            module, *words = MODULES[name]
            return lambda: stand_in(module, [*words, *argv[1:]])
        if is_python(program):
            return (lambda: script(argv[1:])) if len(argv) > 1 and not argv[1].startswith("-") else None
        with open(program, "rb") as file:  # noqa: PTH123  (a few bytes of what may be large)
            first = file.read(LONGEST_LINE).partition(b"\n")[0].decode(errors="replace")
        if first.startswith("#!") and is_python(first[2:].strip()):
            return lambda: script([program, *argv[1:]])
    return None


def is_python(program: str) -> bool:
    """Whether it is a Python as init's own is one. `#!python3 -I` and the like are not."""
    return program.startswith("/") and Path(program).resolve().name == STANDARD


def stand_in(module: str, words: list[str]) -> None:
    sys.exit(importlib.import_module(f"local.{module}").main(words))


def script(argv: Sequence[str]) -> None:
    """As `python FILE WORDS` does it; nothing of ours is on its path."""
    sys.argv[:] = argv
    ours = {"", str(root.REPOSITORY)}
    sys.path[:] = [str(Path(argv[0]).resolve().parent), *(one for one in sys.path if one not in ours)]
    # Our kubelet's is the checkout's; a script has the one of its own bundle.
    sys.modules.pop("kube_http", None)
    runpy.run_path(argv[0], run_name="__main__")


def run(program: Program, argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """In a fork, where nothing of init's may be left open; the exit status."""
    for one in os.listdir("/proc/self/fd"):  # noqa: PTH208  (the list's own descriptor is in it, and gone by then)
        with contextlib.suppress(OSError):
            if int(one) > 2:
                os.close(int(one))
    os.environ.clear()
    os.environ.update(environment)
    name(argv)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    code = 0
    try:
        program()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    # What Python does at its end, but for what init had open.
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return code & 0xFF


def output(argv: Sequence[str], environment: Mapping[str, str], seconds: float) -> tuple[int, bytes]:
    """The exit status of a program, and what it printed. Raises OSError, subprocess.TimeoutExpired."""
    program = of(argv[0], argv) if threading.active_count() == 1 else None
    if program is None:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment, timeout=seconds, check=False
        )
        return done.returncode, done.stdout
    heard, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(write_end, 1)
            code = run(program, argv, environment)
        finally:
            os._exit(code)
    os.close(write_end)
    with os.fdopen(heard, "rb", buffering=0) as printed:
        stdout, deadline = b"", time.monotonic() + seconds
        while readable(heard, seconds=max(0.0, deadline - time.monotonic())):
            if not (chunk := printed.read(1 << 16)):
                return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), stdout
            stdout += chunk
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise subprocess.TimeoutExpired(list(argv), seconds)


def name(argv: Sequence[str]) -> None:
    """What `ps` shows of this process, as far as there was room for words at the zygote's start."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    room = end - start
    text = b"\0".join(os.fsencode(word) for word in argv)[: room - 1]
    ctypes.memmove(start, text.ljust(room, b"\0"), room)
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(os.path.basename(argv[0])[:15])  # noqa: PTH119  (argv[0] may be anything)
