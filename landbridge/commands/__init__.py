"""The commands, a module each, and the group that they form."""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, cast

import click

from landbridge import whole
from landbridge.errors import EXIT_CODES

from .lines import LINES

# Command → its module and its name in there. Only the one that is asked for is imported: the engine alone costs 0.4 s.
COMMANDS = {
    "init": ("init", "init"),
    "setup": ("setup", "setup"),
    "plan": ("plan", "plan"),
    "topology": ("topology", "topology"),
    "up": ("update", "up"),
    "preview": ("update", "preview"),
    "destroy": ("update", "destroy"),
    "status": ("status", "status"),
    "doctor": ("doctor", "doctor"),
    "links": ("links", "links"),
    "vpn": ("vpn", "vpn"),
    "ssh": ("ssh", "ssh"),
    "trace": ("trace", "trace"),
    "cluster": ("cluster", "cluster"),
    "kubectl": ("kubectl", "kubectl"),
    "kubeconfig": ("kubeconfig", "write_kubeconfig"),
    "access": ("access", "access"),
    "etcd": ("etcd", "etcd"),
    "site": ("site", "site"),
    "pool": ("pool", "pool"),
    "run": ("run", "run"),
    "runs": ("runs", "runs"),
    "logs": ("logs", "logs"),
    "stop": ("runs", "stop"),
    "exec": ("reach", "exec_"),
    "forward": ("reach", "forward"),
    "queue": ("queue", "queue"),
    "why": ("why", "why"),
    "alarms": ("alarms", "alarms"),
    "usage": ("usage", "usage"),
    "prices": ("prices", "prices"),
    "shapes": ("shapes", "shapes"),
    "quotas": ("quotas", "quotas"),
    "grafana": ("grafana", "grafana"),
    "dashboard": ("dashboard", "dashboard"),
    "autoscaler": ("autoscaler", "autoscaler"),
    "maintenance": ("maintenance", "maintenance"),
    "freeze": ("freeze", "freeze"),
    "unfreeze": ("freeze", "unfreeze"),
    "drill": ("drill", "drill"),
    "demo": ("demo", "demo"),
    "pki": ("pki", "pki"),
    "image": ("image", "image"),
    "local": ("local", "local"),
    "completion": ("completion", "completion"),
}


# Names of before, for one release: they work, and no help shows them.
FORMER = {"path": "trace"}


class Lazy(Mapping[str, click.Command]):
    """The commands by name, each imported when it is taken out."""

    def __getitem__(self, name: str) -> click.Command:
        module, command = COMMANDS[name]
        found = getattr(importlib.import_module(f".{module}", __package__), command)
        assert isinstance(found, click.Command)
        return whole.hoisted(found)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class Group(click.Group):
    """Knows commands by their former names, too, and lists them without importing any."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, FORMER.get(cmd_name, cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does, by LINES."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            listed = [(name, click.Command(name, help=LINES[name])) for name in self.list_commands(ctx)]
            formatter.write_dl([(name, command.get_short_help_str(room)) for name, command in listed])


HELP = f"""One GPU cluster over clouds and machine rooms, from one file: fleet.yaml.

Exit codes: {"; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())}.
"""


@click.group(
    cls=Group,
    commands=cast(Any, Lazy()),  # click wants one that can be changed, and changes none
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=HELP,
)
@click.version_option(package_name="landbridge", message="%(prog)s %(version)s")
def landbridge() -> None:
    """The whole command: docs/guide/commands.md."""


whole.added(landbridge, hidden=False)
