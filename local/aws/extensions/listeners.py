"""Listeners that the local cloud's balancers can serve; any other is refused when it is asked for, not silently deaf.

ELBv2 API: CreateListener, ModifyListener, ModifyTargetGroupAttributes. What machines see of a balancer is made by
local.supervisor.balancers: TCP proxies on internal addresses, each with one target group.
"""

from typing import Any

from moto.elbv2.exceptions import ELBClientError as Refused
from moto.elbv2.models import ELBv2Backend

from .patching import override

PROTOCOLS, GROUPS, TARGETS = ("TCP",), ("TCP", "TCP_UDP"), ("instance", "ip")
# Attribute of a group → what it would be on AWS.
UNSERVED = {
    "preserve_client_ip.enabled": "its targets would see the client's own address",
    "proxy_protocol_v2.enabled": "its targets would be told the client's address first",
}


def install() -> None:
    """Puts the rules before calls that make or change listeners."""

    @override(ELBv2Backend, "create_listener")
    def create_listener(self: Any, original: Any, load_balancer_arn: str, protocol: Any, **given: Any) -> Any:
        if balancer := self.load_balancers.get(load_balancer_arn):
            check(self, balancer, protocol, given["actions"])
        return original(load_balancer_arn, protocol, **given)

    @override(ELBv2Backend, "modify_listener")
    def modify_listener(
        self: Any, original: Any, arn: str, port: Any = None, protocol: Any = None, *args: Any, **given: Any
    ) -> Any:
        actions = given.get("actions") or (args[2] if len(args) > 2 else None)
        for balancer in self.load_balancers.values():
            if listener := balancer.listeners.get(arn):
                now = [action.data for action in listener.default_actions]
                check(self, balancer, protocol or listener.protocol, actions or now)
        return original(arn, port, protocol, *args, **given)

    @override(ELBv2Backend, "modify_target_group_attributes")
    def modify_attributes(self: Any, original: Any, arn: str, attributes: dict[str, Any]) -> Any:
        group = self.target_groups.get(arn)
        if group is not None and group.load_balancer_arns:
            check_group(group, {**group.attributes, **attributes})
        return original(arn, attributes)


def check(backend: Any, balancer: Any, protocol: Any, actions: Any) -> None:
    """Raises Refused for a listener that nobody would serve."""
    if balancer.type != "network" or balancer.scheme != "internal":
        kind = balancer.type if balancer.type != "network" else f"{balancer.scheme} network"
        refuse(f"serves internal network load balancers, and {balancer.name} is an {kind} one")
    if protocol not in PROTOCOLS:
        refuse(f"serves TCP listeners, not {protocol}")
    groups = [arn for action in actions for arn in backend._get_target_group_arns_from(action_data=action)]
    if len(groups) != 1 or any(action.get("Type") != "forward" for action in actions):
        refuse("serves listeners that forward to one target group")
    if group := backend.target_groups.get(groups[0]):
        check_group(group, group.attributes)


def check_group(group: Any, attributes: dict[str, Any]) -> None:
    if group.protocol not in GROUPS or group.target_type not in TARGETS:
        what = f"{group.protocol} to targets of type {group.target_type}"
        refuse(f"serves TCP to machines and addresses; target group {group.name} has {what}")
    for name, effect in UNSERVED.items():
        if str(attributes.get(name)).lower() == "true":
            refuse(f"can't honour {name} of target group {group.name} ({effect}): set it to false")


def refuse(what: str) -> None:
    raise Refused("InvalidConfigurationRequest", f"The local cloud {what}")
