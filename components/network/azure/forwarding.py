"""How a region's network on Azure asks another cloud's regions for their names: rules, and an endpoint that asks."""

from collections.abc import Sequence
from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner

from ..resolver import DNS, Forward


class ForwardingArgs(TypedDict):
    """`subnet_id` is that of questions, which nothing else is in; `resolver` the name of the network's resolver."""

    forwards: Sequence[Forward]
    region: str
    group: pulumi.Input[str]
    resolver: pulumi.Input[str]
    network_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    owner: Owner


class Forwarding(pulumi.ComponentResource):
    """Whatever asks in the network asks by it: machines, pods, and sites at the inbound endpoint."""

    def __init__(self, name: str, args: ForwardingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:network:AzureForwarding", name, None, opts)
        owner, group, region = args["owner"], args["group"], args["region"]
        child = pulumi.ResourceOptions(parent=self)
        endpoint = azure.dnsresolver.OutboundEndpoint(
            "questions",
            outbound_endpoint_name=owner.name("questions", 80),
            dns_resolver_name=args["resolver"],
            resource_group_name=group,
            location=region,
            subnet={"id": args["subnet_id"]},
            tags=owner.tags("questions"),
            opts=child,
        )
        ruleset = azure.dnsresolver.DnsForwardingRuleset(
            "questions",
            dns_forwarding_ruleset_name=owner.name("questions", 80),
            resource_group_name=group,
            location=region,
            dns_resolver_outbound_endpoints=[{"id": endpoint.id}],
            tags=owner.tags("questions"),
            opts=child,
        )
        for forward in args["forwards"]:
            azure.dnsresolver.ForwardingRule(
                f"questions-{forward.region}",
                forwarding_rule_name=forward.region,
                dns_forwarding_ruleset_name=ruleset.name,
                resource_group_name=group,
                # Azure wants the root's dot.
                domain_name=f"{forward.zone}.",
                forwarding_rule_state="Enabled",
                target_dns_servers=[{"ip_address": address, "port": DNS} for address in forward.addresses],
                opts=child,
            )
        azure.dnsresolver.PrivateResolverVirtualNetworkLink(
            "questions",
            virtual_network_link_name=owner.name("network", 80),
            dns_forwarding_ruleset_name=ruleset.name,
            resource_group_name=group,
            virtual_network={"id": args["network_id"]},
            opts=child,
        )
        self.register_outputs({})
