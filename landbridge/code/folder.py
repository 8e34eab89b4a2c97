"""A folder as a run's code: its files with their digests, or every reason why it is not taken."""

import os
import stat
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from fleet.team_code import MIB, Link, link_problem, path_problem
from landbridge.errors import LandbridgeError, UsageError

from . import listing, private_files
from .secret_files import HEAD_BYTES, by_content, by_name
from .stat_cache import Seen, Stamp, StatCache, stamp

THREADS = 8
# More lines than these hide what matters.
MOST_PROBLEMS, MOST_ENTRIES = 40, 5
DATA = "data belongs in a share or a bucket, not in code"
KINDS = {stat.S_IFSOCK: "a socket", stat.S_IFIFO: "a pipe", stat.S_IFBLK: "a device", stat.S_IFCHR: "a device"}


class Limits(NamedTuple):
    """As run.yaml's `code` has them."""

    file_mib: int = 100
    tree_mib: int = 1024


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the folder, as it was when its digest was made."""

    path: str
    mode: int
    stamp: Stamp
    sha256: str

    @property
    def size_bytes(self) -> int:
        return self.stamp.size_bytes


@dataclass(frozen=True)
class Folder:
    root: Path
    files: tuple[Source, ...]
    links: tuple[Link, ...]
    commit: str | None
    dirty: bool
    diff: bytes
    diff_whole: bool

    @property
    def size_bytes(self) -> int:
        return sum(one.size_bytes for one in self.files)


class Found(NamedTuple):
    """By stat alone."""

    files: dict[str, os.stat_result]
    links: list[Link]
    problems: list[str]


def scan(root: Path, limits: Limits, allow: Collection[str] = (), cache: Path | None = None) -> Folder:
    """`allow` has paths that look like secrets and are none. Raises UsageError with all that is wrong."""
    root = root.resolve()
    if not root.is_dir():
        raise UsageError(f"{root} is no folder, so there is no code in it. Name the folder that your run starts in.")
    git = listing.in_git(root)
    found = _look(root, listing.paths(root, git), allow)
    if not found.files and not found.problems:
        raise UsageError(
            f"{root} has no files that are code: {'git ignores all that is in it' if git else 'it is empty'}. "
            "Name the folder that your run starts in."
        )
    if too_large := list(_too_large({path: one.st_size for path, one in found.files.items()}, limits, git)):
        # Nothing is read: of 3 GB that takes longer than anybody waits for a refusal.
        raise _refused(root, [*found.problems, *too_large])
    commit = listing.commit(root, allow) if git else listing.NO_COMMIT
    files, secrets = _read(root, found.files, allow, StatCache(cache or private_files.cache_folder(), root))
    if what := by_content(commit.diff):
        secrets.append(f"the changes since git's last commit hold {what}. Commit them without it")
    if found.problems or secrets:
        raise _refused(root, [*found.problems, *secrets])
    links = tuple(sorted(found.links, key=lambda one: one.path))
    return Folder(root, files, links, commit.sha, commit.dirty, commit.diff, commit.diff_whole)


@contextmanager
def opened(root: Path, path: str, then: Stamp) -> Iterator[BufferedReader]:
    """A file that must be what it was, before and after. Raises LandbridgeError, and OSError."""
    # Without O_NOFOLLOW what became a link in the meantime would lead out of the folder.
    with os.fdopen(os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        same = stamp(os.fstat(file.fileno())) == then
        if same:
            yield file
            same = stamp(os.fstat(file.fileno())) == then
    if not same:
        raise LandbridgeError(f"{root / path} changed while it was read; nothing was launched. Launch again.")


def _look(root: Path, paths: Collection[bytes], allow: Collection[str]) -> Found:
    files: dict[str, os.stat_result] = {}
    links, problems = [], []
    for raw in paths:
        path = os.fsdecode(raw)
        try:
            status = os.lstat(f"{root}/{path}")  # a Path costs 100,000 files a third of a second
        except (FileNotFoundError, NotADirectoryError):
            continue  # git has it in its index, and it was deleted
        kind = stat.S_IFMT(status.st_mode)
        if why := path_problem(path):
            problems.append(f"{path.encode(errors='backslashreplace').decode()}: its name {why}. Rename it")
        elif (what := by_name(path)) and path not in allow:
            problems.append(_secret(path, what))
        elif kind == stat.S_IFLNK:
            if target := _target(root, path):
                links.append(Link(path, target))
            else:
                to = (root / path).readlink()
                remedy = "Remove it, or let it be a folder of the run: data come from shares and buckets"
                problems.append(f"{path}: it leads out of the folder, to {to}. {remedy}")
        elif kind == stat.S_IFREG:
            files[path] = status
        elif kind != stat.S_IFDIR:  # a submodule that nobody has fetched
            problems.append(f"{path}: it is {KINDS.get(kind, 'no file')}. {_away(git=True)}")
    return Found(files, links, problems)


def _target(root: Path, path: str) -> str:
    """What a link leads to, told so that it holds wherever the folder lies; empty if that is outside."""
    target = str((root / path).readlink())
    if not link_problem(path, target):
        return target
    real = Path(os.path.realpath(root / path))
    if not real.is_relative_to(root):
        return ""
    target = os.path.relpath(real, (root / path).parent)
    return "" if link_problem(path, target) else target


def _too_large(sizes: dict[str, int], limits: Limits, git: bool) -> Iterator[str]:  # noqa: FBT001
    for path, size in sorted(sizes.items(), key=lambda one: -one[1]):
        if size > limits.file_mib * MIB:
            yield (
                f"{path}: it has {_mib(size)} MiB, and a file of code has at most {limits.file_mib}. {_away(git)}; "
                f"{DATA}. Or raise code: {{file_mib: {_mib(size)}}} in run.yaml"
            )
    if (whole := sum(sizes.values())) > limits.tree_mib * MIB:
        tops: Counter[str] = Counter()
        for path, size in sizes.items():
            top, below, _ = path.partition("/")
            tops[top + below] += size
        largest = ", ".join(f"{top} {_mib(size)} MiB" for top, size in tops.most_common(MOST_ENTRIES))
        yield (
            f"all files together: they have {_mib(whole)} MiB, and code has at most {limits.tree_mib}. The largest: "
            f"{largest}. {_away(git)}; {DATA}. Or raise code: {{tree_mib: {_mib(whole)}}} in run.yaml"
        )


def _read(
    root: Path, files: dict[str, os.stat_result], allow: Collection[str], cache: StatCache
) -> tuple[tuple[Source, ...], list[str]]:
    """Files with their digests, and what is wrong with what they hold."""

    def seen(path: str) -> Seen | str:
        then = stamp(files[path])
        now_ns = time.time_ns()
        try:
            with opened(root, path, then) as file:
                head = file.read(HEAD_BYTES)
                file.seek(0)
                made = Seen(file_digest(file, "sha256").hexdigest(), by_content(head))
        except OSError as error:
            return f"{path}: it can't be read: {error.strerror}. Make it readable for you, or name it in .gitignore"
        cache.keep(path, then, made, now_ns)
        return made

    looked: dict[str, Seen | str | None] = {path: cache.seen(path, stamp(one)) for path, one in files.items()}
    unknown = [path for path, one in looked.items() if one is None]
    with ThreadPoolExecutor(THREADS) as pool:
        looked |= zip(unknown, pool.map(seen, unknown), strict=True)
    cache.save()
    known, problems = [], []
    for path, one in looked.items():
        if isinstance(one, str):
            problems.append(one)
        elif one and one.secret and path not in allow:
            problems.append(_secret(path, one.secret))
        elif one:
            mode = 0o755 if files[path].st_mode & stat.S_IXUSR else 0o644
            known.append(Source(path, mode, stamp(files[path]), one.sha256))
    return tuple(known), problems


def _secret(path: str, what: str) -> str:
    return (
        f"{path}: it looks like {what}. Name it in .gitignore; or, if that is no secret, in run.yaml under "
        f"code: {{allow: [{path}]}}"
    )


def _away(git: bool) -> str:  # noqa: FBT001
    return (
        "Name it in .gitignore" if git else "Move it out of the folder, or make that a git repository with a .gitignore"
    )


def _refused(root: Path, problems: list[str]) -> UsageError:
    more = [f"and {len(problems) - MOST_PROBLEMS} more like these"] if len(problems) > MOST_PROBLEMS else []
    lines = [f"{one}." for one in [*problems[:MOST_PROBLEMS], *more]]
    return UsageError("\n  ".join([f"{root} can't be a run's code; nothing was sent:", *lines]))


def _mib(size_bytes: int) -> int:
    """Rounded up, so that it does as a limit."""
    return -(-size_bytes // MIB)
