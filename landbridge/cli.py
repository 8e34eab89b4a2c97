"""The command `landbridge`: starts a command, and turns every error into a text and an exit code."""

import json
import sys
import traceback

import click

from fleet.errors import FleetError
from local.client import LocalCloudError
from local.namespace import NamespaceError

from . import entering
from .errors import FAILED, INTERRUPTED, USAGE, LandbridgeError


def main() -> None:
    """Runs the command line; never returns."""
    sys.exit(code_of())


def code_of() -> int:
    try:
        entering.at_once()
        from .commands import landbridge

        return landbridge.main(prog_name="landbridge", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        return told("Interrupted.", INTERRUPTED)
    except (FleetError, NamespaceError, LocalCloudError) as error:
        return told(str(error), USAGE)
    except LandbridgeError as error:
        return told(str(error), error.code)
    except Exception as error:  # the last resort: our own mistake, told in one line
        entering.HOME.mkdir(exist_ok=True)
        crash = entering.HOME / "crash.log"
        crash.write_text(traceback.format_exc())
        return told(f"A mistake in landbridge: {type(error).__name__}: {error}. Its traceback: {crash}", FAILED)


def told(text: str, code: int) -> int:
    """Says why the command ended, to people and to machines."""
    click.echo(text, err=True)
    if "--json" in sys.argv:
        click.echo(json.dumps({"exit_code": code, "error": text}, indent=2))
    return code
