"""The tables and texts a command ends with."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fleet.world import World

from . import tables
from .engine.resource_types import KINDS
from .engine.stack_report import Problem, StackReport, Step, short
from .places import Place
from .up.blast_radius import EFFECTS, Blast
from .up.progress import STYLES

COLUMNS = ("created", "updated", "replaced", "deleted", "same")
COLOURS = {"created": "green", "updated": "yellow", "replaced": "magenta", "deleted": "red", "same": "dim"}
SIGNS = {"created": "+", "updated": "~", "replaced": "±", "deleted": "-"}
ONE_BY_ONE = 12
TYPES_SHOWN = 5
PROBLEMS_SHOWN = 8


def summary(reports: Iterable[StackReport]) -> Table:
    """A line a stack: what became of it, and how many resources were created, updated, …, and how long it took."""
    table = tables.plain_table("stack", "", *COLUMNS, "seconds", right=(*COLUMNS, "seconds"))
    for report in reports:
        sign, colour, words = STYLES[report.phase]
        if report.phase == "waiting":
            sign, colour, words = "", "cyan", "would change"
        numbers = [count(report.counts[verb], COLOURS[verb]) for verb in COLUMNS]
        result = Text(f"{sign} {words}".strip() + (f" ({report.because})" if report.because else ""), style=colour)
        table.add_row(Text(report.stack, style="bold"), result, *numbers, f"{report.elapsed:.1f}")
    return table


def count(number: int, colour: str) -> Text:
    return Text(str(number), style=colour if number else "dim")


def radius(blast: Blast) -> Table:
    """The blast radius: effects down, kinds across."""
    table = tables.plain_table("blast radius", *(f"{kind}s" for kind in KINDS), right=[f"{kind}s" for kind in KINDS])
    for verb, effect in EFFECTS.items():
        table.add_row(
            verb if verb != "deleted" else "destroyed", *(count(blast.counts[effect, k], COLOURS[verb]) for k in KINDS)
        )
    return table


def losses(blast: Blast, console: Console) -> None:
    """Everything precious that goes away, by name."""
    for loss in blast.losses:
        console.print(f"  {loss}", style="red", markup=False, soft_wrap=True)
    for retained in blast.retained:
        console.print(f"  keeps {retained}", style="green", markup=False, soft_wrap=True)


def steps(report: StackReport, console: Console) -> None:
    """The changes of a preview: one a line, but what comes or goes as a whole by type."""
    bulk = bulky(report.steps)
    for verb, types in bulk.items():
        console.print(Text(f"  {SIGNS[verb]} {most(types)}", style=COLOURS[verb]), soft_wrap=True)
    for step in report.steps:
        if step.verb in SIGNS and step.verb not in bulk:
            line = Text(f"  {SIGNS[step.verb]} {short(step.type)} {step.name}", style=COLOURS[step.verb])
            if step.verb in ("updated", "replaced"):
                line.append(f"  {', '.join(step.changed)}", style="dim")
            console.print(line, soft_wrap=True)


def bulky(steps: Sequence[Step]) -> dict[str, Counter[str]]:
    """Types of the verbs whose steps are told in bulk: many creations, and deletions of all there is."""
    verbs = Counter(step.verb for step in steps)
    bulk = {
        "created": verbs["created"] > ONE_BY_ONE,
        "deleted": verbs["deleted"] > ONE_BY_ONE and verbs["deleted"] == len(steps),
    }
    return {
        v: Counter(step.type.rpartition(":")[2] for step in steps if step.verb == v) for v, it in bulk.items() if it
    }


def most(types: Counter[str]) -> str:
    """How many in all, and of which types most."""
    common = [f"{number} {type_}" for type_, number in types.most_common(TYPES_SHOWN)]
    return f"{types.total()} resources: {', '.join(common)}, …"


def failures(reports: Iterable[StackReport], place: Place, console: Console) -> None:
    """The errors of failed stacks, those that stacks have in common once, and where their whole logs lie."""
    alike: dict[tuple[Problem, ...], list[str]] = {}
    for report in reports:
        if report.phase == "failed":
            alike.setdefault(tuple(report.problems), []).append(report.stack)
    for problems, stacks in alike.items():
        for problem in problems[:PROBLEMS_SHOWN]:
            who = f"{short(problem.type)} {problem.name}: " if problem.name else ""
            where = (f"{', '.join(stacks)}: ", "bold red")
            console.print(Text.assemble(where, (who, "bold"), problem.message), soft_wrap=True)
        if (more := len(problems) - PROBLEMS_SHOWN) > 0:
            console.print(f"  and {more} more", style="red")
        for stack in stacks:
            console.print(f"  Full log: {place.logs / stack}.log", style="dim", soft_wrap=True)


def warnings(reports: Iterable[StackReport], console: Console) -> None:
    for report in reports:
        for warning in report.warnings:
            console.print(Text.assemble((f"{report.stack}: ", "bold yellow"), warning), soft_wrap=True)


# The consent of an address that alarms reach on AWS.
SUBSCRIPTION = "aws:sns/topicSubscription:TopicSubscription"


def asked(reports: Iterable[StackReport]) -> list[str]:
    """Whom AWS has just asked whether alarms may reach them: it waits for that without a word."""
    regions: dict[str, list[str]] = {}
    for report in reports:
        for step in report.steps:
            if step.type == SUBSCRIPTION and step.verb in ("created", "replaced"):
                regions.setdefault(step.name, []).append(report.stack)
    return [
        f"Alarms reach {address} once it has agreed: AWS mails it a link for each of {', '.join(stacks)}."
        for address, stacks in regions.items()
    ]


# What a stack's outputs are called on the screen, and the outputs that say it (see stacks/outputs.py).
FACTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "region": {
        "network": ("network_cidr", "network_id"),
        "zones": ("private_subnet_ids",),
        "hub": ("hub_id", "hub_asn"),
        "bucket": ("bucket",),
        "shares": ("share_ids", "shares_id"),
        "names": ("zone_name",),
    },
    "cluster": {
        "api": ("endpoint",),
        "kubernetes": ("kubernetes",),
        "machines": ("machines",),
        "pods": ("pods_cidr",),
        "services": ("services_cidr",),
    },
}


def standing(reports: Iterable[StackReport], world: World, console: Console) -> None:
    """What stands where: each region and cluster with its route and what others will ask for."""
    shown = [report for report in reports if report.phase in ("done", "unchanged")]
    for kind, facts in FACTS.items():
        table, mark = tables.plain_table(kind, "", "what", "where"), next(iter(facts.values()))[0]
        for report in (one for one in shown if mark in one.outputs):
            first = (Text(report.stack, style="bold"), Text(world.plan.prefix(f"{kind}/{report.stack}"), style="cyan"))
            for fact, outputs in facts.items():
                table.add_row(
                    *first, Text(fact, style="dim"), " ".join(output_line(report.outputs.get(o)) for o in outputs)
                )
                first = (Text(), Text())
        if table.rows:
            console.print()
            console.print(table)
    links(shown, console)
    laptop_entries(shown, console)


def links(shown: Iterable[StackReport], console: Console) -> None:
    """Where each gateway of a site finds each region, and what to do with that."""
    table = tables.plain_table("link", "gateway", "region", "at")
    for report in shown:
        for name, one in (report.outputs.get("connections") or {}).items():
            hubs = " ".join(str(address) for address in one["hub_addresses"].values())
            table.add_row(Text(name, style="bold"), f"{one['gateway']} of {one['site']}", one["region"], hubs)
    if table.rows:
        console.print()
        console.print(table)
        console.print(Text("`landbridge site gateway SITE` writes what goes onto a gateway,", style="dim"))
        console.print(Text("`landbridge links check` says what is up.", style="dim"))


def laptop_entries(shown: Iterable[StackReport], console: Console) -> None:
    """Where people's laptops come in, and what to do with that."""
    table = tables.plain_table("laptops come in", "at", "with", "pods of")
    for report in shown:
        for name, one in sorted((report.outputs.get("servers") or {}).items()):
            row = (str(one["address"]), str(one["pool_cidr"]), str(report.outputs["cluster"]))
            table.add_row(Text(f"{report.outputs['region']} {name}", style="bold"), *row)
    if table.rows:
        console.print()
        console.print(table)
        console.print(Text("`landbridge vpn add NAME` writes a person's profile.", style="dim"))


def output_line(output: Any) -> str:
    """An output in one line: of a mapping, what there is; an address without its scheme, so that it fits.

    Of an id of Azure's, the name: the rest is the region's resource group.
    """
    if isinstance(output, Mapping):
        return " ".join(sorted(output))
    text = "" if output is None else str(output).removeprefix("https://")
    return text.rpartition("/")[2] if text.startswith("/subscriptions/") else text


def as_json(reports: Iterable[StackReport], place: Place) -> list[dict[str, Any]]:
    """Every stack for machines; `steps` only where nothing was done yet. `why`: what made the engine run."""
    return [
        {
            "stack": report.stack,
            "result": "would-change" if report.phase == "waiting" else report.phase,
            **({"because": report.because} if report.because else {}),
            "engine": report.engine,
            **({"why": report.why} if report.why else {}),
            "changes": {verb: report.counts[verb] for verb in COLUMNS},
            "seconds": round(report.elapsed, 2),
            "errors": [problem._asdict() for problem in report.problems],
            "warnings": report.warnings,
            "outputs": report.outputs,
            **(
                {"steps": [step_json(step) for step in report.steps if step.verb in SIGNS]}
                if report.phase == "waiting"
                else {}
            ),
            "log": str(place.logs / f"{report.stack}.log"),
        }
        for report in reports
    ]


def step_json(step: Step) -> Mapping[str, str | Sequence[str]]:
    return {"verb": step.verb, "type": step.type, "name": step.name, "changed": step.changed}
