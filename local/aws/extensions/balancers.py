"""Network load balancers: net/ in their ARN, an interface with its address in every subnet, protection from deletion.

ELBv2 API: CreateLoadBalancer (SubnetMappings: "[Network Load Balancers] The private IPv4 address for an internal load
balancer"), DescribeLoadBalancers (LoadBalancerAddress), DeleteLoadBalancer, SetSecurityGroups, CreateListener; NLB user
guide: "Network Load Balancers". moto makes application load balancers of them all, without any address.
"""

import ipaddress
import re
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.elbv2.exceptions import DuplicateListenerError, DuplicateLoadBalancerName
from moto.elbv2.exceptions import ELBClientError as Refused
from moto.elbv2.models import AvailabilityZone, ELBv2Backend, FakeLoadBalancer

from . import addresses
from .patching import override

NAME = re.compile(r"(?!internal-)(?!-)[A-Za-z0-9-]{1,32}(?<!-)")


def install() -> None:
    """Puts network load balancers into ELBv2."""
    _create()
    _change()
    _delete()
    FakeLoadBalancer.availability_zones = property(_zones)


def interfaces(balancer: Any) -> list[Any]:
    """A network load balancer's own, one a subnet."""
    found: list[Any] = vars(balancer).setdefault("interfaces", [])
    return found


def _zones(balancer: Any) -> list[Any]:
    zones = []
    for subnet in balancer.subnets:
        zone: Any = AvailabilityZone(subnet)
        fixed = vars(balancer).get("fixed", {}).get(subnet.id)
        zone.load_balancer_addresses = [{"PrivateIPv4Address": fixed}] if fixed else []
        zones.append(zone)
    return zones


def _create() -> None:
    @override(ELBv2Backend, "create_load_balancer")
    def create_load_balancer(self: Any, original: Any, name: str, security_groups: list[str], **given: Any) -> Any:
        if any(balancer.name == name for balancer in self.load_balancers.values()):
            raise DuplicateLoadBalancerName
        if not NAME.fullmatch(name):
            message = f"The load balancer name '{name}' is no name: at most 32 letters, digits and hyphens"
            raise Refused("ValidationError", message)
        given["scheme"] = given.get("scheme") or "internet-facing"
        if given.get("loadbalancer_type") != "network":
            return original(name, security_groups, **given)
        mappings = given.get("subnet_mappings") or []
        fixed = {m["SubnetId"]: m["PrivateIPv4Address"] for m in mappings if m.get("PrivateIPv4Address")}
        _check(self, fixed, security_groups, given["scheme"])
        tags = given.pop("tags", None)
        balancer = original(name, security_groups, **given)
        del self.load_balancers[balancer.arn]
        balancer.arn = balancer.arn.replace(":loadbalancer/app/", ":loadbalancer/net/")
        balancer.dns_name = f"{name}-{balancer.arn.rpartition('/')[2]}.elb.{self.region_name}.amazonaws.com"
        self.load_balancers[balancer.arn] = balancer
        self.tagging_service.tag_resource(balancer.arn, tags)
        balancer.fixed = fixed
        try:
            for subnet in balancer.subnets:
                interfaces(balancer).append(_interface(self, balancer, subnet))
        except EC2ClientError as error:
            _free(self, self.load_balancers.pop(balancer.arn))
            raise Refused("InvalidSubnet", error.message) from None
        return balancer


def _check(backend: Any, fixed: dict[str, str], groups: list[str], scheme: str) -> None:
    if fixed and scheme != "internal":
        raise Refused("ValidationError", "You can specify a private IPv4 address only for an internal load balancer")
    for group in groups:
        if backend.ec2_backend.get_security_group_from_id(group) is None:
            raise Refused("InvalidSecurityGroup", f"Security group '{group}' does not exist")
    for subnet_id, address in fixed.items():
        subnet = backend.ec2_backend.get_subnet(subnet_id)
        try:
            addresses.check(subnet, str(ipaddress.ip_address(address)))
        except (EC2ClientError, ValueError) as error:
            message = f"The private IPv4 address {address} can't be used in subnet {subnet_id}: {error}"
            raise Refused("InvalidConfigurationRequest", message) from None


def _interface(backend: Any, balancer: Any, subnet: Any) -> Any:
    path = balancer.arn.rpartition(":loadbalancer/")[2]
    made = backend.ec2_backend.create_network_interface(
        subnet, balancer.fixed.get(subnet.id), group_ids=balancer.security_groups, description=f"ELB {path}"
    )
    if not balancer.security_groups:
        made._group_set = []  # moto puts the default group on it
    made.interface_type, made.requester_managed, made.requester_id = "network_load_balancer", True, "amazon-elb"
    made.status = "in-use"
    return made


def _free(backend: Any, balancer: Any) -> None:
    for interface in interfaces(balancer):
        if interface.id in backend.ec2_backend.enis:
            backend.ec2_backend.delete_network_interface(interface.id)


def _change() -> None:
    @override(ELBv2Backend, "set_security_groups")
    def set_security_groups(self: Any, original: Any, arn: str, sec_groups: list[str]) -> None:
        """Not "on a Network Load Balancer unless you specified a security group" when it was created."""
        balancer = self.load_balancers.get(arn)
        network = balancer is not None and balancer.type == "network"
        if network and not balancer.security_groups:
            message = "You cannot set security groups on a Network Load Balancer that was created without any"
            raise Refused("InvalidConfigurationRequest", message)
        original(arn, sec_groups)
        for interface in interfaces(balancer) if network else []:
            interface._group_set = [self.ec2_backend.get_security_group_from_id(group) for group in sec_groups]

    @override(ELBv2Backend, "set_subnets")
    def set_subnets(self: Any, original: Any, arn: str, *args: Any, **given: Any) -> Any:
        if (balancer := self.load_balancers.get(arn)) and balancer.type == "network":
            raise NotImplementedError  # its interfaces would have to move
        return original(arn, *args, **given)

    @override(ELBv2Backend, "create_listener")
    def create_listener(
        self: Any, original: Any, load_balancer_arn: str, protocol: Any, port: Any, *args: Any, **given: Any
    ) -> Any:
        there = getattr(self.load_balancers.get(load_balancer_arn), "listeners", {}).values()
        if any(str(listener.port) == str(port) for listener in there):
            raise DuplicateListenerError
        made = original(load_balancer_arn, protocol, port, *args, **given)
        _users(self)
        return made

    @override(ELBv2Backend, "modify_listener")
    def modify_listener(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        changed = original(*args, **given)
        _users(self)
        return changed


def _delete() -> None:
    @override(ELBv2Backend, "delete_load_balancer")
    def delete_load_balancer(self: Any, original: Any, arn: str) -> None:
        balancer = self.load_balancers.get(arn)
        if balancer and str(balancer.attrs.get("deletion_protection.enabled")).lower() == "true":
            message = f"Load balancer '{arn}' cannot be deleted because deletion protection is enabled"
            raise Refused("OperationNotPermitted", message)
        original(arn)
        if balancer:
            _free(self, balancer)
        _users(self)

    @override(ELBv2Backend, "delete_listener")
    def delete_listener(self: Any, original: Any, listener_arn: str) -> Any:
        deleted = original(listener_arn)
        _users(self)
        return deleted


def _users(backend: Any) -> None:
    """Tells every target group which load balancers forward to it."""
    for group in backend.target_groups.values():
        group.load_balancer_arns[:] = [
            balancer.arn
            for balancer in backend.load_balancers.values()
            if any(
                group.arn in backend._get_target_group_arns_from(action_data=action.data)
                for listener in balancer.listeners.values()
                for rule in listener.rules.values()
                for action in rule.actions
            )
        ]
