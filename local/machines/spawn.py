"""Starts one process of a unit: fork, the context that its directives ask for, exec."""

import contextlib
import fcntl
import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from . import kernel, ready_made


class Account(NamedTuple):
    """A user's and group's numbers."""

    user: int
    group: int
    groups: tuple[int, ...]


class Context(NamedTuple):
    """All that a process gets from init."""

    program: str
    argv: list[str]
    environment: dict[str, str]
    output: int
    error: int
    account: Account | None = None
    folder: str = "/"
    folder_may_lack: bool = False
    limits: tuple[tuple[int, tuple[int, int]], ...] = ()
    nice: int | None = None
    io_class: str | None = None
    oom_score: int | None = None


# systemd's exit statuses for what fails between fork and exec (systemd.exec(5)).
CHDIR, EXEC, USER = 200, 203, 217
FAILURES = {CHDIR: "WorkingDirectory", EXEC: "executing", USER: "User"}
BROKEN = 255


def start(context: Context) -> tuple[int, str | None]:
    """The new process, and why it could not become the program, in which case it ends with one of `FAILURES`."""
    heard, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        become(context, write_end)
    os.close(write_end)
    with os.fdopen(heard, "rb") as report:
        # Ends at exec, which closes the other side.
        words = report.read().decode(errors="replace")
    return pid, words or None


def become(context: Context, write_end: int) -> None:
    """In the child: never returns."""
    step = BROKEN
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        # High enough not to be overwritten by the three streams.
        write_end = fcntl.fcntl(write_end, fcntl.F_DUPFD_CLOEXEC, 10)
        streams = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (context.output, context.error)]
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(streams[0], 1)
        os.dup2(streams[1], 2)
        os.umask(0o022)
        burden(context)
        step = USER
        if context.account:
            switch(context.account)
        step = CHDIR
        with contextlib.suppress(FileNotFoundError) if context.folder_may_lack else contextlib.nullcontext():
            os.chdir(context.folder)
        step = EXEC
        if program := ready_made.of(context.program, context.argv):
            step = ready_made.run(program, context.argv, context.environment)
            return
        os.execve(context.program, context.argv, context.environment)  # noqa: S606
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.write(write_end, f"{FAILURES.get(step, 'starting')}: {error}".encode())
    finally:
        os._exit(step)


def burden(context: Context) -> None:
    """Limits and priorities. What the kernel refuses without real root stays as near as it allows."""
    for which, limit in context.limits:
        soft, hard = limit
        try:
            resource.setrlimit(which, (soft, hard))
        except (PermissionError, ValueError):
            most = resource.getrlimit(which)[1]
            resource.setrlimit(which, (least(soft, most), least(hard, most)))
    if context.nice is not None:
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, context.nice)
    if context.io_class is not None:
        with contextlib.suppress(PermissionError):
            kernel.set_io_class(context.io_class)
    if context.oom_score is not None:
        with contextlib.suppress(PermissionError):
            Path("/proc/self/oom_score_adj").write_text(str(context.oom_score))


def least(wanted: int, most: int) -> int:
    finite = [value for value in (wanted, most) if value != resource.RLIM_INFINITY]
    return min(finite, default=resource.RLIM_INFINITY)


def refusals(context: Context) -> Iterator[str]:
    """What `burden` could not do to the full, to be said once. Asked in the parent, which has the same rights."""
    for which, (_, hard) in context.limits:
        most = resource.getrlimit(which)[1]
        if most != resource.RLIM_INFINITY and least(hard, most) != hard and not real_root():
            yield f"a limit stays at {most}: more needs real root"
    lowest = int(Path("/proc/self/oom_score_adj").read_text())
    if context.oom_score is not None and context.oom_score < lowest and not real_root():
        yield f"OOMScoreAdjust stays at {lowest}: less needs real root"
    if context.io_class == "realtime" and not real_root():
        yield "IOSchedulingClass stays as it is: realtime needs real root"
    if context.nice is not None and context.nice < 0 and not real_root():
        yield "Nice stays at 0: less needs real root"


def real_root() -> bool:
    return mapped(1 << 31)


def mapped(number: int) -> bool:
    """Whether this user namespace has a user of that number."""
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = (int(field) for field in line.split())
        if first <= number < first + count:
            return True
    return False


def switch(account: Account) -> None:
    os.setgroups(account.groups)
    os.setresgid(account.group, account.group, account.group)
    os.setresuid(account.user, account.user, account.user)
