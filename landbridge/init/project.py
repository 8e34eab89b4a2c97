"""What plain `pulumi` wants beside a fleet file, and what no repository should hold."""

import sys
from pathlib import Path

from landbridge.projects import FILE, PACK_FILE, PROGRAM, relative
from stacks.catalogue import PROJECT

PULUMI = """\
# Plain `pulumi up -s STACK` here does what `landbridge up STACK` does, by the same programs: see __main__.py.
name: {project}
description: The fleet of {fleet}
runtime:
  name: python{options}
config:
  # A resource without an explicit provider is an error.
  pulumi:disable-default-providers:
    value: ["*"]
"""
PACK = """\
# What every fleet must hold, for plain `pulumi up --policy-pack policies`; `landbridge` has it by itself.
description: What every fleet of Landbridge must hold
runtime:
  name: python{options}
"""
OPTIONS = """
  options:
    # The Python that has Landbridge.
    virtualenv: {virtualenv}"""
# Folders of Python and of state, and what commands write with keys in it, for kubectl, laptops and sites' gateways.
IGNORED = (".venv/", ".landbridge/", "__pycache__/", "*.kubeconfig", "*.ovpn", "*-gateways/")
IGNORE = ".gitignore"


def files(folder: Path, fleet: str) -> dict[str, str]:
    """By path below `folder`."""
    return {
        FILE: PULUMI.format(project=PROJECT, fleet=fleet, options=_options(folder)),
        "__main__.py": PROGRAM.format("stacks"),
        f"policies/{PACK_FILE}": PACK.format(options=_options(folder / "policies")),
        "policies/__main__.py": PROGRAM.format("policies"),
    }


def ignored(text: str) -> str:
    """A .gitignore with all that it should hold, behind what it holds already."""
    lines = text.splitlines()
    missing = [line for line in IGNORED if line not in lines]
    return "".join(f"{line}\n" for line in (*lines, *missing))


def _options(folder: Path) -> str:
    """Nothing where Landbridge is installed in no virtual environment: Pulumi takes the Python of the PATH then."""
    if sys.prefix == sys.base_prefix:
        return ""
    return OPTIONS.format(virtualenv=relative(Path(sys.prefix), folder))
