"""Add-ons of clusters with nodes in Azure, at home in AWS or in Azure: golden files, and what must hold."""

import json
from collections.abc import Iterator

import pytest

from components.addons import addons, autoscaler, csi, node_dns, rdma, shares, teams
from components.addons.autoscaler_settings import settings
from components.addons.aws import team_pods as aws_team_pods
from components.addons.manifests import Manifest
from components.addons.spec import AddOnsSpec, addons_spec
from components.network.azure.spec import network_spec
from components.pools import kubelet, labels
from components.storage.mounts import RegionFiles, files_of
from fleet.world import World
from tests.components.addons import bed
from tests.components.addons.test_autoscaler import _order
from tests.support import golden

SOUTH, WEST = "southcentralus", "us-west-2"


@pytest.fixture(scope="module")
def world() -> World:
    return bed.both()


def spec_of(world: World, cluster: str) -> AddOnsSpec:
    """With shares as region stacks have them."""
    address = network_spec(world.fleet, world.plan, SOUTH).shares_address
    systems: dict[str, RegionFiles] = {SOUTH: files_of(world.fleet, SOUTH, address)}
    systems |= {name: bed.file_system(world, name) for name in (WEST, "eu-west-1")}
    bare = addons_spec(world.fleet, world.plan, cluster)
    return bare._replace(file_systems={name: systems[name] for name in {*bare.regions, bare.cluster.region}})


@pytest.fixture(scope="module")
def main(world: World) -> AddOnsSpec:
    """At home in AWS."""
    return spec_of(world, "main")


@pytest.fixture(scope="module")
def south(world: World) -> AddOnsSpec:
    """At home in Azure."""
    return spec_of(world, "south")


@pytest.mark.golden
def test_what_differs_with_azure(main: AddOnsSpec, south: AddOnsSpec) -> None:
    shown: dict[str, dict[str, Manifest]] = {}
    for of, made in (
        (main, [*rdma.manifests(main), *csi.nfs(main), *teams.manifests(main)]),
        (south, [*rdma.manifests(south), *shares.manifests(south)]),
    ):
        shown[of.cluster.name] = {f"{one['kind']}/{_name(one)}": one for one in made}
    golden.compare(bed.HERE / "golden/azure.yaml", shown)


def _name(one: Manifest) -> str:
    return "/".join(one["metadata"][key] for key in ("namespace", "name") if key in one["metadata"])


def sources(of: AddOnsSpec) -> Iterator[tuple[str, Manifest]]:
    for one in shares.manifests(of):
        if one["kind"] == "PersistentVolume":
            yield one["metadata"]["name"], one["spec"]


def test_shares_of_a_region_are_mounted_there_by_name_and_elsewhere_by_an_address_of_the_plan(
    world: World, main: AddOnsSpec, south: AddOnsSpec
) -> None:
    address = network_spec(world.fleet, world.plan, SOUTH).shares_address
    account = main.file_systems[SOUTH].account  # type: ignore[union-attr]
    here, away = dict(sources(main)), dict(sources(south))
    near = {"server": f"{account}.file.core.windows.net", "share": f"/{account}/data"}
    for found in (here[f"main.team-research.data-{SOUTH}"], away[f"south.team-research.data-{SOUTH}"]):
        assert found["csi"]["driver"] == "nfs.csi.k8s.io"
        assert found["csi"]["volumeAttributes"] == near
        assert found["mountOptions"][0] == "nfsvers=4.1", "Azure Files knows no later one"
    # The second cluster has nodes elsewhere, too.
    assert away["south.team-research.data"]["csi"]["volumeAttributes"] == {**near, "server": address}
    home = {"server": address, "share": f"/{account}/homes/alice"}
    assert away["south.team-platform.home-alice"]["csi"]["volumeAttributes"] == home
    assert here["main.team-research.data"]["csi"]["driver"] == "efs.csi.aws.com"
    assert f"main.team-research.data-{WEST}" in here
    assert f"south.team-research.data-{WEST}" in away


def test_a_cluster_of_one_region_has_its_shares_by_name_and_each_volume_a_handle_of_its_own(south: AddOnsSpec) -> None:
    alone = south._replace(
        pools=tuple(pool for pool in south.pools if pool.place == SOUTH),
        file_systems={SOUTH: south.file_systems[SOUTH]},
    )
    found = dict(sources(alone))
    by_name = [one for one in found.values() if one["csi"]["volumeAttributes"]["server"].endswith("windows.net")]
    assert len(by_name) == len(found)
    assert len({one["csi"]["volumeHandle"] for one in found.values()}) == len(found)
    assert [name for name in addons.wanted(alone) if name.startswith("csi")] == ["csi-nfs"]


def test_a_cluster_with_nodes_at_sites_alone_mounts_the_shares_of_its_home_there(south: AddOnsSpec) -> None:
    host = next(pool for pool in spec_of(bed.both(), "main").pools if pool.site)
    alone = south._replace(pools=(host._replace(cluster="south"),), file_systems={SOUTH: south.file_systems[SOUTH]})
    assert "csi-nfs" in addons.wanted(alone)
    (server,) = {one["csi"]["volumeAttributes"]["server"] for name, one in sources(alone) if SOUTH not in name}
    assert server == south.file_systems[SOUTH].address


def test_infiniband_is_advertised_on_azure_without_the_adapter_of_the_network(main: AddOnsSpec) -> None:
    made = {one["metadata"]["name"]: one for one in rdma.manifests(main) if one["kind"] == "ConfigMap"}
    selectors = {
        name: json.loads(one["data"]["config.json"])["configList"][0]["selectors"] for name, one in made.items()
    }
    assert selectors[rdma.IN_AZURE]["linkTypes"] == ["infiniband"]
    assert "linkTypes" not in selectors[rdma.ADDON], "RoCE of sites is Ethernet"


def test_each_node_with_rdma_has_one_of_the_two_plugins(main: AddOnsSpec) -> None:
    terms = {}
    for one in rdma.manifests(main):
        if one["kind"] == "DaemonSet":
            pod = one["spec"]["template"]["spec"]
            assert pod["nodeSelector"] == {labels.RDMA: "true"}
            affinity = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            (term,) = affinity["nodeSelectorTerms"]
            (terms[one["metadata"]["name"]],) = term["matchExpressions"]
            # The same label of both: by it the node's own look for their plugin.
            name, value = labels.RDMA_PLUGIN
            assert one["spec"]["template"]["metadata"]["labels"][name] == value
    assert terms == {
        rdma.ADDON: {"key": labels.PLACE, "operator": "NotIn", "values": [SOUTH]},
        rdma.IN_AZURE: {"key": labels.PLACE, "operator": "In", "values": [SOUTH]},
    }


def test_sizes_with_infiniband_have_the_label_and_the_template_promises_it(main: AddOnsSpec) -> None:
    pools = {pool.name: pool for pool in main.pools}
    having = {name for name, pool in pools.items() if labels.labels(pool).get(labels.RDMA) == "true"}
    assert having == {"south-gpu", "site-gpu"}
    groups = {group["pool"]: group["template"]["status"]["allocatable"] for group in settings(main)["groups"]}
    assert groups["south-gpu"][labels.RDMA_RESOURCE] == str(kubelet.MOST_PODS)
    assert labels.RDMA_RESOURCE not in groups["south-cpu"]
    assert labels.RDMA_RESOURCE not in groups["west-gpu"]


def test_overflow_goes_on_from_eu_to_azure(main: AddOnsSpec) -> None:
    """The order of the fleet file, whatever the cloud."""
    order = [name for names in _order(main) for name in names if "gpu" in name]
    assert order == [
        *("both-west-gpu-a", "both-west-gpu-b", "both-eu-gpu-a"),
        *("both-south-gpu-1", "both-south-gpu-2"),
    ]


@pytest.mark.parametrize("cluster", ["main", "south"])
def test_the_autoscaler_takes_a_role_in_each_cloud_with_machines_of_the_cluster(world: World, cluster: str) -> None:
    of = spec_of(world, cluster)
    (cloud,) = [one for one in autoscaler.pod(of)["initContainers"] if one["name"] == "cloud"]
    env = {one["name"]: one.get("value") for one in cloud["env"]}
    assert env[aws_team_pods.ROLE] == f"arn:aws:iam::123456789012:role/both-{cluster}-addons-autoscaler"
    assert env["AWS_REGION"] in {region for region, told in world.fleet.regions.items() if told.cloud == "aws"}
    assert env["AZURE_TENANT_ID"] == world.fleet.azure.tenant_id  # type: ignore[union-attr]
    assert env["AZURE_CLIENT_ID"] is None, "it is in a ConfigMap"
    assert settings(of)["region_clouds"][SOUTH] == "azure"


def test_teams_pods_reach_neither_instance_metadata_nor_azure_s_platform(main: AddOnsSpec, example: AddOnsSpec) -> None:
    def closed(of: AddOnsSpec) -> set[str]:
        policies = [one["spec"]["egress"] for one in teams.manifests(of) if one["kind"] == "NetworkPolicy"]
        return {cidr for ((rule),) in policies for cidr in rule["to"][0]["ipBlock"]["except"]}

    assert closed(main) == {"169.254.169.254/32", "168.63.129.16/32"}
    assert closed(bed.in_aws(example)) == {"169.254.169.254/32"}


def test_names_of_others_are_asked_of_the_node_s_own_resolver(main: AddOnsSpec) -> None:
    """Of Azure's platform on one, of the VPC's on the other: neither stands in a file that all nodes have."""
    assert "forward . /etc/resolv.conf" in node_dns.corefile(main)
    assert "168.63" not in node_dns.corefile(main)
