"""A region's network on Azure: virtual network, subnets, gateways, routes, security groups, flow log, private zone."""

from collections.abc import Mapping
from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner

from .forwarding import Forwarding
from .groups import Rule
from .hub import Hub
from .spec import NetworkSpec
from .subnets import NAMES, QUESTIONS, Subnet

# Made by Azure itself, one a region, with the subscription's first network there.
WATCHERS = "NetworkWatcherRG"
FLOW_LOG_DAYS = 90


class NetworkArgs(TypedDict):
    """`group` is the region's resource group; `flow_log_account_id` the storage account that receives the flow log.

    `inside` are addresses of tunnels, by instance of the hub.
    """

    spec: NetworkSpec
    owner: Owner
    group: pulumi.Input[str]
    flow_log_account_id: pulumi.Input[str]
    inside: tuple[tuple[str, ...], tuple[str, ...]]


class Network(pulumi.ComponentResource):
    """`subnet_ids` by subnet name, `tables` route tables by name."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:network:Network", name, None, opts)
        self.spec, self.owner, self.group = args["spec"], args["owner"], args["group"]
        self.child = pulumi.ResourceOptions(parent=self)
        self.groups = {name: self._group(name, rules) for name, rules in self.spec.groups.items()}
        self.tables = {name: self._table(name) for name in self.spec.tables}
        self.nats = {zone: self._nat(zone) for zone in self.spec.nat_zones}
        self.network = azure.network.VirtualNetwork(
            "network",
            virtual_network_name=self.owner.name("network", 64),
            resource_group_name=self.group,
            location=self.spec.region,
            address_space={"address_prefixes": [self.spec.cidr]},
            # In the network's own request: Azure takes one write of a network or its subnets at a time.
            subnets=[self._subnet(subnet) for subnet in self.spec.subnets],
            tags=self.owner.tags("network"),
            opts=self.child,
        )
        self.subnet_ids = {
            subnet.name: pulumi.Output.concat(self.network.id, "/subnets/", subnet.name) for subnet in self.spec.subnets
        }
        self.hub = Hub(
            "hub",
            {
                "region": self.spec.region,
                "asn": self.spec.asn,
                "inside": args["inside"],
                "subnet_id": self.subnet_ids["GatewaySubnet"],
                "group": self.group,
                "owner": self.owner,
            },
            self.child,
        )
        self.zone = azure.privatedns.PrivateZone(
            "zone",
            private_zone_name=self.spec.zone_name,
            resource_group_name=self.group,
            location="global",
            tags=self.owner.tags("zone"),
            opts=self.child,
        )
        self._link_zone()
        if self.spec.resolver:
            self._resolver(self.spec.resolver)
        self._flow_log(args["flow_log_account_id"])
        self.register_outputs({})

    def _link_zone(self) -> None:
        """Lets the network's machines resolve the zone's names."""
        azure.privatedns.VirtualNetworkLink(
            "zone-network",
            virtual_network_link_name=self.owner.name("network", 80),
            private_zone_name=self.zone.name,
            resource_group_name=self.group,
            location="global",
            registration_enabled=False,
            virtual_network={"id": self.network.id},
            tags=self.owner.tags("zone-network"),
            opts=self.child,
        )

    def _group(self, name: str, rules: tuple[Rule, ...]) -> azure.network.NetworkSecurityGroup:
        return azure.network.NetworkSecurityGroup(
            f"group-{name}",
            network_security_group_name=self.owner.name(name, 80),
            resource_group_name=self.group,
            location=self.spec.region,
            security_rules=[
                {
                    "name": rule.name,
                    "priority": rule.priority,
                    "direction": "Inbound",
                    "access": rule.access,
                    "protocol": rule.protocol,
                    "source_address_prefix": rule.source,
                    "source_port_range": "*",
                    "destination_address_prefix": rule.to,
                    "destination_port_range": rule.ports,
                    "description": rule.why,
                }
                for rule in rules
            ],
            tags=self.owner.tags(name),
            opts=self.child,
        )

    def _table(self, name: str) -> azure.network.RouteTable:
        """Empty: a network's own gateway tells its subnets by itself what it learns. Clusters bring routes along."""
        return azure.network.RouteTable(
            f"table-{name}",
            route_table_name=self.owner.name(name, 80),
            resource_group_name=self.group,
            location=self.spec.region,
            disable_bgp_route_propagation=False,
            tags=self.owner.tags(name),
            # Routes are of other stacks.
            opts=pulumi.ResourceOptions.merge(self.child, pulumi.ResourceOptions(ignore_changes=["routes"])),
        )

    def _nat(self, zone: str) -> azure.network.NatGateway:
        name = f"nat-{zone}"
        address = azure.network.PublicIPAddress(
            name,
            public_ip_address_name=self.owner.name(name, 80),
            resource_group_name=self.group,
            location=self.spec.region,
            sku={"name": "Standard", "tier": "Regional"},
            public_ip_allocation_method="Static",
            zones=[zone],
            tags=self.owner.tags(name),
            # The gateway takes it, and Azure writes that down here.
            opts=pulumi.ResourceOptions.merge(self.child, pulumi.ResourceOptions(ignore_changes=["natGateway"])),
        )
        return azure.network.NatGateway(
            name,
            nat_gateway_name=self.owner.name(name, 80),
            resource_group_name=self.group,
            location=self.spec.region,
            sku={"name": "Standard"},
            public_ip_addresses=[{"id": address.id}],
            zones=[zone],
            tags=self.owner.tags(name),
            opts=self.child,
        )

    def _subnet(self, subnet: Subnet) -> Mapping[str, object]:
        found: dict[str, object] = {
            "name": subnet.name,
            "address_prefix": subnet.cidr,
            # Only what a NAT gateway or a public address of its own lets out reaches the internet.
            "default_outbound_access": False,
            "private_endpoint_network_policies": "NetworkSecurityGroupEnabled",
        }
        if subnet.group:
            found["network_security_group"] = {"id": self.groups[subnet.group].id}
        if subnet.table:
            found["route_table"] = {"id": self.tables[subnet.table].id}
        if subnet.nat_zone:
            found["nat_gateway"] = {"id": self.nats[subnet.nat_zone].id}
        if subnet.delegation:
            found["delegations"] = [{"name": subnet.name, "service_name": subnet.delegation}]
        return found

    def _resolver(self, address: str) -> None:
        """It answers by all zones that the network is linked with: those of every region."""
        resolver = azure.dnsresolver.DnsResolver(
            "resolver",
            dns_resolver_name=self.owner.name("resolver", 80),
            resource_group_name=self.group,
            location=self.spec.region,
            virtual_network={"id": self.network.id},
            tags=self.owner.tags("resolver"),
            opts=self.child,
        )
        azure.dnsresolver.InboundEndpoint(
            "resolver-sites",
            inbound_endpoint_name=self.owner.name("sites", 80),
            dns_resolver_name=resolver.name,
            resource_group_name=self.group,
            location=self.spec.region,
            ip_configurations=[
                {
                    "subnet": {"id": self.subnet_ids[NAMES]},
                    "private_ip_address": address,
                    "private_ip_allocation_method": "Static",
                }
            ],
            tags=self.owner.tags("resolver-sites"),
            opts=self.child,
        )
        if self.spec.forwards:
            Forwarding(
                "forwarding",
                {
                    "forwards": self.spec.forwards,
                    "region": self.spec.region,
                    "group": self.group,
                    "resolver": resolver.name,
                    "network_id": self.network.id,
                    "subnet_id": self.subnet_ids[QUESTIONS],
                    "owner": self.owner,
                },
                self.child,
            )

    def _flow_log(self, account_id: pulumi.Input[str]) -> None:
        azure.network.FlowLog(
            "flow-log",
            flow_log_name=self.owner.name("flow-log", 80),
            network_watcher_name=f"NetworkWatcher_{self.spec.region}",
            resource_group_name=WATCHERS,
            location=self.spec.region,
            target_resource_id=self.network.id,
            storage_id=account_id,
            enabled=True,
            format={"type": "JSON", "version": 2},
            retention_policy={"enabled": True, "days": FLOW_LOG_DAYS},
            tags=self.owner.tags("flow-log"),
            opts=self.child,
        )
