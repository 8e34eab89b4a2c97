"""The fleet's shares in a cluster: one StorageClass a share, one volume and one claim a team, one home a person.

A claim has its share's name in every team's namespace and in every cluster, so that a Job mounts `data` wherever it
runs. Volumes are made from the fleet file, not on demand: a share is there before anybody asks and outlives all.
"""

from collections.abc import Iterator
from typing import Any

from fleet.shares import HOMES

from .csi import EFS_DRIVER, NFS_DRIVER
from .manifests import Manifest, meta
from .spec import AddOnsSpec
from .teams import namespace

ADDON = "shares"
UID = "landbridge.dev/uid"
# Kubernetes wants a size; neither NFS nor EFS knows one.
SIZE = "1Pi"
# Never soft: a write that gives up is lost. Four connections, as some mounts cross a VPN.
NFS_OPTIONS = [
    *("nfsvers=4.2", "hard", "proto=tcp", "nconnect=4", "rsize=1048576", "wsize=1048576"),
    *("timeo=600", "retrans=2", "noatime"),
]


def wanted(spec: AddOnsSpec) -> bool:
    return bool(spec.fleet.storage.shares) and (spec.nfs is not None or bool(spec.file_systems))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    """The shares of the site's NFS server if the cluster has one, else of EFS in its home region.

    Every AWS region's own EFS is there besides, as SHARE-REGION: data near the machines that read it.
    """
    return [*_classes(spec), *_of_teams(spec), *_of_people(spec)]


def _classes(spec: AddOnsSpec) -> Iterator[Manifest]:
    for share in sorted(spec.fleet.storage.shares):
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": meta(share, ADDON, ""),
            "provisioner": "kubernetes.io/no-provisioner",
            "reclaimPolicy": "Retain",
            "volumeBindingMode": "Immediate",
        }


def _of_teams(spec: AddOnsSpec) -> Iterator[Manifest]:
    for team in sorted(spec.fleet.teams):
        for share in sorted(spec.fleet.storage.shares):
            if share != HOMES:  # nobody's claim is all of it
                yield from _pair(spec, namespace(team), share, share, source(spec, share, namespace(team)))
                for region, handles in sorted(spec.file_systems.items()):
                    name = f"{share}-{region}"
                    yield from _pair(spec, namespace(team), share, name, _efs(handles[share]))


def _of_people(spec: AddOnsSpec) -> Iterator[Manifest]:
    """A person's home, under their own name, with the uid that owns it on every machine."""
    if HOMES not in spec.fleet.storage.shares:
        return
    for name, person in sorted(spec.fleet.people.items()):
        space = namespace(person.team)
        home = source(spec, HOMES, space, name)
        yield from _pair(spec, space, HOMES, f"home-{name}", home, {UID: str(person.uid)})


def source(spec: AddOnsSpec, share: str, space: str, below: str = "") -> Manifest:
    """Where a volume comes from; `below` is a folder of the share."""
    if spec.nfs is None:
        home = _home(spec)
        # Its name resolves in its own network alone: places elsewhere mount it by an address of the plan.
        elsewhere = {*spec.regions, *spec.sites} - {home}
        return _efs(spec.file_systems[home][share], below, spec.mount_addresses[home] if elsewhere else "")
    path = f"{spec.fleet.storage.shares[share].path}{'/' if below else ''}{below}"
    # Whoever mounts one handle twice on a node gets one mount: each namespace has its own.
    handle = f"{spec.nfs.site}{path}#{space}"
    attributes = {"server": spec.nfs.server, "share": path}
    csi = {"driver": NFS_DRIVER.name, "volumeHandle": handle, "volumeAttributes": attributes}
    return {"csi": csi, "mountOptions": NFS_OPTIONS}


def _home(spec: AddOnsSpec) -> str:
    """The cluster's own region if shares are known there, else the first where they are."""
    return spec.cluster.region if spec.cluster.region in spec.file_systems else min(spec.file_systems)


def _efs(handle: Any, below: str = "", address: str = "") -> Manifest:
    """FILESYSTEM::ACCESSPOINT, with a folder of the access point in the middle."""
    attributes = {"volumeAttributes": {"mounttargetip": address}} if address else {}
    return {
        "csi": {"driver": EFS_DRIVER.name, "volumeHandle": _within(handle, below) if below else handle, **attributes}
    }


def _within(handle: Any, below: str) -> Any:
    if isinstance(handle, str):
        system, _, point = handle.partition("::")
        return f"{system}:/{below}:{point}"
    return handle.apply(lambda text: _within(text, below))


def _pair(
    spec: AddOnsSpec, space: str, share: str, name: str, source: Manifest, annotations: dict[str, str] | None = None
) -> Iterator[Manifest]:
    """A volume and the claim that is bound to it and to no other."""
    more = {"annotations": annotations} if annotations else {}
    shared = {"accessModes": ["ReadWriteMany"], "storageClassName": share, "volumeMode": "Filesystem"}
    volume = f"{spec.cluster.name}.{space}.{name}"
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": meta(volume, ADDON, "", **more),
        "spec": {
            **shared,
            "capacity": {"storage": SIZE},
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": space, "name": name},
            **source,
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta(name, ADDON, space, **more),
        "spec": {**shared, "volumeName": volume, "resources": {"requests": {"storage": SIZE}}},
    }
