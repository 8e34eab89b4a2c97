"""Sets everything up from nothing: `python3 tools/setup.py`, standard library only. `make setup` calls it.

`landbridge setup` calls it with `real` or `local`: the programs that fleets there want, and no Python packages.
"""

import subprocess
import sys
from pathlib import Path

import estimate
import local_cloud
import python_env
import sets
from progress import Progress
from running import SetupError, cache_folder

sys.path.append(str(Path(__file__).resolve().parent.parent))
import installation

# What is set up: all of a checkout, or programs alone beside Python packages that are installed already.
CHECKOUT, REAL, LOCAL = "checkout", "real", "local"


def main(what: str = CHECKOUT) -> int:
    if sys.version_info < python_env.NEEDED:
        version = ".".join(str(part) for part in sys.version_info[:3])
        print(
            f"Python {version} is too old: Landbridge needs 3.11 or newer. Name another: make PYTHON=python3.12 setup"
        )
        return 1
    progress, logs, programs = Progress(), installation.STATE / "logs/setup", installation.PROGRAMS
    wanted = sets.REAL if what == REAL else sets.LOCAL
    try:
        cache = cache_folder()
        steps = [] if what == REAL else local_cloud.steps()
        steps += python_env.steps(installation.TREE) if what == CHECKOUT else []
        steps += sets.steps(wanted, programs, cache)
        progress.expect(steps)
        if steps:
            progress.say("Setting up")
        if message := estimate.beforehand(steps):
            progress.say(message)
        if what != REAL:
            local_cloud.set_up(logs, progress)
        if what == CHECKOUT:
            python_env.set_up(installation.TREE, logs, progress)
        sets.set_up(wanted, programs, cache, logs, progress)
        if what != CHECKOUT:
            pages(progress)
    except SetupError as error:
        print(f"\nSet-up stopped: {error}", file=sys.stderr)
        return 1 if what == CHECKOUT else 2  # of all commands of landbridge the code for set-up
    except KeyboardInterrupt:
        where = f" in {progress.now}" if progress.now else ""
        print(f"\nSet-up stopped by you{where}. What is done stays; the next one goes on from there.", file=sys.stderr)
        return 130
    message = f"Set up in {progress.total()}" if steps else "All is set up"
    progress.say(f"{message}. The command is .venv/bin/landbridge" if what == CHECKOUT else f"{message}.")
    return 0


def pages(progress: Progress) -> None:
    """`man landbridge`: man looks beside each folder of the PATH. An environment of somebody else's stays without."""
    folder = Path(sys.prefix, "share/man/man1")
    program = installation.TREE / "tools/man_pages.py"
    done = subprocess.run([sys.executable, program, folder], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        progress.say(f"Without man pages: {done.stderr.strip().rpartition(chr(10))[2]}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
