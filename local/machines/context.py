"""What a unit's directives ask for, as the context of one process: environment, account, streams, limits."""

import contextlib
import grp
import os
import pwd
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from . import spawn
from .commands import PATH, Command, environment_file
from .units import Unit

NOTIFY_SOCKET = "/run/landbridge-init.notify"
STATE_FOLDERS = Path("/var/lib")
LIMITS = {"LimitNOFILE": resource.RLIMIT_NOFILE, "LimitMEMLOCK": resource.RLIMIT_MEMLOCK}
FILE_MODES = {"file": os.O_WRONLY, "append": os.O_WRONLY | os.O_APPEND, "truncate": os.O_WRONLY | os.O_TRUNC}


class ContextError(Exception):
    """A user, group or file that a unit names does not exist."""


class Made(NamedTuple):
    """A process's context, what is to be said about it, and the files opened for it."""

    process: spawn.Context
    remarks: list[str]
    opened: list[int]

    def close(self) -> None:
        for descriptor in self.opened:
            os.close(descriptor)


def make(unit: Unit, command: Command, journal: int, given: Mapping[str, str], *, notify: bool) -> Made:
    """The context of `command`; `given` are variables of this very process. Raises ContextError or OSError."""
    account, remarks = (None, []) if command.privileged else account_of(unit)
    variables = environment(unit) | dict(given)
    if notify:
        variables["NOTIFY_SOCKET"] = NOTIFY_SOCKET
    folder, may_lack = unit["WorkingDirectory"] or ("/", False)
    opened: list[int] = []
    try:
        output = stream(unit["StandardOutput"], journal, None, opened)
        error = stream(unit["StandardError"], journal, output, opened)
    except OSError:
        for descriptor in opened:
            os.close(descriptor)
        raise
    process = spawn.Context(
        program=command.program(),
        argv=command.argv(variables),
        environment=variables,
        output=output,
        error=error,
        account=account,
        folder=folder,
        folder_may_lack=may_lack,
        limits=tuple((number, unit[name]) for name, number in LIMITS.items() if unit[name]),
        nice=unit["Nice"],
        io_class=unit["IOSchedulingClass"],
        oom_score=unit["OOMScoreAdjust"],
    )
    return Made(process, remarks, opened)


def stream(wanted: tuple[str, str], journal: int, inherited: int | None, opened: list[int]) -> int:
    """The descriptor of a stream; `inherited` is what `inherit` means, nothing for the first of them."""
    kind, path = wanted
    if kind == "journal":
        return journal
    if kind == "inherit" and inherited is not None:
        return inherited
    flags = FILE_MODES.get(kind, os.O_WRONLY) | (os.O_CREAT if path else 0)
    opened.append(os.open(path or os.devnull, flags, 0o644))
    return opened[-1]


def environment(unit: Unit) -> dict[str, str]:
    found = {"PATH": PATH, "LANG": "C.UTF-8"}
    with contextlib.suppress(ContextError):
        if unit["User"] and (user := user_of(unit["User"])):
            found |= {"USER": user.pw_name, "LOGNAME": user.pw_name, "HOME": user.pw_dir, "SHELL": user.pw_shell}
    if unit["StateDirectory"]:
        found["STATE_DIRECTORY"] = ":".join(str(STATE_FOLDERS / name) for name in unit["StateDirectory"])
    found |= dict(unit["Environment"])
    for path, may_lack in unit["EnvironmentFile"]:
        try:
            found |= environment_file(Path(path).read_text())
        except OSError as error:
            if not (may_lack and isinstance(error, FileNotFoundError)):
                raise ContextError(f"EnvironmentFile={path}: {error.strerror}") from None
    return found


def account_of(unit: Unit) -> tuple[spawn.Account | None, list[str]]:
    """Whom the unit's processes run as; None is root. Where only root exists, root, and that is said."""
    if not unit["User"] and not unit["Group"]:
        return None, []
    user = user_of(unit["User"] or "root")
    group = group_of(unit["Group"]) if unit["Group"] else user.pw_gid
    if not spawn.mapped(user.pw_uid) or not spawn.mapped(group):
        wanted = " ".join(f"{name}={unit[name]}" for name in ("User", "Group") if unit[name])
        return None, [f"{wanted}: this user namespace has no user but root, so it runs as root"]
    return spawn.Account(user.pw_uid, group, tuple(os.getgrouplist(user.pw_name, group))), []


def user_of(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(int(name)) if name.isdecimal() else pwd.getpwnam(name)
    except KeyError:
        raise ContextError(f"User={name}: there is no such user on this machine") from None


def group_of(name: str) -> int:
    try:
        return int(name) if name.isdecimal() else grp.getgrnam(name).gr_gid
    except KeyError:
        raise ContextError(f"Group={name}: there is no such group on this machine") from None


def make_state_folders(unit: Unit) -> None:
    """Makes what StateDirectory= names, for the unit's user. Raises ContextError or OSError."""
    for name in unit["StateDirectory"]:
        folder = STATE_FOLDERS / name
        folder.mkdir(parents=True, exist_ok=True)
        account, _ = account_of(unit)
        if account:
            os.chown(folder, account.user, account.group)
