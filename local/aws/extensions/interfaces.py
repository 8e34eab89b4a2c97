"""Network interfaces live and die with what owns them, and a subnet that still has one can't be deleted.

AWS: "DeleteSubnet: you must terminate all running instances in the subnet before you can delete the subnet" and, for
all else that holds an interface, DependencyViolation. moto leaves a NAT gateway's interface behind, and asks nothing.
"""

from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend

from .patching import override


class SubnetInUse(EC2ClientError):
    def __init__(self, subnet_id: str) -> None:
        message = f"The subnet '{subnet_id}' has dependencies and cannot be deleted."
        super().__init__("DependencyViolation", message)


def install() -> None:
    @override(EC2Backend, "delete_nat_gateway")
    def delete_nat_gateway(self: Any, original: Any, nat_gateway_id: str) -> Any:
        gateway = original(nat_gateway_id)
        if gateway._eni.id in self.enis:
            self.delete_network_interface(gateway._eni.id)
        return gateway

    @override(EC2Backend, "delete_network_interface")
    def delete_network_interface(self: Any, original: Any, eni_id: str) -> None:
        interface = self.enis.get(eni_id)
        original(eni_id)
        for address in [a for a in self.addresses if getattr(a, "eni", None) is interface]:
            address.eni = address.instance = address.association_id = None

    @override(EC2Backend, "delete_subnet")
    def delete_subnet(self: Any, original: Any, subnet_id: str) -> Any:
        if any(interface.subnet.id == subnet_id for interface in self.enis.values()):
            raise SubnetInUse(subnet_id)
        return original(subnet_id)
