"""Private hosted zones: a zone created with a VPC is private, and stays with at least one.

Route 53 API: CreateHostedZone (the VPC makes a zone private; PrivateZone tells that, and is not needed to ask for it),
AssociateVPCWithHostedZone, DisassociateVPCFromHostedZone. moto wants PrivateZone and takes any VPC.
"""

from typing import Any

from moto.ec2.models import ec2_backends
from moto.route53.exceptions import Route53ClientError
from moto.route53.models import Route53Backend
from moto.route53.responses import Route53

from .patching import override


def install() -> None:
    """Puts the rules into Route 53."""

    @override(Route53, "create_hosted_zone")
    def create_hosted_zone(self: Any, original: Any) -> Any:
        vpc = self._get_param("VPC") or {}
        private = bool(vpc.get("VPCId"))
        if self._get_bool_param("HostedZoneConfig.PrivateZone") and not private:
            raise Route53ClientError(
                "InvalidInput", "When you're creating a private hosted zone, you must specify a VPC."
            )
        if private:
            _check(self.backend, self._get_param("Name"), vpc["VPCId"], vpc.get("VPCRegion"))
        self.params["HostedZoneConfig"] = {**(self._get_param("HostedZoneConfig") or {}), "PrivateZone": private}
        return original()

    @override(Route53Backend, "associate_vpc_with_hosted_zone")
    def associate(self: Any, original: Any, zone_id: str, vpcid: str, vpcregion: str) -> Any:
        zone = self.get_hosted_zone(zone_id)
        if zone.private_zone:
            _check(self, zone.name, vpcid, vpcregion)
        return original(zone_id, vpcid, vpcregion)

    @override(Route53Backend, "disassociate_vpc_from_hosted_zone")
    def disassociate(self: Any, original: Any, zone_id: str, vpcid: str) -> Any:
        if vpcid not in [vpc["vpc_id"] for vpc in self.get_hosted_zone(zone_id).vpcs]:
            message = "The specified VPC and hosted zone are not currently associated."
            raise Route53ClientError("VPCAssociationNotFound", message)
        return original(zone_id, vpcid)


def _check(backend: Any, name: str, vpc: str, region: str | None) -> None:
    """The VPC exists, and resolves this name in no other zone yet: "ConflictingDomainExists"."""
    regions = ec2_backends[backend.account_id]
    if not any(vpc in there.vpcs for name_of, there in list(regions.items()) if region in (None, name_of)):
        raise Route53ClientError(
            "InvalidVPCId", f"The VPC: {vpc} you provided is not authorized to make the association."
        )
    for zone in backend.zones.values():
        if zone.name.rstrip(".") == name.rstrip(".") and vpc in [other.get("vpc_id") for other in zone.vpcs]:
            message = (
                f"The VPC {vpc} in region {region} has already been associated with the hosted zone {zone.resource_id}"
            )
            raise Route53ClientError("ConflictingDomainExists", message + " with the same domain name.")
