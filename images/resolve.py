"""Finds out which packages a recipe's packages mean today: apt decides, in a folder of its own, from signed lists."""

import email.utils
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import driver, lock
from .errors import ImageError
from .lock import Lock, Package
from .recipe import Base, ImageSpec
from .running import check, run

# As --print-uris has it: 'URI' FILE SIZE SHA256:DIGEST (apt-get(8)).
URI = re.compile(r"'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})")
# Essential by Debian's own word, without apt, which takes itself for essential: an image upgrades nothing.
ESSENTIAL = "?and(?essential,?not(?exact-name(apt)))"
UNKNOWN = re.compile(r"(?:Unable to locate package|Package '?([a-z0-9+.-]+)'? has no installation candidate) ?(\S*)")
DATE = re.compile(r"^Date: (.+)$", re.MULTILINE)
# Of distributions whose keyring is no package here.
KEYRINGS = Path(__file__).with_name("keyrings")
APT = {
    "APT::Architecture": "amd64",
    "APT::Architectures": "amd64",
    "APT::Install-Recommends": "false",
    # Else it prints MD5 sums.
    "Acquire::ForceHash": "SHA256",
    "Acquire::Languages": "none",
    # Nothing of this machine's own settings.
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::Etc::preferencesparts": "/dev/null",
    "Dir::Etc::trustedparts": "/dev/null",
}


def resolve(spec: ImageSpec, folder: Path = lock.FOLDER) -> Lock:
    """What the mirrors have now, not written yet. Raises ImageError, which names the recipe's line where it can."""
    check({"apt-get": "apt"}, root=False)
    with tempfile.TemporaryDirectory(prefix="landbridge-apt-") as temporary:
        root = Path(temporary)
        apt = _apt(root, spec)
        run([*apt, "update", "--error-on=any"])
        try:
            output = run([*apt, "install", "--yes", "--print-uris", *spec.packages, ESSENTIAL])
        except ImageError as error:
            raise _named(spec, error) from None
        packages = tuple(sorted(_packages(output, spec.base)))
        found = Lock(lock.place(spec, folder), lock.digest(spec), _epoch_seconds(root), packages)
        driver.check(spec, found)
        return found


def _apt(root: Path, spec: ImageSpec) -> list[str]:
    for part in ("etc/apt", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/lib/dpkg"):
        (root / part).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    (root / "etc/apt/sources.list").write_text("".join(f"{line}\n" for line in sources(spec.base)))
    (root / "etc/apt/preferences").write_text(driver.preferences(spec))
    options = {"Dir": str(root), "Dir::State::status": str(root / "var/lib/dpkg/status"), **APT}
    return ["apt-get", "-qq", *(part for key, value in options.items() for part in ("-o", f"{key}={value}"))]


def sources(base: Base) -> Iterator[str]:
    for one in base.suites:
        keyring = KEYRINGS / (one.keyring or base.keyring)
        yield " ".join(["deb", f"[signed-by={keyring}]", base.mirrors[one.mirror], one.suite, *one.components])


def _packages(output: str, base: Base) -> Iterator[Package]:
    for found in URI.finditer(output):
        # An epoch's colon is %3a, in its file's name twice so.
        name, version, _ = found["file"].removesuffix(".deb").split("_")
        mirror = next(name for name, uri in base.mirrors.items() if found["uri"].startswith(f"{uri}/"))
        path = found["uri"].removeprefix(f"{base.mirrors[mirror]}/")
        yield Package(name, version.replace("%3a", ":"), int(found["size"]), found["sha256"], mirror, path)


def _epoch_seconds(root: Path) -> int:
    """The newest of the lists' dates, which their signatures cover."""
    texts = [file.read_text() for file in (root / "var/lib/apt/lists").glob("*InRelease")]
    dates = [email.utils.parsedate_to_datetime(found[1]) for text in texts if (found := DATE.search(text))]
    return int(max(date.timestamp() for date in dates))


def _named(spec: ImageSpec, error: ImageError) -> ImageError:
    """apt's word for a package that is not there, as an error in the recipe."""
    names = [name for one in UNKNOWN.finditer(str(error)) for name in one.groups() if name]
    problems = [
        f"{spec.origins[name]}: {spec.base_name} has no package {name}" for name in names if name in spec.origins
    ]
    if not problems:
        return error
    return ImageError("\n".join(f"{line}. Correct its name, or take it out" for line in problems))
