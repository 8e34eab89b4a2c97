"""The fleet's shares in a cluster: one StorageClass a share, one volume and one claim a team, one home a person.

A claim has its share's name in every team's namespace and in every cluster, so that a Job mounts `data` wherever it
runs. Volumes are made from the fleet file, not on demand: a share is there before anybody asks and outlives all.
"""

from collections.abc import Iterator

from components.storage.mounts import FILES_OPTIONS, NFS_OPTIONS, OnFiles, OnNfs, Source, home, source
from fleet.shares import HOMES
from fleet.team_storage import namespace

from .csi import EFS_DRIVER, NFS_DRIVER
from .manifests import Manifest, meta
from .spec import AddOnsSpec

ADDON = "shares"
UID = "landbridge.dev/uid"
# Kubernetes wants a size; neither NFS nor EFS knows one, and Azure has its own bound.
SIZE = "1Pi"


def wanted(spec: AddOnsSpec) -> bool:
    return bool(spec.fleet.storage.shares) and (spec.nfs is not None or bool(spec.file_systems))


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    """The shares of the site's NFS server if the cluster has one, else those of its home region.

    Every region's own are there besides, as SHARE-REGION: data near the machines that read it.
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
                yield from _pair(
                    spec, namespace(team), share, share, _volume(_source(spec, share), namespace(team), share)
                )
                for region, files in sorted(spec.file_systems.items()):
                    name = f"{share}-{region}"
                    near = _volume(files.near(share), namespace(team), name)
                    yield from _pair(spec, namespace(team), share, name, near)


def _of_people(spec: AddOnsSpec) -> Iterator[Manifest]:
    """A person's home, under their own name, with the uid that owns it on every machine."""
    if HOMES not in spec.fleet.storage.shares:
        return
    for name, person in sorted(spec.fleet.people.items()):
        space, claim = namespace(person.team), f"home-{name}"
        theirs = _volume(_source(spec, HOMES, name), space, claim)
        yield from _pair(spec, space, HOMES, claim, theirs, {UID: str(person.uid)})


def _source(spec: AddOnsSpec, share: str, person: str = "") -> Source:
    files = None if spec.nfs else home(spec.cluster.region, spec.file_systems)
    return source(spec.fleet, spec.nfs, files, (*spec.regions, *spec.sites), share, person)


def _volume(of: Source, space: str, claim: str) -> Manifest:
    """What a namespace's volume says of where it comes from."""
    if isinstance(of, OnNfs):
        return _nfs(f"{of.site}{of.path}#{space}", of.server, of.path, NFS_OPTIONS)
    if isinstance(of, OnFiles):
        # In the home region a share is there twice, by one name and by two claims.
        return _nfs(f"{of.region}{of.path}#{space}.{claim}", of.server, of.path, FILES_OPTIONS)
    found: Manifest = {"csi": {"driver": EFS_DRIVER.name, "volumeHandle": of.handle}}
    if of.address:
        found["csi"]["volumeAttributes"] = {"mounttargetip": of.address}
        # TLS is checked against the file system's name, which has its region, and a node knows its own alone.
        found["mountOptions"] = [f"region={of.region}"]
    return found


def _nfs(handle: str, server: str, path: str, options: list[str]) -> Manifest:
    """Whoever mounts one handle twice on a node gets one mount: the handle of each namespace is its own."""
    attributes = {"server": server, "share": path}
    csi = {"driver": NFS_DRIVER.name, "volumeHandle": handle, "volumeAttributes": attributes}
    return {"csi": csi, "mountOptions": options}


def _pair(
    spec: AddOnsSpec, space: str, share: str, name: str, origin: Manifest, annotations: dict[str, str] | None = None
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
            **origin,
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta(name, ADDON, space, **more),
        "spec": {**shared, "volumeName": volume, "resources": {"requests": {"storage": SIZE}}},
    }
