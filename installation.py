"""Where files of this installation lie: in a checkout, or in what `pip install` made of one.

A wheel has the folder of the command line as the package `landbridge`, and all other folders below `landbridge/house/`,
so that nobody who installs it finds a `fleet` or a `local` on the path of all programs. Standard library alone:
set-up's tools, the local cloud and the command line all ask here.
"""

import os
import re
from pathlib import Path

# Has fleet/, stacks/, tools/ and the files beside them.
TREE = Path(__file__).resolve().parent
# What `make setup` reads comes with no wheel.
CHECKOUT = (TREE / "Makefile").is_file()
OWN = TREE / ".landbridge"
# How a remedy names the command that builds what is missing: of a fleet on real clouds, of the local cloud.
SETUP = "`make setup`" if CHECKOUT else "`landbridge setup`"
SETUP_LOCAL = "`make setup`" if CHECKOUT else "`landbridge setup --local`"


def below(variable: str, usually: str) -> Path:
    """Our folder below one of the XDG base directories; by that specification a relative one counts for nothing."""
    base = os.environ.get(variable, "")
    # Of Path.expanduser, that of a user whom nobody knows is an error: a container's may be one.
    home = os.path.expanduser("~")  # noqa: PTH111
    return Path(base if base.startswith("/") else f"{home}/{usually}") / "landbridge"


def version() -> str:
    """The distribution's; asking the metadata of the installed takes longer than most of what is done with it."""
    found = re.search(r'^version = "(.+)"', (TREE / "pyproject.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def state() -> Path:
    """Of the local cloud, of runs, and what is kept of clusters."""
    if named := os.environ.get("LANDBRIDGE_HOME"):
        return Path(named).absolute()
    return OWN if CHECKOUT else below("XDG_STATE_HOME", ".local/state")


def programs() -> Path:
    """Over bin/, kubernetes/ and image/, with links to what set-up built; each version of ours pins others."""
    return OWN if CHECKOUT else below("XDG_DATA_HOME", ".local/share") / version()


STATE, PROGRAMS = state(), programs()
BIN = PROGRAMS / "bin"


def found(program: str) -> str | None:
    """In BIN, then on the PATH."""
    import shutil  # few commands look, and all import this

    return shutil.which(program, path=f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}")


def missing(program: str, set_up: str = "") -> str:
    """An error of commands that look for a program in BIN, then on the PATH."""
    looked = ".landbridge/bin" if CHECKOUT else BIN
    either = SETUP if CHECKOUT else f"{SETUP}, or {SETUP_LOCAL} for the local cloud"
    return f"{program} is missing: it is neither in {looked} nor on the PATH. Run {set_up or either}."
