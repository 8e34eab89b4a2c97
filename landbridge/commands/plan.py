"""`landbridge plan`: the address plan, what would change in it, and writing the ledger."""

import datetime
from pathlib import Path

import click
from rich.text import Text

from fleet.address import ledger as ledgers
from fleet.remarks import remarks
from fleet.world import drafted, stale
from landbridge.errors import DONE, FAILED
from landbridge.plan import tree

from . import options


@click.command()
@options.fleet_option
@click.option("--write", is_flag=True, help="Write the ledger, to be committed.")
@click.option("--check", is_flag=True, help="Exit with 1 if the ledger does not fit the fleet file (for CI).")
@options.json_option
def plan(*, fleet_file: Path | None, write: bool, check: bool, as_json: bool) -> int:
    """Shows the address plan: who owns which prefix, how full it is, and what would change."""
    if write and check:
        raise click.UsageError("--write and --check exclude each other: one changes the ledger, the other judges it.")
    path = options.existing(fleet_file)
    loaded, old, draft = drafted(path, datetime.datetime.now(datetime.UTC).date())
    problems = stale(path, old, draft)
    ledger = ledgers.ledger_path(path)
    out = options.output(as_json=as_json)
    if write and problems:
        ledgers.write(ledger, draft.ledger)
    if as_json:
        document = tree.as_json(draft, stale=bool(problems) and not write)
        out.document({**document, "remarks": [str(remark) for remark in remarks(loaded)]})
    elif check:
        for problem in problems:
            out.console.print(str(problem), markup=False, soft_wrap=True)
        if not problems:
            out.console.print(f"{ledger.name} fits {path.name}.")
    else:
        out.console.print(tree.tree(draft))
        for change in draft.changes:
            sign, colour = tree.SIGNS[change.kind]
            out.console.print(Text(f"{sign} {change.kind:<8} {change.name}  {change.cidr}", style=colour))
        out.console.print(verdict(ledger.name, changed=bool(problems), written=write), soft_wrap=True)
        for remark in remarks(loaded):
            out.console.print(str(remark), style="yellow", markup=False, soft_wrap=True)
    return FAILED if check and problems else DONE


def verdict(ledger: str, *, changed: bool, written: bool) -> str:
    if not changed:
        return f"{ledger} fits: nothing changes."
    return f"{ledger} is written: commit it." if written else f"{ledger} is stale: `landbridge plan --write` writes it."
