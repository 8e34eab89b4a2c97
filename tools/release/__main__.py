"""The commands behind `make lock`, `make audit`, `make nightly`, `make sbom` and `make release`."""

import argparse
import datetime
import sys
from collections.abc import Callable
from pathlib import Path

import go_tools
import sets
from progress import Progress
from running import SetupError, cache_folder

from fleet import container_lock

from . import bills, containers, making, needed, programs, source, toolchain
from .audit import Audit
from .errors import WRONG, ReleaseError

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / ".landbridge"
LOGS = OWN / "logs/release"
# What make setup builds, of which a bill is whole.
SET_UP = {tool.name for tools in sets.LOCAL.values() for tool in tools}


def today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def lock(words: argparse.Namespace) -> int:
    go = needed.go(ROOT, cache_folder(), LOGS, Progress())
    print(toolchain.lock(go, ROOT / "tools"))
    lines = containers.lock(container_lock.LOCK, containers.names(), today(), take_moved=words.moved)
    print("\n".join(lines))
    return 0


def build_all(cache: Path, progress: Progress) -> None:
    """What set-up leaves to whoever needs it: programs of nodes, of images, of languages and of older clusters."""
    sets.set_up_add_ons(OWN, cache, LOGS, progress)
    sets.set_up_languages(OWN, cache, LOGS, progress)
    sets.set_up_image(OWN, cache, LOGS, progress, gpus=True)
    for version in go_tools.OLDER:
        sets.set_up_older(version, OWN, cache, LOGS, progress)


def audit(words: argparse.Namespace) -> int:
    cache, progress, run = cache_folder(), Progress(), Audit()
    if words.whole:
        build_all(cache, progress)
    built = programs.built(ROOT, needed.go(ROOT, cache, LOGS, progress))
    run.packages(needed.python(ROOT, cache, LOGS, progress) / "pip-audit", ROOT, words.osv)
    run.programs(needed.govulncheck(ROOT, cache, LOGS, progress), built, words.go_db)
    status, lines = run.told(today(), built, whole=words.whole)
    print("\n".join(lines))
    return status


def sbom(words: argparse.Namespace) -> int:
    cache, progress = cache_folder(), Progress()
    built = programs.built(ROOT, needed.go(ROOT, cache, LOGS, progress))
    epoch_seconds = int(source.git(ROOT, "log", "-1", "--format=%ct"))
    files = bills.write(bills.made(ROOT, built, epoch_seconds), bills.version(ROOT), words.to)
    bills.check(needed.python(ROOT, cache, LOGS, progress) / "python", files)
    print("\n".join(str(file) for file in files))
    return 0


def release(words: argparse.Namespace) -> int:
    cache, progress = cache_folder(), Progress()
    go = needed.go(ROOT, cache, LOGS, progress)
    built = programs.built(ROOT, go)
    making.check_programs(built, SET_UP)
    checker = needed.python(ROOT, cache, LOGS, progress) / "python"
    tools = making.Tools(ROOT / ".venv/bin/uv", ROOT / ".venv/bin/python", checker, go)
    to = words.to / bills.version(ROOT)
    files = making.make(ROOT, to, tools, built, today(), repository=words.repository, key=words.sign_by)
    print("\n".join(str(file) for file in files))
    if not words.sign_by:
        print("Not signed: make release SIGN=KEY signs the list of digests by an SSH key")
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="release", description=__doc__)
    verbs = made.add_subparsers(required=True)

    def verb(act: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        found = verbs.add_parser(act.__name__)
        found.set_defaults(act=act)
        return found

    verb(lock).add_argument("--moved", action="store_true", help="take tags that mean another content than before")
    asks = verb(audit)
    asks.add_argument("--osv", metavar="URL", help="another OSV than osv.dev, as .../v1/query")
    asks.add_argument("--go-db", metavar="URL", help="another database than Go's own; file:///FOLDER is one")
    asks.add_argument("--whole", action="store_true", help="build all programs before, and answer for each")
    verb(sbom).add_argument("--to", type=Path, default=ROOT / ".landbridge/sbom", metavar="FOLDER")
    makes = verb(release)
    makes.add_argument("--to", type=Path, default=ROOT / ".landbridge/releases", metavar="FOLDER")
    makes.add_argument("--repository", metavar="URL", help="where the commit is published")
    makes.add_argument("--sign-by", type=Path, metavar="KEY", help="an SSH key for the list of digests")
    return made


def main(arguments: list[str] | None = None) -> int:
    words = parser().parse_args(arguments)
    try:
        return int(words.act(words))
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return error.status
    except SetupError as error:
        print(error, file=sys.stderr)
        return WRONG
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
