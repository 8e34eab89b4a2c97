"""What the cluster keeps to when machines join and go, and then, once that stands, whose machines may."""

from components.pools import admission
from components.pools.joining import azure

from .aws import joining_role
from .manifests import NAME, Manifest
from .spec import AddOnsSpec

ADDON, POOLS_ADDON = "joining", "joining-pools"


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    there = bool(azure(spec.fleet, spec.joining))
    more = admission.cloud_rights(azure=there) if there or _role(spec) else []
    return [
        _named(one, ADDON)
        for one in (*admission.service_config_maps(), *admission.rights(), *admission.policy(), *more)
    ]


def pools(spec: AddOnsSpec) -> list[Manifest]:
    return [_named(admission.pools(spec.joining, azure(spec.fleet, spec.joining), _role(spec)), POOLS_ADDON)]


def _role(spec: AddOnsSpec) -> str:
    """The role in AWS by which the service sees instances there; empty where its machines have one of their own."""
    fleet, cluster = spec.fleet, spec.cluster.name
    return joining_role.role_arn(fleet, cluster) if joining_role.wanted(fleet, cluster) else ""


def _named(manifest: Manifest, addon: str) -> Manifest:
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata["labels"], NAME: addon}}}
