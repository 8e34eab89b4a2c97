"""The add-ons of the example and of other fleets: golden files, and what must hold for each manifest."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from components.addons import addons, admission, csi, dns, flannel, images, node_dns, shares, teams
from components.addons.azure import team_pods as azure_team_pods
from components.addons.definitions import FOLDER
from components.addons.manifests import MANAGED_BY, NAME, Manifest
from components.addons.priorities import BUYS_FROM, SITE_DNS, SPARE_DNS, TABLE
from components.addons.spec import AddOnsSpec, addons_spec
from components.pools import containerd, kubelet, labels
from components.storage.mounts import Nfs
from fleet import container_lock
from landbridge.access import rbac
from tests.components.addons import bed
from tests.support import golden


def clouds_only(example: AddOnsSpec) -> AddOnsSpec:
    """No site, no system pool, CPU machines in one region."""
    pools = tuple(pool for pool in example.pools if pool.name == "cpu")
    return example._replace(pools=pools, nfs=None)


def two_places(example: AddOnsSpec) -> AddOnsSpec:
    """A site without NFS, and a region."""
    return example._replace(nfs=None)


def in_both_clouds(_: AddOnsSpec) -> AddOnsSpec:
    world = bed.both()
    return addons_spec(world.fleet, world.plan, "main")


VARIANTS: dict[str, Callable[[AddOnsSpec], AddOnsSpec]] = {
    "example": lambda example: example,
    "clouds-only": clouds_only,
    "site-without-nfs": two_places,
    "spares": lambda example: bed.with_spares(example, west_gpu=2),
    azure_team_pods.ADDON: in_both_clouds,
}


@pytest.mark.golden
@pytest.mark.parametrize("addon", addons.TABLE)
def test_the_manifests_of_an_add_on(addon: str, example: AddOnsSpec) -> None:
    made = addons.TABLE[addon].manifests(VARIANTS.get(addon, VARIANTS["example"])(example))
    shown: dict[str, Any] = {}
    for one in made:
        if settings := one.get("data", {}).get("settings.json"):  # long: to be read as what it is
            one["data"]["settings.json"] = json.loads(settings)
        metadata = one["metadata"]
        if one["kind"] == "CustomResourceDefinition" and (FOLDER / f"{metadata['name']}.json").exists():
            one["spec"]["versions"] = [version["name"] for version in one["spec"]["versions"]]  # thousands of lines
        shown[
            "/".join([one["kind"], *([metadata["namespace"]] if "namespace" in metadata else []), metadata["name"]])
        ] = one
    assert len(shown) == len(made)
    golden.compare(bed.HERE / f"golden/{addon}.yaml", shown)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_manifest_says_whose_it_is(variant: str, example: AddOnsSpec) -> None:
    for addon, made in addons.manifests(VARIANTS[variant](example)).items():
        for one in made:
            assert one["metadata"]["labels"][MANAGED_BY] == "landbridge"
            assert one["metadata"]["labels"][NAME] == addon, one["metadata"]["name"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_an_add_on_needs_comes_before_it(variant: str, example: AddOnsSpec) -> None:
    there: set[str] = set()
    for name, addon in addons.TABLE.items():
        assert set(addon.depends_on) <= there
        there.add(name)
    made = addons.manifests(VARIANTS[variant](example))
    assert list(made) == [name for name in addons.TABLE if name in made]


@pytest.mark.parametrize(("version", "api"), [("1.35.8", "v1beta1"), ("1.36.0", "v1"), ("1.37.0", "v1")])
def test_policies_of_admission_are_called_as_the_version_has_them(version: str, api: str, example: AddOnsSpec) -> None:
    of = example._replace(cluster=example.cluster._replace(kubernetes=version))
    every = [one for made in addons.manifests(of).values() for one in made]
    changing = [one for one in every if one["kind"] in admission.KINDS]
    assert len(changing) >= 8
    assert {one["apiVersion"] for one in changing} == {f"{admission.GROUP}/{api}"}
    judging = {one["apiVersion"] for one in every if one["kind"].startswith("ValidatingAdmission")}
    assert judging == {f"{admission.GROUP}/v1"}


def test_a_cluster_has_the_add_ons_that_it_needs(example: AddOnsSpec) -> None:
    assert list(addons.manifests(VARIANTS["spares"](example))) == list(addons.TABLE)
    assert list(addons.manifests(example)) == [name for name in addons.TABLE if name != "spares"]
    in_aws = [name for name in addons.TABLE if name != azure_team_pods.ADDON]
    assert list(addons.manifests(bed.in_aws(VARIANTS["spares"](example)))) == in_aws
    without = {
        "nvidia-device-plugin",
        "aws-efa-device-plugin",
        "rdma-shared-device-plugin",
        "csi-nfs",
        "spares",
        "gpu-exporter",
        "site-metrics",
    }
    assert list(addons.manifests(clouds_only(bed.in_aws(example)))) == [name for name in in_aws if name not in without]
    # Nobody has published a file system yet: drivers, and no volumes.
    assert "shares" not in addons.manifests(bed.spec(regions=())._replace(nfs=None))


@pytest.mark.parametrize("variant", VARIANTS)
def test_images_are_those_of_the_table(variant: str, example: AddOnsSpec) -> None:
    of = VARIANTS[variant](example)
    known = {str(image) for image in (*images.PINNED, images.kube_proxy(of.cluster.kubernetes))}
    for name, pod in bed.pods(bed.every(of)):
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            assert container["image"] in known, name
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}, name
            assert "cpu" not in container["resources"].get("limits", {}), name
    assert all(image.tag[-1].isdigit() for image in images.PINNED), "no tag that moves"


def test_pods_are_replaced_when_their_configuration_changes(example: AddOnsSpec) -> None:
    other = example._replace(cluster=example.cluster._replace(pods_cidr="10.99.0.0/16"))

    def noted(of: AddOnsSpec, name: str) -> str:
        template = bed.named(bed.every(of), "DaemonSet", name)["spec"]["template"]
        return json.dumps(template["metadata"]["annotations"])

    assert noted(example, "flannel") != noted(other, "flannel")
    assert noted(example, "kube-proxy") != noted(other, "kube-proxy")
    assert noted(example, "node-dns") == noted(other, "node-dns")


def test_only_hosts_of_one_lan_route_directly(example: AddOnsSpec) -> None:
    made = bed.every(example)
    config = {
        name: json.loads(bed.named(made, "ConfigMap", name)["data"]["net-conf.json"])
        for name in ("flannel", "flannel-site")
    }
    assert {one["Network"] for one in config.values()} == {example.cluster.pods_cidr}
    assert [config[name]["Backend"].pop("DirectRouting") for name in ("flannel", "flannel-site")] == [False, True]
    assert config["flannel"] == config["flannel-site"]
    assert config["flannel"]["Backend"]["MTU"] == 1400
    # Each node has one of the two, whatever its labels are.
    terms = [_expression(bed.named(made, "DaemonSet", name)) for name in ("flannel", "flannel-site")]
    assert terms == [(labels.PLACE, "NotIn", ["lab"]), (labels.PLACE, "In", ["lab"])]
    alone = flannel.manifests(clouds_only(example))
    assert [one["metadata"]["name"] for one in alone if one["kind"] == "DaemonSet"] == ["flannel"]
    assert "affinity" not in bed.named(alone, "DaemonSet", "flannel")["spec"]["template"]["spec"]


def _expression(one: Manifest) -> tuple[str, str, list[str]]:
    affinity = one["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (found,) = term["matchExpressions"]
    return found["key"], found["operator"], found["values"]


def test_dns_is_where_kubelets_say_it_is(example: AddOnsSpec) -> None:
    made = bed.every(example)
    (told,) = {address for pool in example.pools for address in kubelet.config(pool)["clusterDNS"]}
    assert bed.named(made, "Service", dns.SERVICE)["spec"]["clusterIP"] == told
    cache = bed.named(made, "DaemonSet", "node-dns")["spec"]["template"]["spec"]["containers"][0]
    assert f"-localip={node_dns.ADDRESS},{told}" in cache["args"]
    upstream = bed.named(made, "Service", dns.UPSTREAM)["spec"]["clusterIP"]
    assert node_dns.corefile(example).count(f"forward . {upstream} ") == len(node_dns.ZONES)
    assert upstream != told


def test_dns_buys_no_machine_where_there_may_be_none(example: AddOnsSpec) -> None:
    found = {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]["priorityClassName"]
        for one in dns.manifests(example)
        if one["kind"] == "Deployment"
    }
    assert found == {
        "coredns-eu-west-1": SPARE_DNS,
        "coredns-us-east-1": SPARE_DNS,
        "coredns-us-west-2": "system-cluster-critical",
        "coredns-lab": SITE_DNS,
        "coredns-southcentralus": SPARE_DNS,
    }
    assert TABLE[SPARE_DNS].value < BUYS_FROM


def test_no_class_ends_the_work_of_the_default_one() -> None:
    (default,) = [one for one in TABLE.values() if one.default]
    assert not [name for name, one in TABLE.items() if one.preempts and one.value > default.value]


def test_namespaces_are_those_that_access_knows(example: AddOnsSpec) -> None:
    theirs = {
        one["metadata"]["name"]: one["metadata"]["labels"]
        for one in rbac.teams(example.fleet)
        if one["kind"] == "Namespace"
    }
    ours = {
        one["metadata"]["name"]: one["metadata"]["labels"]
        for one in teams.manifests(example)
        if one["kind"] == "Namespace"
    }
    assert ours.keys() == theirs.keys()
    assert all(theirs[name].items() <= ours[name].items() for name in theirs)


def test_a_claim_has_one_name_everywhere(example: AddOnsSpec) -> None:
    def claims(of: AddOnsSpec) -> set[tuple[str, str]]:
        made = shares.manifests(of)
        return {
            (one["metadata"]["namespace"], one["metadata"]["name"])
            for one in made
            if one["kind"] == "PersistentVolumeClaim"
        }

    assert claims(example) == claims(clouds_only(example))
    assert {("team-research", "data"), ("team-research", "home-bob"), ("team-platform", "home-alice")} <= claims(
        example
    )
    assert not [name for _, name in claims(example) if name.startswith("homes")]


def test_volumes_come_from_the_site_or_else_from_the_home_region(example: AddOnsSpec) -> None:
    def data(of: AddOnsSpec, name: str) -> Manifest:
        return dict(bed.named(shares.manifests(of), "PersistentVolume", name)["spec"]["csi"])

    server = {"server": "host-1.lab.fleet.example.com", "share": "/data"}
    assert data(example, "main.team-research.data")["volumeAttributes"] == server
    home = data(example, "main.team-research.home-bob")["volumeAttributes"]["share"]
    assert home == "/homes/bob"
    addressed = example._replace(nfs=Nfs("lab", "10.0.0.9"))
    assert data(addressed, "main.team-research.data")["volumeAttributes"]["server"] == "10.0.0.9"
    alone = clouds_only(example)
    assert data(alone, "main.team-research.data") == {
        "driver": "efs.csi.aws.com",
        "volumeHandle": "fs-us-west-2::fsap-data",
    }
    assert data(alone, "main.team-research.home-bob")["volumeHandle"] == "fs-us-west-2::fsap-home-bob"


def test_efs_is_mounted_elsewhere_by_an_address_of_the_plan_and_by_its_region(example: AddOnsSpec) -> None:
    """Its name resolves in its own network alone, and names the region that nodes there would not guess."""
    made = shares.manifests(two_places(example))
    for name in ("main.team-research.data", "main.team-research.home-bob"):
        spec = bed.named(made, "PersistentVolume", name)["spec"]
        assert spec["csi"]["volumeAttributes"]["mounttargetip"] == example.file_systems["us-west-2"].address
        assert spec["mountOptions"] == ["region=us-west-2"]
    near = bed.named(made, "PersistentVolume", "main.team-research.data-eu-west-1")["spec"]
    assert "mountOptions" not in near
    assert near["csi"] == {"driver": "efs.csi.aws.com", "volumeHandle": "fs-eu-west-1::fsap-data"}


def test_handles_differ_where_volumes_do(example: AddOnsSpec) -> None:
    """A node mounts a handle once, whoever asks."""
    found = [
        one["spec"]["csi"]["volumeHandle"] for one in shares.manifests(example) if one["kind"] == "PersistentVolume"
    ]
    nfs = [handle for handle in found if "#" in handle]
    assert len(set(nfs)) == len(nfs) > 0


def test_drivers_leave_the_owner_of_a_share_alone(example: AddOnsSpec) -> None:
    for made in (csi.nfs(example), csi.efs(example)):
        assert made[0]["spec"]["fsGroupPolicy"] == "None"


def test_no_volume_is_mounted_below_one_that_nobody_may_write_to(example: AddOnsSpec) -> None:
    """A container has no folder to mount it on there, and never starts."""
    for name, pod in bed.pods(bed.every(example)):
        for one in (*pod["containers"], *pod.get("initContainers", ())):
            paths = {
                mount["mountPath"].rstrip("/"): mount.get("readOnly", False) for mount in one.get("volumeMounts", ())
            }
            below = [
                (path, other)
                for path in paths
                for other, fixed in paths.items()
                if fixed and path.startswith(f"{other}/")
            ]
            assert not below, f"{name}: {below}"


def test_a_pod_is_given_the_digest_that_is_locked_but_for_what_machines_bring() -> None:
    pin = container_lock.locked()[images.REGISTRAR.name]
    assert pin.digest
    assert str(images.REGISTRAR) == f"{images.REGISTRAR.name}@{pin.digest}"
    assert [str(image) for image in images.OF_MACHINES] == [image.name for image in images.OF_MACHINES]
    assert images.PAUSE.name == containerd.PAUSE
