"""Whether the pod's identity in Azure was made anew since its container began, whose environment names the one before.

That one's token would be shown for as long as it lasts, a day, and Azure hears it no more. A new container has the new
name: the service ends, and its node starts it again.
"""

import argparse
import os
from pathlib import Path

VARIABLE = "AZURE_CLIENT_ID"


def identity_option(parser: argparse.ArgumentParser) -> None:
    """`--identity FILE`, for `replaced`."""
    text = "the client id of its identity in Azure: it ends when that changes"
    parser.add_argument("--identity", type=Path, metavar="FILE", help=text)


def replaced(file: Path | None) -> bool:
    """`file` is laid by the node out of a ConfigMap; a changed one within two minutes or so."""
    if file is None or not file.is_file():
        return False
    now = file.read_text().strip()
    return bool(now) and now != os.environ.get(VARIABLE)
