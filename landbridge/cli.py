"""The command `landbridge`: starts a command, and turns every error into a text and an exit code."""

import contextlib
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

from fleet.errors import FleetError
from images.errors import ImageError
from local.errors import LocalCloudError, NamespaceError, SavedWorldError

from .errors import FAILED, INTERRUPTED, USAGE, LandbridgeError
from .local import enter

# A shell asks at Tab, which is answered without any command: `completion.answer`.
COMPLETING = "_LANDBRIDGE_COMPLETE"


def main() -> None:
    """Runs the command line; never returns."""
    if COMPLETING in os.environ:
        from .completion.answer import answer

        sys.exit(answer())
    sys.exit(code_of())


def code_of() -> int:
    return told(_run)


def _run() -> int:
    enter.at_once()
    from .commands import landbridge

    # https://no-color.org: click itself does not ask for it.
    color = False if os.environ.get("NO_COLOR") else None
    return landbridge.main(prog_name="landbridge", standalone_mode=False, color=color) or 0


def told(what: Callable[[], int | None]) -> int:
    """The exit code of `what`, whose errors are told to the user."""
    try:
        return what() or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        return report_error("Interrupted.", INTERRUPTED)
    except (FleetError, NamespaceError, LocalCloudError, SavedWorldError) as error:
        return report_error(str(error), USAGE)
    except ImageError as error:
        return report_error(str(error), FAILED)
    except LandbridgeError as error:
        return report_error(str(error), error.code, error.document)
    except ModuleNotFoundError as error:
        return report_error(*lacking(error))
    except Exception as error:  # the last resort: our own mistake, told in one line
        why = enter.unusable(error) if isinstance(error, OSError) else None
        if why is not None:
            return report_error(why, USAGE)
        return report_error(mistake(error), FAILED)


def lacking(error: ModuleNotFoundError) -> tuple[str, int]:
    """What to say, and the exit code, where packages are not installed that only some fleets need."""
    from fleet import extras

    why = extras.of_import(error.name)
    return (f"{why[0].upper()}{why[1:]}", USAGE) if why else (mistake(error), FAILED)


def mistake(error: Exception) -> str:
    """Called while it is handled."""
    return f"A mistake in landbridge: {type(error).__name__}: {error}. Its traceback: {crash_log(enter.HOME)}"


def report_error(text: str, code: int, document: Mapping[str, Any] = MappingProxyType({})) -> int:
    """Says why the command ended, to people and to machines."""
    click.echo(text, err=True)
    if "--json" in sys.argv:
        from .output import written

        click.echo(written({**document, "exit_code": code, "error": text}))
    return code


def crash_log(home: Path) -> str:
    """The file that holds the traceback from now on. Never raises: a full disk must not hide the mistake."""
    text = traceback.format_exc()
    with contextlib.suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
        (home / "crash.log").write_text(text)
        return str(home / "crash.log")
    with contextlib.suppress(OSError), tempfile.NamedTemporaryFile("w", prefix="landbridge-", delete=False) as file:
        file.write(text)
        return file.name
    return "not written, for want of a folder that takes it"
