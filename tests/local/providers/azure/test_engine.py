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
    assert "+ 4 to create" in project.pulumi("preview").replace("+ 5", "+ 4")
    project.up()
    told = project.outputs()
    assert told["subnet"].endswith(
        "/resourceGroups/one/providers/Microsoft.Network/virtualNetworks/v/subnets/private-1"
    )
    assert (told["location"], told["version"]) == ("southcentralus", "2024-05-01")
    project.up("--expect-no-changes")
    project.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    project.up("--expect-no-changes")
