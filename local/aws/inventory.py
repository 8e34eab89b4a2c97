"""What the local AWS holds, by account and region: for tests that compare before with after.

GET /landbridge-api/inventory → {"123456789012": {"us-west-2": {"vpcs": ["vpc-…"], …}}}. Keys and secrets that are
scheduled for deletion count as gone, as they do for whoever deleted them.
"""

from collections.abc import Callable, Iterator
from typing import Any

from .extensions import hub_tables, placement_groups

Ids = Callable[[Any], Iterator[str]]


def _live(name: str) -> Ids:
    def ids(backend: Any) -> Iterator[str]:
        for key, thing in list(getattr(backend, name).items()):
            if getattr(thing, "state", "available") not in ("deleted", "deleting"):
                yield str(key)

    return ids


def _subnets(backend: Any) -> Iterator[str]:
    for zone in backend.subnets.values():
        yield from zone


def _groups(backend: Any) -> Iterator[str]:
    for network in backend.groups.values():
        yield from network


def _routes(backend: Any) -> Iterator[str]:
    """What somebody has made: a table has local ones of itself."""
    for table in backend.route_tables.values():
        made = (route for route in table._routes.values() if not route.local)
        yield from (f"{table.id} {route.destination_cidr_block or route.destination_prefix_list_id}" for route in made)


def _hub_routes(backend: Any) -> Iterator[str]:
    for table in hub_tables.tables(backend):
        yield from (f"{table.id} {destination}" for destination in table.routes)


def _group_rules(backend: Any) -> Iterator[str]:
    for network in backend.groups.values():
        for group in network.values():
            yield from (rule.id for rule in (*group.ingress_rules, *group.egress_rules))


def _keys(backend: Any) -> Iterator[str]:
    return (key for key, thing in backend.keys.items() if thing.key_state != "PendingDeletion")


def _secrets(backend: Any) -> Iterator[str]:
    return (thing.name for thing in backend.secrets.values() if not thing.is_deleted())


def _members(backend: Any) -> Iterator[str]:
    return (state.instance.id for group in backend.autoscaling_groups.values() for state in group.instance_states)


def _policies(backend: Any) -> Iterator[str]:
    """The account's own; AWS's are there from the start."""
    return (arn for arn in backend.managed_policies if f"::{backend.account_id}:" in arn)


def _parameters(backend: Any) -> Iterator[str]:
    return (name for name, versions in list(backend._parameters.items()) if versions and not name.startswith("/aws/"))


def _reservations(backend: Any) -> Iterator[str]:
    for zone in backend.subnets.values():
        for subnet in zone.values():
            yield from (reservation.id for reservation in subnet._cidr_reservations)


def _instances(backend: Any) -> Iterator[str]:
    return (i.id for made in backend.reservations.values() for i in made.instances if i.state != "terminated")


def _records(backend: Any) -> Iterator[str]:
    """All but those that a zone has of itself."""
    for zone in backend.zones.values():
        name = zone.id.removeprefix("/hostedzone/")
        yield from (f"{name} {record.name} {record.type}" for record in zone.rrsets if record.type not in OWN)


def _objects(backend: Any) -> Iterator[str]:
    for name, bucket in list(backend.buckets.items()):
        yield from (f"{name}/{key}" for key in list(bucket.keys))


OWN = ("NS", "SOA")

# Service → kind → how its ids are found. Global services are listed under the region "aws".
KINDS: dict[str, dict[str, Ids]] = {
    "ec2": {
        "vpcs": _live("vpcs"),
        "subnets": _subnets,
        "internet gateways": _live("internet_gateways"),
        "nat gateways": _live("nat_gateways"),
        "addresses": lambda backend: (address.allocation_id for address in backend.addresses),
        "route tables": _live("route_tables"),
        "endpoints": _live("vpc_end_points"),
        "routes": _routes,
        "security groups": _groups,
        "security group rules": _group_rules,
        "flow logs": _live("flow_logs"),
        "transit gateways": _live("transit_gateways"),
        "transit gateway attachments": _live("transit_gateway_attachments"),
        "transit gateway route tables": _live("transit_gateways_route_tables"),
        "transit gateway routes": _hub_routes,
        "network interfaces": _live("enis"),
        "volumes": _live("volumes"),
        "launch templates": _live("launch_templates"),
        "vpn connections": _live("vpn_connections"),
        "customer gateways": _live("customer_gateways"),
        "vpn gateways": _live("vpn_gateways"),
        "subnet reservations": _reservations,
        "instances": _instances,
        "placement groups": lambda backend: iter(placement_groups.groups(backend)),
    },
    "efs": {
        "file systems": _live("file_systems_by_id"),
        "mount targets": _live("mount_targets_by_id"),
        "access points": _live("access_points"),
    },
    "s3": {"buckets": _live("buckets"), "objects": _objects},
    "kms": {"keys": _keys, "aliases": lambda backend: (alias.alias_name for alias in backend.list_aliases())},
    "route53": {"zones": _live("zones"), "records": _records},
    "route53resolver": {"endpoints": _live("resolver_endpoints"), "rules": _live("resolver_rules")},
    "secretsmanager": {"secrets": _secrets},
    "iam": {
        "roles": _live("roles"),
        "instance profiles": _live("instance_profiles"),
        "policies": _policies,
        "identity providers": _live("open_id_providers"),
    },
    "rolesanywhere": {"trust anchors": _live("trust_anchors"), "profiles": _live("profiles")},
    "logs": {"groups": _live("groups")},
    "cloudwatch": {"alarms": _live("alarms")},
    "sns": {"topics": _live("topics"), "subscriptions": _live("subscriptions")},
    "autoscaling": {
        "groups": _live("autoscaling_groups"),
        "instances": _members,
        "lifecycle hooks": _live("lifecycle_hooks"),
    },
    "elbv2": {"load balancers": _live("load_balancers"), "target groups": _live("target_groups")},
    "ssm": {"parameters": _parameters},
}


def inventory() -> dict[str, dict[str, dict[str, list[str]]]]:
    """Every kind of which something is there. Looking makes nothing: backends that were never used are left alone."""
    from moto.backends import get_backend

    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for service, kinds in KINDS.items():
        backends: Any = get_backend(service)
        for account, regions in list(backends.items()):
            for region, backend in list(regions.items()):
                for kind, ids in kinds.items():
                    if listed := sorted(ids(backend)):
                        found.setdefault(account, {}).setdefault(region, {})[f"{service} {kind}"] = listed
    return found
