"""The published list of the unit directives that local machines honour. Any other one in a unit file is an error.

`TABLE` is the list. Its defaults are systemd's.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from . import commands, moments, values

SUFFIXES = ("service", "mount", "automount", "timer", "target")
# Which sections a kind of unit has, besides [Unit] and [Install].
SECTIONS = {"service": "Service", "mount": "Mount", "automount": "Automount", "timer": "Timer"}


class Directive(NamedTuple):
    """A directive: how its value is read, and what it is without one.

    With `many`, each line adds to a list (`parse` gives a list) or an element (it gives something else), and an empty
    value empties the list; without, the last line counts.
    """

    section: str
    name: str
    parse: Callable[[str], Any]
    default: Any
    meaning: str
    many: bool = False


def unit_name(value: str) -> str:
    stem, dot, suffix = value.rpartition(".")
    if not dot or suffix not in SUFFIXES or not re.fullmatch(r"[\w:.\\-]+", stem):
        raise ValueError(f"expected a unit's name that ends with one of {', '.join('.' + s for s in SUFFIXES)}")
    return value


def unit_names(value: str) -> list[str]:
    return [unit_name(word) for word in values.words(value, escapes=False)]


def listed(section: str, name: str, parse: Callable[[str], Any], meaning: str) -> Directive:
    return Directive(section, name, parse, (), meaning, many=True)


NICE = values.integer(-20, 19)
OOM_SCORE = values.integer(-1000, 1000)
# File systems of a server, which local machines know and do not mount: the kernel would need a real network.
REMOTE = ("nfs", "efs")
VOLUME = values.choice("none", "auto", "ext4", "xfs", *REMOTE)
COUNT = values.integer(0, 1_000_000)
STOP_TIMEOUT = 90.0
NO = False

TABLE = (
    Directive("Unit", "Description", values.text, "", "what people read in lists and logs"),
    listed("Unit", "Documentation", values.words, "where to read more; status shows it"),
    listed("Unit", "After", unit_names, "starts when these have started, stops before they stop"),
    listed("Unit", "Before", unit_names, "starts before these start, stops when they have stopped"),
    listed("Unit", "Requires", unit_names, "starts these too and fails with them; stops and restarts with them"),
    listed("Unit", "Wants", unit_names, "starts these too, whatever becomes of them"),
    listed("Unit", "PartOf", unit_names, "stops and restarts when these are stopped or restarted"),
    listed("Unit", "BindsTo", unit_names, "like Requires, and stops when these end by themselves"),
    listed(
        "Unit", "ConditionPathExists", values.condition, "is skipped unless the path exists (! and | as in systemd)"
    ),
    listed("Unit", "RequiresMountsFor", values.absolute_paths, "requires, and starts after, the mounts of these paths"),
    Directive("Unit", "StartLimitIntervalSec", values.span, 10.0, "the time in which starts are counted"),
    Directive("Unit", "StartLimitBurst", COUNT, 5, "how many starts that time may hold"),
    Directive(
        "Service",
        "Type",
        values.choice("simple", "exec", "notify", "oneshot"),
        "simple",
        "when the service counts as started",
    ),
    listed("Service", "ExecStartPre", commands.command, "run before, one after another; prefixes - and +"),
    listed("Service", "ExecStart", commands.command, "the service itself; several only with Type=oneshot"),
    listed("Service", "ExecStartPost", commands.command, "run once the service has started"),
    Directive("Service", "Restart", values.choice("always", "on-failure", "no"), "no", "after which ends it restarts"),
    Directive("Service", "RestartSec", values.span, 0.1, "how long it waits before it restarts"),
    Directive("Service", "RemainAfterExit", values.boolean, NO, "stays active when its processes have ended well"),
    Directive("Service", "User", values.text, "", "whose rights the processes have"),
    Directive("Service", "Group", values.text, "", "which group they belong to; the user's own without it"),
    listed("Service", "Environment", values.assignments, "variables, NAME=value"),
    listed(
        "Service", "EnvironmentFile", values.optional_path, "a file of variables, read at each start; - if it may lack"
    ),
    Directive("Service", "LimitNOFILE", values.limit, None, "how many files a process may open, soft:hard"),
    Directive("Service", "LimitMEMLOCK", values.limit, None, "how many bytes a process may lock in memory, soft:hard"),
    Directive(
        "Service", "TimeoutStartSec", values.span, None, "90 s, without end for oneshot: how long a start may take"
    ),
    Directive("Service", "TimeoutStopSec", values.span, STOP_TIMEOUT, "how long a stop may take before SIGKILL"),
    Directive(
        "Service",
        "KillMode",
        values.choice("control-group", "mixed", "process"),
        "control-group",
        "which processes are ended at a stop",
    ),
    Directive("Service", "KillSignal", values.signal_number, values.signal_number("SIGTERM"), "what ends them"),
    listed("Service", "StateDirectory", values.relative_paths, "folders in /var/lib, made for the user"),
    Directive("Service", "Nice", NICE, None, "scheduling priority"),
    Directive(
        "Service",
        "IOSchedulingClass",
        values.choice("none", "realtime", "best-effort", "idle"),
        None,
        "before or behind whose reads and writes its own come",
    ),
    Directive("Service", "OOMScoreAdjust", OOM_SCORE, None, "how early the kernel ends it when memory is short"),
    Directive("Service", "WorkingDirectory", values.optional_path, None, "the folder it runs in; - if it may lack"),
    Directive("Service", "StandardOutput", values.output, ("journal", ""), "journal, null, file:, append:, truncate:"),
    Directive("Service", "StandardError", values.output, ("inherit", ""), "as StandardOutput, which it inherits"),
    listed("Service", "SuccessExitStatus", values.statuses, "further exit statuses and signals that count as success"),
    Directive(
        "Mount",
        "What",
        lambda value: source(value),
        "",
        "a folder, which is bound; under /dev it is waited for; HOST:/PATH",
    ),
    Directive("Mount", "Where", values.absolute, "", "where it appears; the unit is named after it"),
    Directive(
        "Mount", "Type", VOLUME, "", "the volume's file system, for which the folder stands; nfs and efs fail at start"
    ),
    listed(
        "Mount",
        "Options",
        lambda value: mount_options(value),
        "ro, nosuid, nodev, noexec, noatime and their opposites; prjquota does nothing",
    ),
    Directive("Mount", "TimeoutSec", values.span, 90.0, "how long mounting may take; a folder is there at once"),
    Directive("Automount", "Where", values.absolute, "", "what its mount unit has; starts fail, as there is no autofs"),
    Directive("Automount", "TimeoutIdleSec", values.span, 0.0, "when an idle mount would end"),
    Directive("Timer", "OnBootSec", values.span, None, "this long after the machine's start"),
    Directive("Timer", "OnUnitActiveSec", values.span, None, "this long after the unit was last started"),
    listed("Timer", "OnCalendar", moments.calendar, "at these moments, in UTC"),
    Directive("Timer", "Persistent", values.boolean, NO, "makes up for a moment that passed while it was off"),
    Directive("Timer", "Unit", unit_name, "", "what it starts; the service of its own name without it"),
    Directive("Timer", "RandomizedDelaySec", values.span, 0.0, "up to this much later, by chance"),
    listed("Install", "WantedBy", unit_names, "these start it too, without `systemctl enable`"),
    listed("Install", "RequiredBy", unit_names, "these require it"),
)

HONOURED = {(directive.section, directive.name): directive for directive in TABLE}

# Mount options → flags of mount(2) in `kernel`'s words; the opposites are what a bind has anyway.
MOUNT_OPTIONS = {
    "ro": 0x1,
    "nosuid": 0x2,
    "nodev": 0x4,
    "noexec": 0x8,
    "noatime": 0x400,
    **dict.fromkeys(("defaults", "rw", "suid", "dev", "exec", "relatime", "bind", "rbind", "nofail", "discard"), 0),
    # A folder has no quotas: what sets one fails, and says so.
    "prjquota": 0,
}
# Stands for the options of file systems of a server, which no bind can honour.
OF_REMOTE = 1 << 40
REMOTE_OPTIONS = {
    *("_netdev", "hard", "nconnect", "nfsvers", "proto", "retrans", "rsize", "timeo", "wsize"),
    *("accesspoint", "mounttargetip", "region", "tls"),
}


def mount_options(value: str) -> list[int]:
    found = value.split(",")
    known = {option: OF_REMOTE for option in found if option.partition("=")[0] in REMOTE_OPTIONS} | MOUNT_OPTIONS
    if unknown := [option for option in found if option not in known]:
        raise ValueError(f"expected options out of {', '.join(MOUNT_OPTIONS)}, not {', '.join(unknown)}")
    return [known[option] for option in found]


def source(value: str) -> str:
    """A path, or a server's: HOST:/PATH."""
    return value if re.match(r"[\w.-]+:/", value) else values.absolute(value)
