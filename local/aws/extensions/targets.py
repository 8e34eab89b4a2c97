"""Target groups of network load balancers, and what may be registered in them.

ELBv2 API: DeregisterTargets ("If the specified target does not exist, the action returns successfully"),
RegisterTargets (InvalidTarget), ModifyTargetGroup; NLB user guide: "Edit target group attributes": client IP
preservation is on for instances and, with TCP and TLS, off for addresses. moto knows application load balancers' only.
"""

import ipaddress
from typing import Any

from moto.elbv2.exceptions import ELBClientError
from moto.elbv2.models import ELBv2Backend, FakeTargetGroup

from .patching import override

LAYER_4 = ("TCP", "TLS", "UDP", "TCP_UDP")
KEEPS_CLIENT = ("UDP", "TCP_UDP")


def install() -> None:
    """Puts the rules into target groups."""

    @override(ELBv2Backend, "create_target_group")
    def create_target_group(self: Any, original: Any, name: str, **given: Any) -> Any:  # noqa: ARG001
        group = original(name, **given)
        if group.protocol in LAYER_4:
            keeps = group.target_type == "instance" or group.protocol in KEEPS_CLIENT
            more = {
                "preserve_client_ip.enabled": keeps,
                "proxy_protocol_v2.enabled": False,
                "deregistration_delay.connection_termination.enabled": False,
            }
            group.attributes |= {key: str(value).lower() for key, value in more.items()}
        return group

    @override(ELBv2Backend, "modify_target_group")
    def modify_target_group(self: Any, original: Any, *args: Any, **given: Any) -> Any:  # noqa: ARG001
        """A check over HTTP has a matcher, whatever the group's own protocol is."""
        group = original(*args, **given)
        codes = given.get("http_codes", args[8] if len(args) > 8 else None)
        if group.health_check_protocol in ("HTTP", "HTTPS"):
            group.matcher = {"HttpCode": codes or vars(group).get("matcher", {}).get("HttpCode", "200-399")}
        else:
            vars(group).pop("matcher", None)
        return group

    @override(FakeTargetGroup, "register")
    def register(self: Any, original: Any, targets: list[dict[str, Any]]) -> None:
        for target in targets:
            if self.target_type == "instance" and self.ec2_backend.get_instance_by_id(target["Id"]) is None:
                raise ELBClientError("InvalidTarget", f"The instance '{target['Id']}' does not exist")
            if self.target_type == "ip":
                _check_address(self, target)
        original(targets)

    @override(FakeTargetGroup, "deregister")
    def deregister(self: Any, original: Any, targets: list[dict[str, Any]]) -> None:
        original([target for target in targets if target["Id"] in self.targets])


def _check_address(group: Any, target: dict[str, Any]) -> None:
    """An address is the VPC's own, or any other that the VPC can reach and then with the zone "all"."""
    try:
        address = ipaddress.ip_address(target["Id"])
    except ValueError:
        raise ELBClientError("ValidationError", f"The IP address '{target['Id']}' is not valid") from None
    networks = group.ec2_backend.get_vpc(group.vpc_id).get_cidr_block_association_set()
    inside = any(address in ipaddress.ip_network(network["cidr_block"]) for network in networks)
    if not inside and target.get("AvailabilityZone") != "all":
        message = f"You must specify 'all' as the Availability Zone for the IP address '{address}' outside of the VPC"
        raise ELBClientError("ValidationError", message)
