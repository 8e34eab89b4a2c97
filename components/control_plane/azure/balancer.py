"""The load balancer before a cluster's API on Azure: internal, with one planned address that is there in every zone."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.tags import Owner
from fleet.azure.ids import subscription
from fleet.buckets import resource_group
from fleet.model import Fleet

from ..machines import API_PORT, READY_PATH, ClusterSpec

# Of every region with zones.
ZONES = ("1", "2", "3")
CHECK_SECONDS, CHECKS = 5, 2
# Azure ends silent connections; watches are silent for minutes.
IDLE_MINUTES = 30
FRONTEND, POOL, PROBE = "api", "api", "ready"


class BalancerArgs(TypedDict):
    """`subnet_ids` are those of planned addresses, by zone."""

    fleet: Fleet
    spec: ClusterSpec
    owner: Owner
    subnet_ids: dict[str, pulumi.Input[str]]


class Balancer(pulumi.ComponentResource):
    """`pool_id` is what API machines' interfaces stand in.

    It hands packets on with the client's own address, so that a server which calls itself through it gets no answer
    (the hairpin trap). Azure has no switch against it: what runs on API machines calls its own server by the loopback.
    """

    def __init__(self, name: str, args: BalancerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:control-plane:Balancer", name, None, opts)
        fleet, spec, owner = args["fleet"], args["spec"], args["owner"]
        ((zone, address),) = spec.balancer.items()
        group, named = resource_group(fleet, spec.region), owner.name("api", 80)
        own = f"{subscription(fleet)}/resourceGroups/{group}/providers/Microsoft.Network/loadBalancers/{named}"
        self.balancer = azure.network.LoadBalancer(
            name,
            load_balancer_name=named,
            resource_group_name=group,
            location=spec.region,
            sku={"name": "Standard", "tier": "Regional"},
            frontend_ip_configurations=[
                {
                    "name": FRONTEND,
                    "private_ip_address": address,
                    "private_ip_allocation_method": "Static",
                    "subnet": {"id": args["subnet_ids"][zone]},
                    "zones": list(ZONES),
                }
            ],
            backend_address_pools=[{"name": POOL}],
            probes=[
                {
                    "name": PROBE,
                    "protocol": "Https",
                    "port": API_PORT,
                    "request_path": READY_PATH,
                    "interval_in_seconds": CHECK_SECONDS,
                    "number_of_probes": 1,
                    "probe_threshold": CHECKS,
                }
            ],
            load_balancing_rules=[
                {
                    "name": "api",
                    "protocol": "Tcp",
                    "frontend_port": API_PORT,
                    "backend_port": API_PORT,
                    "frontend_ip_configuration": {"id": f"{own}/frontendIPConfigurations/{FRONTEND}"},
                    "backend_address_pool": {"id": f"{own}/backendAddressPools/{POOL}"},
                    "probe": {"id": f"{own}/probes/{PROBE}"},
                    "idle_timeout_in_minutes": IDLE_MINUTES,
                    # Whoever was idle for too long is told, and does not wait.
                    "enable_tcp_reset": True,
                    # Machines go out by NAT alone.
                    "disable_outbound_snat": True,
                }
            ],
            tags=owner.tags("api"),
            # Protected here rather than in Azure: `destroy` asks, and needs no `up` before it.
            opts=pulumi.ResourceOptions(parent=self, protect=True),
        )
        self.pool_id: pulumi.Output[str] = pulumi.Output.concat(self.balancer.id, f"/backendAddressPools/{POOL}")
        self.register_outputs({})
