"""The tables and texts a command ends with."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fleet.world import World

from .blast import EFFECTS, Blast
from .kinds import KINDS
from .places import Place
from .progress import LOOKS
from .story import Step, Story, short

COLUMNS = ("created", "updated", "replaced", "deleted", "same")
COLOURS = {"created": "green", "updated": "yellow", "replaced": "magenta", "deleted": "red", "same": "dim"}
SIGNS = {"created": "+", "updated": "~", "replaced": "±", "deleted": "-"}
NEW_SHOWN = 12


def plain_table(*columns: str, title: str | None = None, right: Iterable[str] = ()) -> Table:
    table = Table(
        box=None, title=title, title_justify="left", title_style="bold", header_style="dim", padding=(0, 2, 0, 0)
    )
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=column == columns[0])
    return table


def summary(stories: Iterable[Story]) -> Table:
    """A line a stack: what became of it, and how many resources were created, updated, …, and how long it took."""
    table = plain_table("stack", "", *COLUMNS, "seconds", right=(*COLUMNS, "seconds"))
    for story in stories:
        sign, colour, words = LOOKS[story.phase]
        if story.phase == "waiting":
            sign, colour, words = "", "cyan", "would change"
        numbers = [count(story.counts[verb], COLOURS[verb]) for verb in COLUMNS]
        result = Text(f"{sign} {words}".strip() + (f" ({story.because})" if story.because else ""), style=colour)
        table.add_row(Text(story.stack, style="bold"), result, *numbers, f"{story.elapsed:.1f}")
    return table


def count(number: int, colour: str) -> Text:
    return Text(str(number), style=colour if number else "dim")


def radius(blast: Blast) -> Table:
    """The blast radius: effects down, kinds across."""
    table = plain_table("blast radius", *(f"{kind}s" for kind in KINDS), right=[f"{kind}s" for kind in KINDS])
    for verb, effect in EFFECTS.items():
        table.add_row(
            verb if verb != "deleted" else "destroyed", *(count(blast.counts[effect, k], COLOURS[verb]) for k in KINDS)
        )
    return table


def steps(story: Story, console: Console) -> None:
    """The changes of a preview: what is new by type, all else one a line."""
    new = Counter(short(step.type) for step in story.steps if step.verb == "created")
    if sum(new.values()) > NEW_SHOWN:
        amounts = ", ".join(f"{number} {type_}" if number > 1 else type_ for type_, number in sorted(new.items()))
        console.print(Padding(Text(f"+ {sum(new.values())} new: {amounts}", style=COLOURS["created"]), (0, 0, 0, 2)))
    for step in story.steps:
        if step.verb not in SIGNS or (step.verb == "created" and sum(new.values()) > NEW_SHOWN):
            continue
        changed = f"  {', '.join(step.changed)}" if step.verb in ("updated", "replaced") else ""
        line = f"  {SIGNS[step.verb]} {short(step.type)} {step.name}"
        console.print(Text.assemble((line, COLOURS[step.verb]), (changed, "dim")), soft_wrap=True)


def failures(stories: Iterable[Story], place: Place, console: Console) -> None:
    """The errors of each failed stack, and where its whole log lies."""
    for story in stories:
        if story.phase != "failed":
            continue
        for problem in story.problems:
            who = f"{short(problem.type)} {problem.name}: " if problem.name else ""
            text = Text()
            text.append(f"{story.stack}: ", style="bold red")
            text.append(who, style="bold")
            text.append(problem.message)
            console.print(text, soft_wrap=True)
        console.print(
            f"  Full log: {place.logs / (story.stack + '.log')}", style="dim", soft_wrap=True, highlight=False
        )


def warnings(stories: Iterable[Story], console: Console) -> None:
    for story in stories:
        for warning in story.warnings:
            console.print(Text.assemble((f"{story.stack}: ", "bold yellow"), warning), soft_wrap=True)


# What a region's outputs are called on the screen, and the outputs that say it (see stacks/outputs.py).
FACTS: Mapping[str, Sequence[str]] = {
    "network": ("network_cidr", "network_id"),
    "zones": ("private_subnet_ids",),
    "hub": ("hub_id", "hub_asn"),
    "bucket": ("bucket",),
    "shares": ("share_ids", "shares_id"),
    "names": ("zone_name",),
}


def standing(stories: Iterable[Story], world: World, console: Console) -> None:
    """What stands where: each region with its route and what others will ask for."""
    table = plain_table("region", "", "what", "where")
    for story in stories:
        if "network_cidr" not in story.outputs:
            continue
        first = (Text(story.stack, style="bold"), Text(world.plan.region(story.stack).block, style="cyan"))
        for fact, outputs in FACTS.items():
            table.add_row(*first, Text(fact, style="dim"), " ".join(said(story.outputs.get(o)) for o in outputs))
            first = (Text(), Text())
    if table.rows:
        console.print()
        console.print(table)


def said(output: Any) -> str:
    """An output in one line: of a mapping, what there is."""
    return " ".join(sorted(output)) if isinstance(output, Mapping) else "" if output is None else str(output)


def as_json(stories: Iterable[Story], place: Place) -> list[dict[str, Any]]:
    """Every stack for machines; `steps` only where nothing was done yet."""
    return [
        {
            "stack": story.stack,
            "result": "would-change" if story.phase == "waiting" else story.phase,
            **({"because": story.because} if story.because else {}),
            "changes": {verb: story.counts[verb] for verb in COLUMNS},
            "seconds": round(story.elapsed, 2),
            "errors": [problem._asdict() for problem in story.problems],
            "warnings": story.warnings,
            "outputs": story.outputs,
            **(
                {"steps": [step_json(step) for step in story.steps if step.verb in SIGNS]}
                if story.phase == "waiting"
                else {}
            ),
            "log": str(place.logs / f"{story.stack}.log"),
        }
        for story in stories
    ]


def step_json(step: Step) -> Mapping[str, str | Sequence[str]]:
    return {"verb": step.verb, "type": step.type, "name": step.name, "changed": step.changed}
