"""Sets everything up from nothing: `python3 tools/setup.py`, standard library only. `make setup` calls it."""

import sys
from pathlib import Path

import estimate
import go_tools
import local_cloud
import python_env
from progress import Progress
from running import SetupError, cache_folder

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    if sys.version_info < python_env.NEEDED:
        version = ".".join(str(part) for part in sys.version_info[:3])
        print(
            f"Python {version} is too old: Landbridge needs 3.11 or newer. Name another: make PYTHON=python3.12 setup"
        )
        return 1
    progress, logs = Progress(), ROOT / ".landbridge/logs/setup"
    try:
        cache = cache_folder()
        steps = [*local_cloud.steps(), *python_env.steps(ROOT), *go_tools.steps(ROOT, cache)]
        progress.expect(steps)
        if steps:
            progress.say("Setting up")
        if message := estimate.beforehand(steps):
            progress.say(message)
        local_cloud.set_up(logs, progress)
        python_env.set_up(ROOT, logs, progress)
        go_tools.set_up(ROOT, cache, logs, progress)
    except SetupError as error:
        print(f"\nSet-up stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        where = f" in {progress.now}" if progress.now else ""
        print(f"\nSet-up stopped by you{where}. What is done stays; the next one goes on from there.", file=sys.stderr)
        return 130
    message = f"Set up in {progress.total()}" if steps else "All is set up"
    progress.say(f"{message}. The command is .venv/bin/landbridge")
    return 0


if __name__ == "__main__":
    sys.exit(main())
