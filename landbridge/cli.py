"""The command `landbridge`: wires the commands together and turns errors into texts and exit codes."""

import json
import sys
import traceback

import click

from fleet.errors import FleetError
from local.client import LocalCloudError
from local.namespace import NamespaceError

from .commands.local import local
from .commands.plan import plan
from .commands.status import status
from .commands.update import destroy, preview, up
from .errors import FAILED, INTERRUPTED, USAGE, LandbridgeError
from .places import HOME


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def cli() -> None:
    """One GPU cluster over clouds and machine rooms, from one file: fleet.yaml.

    Exit codes: 0 done, 1 a stack failed, 2 wrong usage, fleet file or set-up, 3 --expect-no-changes saw changes,
    4 a consent is missing, 130 interrupted.
    """


for command in (plan, up, preview, destroy, status, local):
    cli.add_command(command)


def main() -> None:
    """Runs the command line; never returns."""
    sys.exit(code_of())


def code_of() -> int:
    try:
        return cli.main(prog_name="landbridge", standalone_mode=False) or 0
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
        HOME.mkdir(exist_ok=True)
        crash = HOME / "crash.log"
        crash.write_text(traceback.format_exc())
        return told(f"A mistake in landbridge: {type(error).__name__}: {error}. Its traceback: {crash}", FAILED)


def told(text: str, code: int) -> int:
    """Says why the command ended, to people and to machines."""
    click.echo(text, err=True)
    if "--json" in sys.argv:
        click.echo(json.dumps({"exit_code": code, "error": text}, indent=2))
    return code
