"""What stands in a home while nobody lives in it: the world's mark, and what the next daemon finds."""

import contextlib
import json
import shutil
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509

from .saved_worlds import FORM, MARK

# What a world consists of, beside the folders of fleets.
WORLD = ("worlds", "machines", "volumes", "shares", "blocks", "hosts.json", "guests.json", "machines.json")
AUTHORITIES = ("authority", "azure-authority")
# With less left, the next daemon gets new ones: machines learn of them when they start.
AUTHORITY_DAYS = 15


class StandingError(Exception):
    """A world cannot be brought back. The text says why and what to do."""


def generation(home: Path) -> str | None:
    """Which world stands in a home; None for none. Raises StandingError for one of another form."""
    try:
        marker = json.loads((home / MARK).read_text())
    except FileNotFoundError:
        return None
    except ValueError:
        raise StandingError(f"{home / MARK} is damaged. {DROP}") from None
    if marker["form"] != FORM:
        raise StandingError(
            f"the world in {home} has form {marker['form']}, and this program knows form {FORM}. {DROP}"
        )
    found: str = marker["generation"]
    return found


DROP = "`landbridge local forget` drops it, with all that stands in it"


def prepare(home: Path) -> str:
    """Gives the generation of the world in a home; a new one, with an empty world, where none stands."""
    found = generation(home)
    if found is None:
        for name in WORLD:  # of an older program, whose clouds forgot everything at their end
            remove(home / name)
        found = uuid.uuid4().hex
        draft = home / f"{MARK}.new"
        draft.write_text(json.dumps({"form": FORM, "generation": found}))
        draft.replace(home / MARK)
    for name in AUTHORITIES:
        if ends_soon(home / name / "ca.crt"):
            remove(home / name)
    return found


def ends_soon(certificate: Path) -> bool:
    try:
        until = x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
    except (FileNotFoundError, ValueError):
        return True
    return until - datetime.now(UTC) < timedelta(days=AUTHORITY_DAYS)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
