"""The plugin: it answers the engine with the package's components."""

import tomllib
from pathlib import Path

import pulumi
from pulumi.provider.experimental import component_provider_host

from .addons import AddOns
from .cluster import Cluster
from .links import Links
from .pool import Pool
from .region import Region

NAME = "landbridge"
COMPONENTS: list[type[pulumi.ComponentResource]] = [Region, Links, Cluster, Pool, AddOns]


def main() -> None:
    """Serves until the engine ends it."""
    component_provider_host(COMPONENTS, NAME, version=version())


def version() -> str:
    """The repository's. Where Pulumi has installed the plugin it is no distribution that could be asked."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    return str(project["version"])
