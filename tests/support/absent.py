"""`python -m tests.support.absent NAME,NAME… MODULE WORD…`: runs a module where these packages are not installed."""

import runpy
import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any


def hide(names: set[str]) -> None:
    real = PathFinder.find_spec

    def find_spec(name: str, *rest: Any) -> ModuleSpec | None:
        return None if name.partition(".")[0] in names else real(name, *rest)

    PathFinder.find_spec = staticmethod(find_spec)  # type: ignore[assignment, method-assign]


if __name__ == "__main__":
    hide(set(sys.argv[1].split(",")))
    sys.argv[:] = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
