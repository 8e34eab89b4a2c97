"""What a release is made from: one commit with nothing beside it, of which the changelog says what is new."""

import datetime
import io
import re
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

from .errors import ReleaseError

SECTION = re.compile(r"^## \[(?P<name>[^\]]+)\](?: - (?P<day>\S+))?\s*$", re.MULTILINE)
VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


class Source(NamedTuple):
    """`epoch_seconds` is the commit's own time: whatever a release dates has it."""

    root: Path
    commit: str
    epoch_seconds: int


def current(root: Path, version: str) -> Source:
    """Raises ReleaseError for a work tree with changes, and for a version that another commit has."""
    if changed := git(root, "status", "--porcelain").splitlines():
        more = f" and {len(changed) - 1} more" if changed[1:] else ""
        raise ReleaseError(
            f"{changed[0][3:]}{more} is not committed: a release is made of a commit alone. Commit, or stash"
        )
    commit = git(root, "rev-parse", "HEAD")
    if (tagged := git(root, "tag", "--list", f"v{version}", "--format=%(*objectname)%(objectname)")[:40]) not in (
        "",
        commit,
    ):
        raise ReleaseError(f"v{version} is the tag of {tagged[:12]} already. Give pyproject.toml another version")
    return Source(root, commit, int(git(root, "log", "-1", "--format=%ct")))


def check_changelog(text: str, version: str, today: datetime.date) -> None:
    """Raises ReleaseError where the version has no section of its own, right after what is not released yet."""
    if not VERSION.fullmatch(version):
        raise ReleaseError(f"pyproject.toml: version {version} should be like 1.2.3 or 1.2.3rc1")
    found = list(SECTION.finditer(text))
    names = [one["name"] for one in found]
    wanted = f"## [{version}] - {today}"
    if version not in names:
        raise ReleaseError(
            f"CHANGELOG.md has no section of {version}. Write `{wanted}` below Unreleased, with its lines"
        )
    at = names.index(version)
    if names[:at] not in ([], ["Unreleased"]):
        raise ReleaseError(f"CHANGELOG.md: {names[at - 1]} stands above {version}. The newest comes first")
    ends = [*(one.start() for one in found[1:]), len(text)]
    body = {one["name"]: text[one.end() : end] for one, end in zip(found, ends, strict=True)}
    try:
        day = datetime.date.fromisoformat(found[at]["day"] or "")
    except ValueError:
        raise ReleaseError(f"CHANGELOG.md: the section of {version} has no day. Write `{wanted}`") from None
    if day > today:
        raise ReleaseError(
            f"CHANGELOG.md: {version} is dated {day}, and today is {today}. Write the day of the release"
        )
    if not re.search(r"^- \S", body[version], re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md: the section of {version} says nothing. Move its lines there from Unreleased")
    if re.search(r"^- \S", body.get("Unreleased", ""), re.MULTILINE):
        raise ReleaseError(
            f"CHANGELOG.md: lines still stand under Unreleased. Move them into {version}, or leave them out"
        )


def unpack(source: Source, folder: Path) -> None:
    """The commit's files, as no checkout's umask, attributes or leftovers have touched them."""
    packed = subprocess.run(["git", "archive", source.commit], cwd=source.root, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        for member in tar.getmembers():
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            tar.extract(member, folder, filter="fully_trusted")


def git(root: Path, *words: str) -> str:
    """Raises ReleaseError."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ReleaseError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()
