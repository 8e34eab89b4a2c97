"""Which parameter is completed with what. A test goes over all commands: each is in one of these tables."""

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from . import fleet_names

# As help shows a parameter, an option by its name, an argument by its word → whose names it takes, see `fleet_names`.
COMPLETED = {
    "--as": "people",
    "--checkpoints": "shares",
    "--cluster": "clusters",
    "--really": "clusters",
    "--region": "regions",
    "--site": "sites",
    "--team": "teams",
    "CLUSTER": "clusters",
    "--context": "contexts",
    "FROM": "places",
    "HOST": "hosts",
    "PERSON": "people",
    "POOL": "pools",
    "RUN": "runs",
    "SITE": "sites",
    "STACK": "stacks",
    "TO": "places",
    "pod/NAME|run/NAME|job/NAME|node/NAME": "runs and nodes",
}
# Nothing that a file here knows: what one makes up, looks up elsewhere, or hands on.
FREE = {
    "--at",
    "--aws-url",
    "--azure-url",
    "--base",
    "--driver",
    "--drop",
    "--env",
    "--from",
    "--gateway",
    "--gpus",
    "--image",
    "--kubernetes",
    "--machine",
    "--machines",
    "--name",
    "--namespace",
    "--node",
    "--part",
    "--pod",
    "--reserved",
    "--secret",
    "--serial",
    "--survivor",
    "--template",
    "--to",
    "--unit",
    "--variant",
    "--why",
    "ARGS",
    "ARGUMENTS",
    "COMMAND",
    "DRILL",
    "FIRST",
    "ID",
    "KIND",
    "MACHINE",
    "NAME",
    "POD",
    "PORT",
    "SECOND",
    "URL-OR-FOLDER",
    "USER@HOST",
    "WHAT",
}


def label(parameter: click.Parameter) -> str:
    """An option's long name; an argument's word without the marks of what may be left out or repeated."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    word = (parameter.metavar or (parameter.name or "").upper()).replace("...", "").replace("-- ", "")
    return word.replace("[HERE:]", "").replace("[", "").replace("]", "")


Callback = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]


def completer(name: str) -> Callback | None:
    """What answers for a parameter of this label."""
    kind = COMPLETED.get(name)
    return None if kind is None else lambda context, _, incomplete: items(context, kind, incomplete)


def items(context: click.Context, kind: str, incomplete: str) -> list[CompletionItem[str]]:
    """The fleet file is the one of the command line; hosts are those of its site, where one is named."""
    said = context.find_root().params | context.params
    known = fleet_names.of(said.get("fleet"))
    found = known.get(f"{kind} of {said.get('site_name') or said.get('site')}") or known.get(kind, [])
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]
