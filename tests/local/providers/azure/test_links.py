"""The links' components for Azure on the real engine: what they say, the local Azure takes, by Azure's own rules."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.links import tunnel_settings
from components.links.azure.connections import inside_addresses, other_ends
from local.azure import sign_in
from tests.components.links.bed import planned
from tests.support.cloud import ROOT

from .project import Plugins, Project

pytestmark = pytest.mark.cloud
HERE, THERE = "southcentralus", "westeurope"
PEERING = "azure-native:network:VirtualNetworkPeering"
PROGRAM = f"""\
import sys
sys.path.insert(0, "{ROOT}")
import pulumi_random as random
from components.links.azure.links import Links
from components.links.azure.connections import inside_addresses, other_ends
from components.links.names import SiteZone
from components.links.plan import peerings
from components.network.azure.hub import Hub
from components.tags import Owner
from fleet import hubs
from tests.components.links.bed import planned
fleet, plan = planned("{HERE}", "{THERE}")
ends = {{}}
for region in ("{HERE}", "{THERE}"):
    owner, own = Owner("example", "platform", region), pulumi.ResourceOptions(provider=here)
    block = plan.region(region)
    group = az.resources.ResourceGroup(region, resource_group_name=f"example-{{region}}", location=region, opts=own).name
    net = az.network.VirtualNetwork(region, resource_group_name=group, virtual_network_name=f"{{region}}-network", location=region,
        address_space={{"address_prefixes": [block.network]}},
        subnets=[{{"name": "GatewaySubnet", "address_prefix": block.gateway}}], opts=own)
    zone = az.privatedns.PrivateZone(region, resource_group_name=group, location="global",
        private_zone_name=f"{{region}}.fleet.example.com", opts=own)
    vault = az.keyvault.Vault(region, resource_group_name=group, vault_name=f"v{{region}}"[:24], location=region,
        properties={{"tenant_id": "{{tenant}}", "sku": {{"name": "standard", "family": "A"}},
            "enable_rbac_authorization": True}}, opts=own)
    # One parent of a kind of its own for each: a stack has one hub otherwise.
    place = pulumi.ComponentResource(f"test:place:{{region}}", region, None, pulumi.ResourceOptions(providers=[here]))
    hub = Hub(region, {{"region": region, "asn": hubs.asn(region), "group": group, "owner": owner,
        "subnet_id": net.id.apply(lambda id: f"{{id}}/subnets/GatewaySubnet"),
        "inside": inside_addresses(fleet, plan, region)}}, pulumi.ResourceOptions(parent=place))
    ends[region] = {{"provider": here, "region": region, "group": group, "vault": vault.name, "network_id": net.id,
        "zone_name": zone.name, "hub_id": hub.gateway.id, "hub_addresses": [one.ip_address for one in hub.addresses],
        "told": []}}
made = Links("links", {{"regions": ends, "aws": {{}}, "cross_cloud": [], "peerings": [one for one in peerings(fleet) if one.here in ends],
    "ends": [end for region in ends for end in other_ends(fleet, plan, region) if end.site],
    "zones": [SiteZone("lab", "lab.fleet.example.com", (("host-1.lab.fleet.example.com", "192.168.50.11"),))],
    "owner": Owner("example", "platform", "links")}}, pulumi.ResourceOptions(providers=[random.Provider("random")]))
pulumi.export("connections", {{name: one.vpn.id for name, one in made.sites.items()}})
"""


@pytest.fixture
def links(tmp_path: Path, made: Plugins) -> Project:
    project = Project(tmp_path / "project", made)
    settings = project.folder / "Pulumi.yaml"
    random = f"    - {{name: random, path: {ROOT / 'local/plugins/random'}}}\n"
    settings.write_text(settings.read_text().replace("  providers:\n", f"  providers:\n{random}"))
    return project


def state(project: Project, kind: str) -> list[Any]:
    told = json.loads(project.pulumi("stack", "export", "--show-secrets"))["deployment"]["resources"]
    return [one for one in told if one["type"] == f"azure-native:{kind}"]


def test_sites_and_regions_of_azure_are_joined(links: Project) -> None:
    links.program(PROGRAM.replace("{tenant}", sign_in.TENANT))
    links.up()
    fleet, plan = planned(HERE, THERE)
    connections = state(links, "network:VirtualNetworkGatewayConnection")
    assert len(connections) == 2
    for one in connections:
        outputs, inputs = one["outputs"], one["inputs"]
        (policies,) = outputs["ipsecPolicies"]
        assert policies["ipsecEncryption"] == policies["ipsecIntegrity"] == tunnel_settings.AZURE["ipsec_encryption"]
        assert (outputs["enableBgp"], outputs["connectionMode"], outputs["dpdTimeoutSeconds"]) == (
            True,
            "ResponderOnly",
            45,
        )
        (end,) = (
            end
            for region in (HERE, THERE)
            for end in other_ends(fleet, plan, region)
            if end.site and end.name in one["urn"]
        )
        said = {each["customBgpIpAddress"] for each in inputs["gatewayCustomBgpIpAddresses"]}
        assert said == set(end.instances)
    for hub in state(links, "network:VirtualNetworkGateway"):
        region = hub["inputs"]["location"]
        told = tuple(tuple(one["customBgpIpAddresses"]) for one in hub["outputs"]["bgpSettings"]["bgpPeeringAddresses"])
        assert told == inside_addresses(fleet, plan, region)
    peers = state(links, "network:VirtualNetworkPeering")
    assert len(peers) == 2
    assert not [one for one in peers if one["inputs"]["useRemoteGateways"] or one["inputs"]["allowGatewayTransit"]]
    kept = {one["inputs"]["secretName"].rpartition("-")[0] for one in state(links, "keyvault:Secret")}
    assert kept == {f"example-links-{region}-lab-1" for region in (HERE, THERE)}
    links.up("--expect-no-changes")
    # Which half is made first is chance; what its state tells of it is "Initiated" for good.
    exported = json.loads(links.pulumi("stack", "export"))
    for half in (one for one in exported["deployment"]["resources"] if one["type"] == PEERING):
        half["outputs"].update(peeringState="Initiated", peeringSyncLevel="RemoteNotInSync")
    edited = links.folder / "edited.json"
    edited.write_text(json.dumps(exported))
    links.pulumi("stack", "import", "--file", str(edited))
    links.pulumi("refresh", "--yes", "--expect-no-changes", "--skip-preview")
