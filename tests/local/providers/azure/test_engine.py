"""The `azure-native` plugin on the real engine: what a program may expect of it, from create to destroy."""

import pytest

from .project import Project

pytestmark = pytest.mark.cloud

NETWORK = """\
group = az.resources.ResourceGroup("g", resource_group_name="one", tags={"fleet": "f"}, opts=opts)
vnet = az.network.VirtualNetwork("v", resource_group_name=group.name, virtual_network_name="v",
    address_space={"address_prefixes": ["10.1.0.0/16"]}, tags={"fleet": "f"}, opts=opts)
subnet = az.network.Subnet("s", resource_group_name=group.name, virtual_network_name=vnet.name, subnet_name="private-1",
    address_prefix="10.1.1.0/24", opts=opts)
pulumi.export("subnet", subnet.id)
pulumi.export("location", vnet.location)
pulumi.export("version", vnet.azure_api_version)
"""


def test_create_keep_update_replace_and_destroy(project: Project) -> None:
    project.program(NETWORK)
    assert "+ 5 to create" in project.pulumi("preview")
    project.up()
    told = project.outputs()
    assert told["subnet"].endswith(
        "/resourceGroups/one/providers/Microsoft.Network/virtualNetworks/v/subnets/private-1"
    )
    assert (told["location"], told["version"]) == ("southcentralus", "2024-05-01")
    project.up("--refresh", "--expect-no-changes")
    azure = project.made.azure
    network = told["subnet"].partition("/subnets/")[0]
    body = azure.ask("GET", network).json()
    azure.put(network, {**body, "tags": {"fleet": "f", "by": "hand"}})
    # Drift is put right, and a change of the network leaves its subnet alone.
    assert "~ 1 updated" in project.up("--refresh")
    assert azure.ask("GET", network).json()["tags"] == {"fleet": "f"}
    assert [one["name"] for one in azure.ask("GET", network).json()["properties"]["subnets"]] == ["private-1"]
    project.program(NETWORK.replace("10.1.1.0/24", "10.1.2.0/24").replace('"private-1"', '"private-2"'))
    assert "+-1 replaced" in project.up().replace(" ", "").replace("+-1", "+-1 ")
    assert [one["name"] for one in azure.ask("GET", network).json()["properties"]["subnets"]] == ["private-2"]
    project.pulumi("destroy", "--yes", "--skip-preview")
    assert azure.own("inventory") == {}
