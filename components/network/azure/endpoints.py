"""Private ways from a region's network to an account or a vault on Azure: an endpoint in there, and its name."""

from typing import NamedTuple, NotRequired, TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner


class Service(NamedTuple):
    """`group` is the part of a resource that the endpoint is of; `zone` the private zone of its names (Azure docs,
    "Azure Private Endpoint private DNS zone values").
    """

    group: str
    zone: str


BLOB = Service("blob", "privatelink.blob.core.windows.net")
FILES = Service("file", "privatelink.file.core.windows.net")
VAULT = Service("vault", "privatelink.vaultcore.azure.net")


class EndpointArgs(TypedDict):
    """`target_id` is who is reached; `address` is planned, or left out for one that Azure gives."""

    region: str
    service: Service
    target_id: pulumi.Input[str]
    network_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    group: pulumi.Input[str]
    owner: Owner
    address: NotRequired[str]


class Endpoint(pulumi.ComponentResource):
    """`endpoint` is Azure's resource. Its name leads to it for the region's own network."""

    def __init__(self, name: str, args: EndpointArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:network:Endpoint", name, None, opts)
        owner, group, service = args["owner"], args["group"], args["service"]
        child = pulumi.ResourceOptions(parent=self)
        fixed = {
            "ip_configurations": [
                {
                    "name": name,
                    "group_id": service.group,
                    "member_name": service.group,
                    "private_ip_address": args.get("address"),
                }
            ]
        }
        self.endpoint = azure.network.PrivateEndpoint(
            name,
            private_endpoint_name=owner.name(name, 64),
            resource_group_name=group,
            location=args["region"],
            subnet={"id": args["subnet_id"]},
            custom_network_interface_name=owner.name(f"{name}-card", 80),
            private_link_service_connections=[
                {"name": name, "private_link_service_id": args["target_id"], "group_ids": [service.group]}
            ],
            tags=owner.tags(name),
            # Azure tells here which names its zone group has.
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(ignore_changes=["customDnsConfigs"])),
            **(fixed if "address" in args else {}),
        )
        zone = azure.privatedns.PrivateZone(
            f"{name}-zone",
            private_zone_name=service.zone,
            resource_group_name=group,
            location="global",
            tags=owner.tags(f"{name}-zone"),
            opts=child,
        )
        azure.privatedns.VirtualNetworkLink(
            f"{name}-zone-network",
            virtual_network_link_name=owner.name("network", 80),
            private_zone_name=zone.name,
            resource_group_name=group,
            location="global",
            registration_enabled=False,
            # Else accounts and vaults of other regions, whose endpoints are in zones of their own, would have no name.
            resolution_policy="NxDomainRedirect",
            virtual_network={"id": args["network_id"]},
            tags=owner.tags(f"{name}-zone-network"),
            opts=child,
        )
        azure.network.PrivateDnsZoneGroup(
            f"{name}-names",
            private_dns_zone_group_name="default",
            private_endpoint_name=self.endpoint.name,
            resource_group_name=group,
            private_dns_zone_configs=[{"name": service.group, "private_dns_zone_id": zone.id}],
            opts=child,
        )
        self.register_outputs({})
