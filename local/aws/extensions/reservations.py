"""Subnet CIDR reservations: "explicit" and "prefix", inside the subnet, apart from each other.

VPC user guide, "Subnet CIDR reservations"; EC2 API: CreateSubnetCidrReservation, DeleteSubnetCidrReservation,
GetSubnetCidrReservations. moto has the calls; it forgets description and tags, gives nothing back when a reservation is
deleted, and writes down every address of an IPv6 prefix. addresses.py leaves reserved addresses out.
"""

from typing import Any

from moto.ec2.exceptions import InvalidCidrReservationNotWithinSubnetCidr, InvalidCidrReservationOverlapExisting
from moto.ec2.models.subnets import Subnet, SubnetCidrReservation
from moto.ec2.responses import EC2Response
from moto.ec2.utils import add_tag_specification

from .patching import override


def install() -> None:
    """Has subnets keep reservations as such, not as lists of addresses."""

    @override(Subnet, "create_cidr_reservation")
    def create_cidr_reservation(
        self: Any,
        original: Any,  # noqa: ARG001
        reservation_type: str,
        cidr_block: Any,
        tag_specifications: Any = None,  # noqa: ARG001
    ) -> Any:
        if not self._cidr_within_subnet_cidr_blocks(cidr_block):
            raise InvalidCidrReservationNotWithinSubnetCidr(str(self.cidr))
        if self._cidr_overlaps_with_existing_reservation(cidr_block):
            raise InvalidCidrReservationOverlapExisting(str(cidr_block))
        made = SubnetCidrReservation(self.ec2_backend, self.id, cidr_block, reservation_type, self.owner_id)
        self._cidr_reservations.append(made)
        return made

    @override(Subnet, "delete_subnet_cidr_reservation")
    def delete_subnet_cidr_reservation(self: Any, original: Any, reservation_id: str) -> Any:  # noqa: ARG001
        found = next((r for r in self._cidr_reservations if r.id == reservation_id), None)
        if found:
            self._cidr_reservations.remove(found)
        return found

    @override(EC2Response, "create_subnet_cidr_reservation")
    def create_subnet_cidr_reservation(self: Any, original: Any) -> Any:
        answer = original()
        made = answer.result["SubnetCidrReservation"]
        made.description = self._get_param("Description")
        made.add_tags(add_tag_specification(self._get_param("TagSpecifications", [])))
        return answer
