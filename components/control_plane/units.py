"""Text of systemd units and command lines, the same form for all."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fleet.model import Cloud

Sections = Mapping[str, Sequence[tuple[str, str]]]
# A flag with several values is given once for each, in their order.
Flags = Mapping[str, str | Sequence[str]]
UNITS = "/etc/systemd/system"
TARGET = "landbridge.target"
SETTINGS = "/etc/landbridge"
# Scripts that run on the machine with nothing but its Python.
SCRIPTS, ON_MACHINE = "/usr/local/lib/landbridge", Path(__file__).with_name("on_machine")
API_SCRIPTS: Mapping[Cloud, str] = {"aws": "api_aws", "azure": "api_azure"}


def unit(sections: Sections) -> str:
    """{"Unit": [("Description", "…")], …} → a unit file."""
    parts = ["\n".join([f"[{name}]", *(f"{key}={value}" for key, value in lines)]) for name, lines in sections.items()]
    return "\n\n".join(parts) + "\n"


def command(program: str, flags: Flags) -> str:
    """A command line with one flag a line, sorted: a change of one flag is a change of one line."""
    given = [
        f"--{name}={one}"
        for name, value in sorted(flags.items())
        for one in ([value] if isinstance(value, str) else value)
    ]
    return " \\\n  ".join([f"/usr/local/bin/{program}", *given])


def service(
    description: str,
    start: str,
    *,
    kind: str = "notify",
    before_start: tuple[str, ...] = (),
    after: str = "network-online.target",
    **more: str,
) -> str:
    """A long-running program that is started again when it ends, for ever: machines heal without people."""
    return unit(
        {
            "Unit": [("Description", description), ("After", after), ("Wants", after), ("StartLimitIntervalSec", "0")],
            "Service": [
                ("Type", kind),
                *(("ExecStartPre", one) for one in before_start),
                ("ExecStart", start),
                ("Restart", "always"),
                ("RestartSec", "2"),
                ("LimitNOFILE", "1048576"),
                *more.items(),
            ],
        }
    )


def script(name: str, *words: str) -> str:
    """The command line of one of `scripts`."""
    return " ".join(["/usr/bin/python3", f"{SCRIPTS}/{name}.py", *words])


def scripts(*names: str, folder: Path = ON_MACHINE) -> dict[str, str]:
    """Path → text. On a machine all scripts lie in one folder; here those of one cloud, NAME_CLOUD, are in its own."""
    return {f"{SCRIPTS}/{name}.py": _script(folder, name).read_text() for name in names}


def _script(folder: Path, name: str) -> Path:
    cloud = name.rpartition("_")[2]
    return folder / (cloud if cloud in API_SCRIPTS else "") / f"{name}.py"


def cloud_files(cloud: Cloud) -> dict[str, str]:
    """By which the machine's scripts speak to the cloud that it is in."""
    return {**scripts("machine", "cloud", API_SCRIPTS[cloud]), **settings("cloud", {"cloud": cloud})}


def settings(name: str, config: Mapping[str, object]) -> dict[str, str]:
    """What scripts read, as a file."""
    return {f"{SETTINGS}/{name}.json": json.dumps(config, indent=2, sort_keys=True) + "\n"}


def target(description: str, units: Iterable[str]) -> str:
    """Wants every unit by itself, so that none has to be enabled on the machine but the target."""
    wanted = [("Wants", name) for name in sorted(units)]
    return unit({"Unit": [("Description", description), *wanted], "Install": [("WantedBy", "multi-user.target")]})
