"""Add-ons as resources of the kubernetes provider."""

from typing import TypedDict

import pulumi

from . import admission
from .addons import wanted
from .manifests import Manifest
from .spec import AddOnsSpec
from .teams import TEAM


class AddOnsArgs(TypedDict):
    """All that there is to know."""

    spec: AddOnsSpec


class AddOns(pulumi.ComponentResource):
    """Every add-on of a cluster; `resources` are those of each, by its name."""

    def __init__(self, name: str, args: AddOnsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:AddOns", name, None, opts)
        self.resources: dict[str, list[pulumi.CustomResource]] = {}
        for addon, entry in wanted(args["spec"]).items():
            before = [resource for need in entry.depends_on for resource in self.resources.get(need, ())]
            made: dict[str, pulumi.CustomResource] = {}
            for manifest in entry.made(args["spec"]):
                # A volume goes only after its claim: the other way round it waits, and the claim for it.
                volume = made.get(f"PersistentVolume/{manifest.get('spec', {}).get('volumeName')}")
                options = pulumi.ResourceOptions(parent=self, depends_on=[*before, *([volume] if volume else [])])
                made[resource_name(manifest)] = _resource(manifest, options)
            self.resources[addon] = list(made.values())
        self.register_outputs({})


def resource_name(manifest: Manifest) -> str:
    """KIND NAMESPACE/NAME: an object of the same identity is the same resource."""
    metadata = manifest["metadata"]
    return "/".join([manifest["kind"], *(metadata[key] for key in ("namespace", "name") if key in metadata)])


def token(manifest: Manifest) -> str:
    """The type as pulumi-kubernetes has it: kubernetes:apps/v1:DaemonSet, and `core` for what has no group."""
    version, kind = manifest["apiVersion"], manifest["kind"]
    group = version if "/" in version else f"core/{version}"
    # Teams' were made before, by others: they only get fields more, and lose those when the add-ons go.
    patched = kind == "Namespace" and TEAM in manifest["metadata"]["labels"]
    return f"kubernetes:{group}:{kind}{'Patch' if patched else ''}"


def _resource(manifest: Manifest, options: pulumi.ResourceOptions) -> pulumi.CustomResource:
    if manifest["kind"] in admission.KINDS:
        # With the cluster's version its own changes, and it is the same object.
        versions = {f"{admission.GROUP}/{version}" for version in ("v1", "v1beta1")} - {manifest["apiVersion"]}
        former = [pulumi.Alias(type_=token({**manifest, "apiVersion": one})) for one in versions]
        options = pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(aliases=former))
    # Not by the SDK's classes: they have a Python name for each field, and manifests have Kubernetes'.
    return pulumi.CustomResource(token(manifest), resource_name(manifest), manifest, options)
