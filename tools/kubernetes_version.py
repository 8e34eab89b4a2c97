"""The servers of an older Kubernetes for local machines: `python3 tools/kubernetes_version.py VERSION`.

`landbridge up --local` calls it when a cluster asks for a version that set-up does not build.
"""

import sys
from functools import partial

import building
import sets


def main(version: str) -> int:
    return building.built(f"Kubernetes {version} for the local cloud", partial(sets.set_up_older, version))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
