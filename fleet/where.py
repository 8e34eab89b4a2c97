"""Where the fleet file lies. Imports nothing large: commands ask this before they load a fleet."""

import contextlib
import os
from pathlib import Path

from .errors import FleetError, Problem

ENVIRONMENT = "LANDBRIDGE_FLEET"
NAME = "fleet.yaml"
ENGINE, PROJECT = "pulumi", "Pulumi.yaml"
# Where the user stands, as a shell tells what it starts; the engine starts programs in their own folder.
STANDING = "PWD"


def fleet_path(path: Path | None = None) -> Path:
    """The named file, else $LANDBRIDGE_FLEET, else the first fleet.yaml from here upwards. Raises FleetError."""
    return named(path) or _found(Path.cwd())


def path_for_engine(project: Path | None = None) -> Path:
    """The same for a program or a policy pack, which Pulumi starts: it looks from where the user stands.

    A `project` that the user does not stand in (`pulumi -C PROJECT`, or a script that has changed folders) may have a
    fleet file of its own: with two nothing is guessed. Raises FleetError.
    """
    if path := named():
        return path
    here = Path(os.environ.get(STANDING) or Path.cwd())
    below = project is None or here.is_relative_to(project)
    own = None if project is None or below else upwards(project)
    found = upwards(here) or own or _found(here)
    if own and found.resolve() != own.resolve():
        what = f"{found} is above where you stand, and {own} is of Pulumi's project: one of them is meant"
        raise FleetError([Problem(NAME, None, what, f"Say which by {ENVIRONMENT}=FILE")])
    return found


def project_of_engine() -> Path | None:
    """The folder of the project whose engine started this process; None where that can't be seen.

    A policy pack is told none (engine 3.259), and runs elsewhere. The engine itself stands in its project, by -C too.
    """
    process = os.getppid()
    with contextlib.suppress(OSError, ValueError, IndexError):  # no /proc, or another user's
        while process > 1:
            about = Path(f"/proc/{process}")
            name, _, rest = (about / "stat").read_text().partition("(")[2].rpartition(")")
            if name == ENGINE:
                here = (about / "cwd").readlink()
                return next((one for one in (here, *here.parents) if (one / PROJECT).is_file()), None)
            process = int(rest.split()[1])
    return None


def named(path: Path | None = None) -> Path | None:
    """What is said by an option or, failing that, by the environment."""
    said = path or os.environ.get(ENVIRONMENT)
    return Path(said).absolute() if said else None


def upwards(folder: Path) -> Path | None:
    """The nearest fleet file in a folder or above it."""
    return next((file for one in (folder, *folder.parents) if (file := one / NAME).is_file()), None)


def _found(folder: Path) -> Path:
    if file := upwards(folder):
        return file
    what = f"there is none in {folder}, nor in a folder above it"
    raise FleetError([Problem(NAME, None, what, f"Name yours by --fleet FILE or {ENVIRONMENT}=FILE")])
