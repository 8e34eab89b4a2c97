"""Which files of a folder are its code, and what git knows of it."""

import os
import stat
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from fleet.team_code import DIFF_BYTES, MARKER
from landbridge.errors import UsageError

from .secret_files import by_name

# Made by tools, and large. With git, .gitignore decides.
LEFT_OUT = {".git", "__pycache__", ".venv", "node_modules"}
# Set while git runs a hook: they would name another repository than the folder's.
GIT_OWN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
# Neither a user's settings nor the repository's change what a diff is.
# What a deleted file held is not in it.
DIFF = ("diff", "HEAD", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--irreversible-delete")
# git takes a second of CPU for each 5 MB that it compares as binary, and the tree has the file anyway.
DIFF_FILE_BYTES = 2 * DIFF_BYTES


class Commit(NamedTuple):
    """What the folder is beside git's last commit. `sha` is None where there is none.

    `diff` has at most DIFF_BYTES, and nothing of files that look like secrets or that `allow` has; `diff_whole` is
    False if it was cut, or lacks large files. New files are not in it: they lie in the tree.
    """

    sha: str | None
    dirty: bool
    diff: bytes
    diff_whole: bool


NO_COMMIT = Commit(None, dirty=True, diff=b"", diff_whole=True)


def in_git(root: Path) -> bool:
    """Whether git lists the folder's files. A folder that git ignores, as a whole, is none of its repository.

    Raises UsageError where git refuses to work: without it, what .gitignore names would be taken for code.
    """
    try:
        done = _run(root, "rev-parse", "--is-inside-work-tree")
    except FileNotFoundError:
        return False
    if done.returncode and b"not a git repository" not in done.stderr:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise UsageError(f"{root}: git cannot say which files are code: {said}. Make `git status` work there.")
    return done.stdout == b"true\n" and _run(root, "check-ignore", "-q", ".").returncode != 0


def paths(root: Path, git: bool) -> list[bytes]:  # noqa: FBT001
    """Relative to the folder, sorted; of files, links and whatever else is no folder."""
    found = _listed(root, b"") if git else _walked(os.fsencode(root), b"")
    return sorted({path for path in found if path != os.fsencode(MARKER)})


def commit(root: Path, allow: Collection[str]) -> Commit:
    """Of a folder in git."""
    sha = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    if sha is None:
        return NO_COMMIT
    # Not `.`: relative to the folder, as `allow` is.
    changed = _split(_git(root, *DIFF, "--name-only", "--relative", "-z"))
    new = _git(root, "ls-files", "--others", "--exclude-standard", "--directory", "-z")
    names = [os.fsdecode(path) for path in changed]
    large = [path for path in names if _size_bytes(root / path) > DIFF_FILE_BYTES]
    # Those of `allow` may hold what looks like a secret, and lie whole in the tree.
    without = [*large, *(path for path in names if by_name(path) or path in allow)]
    diff = _diff(root, [f":(exclude,literal){path}" for path in without]) if changed else b""
    whole = len(diff) <= DIFF_BYTES and not large
    return Commit(sha.decode().strip(), bool(changed or new), diff[:DIFF_BYTES], whole)


def _listed(root: Path, below: bytes) -> Iterator[bytes]:
    done = _run(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise UsageError(f"{root}: git cannot list its files: {said}. Make `git ls-files` work there.")
    base = os.fsencode(root)
    for path in _split(done.stdout):
        whole = base + b"/" + path.rstrip(b"/")
        try:
            is_folder = stat.S_ISDIR(os.lstat(whole).st_mode)
        except OSError:
            continue  # git has it in its index, and it was deleted
        # Submodules, and repositories of their own that lie in this one, are listed as folders.
        if not is_folder:
            yield below + path
        elif os.path.lexists(whole + b"/.git"):
            yield from _listed(Path(os.fsdecode(whole)), below + path.rstrip(b"/") + b"/")


def _walked(root: bytes, below: bytes) -> Iterator[bytes]:
    with os.scandir(os.path.join(root, below)) as entries:  # noqa: PTH118
        for entry in entries:
            if os.fsdecode(entry.name) in LEFT_OUT:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _walked(root, below + entry.name + b"/")
            else:
                yield below + entry.name


def _diff(root: Path, without: Collection[str]) -> bytes:
    """One byte more than DIFF_BYTES where it is longer."""
    command = ["git", *DIFF, "--binary", "--", ".", *without]
    with subprocess.Popen(
        command, cwd=root, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as git:
        assert git.stdout is not None
        found = git.stdout.read(DIFF_BYTES + 1)
        git.kill()
    return found


def _size_bytes(path: Path) -> int:
    """0 of what was deleted."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _git(root: Path, *words: str) -> bytes | None:
    """What it says; None where it fails."""
    done = _run(root, *words)
    return done.stdout if done.returncode == 0 else None


def _run(root: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *words], cwd=root, env=_environment(), capture_output=True, check=False)


def _environment() -> dict[str, str]:
    """Without locks: a launch is no reason to write in the user's repository. In English: we read what git says."""
    kept = {name: value for name, value in os.environ.items() if name not in GIT_OWN}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def _split(listed: bytes | None) -> list[bytes]:
    return [path for path in (listed or b"").split(b"\0") if path]
