"""The commands, a module each, and the group that they form."""

import click

from .local import local
from .plan import plan
from .status import status
from .update import destroy, preview, up


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def landbridge() -> None:
    """One GPU cluster over clouds and machine rooms, from one file: fleet.yaml.

    Exit codes: 0 done, 1 a stack failed, 2 wrong usage, fleet file or set-up, 3 --expect-no-changes saw changes,
    4 a consent is missing, 130 interrupted.
    """


for command in (plan, up, preview, destroy, status, local):
    landbridge.add_command(command)
