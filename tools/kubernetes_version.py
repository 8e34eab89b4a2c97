"""The servers of an older Kubernetes for local machines: `python3 tools/kubernetes_version.py VERSION`.

`landbridge up --local` calls it when a cluster asks for a version that set-up does not build.
"""

import sys
from pathlib import Path

import go_tools
from progress import Progress
from running import SetupError, cache_folder

ROOT = Path(__file__).resolve().parent.parent


def main(version: str) -> int:
    progress = Progress()
    progress.say(f"Kubernetes {version} for the local cloud")
    try:
        go_tools.set_up_older(version, ROOT, cache_folder(), ROOT / ".landbridge/logs/setup", progress)
    except SetupError as error:
        print(f"\nKubernetes {version} was not built: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped by you; the next one goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
