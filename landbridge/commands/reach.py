"""`landbridge exec` and `forward`: into a run's host, and to what listens there."""

import sys
from typing import Any

import click

from landbridge.access.person import Person
from landbridge.errors import UsageError
from landbridge.experiments import follow, look

from .people import opened, part_option, person_options, rank_option


def pod_of(name: str, part: str | None, rank: int, where: Any) -> tuple[Person, str]:
    """The person, and the pod's name. Raises UsageError where it is not there."""
    person = opened(**where)
    state = look.known(person, name)
    chosen = look.part_of(person, name, part)
    one = look.pod(look.pods(person, name), chosen, rank)
    if one is None or "running" not in look.main_status(one):
        raise UsageError(
            f"{follow.said(state)}, and host {rank} of {chosen} does not run. "
            f"`landbridge runs{person.options}` shows what does."
        )
    return person, str(one["metadata"]["name"])


@click.command("exec")
@click.argument("name", metavar="RUN")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@person_options
@rank_option
@part_option
@click.option("--tty/--no-tty", "-t", default=None, help="A terminal.  [default: where this is one]")
def exec_(name: str, command: tuple[str, ...], *, rank: int, part: str | None, tty: bool | None, **where: Any) -> None:
    """Runs COMMAND, or a shell, in one host of RUN."""
    person, pod = pod_of(name, part, rank, where)
    terminal = sys.stdin.isatty() and sys.stdout.isatty() if tty is None else tty
    words = [
        "exec",
        "--stdin",
        *(["--tty"] if terminal else []),
        pod,
        f"--namespace={person.namespace}",
        "--container=run",
    ]
    person.kube.become(*words, "--", *(command or ("sh",)))


@click.command()
@click.argument("name", metavar="RUN")
@click.argument("ports", nargs=-1, required=True, metavar="[HERE:]PORT...")
@person_options
@rank_option
@part_option
def forward(name: str, ports: tuple[str, ...], *, rank: int, part: str | None, **where: Any) -> None:
    """Makes PORT of one host of RUN a port of this computer, until Ctrl-C: 6006 for TensorBoard, 8888 for Jupyter."""
    person, pod = pod_of(name, part, rank, where)
    person.kube.become("port-forward", pod, f"--namespace={person.namespace}", *ports)
