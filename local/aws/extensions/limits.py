"""AWS's default quotas, which moto does not know. One table; the error codes are those of each API.

Quotas: "Amazon VPC quotas", "AWS PrivateLink quotas", "Site-to-Site VPN quotas", "Transit gateway quotas",
"Amazon EFS quotas", "General purpose bucket quotas". Codes: "Error codes for the Amazon EC2 API", "Amazon S3 error
codes", and the errors of CreateAccessPoint and CreateMountTarget. A quota can be set to what an account was granted, as
with Service Quotas: POST /landbridge-api/quotas {"routes in a route table": 1000}; {} brings the defaults back.
"""

import inspect
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.efs.models import EFSBackend
from moto.s3.exceptions import BucketError
from moto.s3.models import S3Backend

from .efs import efs_error
from .patching import override

GONE = ("deleted", "deleting", "failed", "rejected")

# What moto's backends raise, so that each service's own answer has the code.
ERRORS: dict[type, Callable[[str, str], Exception]] = {
    EC2Backend: EC2ClientError,
    EFSBackend: efs_error,
    S3Backend: BucketError,
}


class Quota(NamedTuple):
    """`there` says how many there are already where the call would add one."""

    call: str
    most: int
    code: str
    what: str
    there: Callable[[Any, dict[str, Any]], int]
    backend: type = EC2Backend


def _all(name: str) -> Callable[[Any, dict[str, Any]], int]:
    """Everything of a kind that a region has."""
    return lambda backend, _: sum(getattr(thing, "state", "") not in GONE for thing in getattr(backend, name).values())


def _of(name: str, key: str, given_as: str = "") -> Callable[[Any, dict[str, Any]], int]:
    """Everything of a kind that has the same owner: VPC, file system, gateway."""

    def count(backend: Any, given: dict[str, Any]) -> int:
        live = (thing for thing in getattr(backend, name).values() if getattr(thing, "state", "") not in GONE)
        return sum(getattr(thing, key) == given[given_as or key] for thing in live)

    return count


def _in_zone(backend: Any, given: dict[str, Any]) -> int:
    zone = backend.get_subnet(given["subnet_id"]).availability_zone
    gateways = [g for g in backend.nat_gateways.values() if g.state != "deleted"]
    return sum(backend.get_subnet(gateway.subnet_id).availability_zone == zone for gateway in gateways)


def _subnets(backend: Any, given: dict[str, Any]) -> int:
    return len(backend.describe_subnets(filters={"vpc-id": given["vpc_id"]}))


def _routes(backend: Any, given: dict[str, Any]) -> int:
    """Of the same address family; the local routes are the VPC's own."""
    six = bool(given.get("destination_ipv6_cidr_block"))
    routes = backend.get_route_table(given["route_table_id"])._routes.values()
    return 0 if given.get("local") else sum(not r.local and bool(r.destination_ipv6_cidr_block) == six for r in routes)


def _endpoints(kind: str, key: str | None) -> Callable[[Any, dict[str, Any]], int]:
    def count(backend: Any, given: dict[str, Any]) -> int:
        if (given.get("endpoint_type") or "Gateway") != kind:
            return 0
        same = (e for e in backend.vpc_end_points.values() if e.state not in GONE and e.vpc_endpoint_type == kind)
        return sum(key is None or getattr(endpoint, key) == given[key] for endpoint in same)

    return count


def _attachments(backend: Any, given: dict[str, Any]) -> int:
    live = (a for a in backend.transit_gateway_attachments.values() if a.state not in GONE)
    return sum(attachment.transit_gateway_id == given["transit_gateway_id"] for attachment in live)


def _mount_targets(backend: Any, given: dict[str, Any]) -> int:
    network = backend.ec2_backend.get_subnet(given["subnet_id"]).vpc_id
    return sum(target.vpc_id == network for target in backend.mount_targets_by_id.values())


def _groups(_: Any, given: dict[str, Any]) -> int:
    """All but the last of those that the call gives to one interface."""
    return len(set(given.get("group_ids") or [])) - 1


def _instance_groups(_: Any, given: dict[str, Any]) -> int:
    more = given.get("kwargs", {})
    nics = [nic.get("Groups") or [] for nic in more.get("nics") or []]
    named = [*(given.get("security_group_names") or []), *(more.get("security_group_ids") or [])]
    return max(len(set(groups)) for groups in [named, *nics]) - 1


PER_INTERFACE = ("SecurityGroupsPerInterfaceLimitExceeded", "security groups on a network interface")
ATTACHED = ("ResourceLimitExceeded", "attachments to a transit gateway", _attachments)
QUOTAS = (
    Quota("create_vpc", 5, "VpcLimitExceeded", "VPCs", _all("vpcs")),
    Quota("create_internet_gateway", 5, "InternetGatewayLimitExceeded", "internet gateways", _all("internet_gateways")),
    Quota("allocate_address", 5, "AddressLimitExceeded", "addresses", lambda backend, _: len(backend.addresses)),
    Quota("create_nat_gateway", 5, "NatGatewayLimitExceeded", "NAT gateways in this zone", _in_zone),
    Quota("create_transit_gateway", 5, "TransitGatewayLimitExceeded", "transit gateways", _all("transit_gateways")),
    Quota("create_transit_gateway_vpc_attachment", 5_000, *ATTACHED),
    Quota("create_transit_gateway_vpn_attachment", 5_000, *ATTACHED),
    Quota("create_transit_gateway_peering_attachment", 5_000, *ATTACHED),
    Quota("create_subnet", 200, "SubnetLimitExceeded", "subnets in a VPC", _subnets),
    Quota("create_route_table", 200, "RouteTableLimitExceeded", "route tables in a VPC", _of("route_tables", "vpc_id")),
    Quota("create_route", 500, "RouteLimitExceeded", "routes in a route table", _routes),
    Quota("create_network_interface", 5, *PER_INTERFACE, _groups),
    Quota("modify_network_interface_attribute", 5, *PER_INTERFACE, _groups),
    Quota("run_instances", 5, *PER_INTERFACE, _instance_groups),
    Quota(
        "create_vpc_endpoint",
        50,
        "VpcEndpointLimitExceeded",
        "interface endpoints in a VPC",
        _endpoints("Interface", "vpc_id"),
    ),
    Quota("create_vpc_endpoint", 20, "VpcEndpointLimitExceeded", "gateway endpoints", _endpoints("Gateway", None)),
    Quota("create_vpn_connection", 50, "VpnConnectionLimitExceeded", "VPN connections", _all("vpn_connections")),
    Quota("create_vpn_gateway", 5, "VpnGatewayLimitExceeded", "virtual private gateways", _all("vpn_gateways")),
    Quota(
        "create_customer_gateway", 50, "CustomerGatewayLimitExceeded", "customer gateways", _all("customer_gateways")
    ),
    Quota("create_bucket", 10_000, "TooManyBuckets", "buckets", lambda backend, _: len(backend.buckets), S3Backend),
    Quota(
        "create_access_point",
        10_000,
        "AccessPointLimitExceeded",
        "access points of a file system",
        _of("access_points", "file_system_id"),
        EFSBackend,
    ),
    # Each mount target is a network interface; CreateMountTarget has no other code for "too many".
    Quota(
        "create_mount_target",
        1_400,
        "NetworkInterfaceLimitExceeded",
        "mount targets in a VPC",
        _mount_targets,
        EFSBackend,
    ),
)
DEFAULTS = {quota.what: quota.most for quota in QUOTAS}
_granted: dict[str, int] = {}


def install() -> None:
    """Puts every quota before its call."""
    for quota in QUOTAS:
        _enforce(quota)


def listing() -> dict[str, int]:
    """Every quota by what it limits, as it holds now."""
    return DEFAULTS | _granted


def granted(what: str) -> int:
    return _granted.get(what, DEFAULTS[what])


def put(body: bytes) -> dict[str, int]:
    """Replaces what was granted; the quotas then. Raises TypeError or ValueError for anything but {what: number}."""
    wanted = {str(what): int(most) for what, most in dict(json.loads(body)).items()}
    if unknown := set(wanted) - DEFAULTS.keys():
        raise ValueError(f"no quota on {', '.join(sorted(unknown))}")
    _granted.clear()
    _granted.update(wanted)
    return listing()


def _enforce(quota: Quota) -> None:
    signature = inspect.signature(getattr(quota.backend, quota.call))

    @override(quota.backend, quota.call)
    def limited(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        most = granted(quota.what)
        if quota.there(self, dict(signature.bind_partial(self, *args, **given).arguments)) >= most:
            raise ERRORS[quota.backend](quota.code, f"The maximum number of {quota.what} has been reached ({most}).")
        return original(*args, **given)
