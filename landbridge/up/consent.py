"""What a run needs the user's consent for, and how it is asked."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from landbridge.errors import ConsentError
from landbridge.output import Output

if TYPE_CHECKING:  # the engine's, half a second of commands that only ask
    from fleet.model import Limits

    from .blast_radius import Blast
    from .run_context import How

EFFECTS = ("create", "replace", "destroy")


def taken(given: dict[str, Any]) -> dict[str, int]:
    """Takes the --allow-… options out of a command's options: effect → number, for those that were given."""
    values = {effect: given.pop(f"allow_{effect}") for effect in EFFECTS}
    return {effect: number for effect, number in values.items() if number is not None}


def refuse(refusals: list[str]) -> None:
    """Raises ConsentError with what `guards` say against the run."""
    if refusals:
        raise ConsentError("Nothing was changed. " + "\n".join(refusals))


def ask_up(blast: "Blast", limits: "Limits", allowed: dict[str, int], *, yes: bool, interactive: bool) -> None:
    """Raises ConsentError unless the run is within the fleet's limits and --yes, or the user agrees."""
    above = blast.above(limits.model_copy(update=allowed))
    if not above and yes:
        return
    if interactive:
        question = f"This run {' and '.join(above)}. Go on?" if above else "Go on?"
        if click.confirm(question):
            return
        raise ConsentError("Nothing was changed.")
    if above:
        flags = " ".join(f"--allow-{effect} {blast.total(effect)}" for effect in EFFECTS if exceeds(above, effect))
        raise ConsentError(
            f"Nothing was changed: this run {' and '.join(above)} (limits of the fleet). To agree: {flags}"
        )
    raise ConsentError("Nothing was changed: there is no terminal to ask on. To agree: --yes")


def ask(question: str, out: Output) -> None:
    """Raises ConsentError unless the user agrees."""
    if not out.interactive:
        raise ConsentError("Nothing was changed: there is no terminal to ask on. To agree: --yes")
    if not click.confirm(question):
        raise ConsentError("Nothing was changed.")


def exceeds(above: list[str], effect: str) -> bool:
    return any(words.startswith(effect) for words in above)


def ask_destroy(blast: "Blast", how: "How", fleet: str, *, yes: bool, interactive: bool) -> "How":
    """The consent to destroy, with that for protected resources. Raises ConsentError."""
    if interactive and not yes:
        if blast.protected and not how.ignore_protect:
            click.secho(f"{len(blast.protected)} protected resources and their data go as well.", fg="red")
            how = replace(how, ignore_protect=True)
        if click.prompt(f"Type {fleet} to destroy it", default="", show_default=False) == fleet:
            return how
        raise ConsentError("Nothing was destroyed.")
    if not yes:
        raise ConsentError("Nothing was destroyed: there is no terminal to ask on. To agree: --yes")
    if blast.protected and not how.ignore_protect:
        raise ConsentError(
            f"Nothing was destroyed: {len(blast.protected)} resources are protected, with the data in them: "
            f"{', '.join(blast.protected)}. To agree to their loss: --ignore-protect"
        )
    return how
