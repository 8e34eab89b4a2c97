"""Addresses of a subnet: each is given once, AWS keeps five, and a full subnet says so.

VPC user guide, "Subnet sizing for IPv4": the first four addresses and the last one are AWS's, so that a /28 has eleven.
"Subnet CIDR reservations": what is reserved is not assigned automatically. "Error codes for the Amazon EC2 API":
InsufficientFreeAddressesInSubnet, InvalidIPAddress.InUse. moto gives interfaces a random address, taken or not.
"""

import copy
import ipaddress
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.instances import Instance
from moto.ec2.models.subnets import Subnet
from moto.ec2.responses import EC2Response

from .patching import override

FIRST_KEPT, LAST_KEPT = 4, 1
# Two calls at once must not be given the same address.
_allocating = threading.RLock()


def install() -> None:
    """Has subnets give every address once, to instances, interfaces and mount targets alike."""
    _give()
    _interfaces()
    _instances()
    Subnet.available_ip_address_count = property(available)


def reserved_addresses(subnet: Any) -> set[str]:
    """AWS's own: the network, the router, the resolver, one for later, and the broadcast address."""
    network = subnet.cidr
    last = network.num_addresses
    return {str(network[n]) for n in (*range(FIRST_KEPT), *range(last - LAST_KEPT, last))}


def taken(subnet: Any) -> set[str]:
    """Addresses of the subnet's interfaces, and those that are being given to an instance or mount target."""
    interfaces = [eni for eni in list(subnet.ec2_backend.enis.values()) if eni.subnet.id == subnet.id]
    bound = {address["PrivateIpAddress"] for eni in interfaces for address in eni.private_ip_addresses}
    holders = list(subnet._subnet_ips.items())
    # moto keeps a terminated instance's address for as long as it keeps the instance.
    return bound | {address for address, holder in holders if getattr(holder, "state", "") != "terminated"}


def available(subnet: Any) -> int:
    """AvailableIpAddressCount: "prefix" reservations are used up at once, "explicit" ones only as they are assigned."""
    prefixes = [r.cidr for r in subnet._cidr_reservations if r.reservation_type == "prefix" and r.cidr.version == 4]
    used = {address for address in taken(subnet) if ipaddress.ip_address(address) in subnet.cidr} | reserved_addresses(
        subnet
    )
    outside = sum(not any(ipaddress.ip_address(address) in prefix for prefix in prefixes) for address in used)
    left: int = subnet.cidr.num_addresses - outside - sum(prefix.num_addresses for prefix in prefixes)
    return left


def free(subnet: Any) -> Iterator[str]:
    """What can be assigned automatically, lowest first."""
    reserved = [reservation.cidr for reservation in subnet._cidr_reservations]
    used = taken(subnet) | reserved_addresses(subnet)
    for address in subnet.cidr:
        if str(address) not in used and not any(address in network for network in reserved):
            yield str(address)


def full(subnet: Any) -> EC2ClientError:
    """AWS's words for a subnet without a free address."""
    message = (
        f"There are not enough free addresses in subnet '{subnet.id}' to satisfy the requested number of instances."
    )
    return EC2ClientError("InsufficientFreeAddressesInSubnet", message)


def check(subnet: Any, address: str) -> None:
    """Raises EC2ClientError when an address that was asked for by name is not to be had."""
    if ipaddress.ip_address(address) not in subnet.cidr:
        raise EC2ClientError("InvalidParameterValue", "Address does not fall within the subnet's address range")
    if address in reserved_addresses(subnet):
        raise EC2ClientError("InvalidParameterValue", f"Address {address} is in subnet's reserved address range")
    if address in taken(subnet):
        raise EC2ClientError("InvalidIPAddress.InUse", f"Address {address} is in use.")


def _several(subnet: Any, count: int) -> list[str]:
    found = [address for address, _ in zip(free(subnet), range(count), strict=False)]
    if len(found) < count:
        raise full(subnet)
    return found


def _give() -> None:
    @override(Subnet, "get_available_subnet_ip")
    def get_available_subnet_ip(self: Any, original: Any, instance: Any) -> str:  # noqa: ARG001
        with _allocating:
            (address,) = _several(self, 1)
            self._subnet_ips[address] = instance
        return address

    @override(Subnet, "request_ip")
    def request_ip(self: Any, original: Any, ip: str, instance: Any) -> None:
        with _allocating:
            if ipaddress.ip_address(ip) in self.cidr:  # else moto's own error, which EFS knows
                check(self, ip)
                self._subnet_ips.pop(ip, None)
            original(ip, instance)


def _interfaces() -> None:
    @override(EC2Backend, "create_network_interface")
    def create_network_interface(
        self: Any,
        original: Any,
        subnet: Any,
        private_ip_address: Any,
        private_ip_addresses: Any = None,
        *args: Any,
        **given: Any,
    ) -> Any:
        """Callers inside moto make an address up: it counts only if the subnet has it."""
        subnet = self.get_subnet(subnet) if isinstance(subnet, str) else subnet
        primary = private_ip_address[:1] if isinstance(private_ip_address, list) else [private_ip_address]
        primary = [address for address in primary if address and ipaddress.ip_address(address) in subnet.cidr]
        named = [a if isinstance(a, str) else a["PrivateIpAddress"] for a in private_ip_addresses or []]
        primary = primary or [a["PrivateIpAddress"] for a in private_ip_addresses or [] if _is_primary(a)]
        more = int(given.pop("secondary_ips_count", None) or 0)
        with _allocating:
            wanted = list(dict.fromkeys([*primary, *named]))
            wanted += _several(subnet, more + (0 if wanted else 1))
            addresses = [{"PrivateIpAddress": address, "Primary": not n} for n, address in enumerate(wanted)]
            return original(subnet, wanted[0], addresses, *args, **given)

    @override(EC2Backend, "assign_private_ip_addresses")
    def assign_private_ip_addresses(
        self: Any, original: Any, eni_id: str, private_ip_addresses: Any = None, secondary_ips_count: Any = None
    ) -> Any:
        subnet = self.get_network_interface(eni_id).subnet
        with _allocating:
            for address in private_ip_addresses or []:
                check(subnet, address)
            return original(eni_id, private_ip_addresses or _several(subnet, int(secondary_ips_count or 0)))

    @override(EC2Response, "create_network_interface")
    def asked(self: Any, original: Any) -> Any:
        subnet = self.ec2_backend.get_subnet(self._get_param("SubnetId"))
        named = [address["PrivateIpAddress"] for address in self._get_param("PrivateIpAddresses", [])]
        for address in {*named, *filter(None, [self._get_param("PrivateIpAddress")])}:
            check(subnet, address)
        return original()


def _instances() -> None:
    @override(EC2Backend, "run_instances")
    def run_instances(self: Any, original: Any, image_id: str, count: int, *args: Any, **given: Any) -> Any:
        """All or none: what does not fit starts nothing."""
        with _allocating:
            for name, number in _wanted(count, given).items():
                _several(self.get_subnet(name), number)
            for name, address in _named(given):
                check(self.get_subnet(name), address)
            try:
                return original(image_id, count, *args, **given)
            except EC2ClientError:
                for name in [name for name, made in self.reservations.items() if not made.instances]:
                    del self.reservations[name]
                raise

    @override(Instance, "prep_nics")
    def prep_nics(self: Any, original: Any, nic_spec: list[dict[str, Any]], *args: Any, **given: Any) -> None:
        """RunInstances: DeleteOnTermination is true by default for the interfaces that it makes."""
        interfaces = {int(nic["DeviceIndex"]): dict(nic) for nic in nic_spec}
        original(nic_spec, *args, **given)
        for index, nic in self.nics.items():
            if not {"NetworkInterfaceId", "DeleteOnTermination"} & set(interfaces.get(index, {})):
                nic.delete_on_termination = True

    @override(Instance, "terminate")
    def terminate(self: Any, original: Any) -> Any:
        """TerminateInstances "is idempotent": the interfaces go once."""
        return copy.copy(self._state) if self.state == "terminated" else original()


def _wanted(count: int, given: dict[str, Any]) -> Counter[str]:
    """How many addresses a launch takes from each subnet without naming them."""
    nics = [nic for nic in given.get("nics") or [] if "NetworkInterfaceId" not in nic and not _primary(nic)]
    if given.get("nics"):
        return Counter({nic["SubnetId"]: count for nic in nics if nic.get("SubnetId")})
    return Counter() if given.get("private_ip") or not given.get("subnet_id") else Counter({given["subnet_id"]: count})


def _named(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if given.get("private_ip") and given.get("subnet_id"):
        yield given["subnet_id"], given["private_ip"]
    for nic in given.get("nics") or []:
        if nic.get("SubnetId") and (address := _primary(nic)):
            yield nic["SubnetId"], address


def _is_primary(address: Any) -> bool:
    return isinstance(address, dict) and bool(address.get("Primary"))


def _primary(nic: dict[str, Any]) -> str | None:
    addresses = [a["PrivateIpAddress"] for a in nic.get("PrivateIpAddresses") or [] if _is_primary(a)]
    return nic.get("PrivateIpAddress") or next(iter(addresses), None)
