"""What is in use can't be deleted: refusals of EC2 and IAM that moto does not know.

tests/local/aws/test_dependency_violations.py has all such rules as a table, with the operations of AWS's API
reference that tell of them. Amazon VPC user guide, "Delete your VPC", "Delete an internet gateway", "Delete a security
group".
"""

from collections.abc import Iterator
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.iam.exceptions import DeleteConflictException
from moto.iam.models import IAMBackend

from .patching import override

DEFAULT = "default"


def install() -> None:
    _gateways()
    _groups()
    _addresses()
    _networks()
    _policies()


def dependent(message: str) -> EC2ClientError:
    return EC2ClientError("DependencyViolation", message)


def interfaces(backend: Any, network: str) -> Iterator[Any]:
    return (one for one in list(backend.enis.values()) if one.subnet.vpc_id == network)


def _gateways() -> None:
    @override(EC2Backend, "detach_internet_gateway")
    def detach(self: Any, original: Any, internet_gateway_id: str, vpc_id: str) -> Any:
        mapped = {id(address.eni) for address in self.addresses if getattr(address, "eni", None)}
        if any(id(one) in mapped or one.public_ip for one in interfaces(self, vpc_id)):
            raise dependent(
                f"Network {vpc_id} has some mapped public address(es). Please unmap those public address(es) before "
                "detaching the gateway."
            )
        return original(internet_gateway_id, vpc_id)


def _groups() -> None:
    @override(EC2Backend, "delete_security_group")
    def delete(self: Any, original: Any, name: str | None = None, group_id: str | None = None) -> Any:
        if group_id and (_worn(self, group_id) or _named(self, group_id)):
            raise dependent(f"resource {group_id} has a dependent object")
        return original(name, group_id)


def _worn(backend: Any, group: str) -> bool:
    return any(one.id == group for interface in list(backend.enis.values()) for one in interface.group_set or ())


def _named(backend: Any, group: str) -> bool:
    """Whether a rule of another group names it; its own are no hindrance."""
    others = (one for groups in list(backend.groups.values()) for one in list(groups.values()) if one.id != group)
    rules = (rule for one in others for rule in (*one.ingress_rules, *one.egress_rules))
    return any(rule.source_group.get("GroupId") == group for rule in rules)


def _addresses() -> None:
    @override(EC2Backend, "release_address")
    def release(self: Any, original: Any, address: str | None = None, allocation_id: str | None = None) -> Any:
        allocation = next((one for one in self.addresses if one.allocation_id == allocation_id), None)
        if allocation_id and allocation is not None and allocation.association_id:
            raise EC2ClientError("InvalidIPAddress.InUse", f"Address {allocation.public_ip} is in use.")
        return original(address, allocation_id)


def _networks() -> None:
    @override(EC2Backend, "delete_vpc")
    def delete(self: Any, original: Any, vpc_id: str) -> Any:
        gateways = any(one.vpc and one.vpc.id == vpc_id for one in self.internet_gateways.values())
        groups = any(one.name != DEFAULT for one in self.groups.get(vpc_id, {}).values())
        if gateways or groups:
            raise dependent(f"The vpc '{vpc_id}' has dependencies and cannot be deleted.")
        return original(vpc_id)


def _policies() -> None:
    @override(IAMBackend, "delete_policy")
    def delete(self: Any, original: Any, policy_arn: str) -> Any:
        holders = (*self.roles.values(), *self.users.values(), *self.groups.values())
        if any(policy_arn in one.managed_policies for one in holders):
            raise DeleteConflictException("Cannot delete a policy attached to entities.")
        return original(policy_arn)
