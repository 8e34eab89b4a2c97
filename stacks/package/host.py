"""The plugin: it answers the engine with the package's components."""

import sys
import tomllib
from pathlib import Path

from pulumi.provider import main as serve

from .described import Package


def main() -> None:
    """Serves until the engine ends it."""
    # The first argument is the folder of the plugin, as the language host gives it.
    serve(Package(version()), sys.argv[1:])


def version() -> str:
    """The repository's. Where Pulumi has installed the plugin it is no distribution that could be asked."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    return str(project["version"])
