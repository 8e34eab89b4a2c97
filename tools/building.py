"""A command that builds programs when somebody asks for them, beside what set-up builds."""

import sys
from collections.abc import Callable
from pathlib import Path

from progress import Progress
from running import SetupError, cache_folder

sys.path.append(str(Path(__file__).resolve().parent.parent))
import installation

# Takes the folder of programs, the cache, the folder of logs, and whom to tell.
Build = Callable[[Path, Path, Path, Progress], None]


def built(what: str, build: Build) -> int:
    """An exit status; what went wrong is told."""
    progress = Progress()
    progress.say(what)
    try:
        build(installation.PROGRAMS, cache_folder(), installation.STATE / "logs/setup", progress)
    except SetupError as error:
        print(f"\n{what}: not built: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped by you; the next one goes on from here.", file=sys.stderr)
        return 130
    return 0
