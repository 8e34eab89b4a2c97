"""Saving and loading a home's world: the local cloud stops for the moment that is copied, and goes on.

Raises what `client` and `saved_worlds` raise. Whatever interrupts it, the home holds the world from before or the one
after.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import client, saved_worlds

Tell = Callable[[str], None]


def save(home: Path, shelf: Path, name: str, tell: Tell) -> saved_worlds.Saved:
    """One that was up is up again afterwards: its machines have had a power cut."""
    saved_worlds.checked(name)
    with client.starting(home):
        if not saved_worlds.stands(home):
            raise saved_worlds.SavedWorldError(
                "There is nothing to save: no local cloud stands. `landbridge up --local` makes one."
            )
        cloud = client.status(home)
        listed = [one for one in client.machine_list(home) if one["state"] != "terminated"]
        try:
            if cloud:
                tell(f"Stopping the local cloud, {summary(listed)}")
                client.halt(home)
            tell("Copying it")
            return saved_worlds.save(home, shelf, name, listed)
        finally:
            if cloud:
                tell("Starting it again")
                client.start(home)


def load(home: Path, shelf: Path, name: str, tell: Tell) -> saved_worlds.Saved:
    """Ends with the cloud up. One that does not come up is no loss: what stood there stands again, if it can."""
    saved = saved_worlds.one(shelf, name)
    saved_worlds.fitting(saved)
    with client.starting(home):
        client.halt(home)
        tell(f"Copying {saved.name}, {saved.mib} MiB")
        saved_worlds.load(home, saved)
        tell("Starting the local cloud")
        try:
            client.start(home)
        except client.LocalCloudError as error:
            log = saved_worlds.beside(home, "refused.log")
            if (home / "cloud.log").exists():
                (home / "cloud.log").replace(log)
            saved_worlds.back(home)
            why = str(error).partition(" Its log:")[0]
            raise saved_worlds.SavedWorldError(
                f"{name} was not loaded, and all is as it was. {why} Its log: {log}"
            ) from None
        saved_worlds.settle(home)
        return saved


def forget(home: Path) -> bool:
    """Stops it and drops what stands in it, with the states of fleets that name it. False if there was nothing."""
    with client.starting(home):
        up = client.halt(home)
        there = saved_worlds.stands(home)
        if home.exists():
            saved_worlds.drop(home)
        return up or there


def summary(machines: list[dict[str, Any]]) -> str:
    return f"{len(machines)} machines" if len(machines) != 1 else "1 machine"
