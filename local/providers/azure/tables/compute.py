"""Machines, disks, scale sets, galleries of images."""

from collections.abc import Mapping

from ..kinds import Kind, within

N = "Microsoft.Compute"
GALLERY = "galleries/{galleryName}"
IMAGE = f"{GALLERY}/images/{{galleryImageName}}"

KINDS: Mapping[str, Kind] = {
    "azure-native:compute:Disk": Kind(within(N, "disks/{diskName}"), "compute.Disk"),
    "azure-native:compute:VirtualMachine": Kind(within(N, "virtualMachines/{vmName}"), "compute.VirtualMachine"),
    "azure-native:compute:VirtualMachineScaleSet": Kind(
        within(N, "virtualMachineScaleSets/{vmScaleSetName}"), "compute.VirtualMachineScaleSet"
    ),
    "azure-native:compute:Gallery": Kind(within(N, GALLERY), "compute.Gallery"),
    "azure-native:compute:GalleryImage": Kind(within(N, IMAGE), "compute.GalleryImage"),
    "azure-native:compute:GalleryImageVersion": Kind(
        within(N, f"{IMAGE}/versions/{{galleryImageVersionName}}"), "compute.GalleryImageVersion"
    ),
}
