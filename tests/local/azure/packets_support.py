"""Networks of a local Azure as the kernel has them, and what decides in them, as short as Azure takes it."""

from typing import Any

from local.azure.network_state import router
from local.network.plan import Site
from local.network.routers import PLATFORM
from tests.support.packets import Probe
from tests.support.wires import Wires

from .network_support import Place, reference
from .support import LocalAzure

NOBODY: dict[str, Any] = {name: [] for name in ("networks", "hubs", "connections")}


class Networks:
    """A test's networks, as the kernel has them. Probes are from an address of a network to one, on a port of TCP."""

    def __init__(self, azure: LocalAzure, here: Place, wires: Wires) -> None:
        self.azure, self.here, self.wires = azure, here, wires
        self.others: dict[str, Any] = NOBODY
        self.sites: list[Site] = []

    def apply(self) -> Any:
        """Has them as the local Azure has them now; gives what is seen of tunnels."""
        told = self.azure.own("world")
        mine = {one["id"] for one in self.listed("virtualNetworks")}
        gateways = {one["id"] for one in self.listed("virtualNetworkGateways")}
        world = {
            **self.others,
            "machines": [],
            "vnets": [one for one in told["vnets"] if one["id"] in {router(id_) for id_ in mine}],
            "gateways": [one for one in told["gateways"] if one["id"] in {router(id_) for id_ in gateways}],
        }
        return self.wires.apply(world, self.sites)

    def listed(self, type_: str) -> list[dict[str, Any]]:
        return list(self.azure.ask("GET", f"{self.here.id}/providers/Microsoft.Network/{type_}").json()["value"])

    def place(self, network: str) -> str:
        """The router of one of the group's networks; another name is a router's own."""
        return router(self.here.path("virtualNetworks", network)) if network in ("net", "far") else network

    def passes(self, source: str, target: str, port: int = 443, network: str = "net", protocol: str = "tcp") -> bool:
        asked = Probe(source=[self.place(network), source], target=target, port=port, protocol=protocol)
        (found,) = self.wires.passed(asked)
        return found

    def answers(self, source: str, endpoint: str, network: str = "net") -> bool:
        """Whether the local Azure answers at an endpoint, which nobody else does."""
        asked = Probe(source=[self.place(network), source], target=endpoint, port=443, protocol="tcp", at=PLATFORM)
        (found,) = self.wires.passed(asked)
        return found


def rule(priority: int, access: str, source: str, ports: str = "*", **more: Any) -> dict[str, Any]:
    told = {"priority": priority, "access": access, "direction": "Inbound", "protocol": "*", "sourcePortRange": "*"}
    told |= {"sourceAddressPrefix": source, "destinationAddressPrefix": "*", "destinationPortRange": ports, **more}
    return {"name": f"{access}-{priority}-{told['direction']}".lower(), "properties": told}


def group(here: Place, name: str, *rules: dict[str, Any]) -> dict[str, str]:
    return reference(here.make("networkSecurityGroups", name, properties={"securityRules": list(rules)}))


def card(here: Place, address: str, subnet: dict[str, Any], group: Any = None, name: str = "", **more: Any) -> None:
    one = {"subnet": reference(subnet), "privateIPAddress": address, "privateIPAllocationMethod": "Static", **more}
    own = {"networkSecurityGroup": group} if group else {}
    properties = {"ipConfigurations": [{"name": "one", "properties": one}], **own}
    here.make("networkInterfaces", name or address.replace(".", "-"), properties=properties)


def peering(here: Place, name: str, other: str, **flags: bool) -> None:
    remote = {"id": here.path("virtualNetworks", other)}
    here.make(
        "virtualNetworks/virtualNetworkPeerings", name, other, properties={"remoteVirtualNetwork": remote, **flags}
    )
