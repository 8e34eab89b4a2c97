"""What can be reached from outside on Azure: rules, public addresses, balancers, and networks that nobody watches."""

from collections.abc import Iterator
from typing import Any

from fleet import laptops
from fleet.address.blocks import parse
from fleet.world import World

from ..boot import MACHINE
from ..reading import UNKNOWN, Finding, Item, finding, of_types, tag, undecidable, unknown_in, values
from ..settings import Setting, judged

GROUP, RULE = "azure-native:network:NetworkSecurityGroup", "azure-native:network:SecurityRule"
NETWORK, FLOW_LOG = "azure-native:network:VirtualNetwork", "azure-native:network:FlowLog"
BALANCER = "azure-native:network:LoadBalancer"
# Type → where it says who may come in.
INGRESS = {
    GROUP: ("securityRules.sourceAddressPrefix", "securityRules.sourceAddressPrefixes"),
    RULE: ("sourceAddressPrefix", "sourceAddressPrefixes"),
}
# Type → where a rule stands that ends what Azure lets in by itself: the whole network and all that is joined with it.
ENDS = {GROUP: ("securityRules",)}
PUBLIC_IP_CONFIGURATION = "networkProfile.networkInterfaceConfigurations.ipConfigurations.publicIPAddressConfiguration"
# Type → what gives a machine a public address.
PUBLIC_ADDRESS = {
    "azure-native:network:NetworkInterface": ("ipConfigurations.publicIPAddress",),
    "azure-native:compute:VirtualMachine": (PUBLIC_IP_CONFIGURATION,),
    "azure-native:compute:VirtualMachineScaleSet": (f"virtualMachineProfile.{PUBLIC_IP_CONFIGURATION}",),
}
# Type → what makes a balancer public.
FRONTENDS = {BALANCER: ("frontendIPConfigurations.publicIPAddress",)}
NO_WAY_OUT = Setting((False,), "Set it to false: machines go out by NAT alone")
OUTBOUND = {
    NETWORK: {"subnets.defaultOutboundAccess": NO_WAY_OUT},
    "azure-native:network:Subnet": {"defaultOutboundAccess": NO_WAY_OUT},
    FLOW_LOG: {"enabled": Setting((True,), "Set it to true")},
}
# Tags of Azure that stand for its own and for nobody else: the health probes of balancers.
OWN = {"AzureLoadBalancer"}
EVERYBODY = {"*", "Internet", "0.0.0.0/0"}
EVERYWHERE, ANY, API_PORT = "0.0.0.0/0", "*", 6443
DECLARE = "Name a prefix of the plan, or declare the port under `ingress` in the fleet file"


def findings(found: list[Item], world: World) -> Iterator[Finding]:
    yield from judged(found, OUTBOUND)
    for item in of_types(found, INGRESS):
        for path in INGRESS[item.type]:
            yield from _ingress(item, path, world)
    for item in of_types(found, ENDS):
        yield from _ends(item)
    for item in of_types(found, PUBLIC_ADDRESS):
        for path in PUBLIC_ADDRESS[item.type]:
            yield from _public_address(item, path, world)
    for item in of_types(found, FRONTENDS):
        for path in FRONTENDS[item.type]:
            yield from _frontend(item, path, world)
    yield from _flow_logs(found)


def _rules(item: Item) -> Iterator[Any]:
    yield from values(item.props, "securityRules") if item.type == GROUP else [item.props]


def _ingress(item: Item, path: str, world: World) -> Iterator[Finding]:
    name = path.rpartition(".")[2]
    for rule in _rules(item):
        if rule is UNKNOWN:
            yield undecidable(item, "its ingress")._replace(path=path)
        elif isinstance(rule, dict) and rule.get("direction") != "Outbound" and rule.get("access") != "Deny":
            for source in values(rule.get(name), ""):
                if source is UNKNOWN:
                    yield undecidable(item, "its ingress")._replace(path=path)
                elif source and source not in OWN and not _of_the_fleet(source, world):
                    yield from _foreign(item, path, rule, str(source), world)


def _of_the_fleet(source: Any, world: World) -> bool:
    try:
        block = parse(str(source))
    except ValueError:
        return False
    return block == parse(world.fleet.supernet) or any(known.holds(block) for known in world.plan.blocks.values())


def _foreign(item: Item, path: str, rule: dict[str, Any], source: str, world: World) -> Iterator[Finding]:
    protocol, ports = (
        rule.get("protocol"),
        [rule.get("destinationPortRange"), *(rule.get("destinationPortRanges") or ())],
    )
    if unknown_in([protocol, ports]):
        yield undecidable(item, "its ingress")._replace(path=path)
        return
    cidr = EVERYWHERE if source in EVERYBODY else source
    declared = {(one.protocol, str(one.port), one.cidr) for one in world.fleet.ingress}
    # Their servers' group, and that of the region's public subnets.
    if any(laptops.served(world.fleet, name) for name in (laptops.region_of(item.stack), item.stack)):
        declared.add(("udp", str(laptops.PORT), EVERYWHERE))
    requested = [str(port) for port in ports if port]
    if not requested or any((str(protocol).lower(), port, cidr) not in declared for port in requested):
        opened = "every port" if ANY in requested or not requested else f"{protocol} {', '.join(requested)}"
        what = f"ingress from {source} to {opened} is wider than the plan and not declared"
        yield finding(item, path, what, DECLARE)


def _ends(item: Item) -> Iterator[Finding]:
    rules = list(values(item.props, "securityRules"))
    if unknown_in([rule if rule is UNKNOWN else _whom(rule) for rule in rules if rule is not None]):
        yield undecidable(item, "securityRules")
    elif not any(rule and _whom(rule) == ["Inbound", "Deny", ANY, ANY, ANY, ANY] for rule in rules):
        what = "it ends in no rule that lets nobody in: Azure's own let in the whole network and all that is joined"
        yield finding(item, "securityRules", what, "Deny * from * to * at the end, by priority 4096")


def _whom(rule: dict[str, Any]) -> list[Any]:
    whom = ("protocol", "sourceAddressPrefix", "destinationAddressPrefix", "destinationPortRange")
    return [rule.get("direction"), rule.get("access"), *(rule.get(name) for name in whom)]


def _public_address(item: Item, path: str, world: World) -> Iterator[Finding]:
    if laptops.served(world.fleet, laptops.region_of(item.stack)) and tag(item, MACHINE) not in (None, UNKNOWN):
        return  # servers that laptops come in by from the world
    for value in values(item.props, path):
        if value is UNKNOWN:
            yield undecidable(item, path)
        elif value:
            yield finding(item, path, f"{path} gives machines public addresses", "Leave it out; they go out by NAT")


def _frontend(item: Item, path: str, world: World) -> Iterator[Finding]:
    declared = any(one.port == API_PORT for one in world.fleet.ingress)
    for value in values(item.props, path):
        if value is UNKNOWN and not declared:
            yield undecidable(item, path)
        elif value and not declared:
            what = f"{path} makes the balancer public, and no `ingress` declares port {API_PORT}"
            yield finding(item, path, what, "Leave it inside, or declare who may come in")


def _flow_logs(found: list[Item]) -> Iterator[Finding]:
    """Ids are known in an update; a network's log is in its stack."""
    logs = sum(1 for _ in of_types(found, [FLOW_LOG]))
    for item in list(of_types(found, [NETWORK]))[logs:]:
        what = "no FlowLog of its stack says who talked with whom in it"
        yield finding(item, "flowLog", what, "Add a FlowLog with the network as its target")
