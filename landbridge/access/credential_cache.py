"""A credential that was given to kubectl a while ago, given again: without a fleet file or a cloud being read.

Imports nothing large: kubectl waits for it at each start. What is kept lies where `landbridge kubectl` keeps what it
has, goes with that after each `up`, and counts for nothing some minutes before it ends.
"""

import contextlib
import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from fleet.errors import FleetError
from fleet.where import fleet_path
from landbridge.cluster.kept import CLUSTER, FOLDER, stamp

# A certificate that ends while kubectl still talks would break what it does.
EARLY_SECONDS = 300.0
WORDS = ["kubeconfig", "credential"]


class CredentialCache:
    """What is kept for one way of asking; `arguments` are those behind the command's own words."""

    def __init__(self, home: Path, arguments: Sequence[str]) -> None:
        """Raises FleetError where no fleet file is found."""
        named = next((after for word, after in pairwise(arguments) if word == "--fleet"), None)
        named = next((word.partition("=")[2] for word in arguments if word.startswith("--fleet=")), named)
        self.fleet = fleet_path(Path(named) if named else None)
        key = json.dumps([str(self.fleet), os.environ.get(CLUSTER), *arguments])
        self.file = home / FOLDER / f"credential-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"

    def read(self) -> str | None:
        """The document, while it holds."""
        try:
            kept: dict[str, Any] = json.loads(self.file.read_text())
            state = kept["state"]
            same = kept["fleet"] == stamp(self.fleet) and (state is None or state[1] == stamp(Path(state[0])))
            holds = same and time.time() < kept["expires"] - EARLY_SECONDS
            return str(kept["document"]) if holds else None
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return None

    def write(self, document: str, expires: float, state: Path | None) -> None:
        """In one step, for its owner alone; `expires` in seconds of Unix. A full disk costs the next start time."""
        kept = {"document": document, "expires": expires, "fleet": stamp(self.fleet)}
        kept["state"] = [str(state), stamp(state)] if state else None
        draft = self.file.with_name(f".{self.file.name}.{secrets.token_hex(4)}")
        with contextlib.suppress(OSError):
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.file.parent.chmod(0o700)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(kept, file)
            draft.replace(self.file)


def at_once(home: Path) -> None:
    """Ends this process with what is kept, if that holds; else returns."""
    if sys.argv[1:3] != WORDS:
        return
    with contextlib.suppress(FleetError):
        document = CredentialCache(home, sys.argv[3:]).read()
        if document is not None:
            print(document)  # noqa: T201
            sys.stdout.flush()
            raise SystemExit(0)
