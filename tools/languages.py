"""Pulumi's hosts of other languages than Python: `python3 tools/languages.py`.

Tests of the package call it: they run programs of users' own. An official Pulumi brings these itself.
"""

import sys

import building
import sets

if __name__ == "__main__":
    sys.exit(building.built("Hosts of other languages", sets.set_up_languages))
