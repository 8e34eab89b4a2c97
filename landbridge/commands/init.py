"""`landbridge init`: a folder to begin with, from a few answers."""

import datetime
import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

import installation
from fleet.errors import FleetError, Problem
from fleet.where import ENVIRONMENT
from landbridge import tables
from landbridge.errors import DONE, UsageError
from landbridge.init import folder as folders
from landbridge.init import making
from landbridge.init.answers import Answers, name_of
from landbridge.init.questions import QUESTIONS, Question, answered, shown

from . import options

NEXT = {
    "plan": "who owns which prefix",
    "up --local": "brings all of it up on this machine, without any cloud",
    "status --local": "what stands then",
    "destroy --local": "takes it down",
}


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--name", metavar="NAME", help="The fleet's name.  [default: the folder's]")
@click.option(
    "--region",
    "regions",
    multiple=True,
    metavar="CLOUD:REGION",
    help="A region, such as aws:us-east-1 or azure:westeurope; may be repeated, the cluster's home first.",
)
@click.option("--site", "sites", multiple=True, metavar="NAME", help="A machine room of your own; may be repeated.")
@click.option("--gpus", metavar="NUMBER", help="Most GPUs that pools in clouds may have at a time.")
@click.option(
    "--reserved",
    multiple=True,
    metavar="PREFIX",
    help="What another network of yours uses, such as 10.0.0.0/16; may be repeated.",
)
@click.option("--yes", is_flag=True, help="Ask nothing: what no option says is as a first fleet usually is.")
@click.option("--force", is_flag=True, help="Replace files that are there, and keep them beside the new ones.")
@options.json_option
def init(*, folder: Path, yes: bool, force: bool, as_json: bool, **given: str | tuple[str, ...] | None) -> int:
    """Writes fleet.yaml and what goes with it into a folder, from a few answers.

    Each question has an option; what is given is not asked. The fleet file has comments and loads as it is, its ledger
    has the addresses, and Pulumi.yaml is for plain `pulumi`. No cloud is asked, and no secret is written.
    """
    out = options.output(as_json=as_json)
    if not force:
        folders.refuse(folder)
    if not yes and not out.interactive:
        raise UsageError("There is no terminal to ask on. Add --yes, and options for what is not to be as usual.")
    if not yes:
        out.console.print("Enter takes what stands in brackets. All of it can be changed later, in fleet.yaml.")
    answers = replace(Answers(), name=name_of(folder.resolve().name))
    for question in QUESTIONS:
        said = given[question.field]
        if said:
            answers = checked(answers, question, said if isinstance(said, str) else ",".join(said))
        elif not yes:
            answers = asked(answers, question)
    made = fitting(answers, folder)
    steps = folders.steps(folder, made)
    folders.write(folder, steps)
    if as_json:
        out.document(document(folder, made, steps))
    else:
        tell(out.console, folder, made, steps)
    return DONE


def told(problems: list[Problem]) -> str:
    """Without the lines of a file that is not there yet."""
    return "\n".join(f"{problem.what}. {problem.remedy}." for problem in problems)


def wrong(answers: Answers) -> str:
    """What the fleet's own rules say against an answer; empty where nothing."""
    return told(making.problems(answers))


def fitting(answers: Answers, folder: Path) -> making.Made:
    """On top of the ledger that is there. Raises UsageError."""
    old = folders.ledger(folder)
    try:
        return making.made(answers, old, datetime.datetime.now(datetime.UTC).date())
    except FleetError as error:
        why = told(error.problems)
        if old:
            why = (
                f"{folder / folders.LEDGER} has prefixes of a fleet, and these answers do not go with them: {why} "
                "Move it away if nothing of that fleet stands any more."
            )
        raise UsageError(why) from None


def checked(answers: Answers, question: Question, text: str) -> Answers:
    """Raises UsageError."""
    try:
        made = answered(answers, question, text)
    except ValueError as error:
        raise UsageError(f"{question.option}: {error}.") from None
    if why := wrong(made):
        raise UsageError(f"{question.option}: {why}")
    return made


def asked(answers: Answers, question: Question) -> Answers:
    """Until there is an answer that makes a fleet."""
    usual = shown(getattr(answers, question.field))
    while True:
        text = click.prompt(question.text, default=usual)
        try:
            made = answered(answers, question, text)
            why = wrong(made)
        except ValueError as error:
            why = f"{error}."
        if not why:
            return made
        click.secho(why, fg="red", err=True)


def next_steps(folder: Path) -> dict[str, str]:
    """Command → what for."""
    there = {} if folder.resolve() == Path.cwd() else {f"cd {shlex.quote(str(folder))}": ""}
    first = {} if installation.CHECKOUT else {"setup --local": "builds what the local cloud runs, once a machine"}
    return there | {f"{program()} {words}": what for words, what in (first | NEXT).items()}


def program() -> str:
    """As one types it here."""
    own = Path(sys.prefix, "bin/landbridge")
    return "landbridge" if shutil.which("landbridge") or not own.exists() else shlex.quote(str(own))


def document(folder: Path, made: making.Made, steps: list[folders.Step]) -> dict[str, Any]:
    return {
        "folder": str(folder.resolve()),
        "fleet": made.fleet.fleet,
        "supernet": made.fleet.supernet,
        **folders.as_json(steps),
        "next": [*next_steps(folder)],
    }


def tell(console: Console, folder: Path, made: making.Made, steps: list[folders.Step]) -> None:
    table = tables.plain_table("file", "what became of it")
    for step in steps:
        table.add_row(
            Text(step.name, style="bold"), f"{step.state}, before: {step.former}" if step.former else step.state
        )
    console.print(table)
    console.print(f"Fleet {made.fleet.fleet} has {made.fleet.supernet}. Next:", soft_wrap=True)
    commands = next_steps(folder)
    width = max(map(len, commands))
    for command, what in commands.items():
        console.print(f"  {command:<{width}}  {what}".rstrip(), markup=False, soft_wrap=True)
    if elsewhere := os.environ.get(ENVIRONMENT):
        why = f"{ENVIRONMENT} names {elsewhere}: without `unset {ENVIRONMENT}` commands take that one."
        console.print(why, style="yellow", markup=False, soft_wrap=True)
