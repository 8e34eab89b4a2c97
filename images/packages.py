"""Fetches locked packages into the user's cache, by digest, and lays them out as a repository that apt reads."""

import hashlib
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from .baked import sha256
from .errors import ImageError
from .lock import Lock, Package
from .recipe import Base
from .running import made, run

AT_ONCE = 8
TIMEOUT_SECONDS = 60
TRIES = 3
Tell = Callable[[int, int], None]


def fetch(lock: Lock, base: Base, cache: Path, tell: Tell) -> list[Path]:
    """The packages' files, in the lock's order; `tell` is told how many of how many are there.

    Raises ImageError for one that is gone or differs, and keeps nothing of that.
    """
    made(cache, "Name another folder by XDG_CACHE_HOME")
    files: list[Path] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(_one, package, lock, base, cache) for package in lock.packages]
        try:
            for done, one in enumerate(waiting, 1):
                files.append(one.result())
                tell(done, len(waiting))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return files


def _one(package: Package, lock: Lock, base: Base, cache: Path) -> Path:
    file = cache / f"{package.sha256}.deb"
    if file.exists() and sha256(file) == package.sha256:
        return file
    content = _had(package, lock, base)
    found = hashlib.sha256(content).hexdigest()
    if found != package.sha256:
        raise ImageError(
            f"{lock.file.name}: {package.name} {package.version} should have the digest {package.sha256}, and "
            f"{base.mirrors[package.mirror]}/{package.path} has {found}. Do not trust that mirror; if Debian itself "
            "changed the package, `landbridge image lock` takes the new one"
        )
    with tempfile.NamedTemporaryFile(dir=cache, prefix=".fetching-", delete=False) as temporary:
        temporary.write(content)
    Path(temporary.name).replace(file)
    return file


def _had(package: Package, lock: Lock, base: Base) -> bytes:
    wrong = ""
    for uri in _uris(package, lock, base):
        for _ in range(TRIES):
            try:
                with urllib.request.urlopen(uri, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - the recipe's own
                    return bytes(answer.read())
            except urllib.error.HTTPError as error:
                wrong = f"{uri}: {error.code} {error.reason}"
                if error.code in (403, 404, 410):
                    break
            except (OSError, urllib.error.URLError) as error:
                wrong = f"{uri}: {getattr(error, 'reason', error)}"
    raise ImageError(
        f"{lock.file.name}: {package.name} {package.version} can't be had. {wrong}. Check the network; where mirrors "
        "have newer packages, `landbridge image lock` takes those"
    )


def _uris(package: Package, lock: Lock, base: Base) -> Iterator[str]:
    """The mirror, then the archive as it was when the lock was made."""
    yield f"{base.mirrors[package.mirror]}/{package.path}"
    if archive := base.archives.get(package.mirror):
        when = datetime.fromtimestamp(lock.epoch_seconds, UTC)
        yield f"{archive}/{when:%Y%m%dT%H%M%SZ}/{package.path}"


def repository(lock: Lock, files: list[Path], folder: Path) -> str:
    """Lays the files out; gives the line of apt's sources. Their digests were checked, so no signature is needed."""
    folder.mkdir()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        heads = list(pool.map(lambda file: run(["dpkg-deb", "--field", str(file)]).strip(), files))
    listed = []
    for package, file, head in zip(lock.packages, files, heads, strict=True):
        # No link: others than root may read neither the cache nor the way there.
        name = f"{package.name}_{package.sha256[:12]}.deb"
        shutil.copyfile(file, folder / name)
        listed.append(f"{head}\nFilename: {name}\nSize: {package.size_bytes}\nSHA256: {package.sha256}\n")
    (folder / "Packages").write_text("\n".join(listed))
    return f"deb [trusted=yes] copy:{folder} ./"
