"""What the cluster keeps to when machines join and go, and then, once that stands, whose machines may."""

from components.pools import admission
from components.pools.joining import azure

from .manifests import NAME, Manifest
from .spec import AddOnsSpec

ADDON, POOLS_ADDON = "joining", "joining-pools"


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    more = admission.azure_rights() if azure(spec.fleet, spec.joining) else []
    return [
        _named(one, ADDON)
        for one in (*admission.service_config_maps(), *admission.rights(), *admission.policy(), *more)
    ]


def pools(spec: AddOnsSpec) -> list[Manifest]:
    return [_named(admission.pools(spec.joining, azure(spec.fleet, spec.joining)), POOLS_ADDON)]


def _named(manifest: Manifest, addon: str) -> Manifest:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata["labels"], NAME: addon}}}
