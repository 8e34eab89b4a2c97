"""Site-to-site VPN: options of both tunnels kept, checked and changed, static routes, route propagation.

AWS Site-to-Site VPN user guide, "Tunnel options"; EC2 API: VpnTunnelOptionsSpecification, CreateVpnConnectionRoute,
EnableVgwRoutePropagation, ModifyVpnConnection, ModifyVpnConnectionOptions, ModifyVpnTunnelOptions, VgwTelemetry,
VpnTunnelLogOptions.
"""

import ipaddress
import re
import secrets
import string
from collections.abc import Iterator
from itertools import chain
from typing import Any
from xml.etree import ElementTree

from moto.core.responses import ActionResult, EmptyResult
from moto.core.utils import utcnow
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.vpn_connections import VPNConnection
from moto.ec2.responses import EC2Response

from .. import machine_reports
from .patching import add, override

TUNNELS = 2
INSIDE = ipaddress.ip_network("169.254.0.0/16")
# /30s that AWS keeps for itself.
KEPT = [ipaddress.ip_network(f"169.254.{n}.0/30") for n in range(6)] + [ipaddress.ip_network("169.254.169.252/30")]
KEY = re.compile(r"(?!0)[A-Za-z0-9._]{8,64}")
# Option → lowest, highest, default.
NUMBERS = {
    "Phase1LifetimeSeconds": (900, 28_800, 28_800),
    "Phase2LifetimeSeconds": (900, 3_600, 3_600),
    "RekeyMarginTimeSeconds": (60, 1_800, 270),
    "RekeyFuzzPercentage": (0, 100, 100),
    "ReplayWindowSize": (64, 2_048, 1_024),
    "DPDTimeoutSeconds": (30, 3_600, 40),
}
CHOICES = {"DPDTimeoutAction": ("clear", "none", "restart"), "StartupAction": ("add", "start")}
LISTS = {
    "Phase1EncryptionAlgorithms": {"AES128", "AES256", "AES128-GCM-16", "AES256-GCM-16"},
    "Phase2EncryptionAlgorithms": {"AES128", "AES256", "AES128-GCM-16", "AES256-GCM-16"},
    "Phase1IntegrityAlgorithms": {"SHA1", "SHA2-256", "SHA2-384", "SHA2-512"},
    "Phase2IntegrityAlgorithms": {"SHA1", "SHA2-256", "SHA2-384", "SHA2-512"},
    "Phase1DHGroupNumbers": {2, *range(14, 25)},
    "Phase2DHGroupNumbers": {2, 5, *range(14, 25)},
    "IKEVersions": {"ikev1", "ikev2"},
}
LOGS = {"LogEnabled": "LogGroupArn", "BgpLogEnabled": "BgpLogGroupArn"}
OTHERS = ("TunnelInsideCidr", "PreSharedKey", "LogOptions", "EnableTunnelLifecycleControl")
# Where hubs' tunnels end: documentation addresses (RFC 5737), and those of benchmarks (RFC 2544) for large fleets.
OUTSIDE = tuple(ipaddress.ip_network(cidr) for cidr in ("203.0.113.0/24", "198.51.100.0/24", "198.18.0.0/15"))
# Options whose name in answers is another than in requests.
ANSWERED = {
    "DPDTimeoutSeconds": "DpdTimeoutSeconds",
    "DPDTimeoutAction": "DpdTimeoutAction",
    "IKEVersions": "IkeVersions",
}
ASKED = {answered: name for name, answered in ANSWERED.items()}


def install() -> None:
    _create()
    _change()
    _routes()


def refuse(message: str) -> EC2ClientError:
    return EC2ClientError("InvalidParameterValue", message)


def checked(options: dict[str, Any], taken: set[str]) -> dict[str, Any]:
    """One tunnel's options with AWS's defaults filled in. `taken` are inside prefixes in use at the same gateway."""
    _known(options)
    tunnel: dict[str, Any] = {}
    for name, (low, high, default) in NUMBERS.items():
        tunnel[name] = int(options.get(name, default))
        if not low <= tunnel[name] <= high:
            raise refuse(f"Invalid value {tunnel[name]} for {name}: it must be between {low} and {high}.")
    for name, allowed in CHOICES.items():
        tunnel[name] = options.get(name, allowed[0])
        if tunnel[name] not in allowed:
            raise refuse(f"Invalid value {tunnel[name]} for {name}: it must be one of {', '.join(allowed)}.")
    for name, known in LISTS.items():
        values = [_number(entry["Value"]) for entry in options.get(name, [])]
        if wrong := [value for value in values if value not in known]:
            raise refuse(f"Invalid value {wrong[0]} for {name}.")
        if values:
            tunnel[name] = [{"Value": value} for value in values]
    if tunnel["Phase2LifetimeSeconds"] >= tunnel["Phase1LifetimeSeconds"]:
        raise refuse("The phase 2 lifetime must be lower than the phase 1 lifetime.")
    tunnel["TunnelInsideCidr"] = _inside(options.get("TunnelInsideCidr"), taken)
    tunnel["PreSharedKey"] = options.get("PreSharedKey") or "k" + "".join(
        secrets.choice(string.ascii_letters + string.digits) for _ in range(31)
    )
    if not KEY.fullmatch(tunnel["PreSharedKey"]):
        raise refuse("Invalid PreSharedKey: 8 to 64 letters, digits, periods and underscores, not starting with 0.")
    tunnel["EnableTunnelLifecycleControl"] = str(options.get("EnableTunnelLifecycleControl", False)).lower() == "true"
    tunnel["LogOptions"] = {"CloudWatchLogOptions": _logs(options.get("LogOptions") or {})}
    return tunnel


def _known(options: dict[str, Any]) -> None:
    known = {*NUMBERS, *CHOICES, *LISTS, *OTHERS, *ANSWERED.values(), "OutsideIpAddress"}
    if strange := sorted(options.keys() - known):
        raise EC2ClientError("UnsupportedOperation", f"The local cloud has no tunnel option {', '.join(strange)}.")


def _logs(options: dict[str, Any]) -> dict[str, Any]:
    given = dict(options.get("CloudWatchLogOptions") or {})
    for switch, group in LOGS.items():
        given[switch] = str(given.get(switch, False)).lower() == "true"
        if given[switch] and ":log-group:" not in given.get(group, ""):
            raise refuse(f"{switch} needs {group}, the ARN of a log group.")
    return given


def answered(tunnel: dict[str, Any]) -> dict[str, Any]:
    return {ANSWERED.get(name, name): value for name, value in tunnel.items()}


def _number(value: Any) -> Any:
    return int(value) if str(value).isdigit() else value


def _inside(cidr: str | None, taken: set[str]) -> str:
    if cidr is None:
        free = (str(net) for net in INSIDE.subnets(new_prefix=30) if net not in KEPT and str(net) not in taken)
        return next(free)
    try:
        network = ipaddress.ip_network(cidr)
    except ValueError:
        raise refuse(f"Invalid TunnelInsideCidr {cidr}.") from None
    if network.prefixlen != 30 or network.version != 4 or not network.subnet_of(INSIDE):  # type: ignore[arg-type]
        raise refuse(f"TunnelInsideCidr {cidr} must be a /30 of {INSIDE}.")
    if network in KEPT:
        raise refuse(f"TunnelInsideCidr {cidr} is reserved.")
    if cidr in taken:
        raise refuse(f"TunnelInsideCidr {cidr} is in use by another tunnel of the gateway.")
    return cidr


def _taken(backend: Any, connection: Any) -> set[str]:
    """Inside prefixes of the live tunnels at the same gateway."""
    same = [c for c in backend.vpn_connections.values() if c.state != "deleted" and c is not connection and c.options]
    gateway = connection.vpn_gateway_id or connection.transit_gateway_id
    mine = [c for c in same if gateway in (c.vpn_gateway_id, c.transit_gateway_id)]
    return {tunnel["TunnelInsideCidr"] for other in mine for tunnel in other.options["TunnelOptions"]}


def _outside() -> Iterator[str]:
    """Addresses that no tunnel has, in any region."""
    from moto.backends import get_backend

    accounts: Any = get_backend("ec2")
    backends = chain.from_iterable(regions.values() for regions in accounts.values())
    there = [one for backend in backends for one in backend.vpn_connections.values() if one.options]
    used = {tunnel["OutsideIpAddress"] for one in there for tunnel in one.options["TunnelOptions"]}
    return (str(host) for host in chain.from_iterable(net.hosts() for net in OUTSIDE) if str(host) not in used)


def _create() -> None:
    @override(EC2Response, "create_vpn_connection")
    def create_vpn_connection(self: Any, original: Any) -> Any:
        options = self._get_param("Options") or {}
        wanted = [*options.get("TunnelOptions", []), {}, {}][:TUNNELS]
        for tunnel in wanted:
            checked(tunnel, set())  # before anything is made
        answer = original()
        connection = answer.result["VpnConnection"]
        taken, outside = _taken(self.ec2_backend, connection), _outside()
        tunnels: list[dict[str, Any]] = []
        try:
            for tunnel in wanted:
                made = checked(tunnel, taken | {t["TunnelInsideCidr"] for t in tunnels})
                tunnels.append(answered({**made, "OutsideIpAddress": next(outside)}))
        except EC2ClientError:
            self.ec2_backend.vpn_connections.pop(connection.id)
            raise
        connection.options = {
            "EnableAcceleration": False,
            "StaticRoutesOnly": bool(options.get("StaticRoutesOnly", False)),
            "LocalIpv4NetworkCidr": options.get("LocalIpv4NetworkCidr", "0.0.0.0/0"),
            "RemoteIpv4NetworkCidr": options.get("RemoteIpv4NetworkCidr", "0.0.0.0/0"),
            "TunnelInsideIpVersion": "ipv4",
            "TunnelOptions": tunnels,
        }
        connection.static_routes, connection.made = [], utcnow()
        return answer

    VPNConnection.customer_gateway_configuration = property(configuration)
    VPNConnection.vgw_telemetry = property(telemetry)
    VPNConnection.routes = property(lambda connection: connection.static_routes or [])


# By outside address: what is seen of that end, and what somebody wants to be seen there.
_tunnel_states: dict[str, dict[str, Any]] = {}
_overrides: dict[str, bool] = {}


def telemetry(connection: Any) -> list[dict[str, Any]]:
    """What AWS sees of each tunnel: nothing until somebody speaks there."""
    ends = [tunnel["OutsideIpAddress"] for tunnel in (connection.options or {}).get("TunnelOptions", [])]
    quiet = {"Status": "DOWN", "StatusMessage": "IPSEC IS DOWN", "AcceptedRouteCount": 0}
    return [
        {"OutsideIpAddress": end, "LastStatusChange": connection.made, **_tunnel_states.get(end, quiet)} for end in ends
    ]


def wanted_state(end: str) -> bool | None:
    """Whether somebody wants the tunnel with this outside address to be up; None: nobody said a word."""
    return _overrides.get(end)


def ask(states: dict[str, dict[str, Any] | None]) -> int:
    """Has tunnels seen as `tell` takes them, whoever is at the other end; None lets that decide again."""
    for end, state in states.items():
        _overrides.pop(end, None)
        if state is None:
            _tunnel_states.pop(end, None)
        else:
            tell({end: state})
            _overrides[end] = bool(state["keys"]) and state["prefixes"] is not None
    machine_reports.changed()
    return len(_overrides)


def tell(states: dict[str, dict[str, Any]]) -> int:
    """Outside address → {"keys": whether IPsec is up, "prefixes": how many BGP took, None while it does not speak}."""
    for end, state in states.items():
        keys, prefixes = bool(state["keys"]), state["prefixes"]
        up = keys and prefixes is not None
        message = f"{prefixes} BGP ROUTES" if up else "IPSEC IS UP" if keys else "IPSEC IS DOWN"
        status = {"Status": "UP" if up else "DOWN", "StatusMessage": message, "AcceptedRouteCount": prefixes or 0}
        if end not in _overrides and {**_tunnel_states.get(end, {}), **status} != _tunnel_states.get(end):
            _tunnel_states[end] = {**status, "LastStatusChange": utcnow()}
    return len(_tunnel_states)


def configuration(connection: Any) -> str:
    """The XML that a gateway is configured from: two tunnels, each with addresses and a key of its own."""
    root = ElementTree.Element("vpn_connection", id=connection.id)
    gateway = connection.ec2_backend.get_customer_gateway(connection.customer_gateway_id)
    ElementTree.SubElement(root, "customer_gateway_id").text = connection.customer_gateway_id
    ElementTree.SubElement(root, "vpn_gateway_id").text = connection.vpn_gateway_id or ""
    ElementTree.SubElement(root, "vpn_connection_type").text = connection.type
    for tunnel in (connection.options or {}).get("TunnelOptions", []):
        part = ElementTree.SubElement(root, "ipsec_tunnel")
        aws, ours = list(ipaddress.ip_network(tunnel["TunnelInsideCidr"]).hosts())
        ends = (("customer_gateway", gateway.ip_address, ours), ("vpn_gateway", tunnel["OutsideIpAddress"], aws))
        for name, outside, inside in ends:
            end = ElementTree.SubElement(part, name)
            for kind, address in (("outside", outside), ("inside", inside)):
                holder = ElementTree.SubElement(end, f"tunnel_{kind}_address")
                ElementTree.SubElement(holder, "ip_address").text = str(address)
        ike = ElementTree.SubElement(part, "ike")
        ElementTree.SubElement(ike, "lifetime").text = str(tunnel["Phase1LifetimeSeconds"])
        ElementTree.SubElement(ike, "pre_shared_key").text = tunnel["PreSharedKey"]
    return ElementTree.tostring(root, encoding="unicode")


def _connection(response: Any) -> Any:
    return response.ec2_backend.describe_vpn_connections([response._get_param("VpnConnectionId")])[0]


def _change() -> None:
    @add(EC2Response)
    def modify_vpn_tunnel_options(self: Any) -> ActionResult:
        connection, address = _connection(self), self._get_param("VpnTunnelOutsideIpAddress")
        tunnels = connection.options["TunnelOptions"]
        number = next((n for n, tunnel in enumerate(tunnels) if tunnel["OutsideIpAddress"] == address), None)
        if number is None:
            raise refuse(f"The tunnel {address} does not belong to {connection.id}.")
        others = _taken(self.ec2_backend, connection) | {tunnels[1 - number]["TunnelInsideCidr"]}
        present = {ASKED.get(name, name): value for name, value in tunnels[number].items()}
        wanted = checked({**present, **self._get_param("TunnelOptions")}, others)
        tunnels[number] = answered({**wanted, "OutsideIpAddress": address})
        return ActionResult({"VpnConnection": connection})

    @add(EC2Response)
    def modify_vpn_connection(self: Any) -> ActionResult:
        connection, backend = _connection(self), self.ec2_backend
        if gateway := self._get_param("CustomerGatewayId"):
            connection.customer_gateway_id = backend.get_customer_gateway(gateway).id
        target = self._get_param("TransitGatewayId")
        if self._get_param("VpnGatewayId") or target not in (None, connection.transit_gateway_id):
            raise EC2ClientError("UnsupportedOperation", "The local cloud moves no connection to another gateway.")
        return ActionResult({"VpnConnection": connection})

    @add(EC2Response)
    def modify_vpn_connection_options(self: Any) -> ActionResult:
        connection = _connection(self)
        for name in ("LocalIpv4NetworkCidr", "RemoteIpv4NetworkCidr"):
            if value := self._get_param(name):
                connection.options[name] = value
        return ActionResult({"VpnConnection": connection})


def _routes() -> None:
    @add(EC2Response)
    def create_vpn_connection_route(self: Any) -> EmptyResult:
        connection, cidr = _connection(self), self._get_param("DestinationCidrBlock")
        if not connection.options["StaticRoutesOnly"]:
            raise EC2ClientError("InvalidRequest", f"{connection.id} uses BGP: static routes are not for it.")
        if cidr not in [route["DestinationCidrBlock"] for route in connection.static_routes]:
            connection.static_routes.append({"DestinationCidrBlock": cidr, "State": "available", "Source": "Static"})
        return EmptyResult()

    @add(EC2Response)
    def delete_vpn_connection_route(self: Any) -> EmptyResult:
        connection, cidr = _connection(self), self._get_param("DestinationCidrBlock")
        left = [route for route in connection.static_routes if route["DestinationCidrBlock"] != cidr]
        if len(left) == len(connection.static_routes):
            raise EC2ClientError("InvalidRoute.NotFound", f"{connection.id} has no route to {cidr}.")
        connection.static_routes = left
        return EmptyResult()

    @override(VPNConnection, "get_filter_value")
    def get_filter_value(self: Any, original: Any, filter_name: str, method_name: str | None = None) -> Any:
        if filter_name == "route.destination-cidr-block":
            return [route["DestinationCidrBlock"] for route in self.static_routes or []]
        return original(filter_name, method_name)

    @add(EC2Response)
    def enable_vgw_route_propagation(self: Any) -> EmptyResult:
        propagate(self.ec2_backend, self._get_param("RouteTableId"), self._get_param("GatewayId"), on=True)
        return EmptyResult()

    @add(EC2Response)
    def disable_vgw_route_propagation(self: Any) -> EmptyResult:
        propagate(self.ec2_backend, self._get_param("RouteTableId"), self._get_param("GatewayId"), on=False)
        return EmptyResult()


def propagate(backend: EC2Backend, table_id: str, gateway_id: str, *, on: bool) -> None:
    """Raises EC2ClientError when the gateway is not attached to the table's network."""
    table, gateway = backend.get_route_table(table_id), backend.get_vpn_gateway(gateway_id)
    if gateway is None:
        raise EC2ClientError("InvalidVpnGatewayID.NotFound", f"The vpnGateway ID '{gateway_id}' does not exist")
    if table.vpc_id not in gateway.attachments:
        raise EC2ClientError("Gateway.NotAttached", f"resource {gateway_id} is not attached to network {table.vpc_id}")
    others = [each for each in getattr(table, "propagating_vgws", None) or [] if each["GatewayId"] != gateway_id]
    table.propagating_vgws = [*others, {"GatewayId": gateway_id}] if on else others
