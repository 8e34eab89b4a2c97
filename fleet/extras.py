"""Python packages that some fleets need and others don't: extras of the distribution, as pyproject.toml has them."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import NamedTuple

from .model import Fleet


class Extra(NamedTuple):
    """`wants` is who needs it, for people; `modules` are those that it brings, by which one sees whether it is here."""

    wants: str
    modules: tuple[str, ...]


EXTRAS: Mapping[str, Extra] = {
    "azure": Extra("a region in Azure", ("pulumi_azure_native", "azure")),
    "local": Extra("the local cloud", ("moto", "flask", "flask_cors", "werkzeug", "jwt", "xmltodict")),
    "images": Extra("a check of images", ("testinfra", "pytest")),
    "services": Extra("a service of clusters", ("prometheus_client", "grpc_tools", "pynvml")),
}


def missing(extra: str) -> str:
    """What to tell a person who needs an extra; empty where it is installed."""
    absent = [name for name in EXTRAS[extra].modules if find_spec(name) is None]
    return _told(extra, absent[0]) if absent else ""


def of_import(module: str | None) -> str:
    """What to tell a person when a module was not found; empty where no extra brings it."""
    name = (module or "").partition(".")[0]
    return next((_told(extra, module or "") for extra, one in EXTRAS.items() if name in one.modules), "")


def of_fleet(fleet: Fleet, file: str) -> Iterator[str]:
    """What a fleet needs and this machine has not, for people; a line for each of its clouds."""
    for cloud in dict.fromkeys(region.cloud for region in fleet.regions.values()):
        if cloud in EXTRAS and (why := missing(cloud)):
            regions = ", ".join(name for name, region in fleet.regions.items() if region.cloud == cloud)
            yield f"{file}: {regions}: {why}"


def _told(extra: str, module: str) -> str:
    return (
        f"{EXTRAS[extra].wants} wants Python packages that are not installed ({module}). "
        f"Install them: pip install 'landbridge[{extra}]', or in a checkout `make setup`."
    )
