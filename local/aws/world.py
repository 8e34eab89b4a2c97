"""All that the machines service keeps, of every account and region, as one JSON document."""

import base64
from collections.abc import Iterator
from typing import Any

from . import commands, hardware, machine_reports, network_state
from .extensions import announced, images, machines
from .extensions.balancers import interfaces

AWS_ZONE = ".amazonaws.com"
# Where a machine finds a volume.
BY_ID = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_"


def world() -> dict[str, Any]:
    """What is there now. Looking makes nothing: backends that were never used are left alone."""
    lacking, announces = machines.retry(), announced.settle()
    instances = list(_instances())
    return {
        "restless": lacking
        or announces
        or any(one["state"] == "shutting-down" for one in instances)
        or bool(machine_reports.detachments.waiting),
        "machines": instances,
        "networks": [one for backend in _backends("ec2") for one in network_state.networks(backend)],
        "hubs": [one for backend in _backends("ec2") for one in network_state.hubs(backend)],
        "connections": [one for backend in _backends("ec2") for one in network_state.connections(backend)],
        "volumes": [volume for backend in _backends("ec2") for volume in list(backend.volumes)],
        "zones": list(_zones()),
        "resolvers": list(_resolvers()),
        "forwards": list(_forwards_of_names()),
        "balancers": list(_balancers()),
        "groups": dict(_groups()),
        "buckets": [[bucket.name, bucket.region_name] for b in _backends("s3") for bucket in list(b.buckets.values())],
        "regions": sorted({one["region"] for one in instances} | set(_regions())),
    }


def _backends(service: str) -> Iterator[Any]:
    from moto.backends import get_backend

    backends: Any = get_backend(service)
    for regions in list(backends.values()):
        yield from list(regions.values())


def _regions() -> Iterator[str]:
    """Those in which somebody has made a network."""
    for backend in _backends("ec2"):
        if any(not vpc.is_default for vpc in list(backend.vpcs.values())):
            yield backend.region_name


def _instances() -> Iterator[dict[str, Any]]:
    for backend in _backends("ec2"):
        for reservation in list(backend.reservations.values()):
            for instance in reservation.instances:
                if instance.state in machines.LIVE and machines.is_machine(instance):
                    yield _instance(backend, instance)


def _instance(backend: Any, instance: Any) -> dict[str, Any]:
    tags = {tag["key"]: tag["value"] for tag in instance.get_tags()}
    subnet, options = instance.nics[0].subnet, instance.metadata_options
    association = backend.iam_instance_profile_associations.get(instance.id)
    return {
        "id": instance.id,
        "name": tags.get("landbridge:machine") or "",
        "stack": f"{tags.get('landbridge:fleet')}/{tags.get('landbridge:stack')}",
        "account": instance.owner_id,
        "region": backend.region_name,
        "zone": instance.placement.zone,
        "state": instance.state,
        "type": instance.instance_type,
        "image": instance.image_id,
        "kubernetes": images.kubernetes(backend, instance.image_id),
        "hardware": hardware.of(backend, instance),
        "address": instance.private_ip,
        "prefix": subnet.cidr.prefixlen,
        "subnet": subnet.id,
        "vpc": subnet.vpc_id,
        "user_data": base64.b64encode(machines.user_data(instance)).decode(),
        "launched": instance.launch_time.isoformat()
        if hasattr(instance.launch_time, "isoformat")
        else str(instance.launch_time),
        "profile": association.iam_instance_profile.arn if association else None,
        "role": next((role.name for role in association.iam_instance_profile.roles), None) if association else None,
        "tags": tags if options.instance_metadata_tags == "enabled" else None,
        "metadata": {
            "enabled": options.http_endpoint == "enabled",
            "hops": int(options.http_put_response_hop_limit or 1),
        },
        "volumes": list(_volumes(backend, instance)),
        "commands": list(commands.waiting(instance.id)),
        "starts": machines.starts(instance),
        "announced": announced.of(instance.id),
        "impaired": machine_reports.impaired.get(instance.id),
    }


def _volumes(backend: Any, instance: Any) -> Iterator[dict[str, Any]]:
    """All but the root volume, which is the machine's own disk."""
    for device, mapping in list(instance.block_device_mapping.items()):
        volume = backend.volumes.get(mapping.volume_id)
        if device != instance.root_device_name and volume is not None and volume.attachment:
            leaving = volume.id in machine_reports.detachments
            forced = volume.id in machine_reports.forced
            path = BY_ID + volume.id.replace("-", "", 1)
            yield {"id": volume.id, "path": path, "size": volume.size, "leaving": leaving, "forced": forced}


def _resolvers() -> Iterator[list[Any]]:
    """Networks whose names somebody from outside of them can ask for, with the addresses where they answer."""
    for backend in _backends("route53resolver"):
        for endpoint in list(backend.resolver_endpoints.values()):
            if endpoint.direction == "INBOUND":
                yield [endpoint.host_vpc_id, [one["Ip"] for one in endpoint.ip_descriptions()]]


def _forwards_of_names() -> Iterator[dict[str, Any]]:
    """What networks ask elsewhere: names of `domain`, at the addresses of `targets`."""
    for backend in _backends("route53resolver"):
        for one in list(backend.resolver_rule_associations.values()):
            rule = backend.resolver_rules[one.resolver_rule_id]
            if rule.rule_type == "FORWARD":
                targets = [target["Ip"] for target in rule.target_ips]
                yield {"domain": rule.domain_name.rstrip(".").lower(), "vpcs": [one.vpc_id], "targets": targets}


def _zones() -> Iterator[dict[str, Any]]:
    for backend in _backends("route53"):
        for zone in list(backend.zones.values()):
            if zone.private_zone:
                vpcs = [vpc["vpc_id"] for vpc in zone.vpcs]
                yield {"name": zone.name.rstrip("."), "vpcs": vpcs, "records": list(_records(zone))}


def _records(zone: Any) -> Iterator[list[Any]]:
    """Names and addresses; an alias has its target's name in place of addresses."""
    for record in list(zone.rrsets):
        if record.type == "A":
            alias = (record.alias_target or {}).get("DNSName")
            name = record.name.rstrip(".").replace("\\052", "*")
            yield [
                name,
                str(alias).rstrip(".").removeprefix("dualstack.") if alias else None,
                list(record.records or []),
            ]


def _balancers() -> Iterator[dict[str, Any]]:
    for backend in _backends("elbv2"):
        for balancer in list(backend.load_balancers.values()):
            if balancer.type != "network" or balancer.scheme != "internal":
                continue
            places = [[eni.subnet.availability_zone, eni.private_ip_address] for eni in interfaces(balancer)]
            listeners = [
                [int(listener.port), str(listener.protocol), arn]
                for listener in list(balancer.listeners.values())
                for arn in _forwards(backend, listener)
            ]
            yield {
                "arn": balancer.arn,
                "name": balancer.name,
                "dns": balancer.dns_name,
                "region": backend.region_name,
                "places": places,
                "cross_zone": str(balancer.attrs.get("load_balancing.cross_zone.enabled")).lower() == "true",
                "listeners": listeners,
            }


def _forwards(backend: Any, listener: Any) -> Iterator[str]:
    for action in listener.default_actions:
        yield from backend._get_target_group_arns_from(action_data=action.data)


def _groups() -> Iterator[tuple[str, dict[str, Any]]]:
    for backend in _backends("elbv2"):
        for group in list(backend.target_groups.values()):
            if group.protocol not in ("TCP", "TLS", "TCP_UDP"):
                continue
            yield (
                group.arn,
                {
                    "used": bool(group.load_balancer_arns),
                    "keeps_client": group.attributes.get("preserve_client_ip.enabled") == "true",
                    "check": {
                        "protocol": group.health_check_protocol or group.protocol,
                        "port": str(group.health_check_port or "traffic-port"),
                        "path": group.health_check_path or "/",
                        "interval": float(group.health_check_interval_seconds or 30),
                        "seconds": float(group.health_check_timeout_seconds or 10),
                        "up": int(group.healthy_threshold_count or 3),
                        "down": int(group.unhealthy_threshold_count or 3),
                        "codes": vars(group).get("matcher", {}).get("HttpCode", "200-399"),
                    },
                    "targets": list(_targets(backend.ec2_backend, group)),
                },
            )


def _targets(ec2: Any, group: Any) -> Iterator[dict[str, Any]]:
    for name, target in list(group.targets.items()):
        address, zone = name, target.get("AvailabilityZone")
        if name.startswith("i-"):
            instance = ec2.get_instance_by_id(name)
            if instance is None or instance.state != "running":
                continue
            address, zone = instance.private_ip, instance.placement.zone
        elif zone is None:
            zone = next((e.subnet.availability_zone for e in ec2.enis.values() if e.private_ip_address == name), None)
        yield {"id": name, "address": address, "port": int(target.get("Port") or group.port), "zone": zone}
