"""Customer gateways and VPN connections."""

from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

from ..kinds import ID, Call, Change, Found, Kind, Out, Output, P, Template, props, replaces, same_paths
from .ec2 import TAGGING
from .parts import Given, Part, found, plain

CUSTOMER_GATEWAY = Kind(
    service="ec2",
    create=Call(
        "create_customer_gateway",
        {**props("type", "ipAddress"), "BgpAsn": P("bgpAsn", convert=int)},
        "CustomerGateway.CustomerGatewayId",
    ),
    read=Call("describe_customer_gateways", {"CustomerGatewayIds": [ID]}, "CustomerGateways[?State!='deleted'] | [0]"),
    delete=(Call("delete_customer_gateway", {"CustomerGatewayId": ID}),),
    outputs={
        **same_paths("type", "ipAddress"),
        "bgpAsn": lambda read: str(read.answer["BgpAsn"]),
        "arn": lambda read: f"arn:aws:ec2:{read.region}:{read.account}:customer-gateway/{read.id}",
    },
    replace=replaces("type", "ipAddress", "bgpAsn"),
    tagging=TAGGING,
    missing=("InvalidCustomerGatewayID.NotFound",),
)

_CLOUDWATCH = plain(
    *("logEnabled", "logGroupArn", "logOutputFormat"), *("bgpLogEnabled", "bgpLogGroupArn", "bgpLogOutputFormat")
)
_LOGS = {"cloudwatchLogOptions": Part("CloudWatchLogOptions", parts=_CLOUDWATCH)}
# The provider's words, less tunnel1 and tunnel2 → the API's; lists of values are lists of {"Value": …} there.
_PLAIN = {
    "insideCidr": "TunnelInsideCidr",
    "presharedKey": "PreSharedKey",
    "phase1LifetimeSeconds": "Phase1LifetimeSeconds",
    "phase2LifetimeSeconds": "Phase2LifetimeSeconds",
    "rekeyMarginTimeSeconds": "RekeyMarginTimeSeconds",
    "rekeyFuzzPercentage": "RekeyFuzzPercentage",
    "replayWindowSize": "ReplayWindowSize",
    "dpdTimeoutSeconds": "DPDTimeoutSeconds",
    "dpdTimeoutAction": "DPDTimeoutAction",
    "startupAction": "StartupAction",
    "enableTunnelLifecycleControl": "EnableTunnelLifecycleControl",
}
_LISTS = {
    "ikeVersions": "IKEVersions",
    "phase1EncryptionAlgorithms": "Phase1EncryptionAlgorithms",
    "phase1IntegrityAlgorithms": "Phase1IntegrityAlgorithms",
    "phase1DhGroupNumbers": "Phase1DHGroupNumbers",
    "phase2EncryptionAlgorithms": "Phase2EncryptionAlgorithms",
    "phase2IntegrityAlgorithms": "Phase2IntegrityAlgorithms",
    "phase2DhGroupNumbers": "Phase2DHGroupNumbers",
}
# Not with the rest when they are changed: this one makes a new connection.
_FIXED = "insideCidr"


def _named(number: int, name: str) -> str:
    return f"tunnel{number}{name[0].upper()}{name[1:]}"


def _valued(values: Any) -> list[dict[str, Any]]:
    return [{"Value": value} for value in values]


def _options(number: int) -> dict[str, Template]:
    given: dict[str, Template] = {api: P(_named(number, name)) for name, api in _PLAIN.items()}
    given |= {api: P(_named(number, name), convert=_valued) for name, api in _LISTS.items()}
    given["LogOptions"] = P(_named(number, "logOptions"), convert=Given(_LOGS))
    return given


def _change(number: int) -> Change:
    names = tuple(_named(number, name) for name in (*_PLAIN, *_LISTS, "logOptions") if name != _FIXED)
    parameters = {
        "VpnConnectionId": ID,
        "VpnTunnelOutsideIpAddress": Out(_named(number, "address")),
        "TunnelOptions": _options(number),
    }
    return Change(names, (Call("modify_vpn_tunnel_options", parameters),))


def _inside(number: int, host: int) -> Callable[[Found], str]:
    return lambda read: str(IPv4Network(read.answer["Options"]["TunnelOptions"][number - 1]["TunnelInsideCidr"])[host])


def _outputs(number: int) -> dict[str, Output]:
    at = f"Options.TunnelOptions[{number - 1}]"

    def answered(api: str) -> str:
        return f"{at}.{api.replace('DPD', 'Dpd').replace('IKE', 'Ike')}"

    return {
        **{_named(number, name): answered(api) for name, api in _PLAIN.items()},
        **{_named(number, name): f"{answered(api)}[].Value" for name, api in _LISTS.items()},
        _named(number, "logOptions"): lambda read: found(
            _LOGS, read.answer["Options"]["TunnelOptions"][number - 1].get("LogOptions")
        ),
        _named(number, "address"): f"{at}.OutsideIpAddress",
        # "Tunnel options": of a /30 AWS has the first address.
        _named(number, "vgwInsideAddress"): _inside(number, 1),
        _named(number, "cgwInsideAddress"): _inside(number, 2),
    }


_TARGETS = ("customerGatewayId", "transitGatewayId", "vpnGatewayId")

CONNECTION = Kind(
    service="ec2",
    create=Call(
        "create_vpn_connection",
        {
            **props("type", *_TARGETS),
            "Options": {
                **props("staticRoutesOnly", "tunnelInsideIpVersion"),
                "TunnelOptions": [_options(1), _options(2)],
            },
        },
        "VpnConnection.VpnConnectionId",
    ),
    read=Call("describe_vpn_connections", {"VpnConnectionIds": [ID]}, "VpnConnections[?State!='deleted'] | [0]"),
    more={
        "attachment": Call(
            "describe_transit_gateway_attachments",
            {"Filters": [{"Name": "resource-id", "Values": [ID]}, {"Name": "resource-type", "Values": ["vpn"]}]},
            "TransitGatewayAttachments[?State!='deleted'] | [0].TransitGatewayAttachmentId",
        )
    },
    delete=(Call("delete_vpn_connection", {"VpnConnectionId": ID}),),
    outputs={
        **same_paths("type", *_TARGETS, "customerGatewayConfiguration"),
        "staticRoutesOnly": "Options.StaticRoutesOnly",
        "tunnelInsideIpVersion": "Options.TunnelInsideIpVersion",
        "transitGatewayAttachmentId": "attachment",
        **_outputs(1),
        **_outputs(2),
        "arn": lambda read: f"arn:aws:ec2:{read.region}:{read.account}:vpn-connection/{read.id}",
    },
    replace=replaces("type", "staticRoutesOnly", "tunnelInsideIpVersion", "tunnel1InsideCidr", "tunnel2InsideCidr"),
    changes=(
        Change(
            _TARGETS,
            (Call("modify_vpn_connection", {"VpnConnectionId": ID, **props(*_TARGETS)}),),
        ),
        _change(1),
        _change(2),
    ),
    tagging=TAGGING,
    missing=("InvalidVpnConnectionID.NotFound",),
)

KINDS = {
    "aws:ec2/customerGateway:CustomerGateway": CUSTOMER_GATEWAY,
    "aws:ec2/vpnConnection:VpnConnection": CONNECTION,
}
