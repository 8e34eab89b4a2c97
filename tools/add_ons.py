"""The programs that add-ons run on nodes, for the benchmark of what they ask: `python3 tools/add_ons.py`.

`bench/addon_calls.py` calls it. On a cluster they come as images.
"""

import sys

import building
import sets

if __name__ == "__main__":
    sys.exit(building.built("Programs of add-ons", sets.set_up_add_ons))
