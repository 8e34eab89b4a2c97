"""The command line: it runs the stacks in their order and does all that operators do.

Of an installed wheel this is the one name on the path of all programs. What else belongs to it lies below `house/`, and
whoever imports this has that first on the path: see `installation`.
"""

import sys
from os.path import dirname, isdir, join

# Strings, since pathlib alone takes longer than this: programs that Pulumi starts begin here.
_HOUSE = join(dirname(__file__), "house")  # noqa: PTH118, PTH120
if isdir(_HOUSE) and _HOUSE not in sys.path:  # noqa: PTH112
    sys.path.insert(0, _HOUSE)


def program(name: str) -> None:
    """Runs `stacks` or `policies` as Python runs a program: what a `__main__.py` beside a Pulumi.yaml calls."""
    import runpy

    runpy.run_module(name, run_name="__main__", alter_sys=True)
