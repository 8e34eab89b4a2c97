"""Route tables of transit gateways: who is associated, what propagates, which routes there are.

Amazon VPC Transit Gateways guide, "Transit gateway route tables", "Transit gateway peering attachments"; EC2 API:
AssociateTransitGatewayRouteTable, CreateTransitGatewayRoute, SearchTransitGatewayRoutes. moto gives every gateway a
default table whether it is wanted or not, and asks nothing of the state of attachments.
"""

from collections.abc import Iterator
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.transit_gateway_attachments import TransitGatewayAttachment

from .patching import override

ON, PEERING = "enable", "peering"
DEFAULTS = {
    "DefaultRouteTableAssociation": "AssociationDefaultRouteTableId",
    "DefaultRouteTablePropagation": "PropagationDefaultRouteTableId",
}
GONE = ("deleted", "deleting", "rejected", "failed")


def install() -> None:
    _defaults()
    _relations()
    _routes()
    _ends_of_attachments()
    _ends_of_gateways()


def refuse(code: str, message: str) -> EC2ClientError:
    return EC2ClientError(code, message)


def attachment(backend: Any, id_: str) -> Any:
    """One that can carry traffic. Raises EC2ClientError."""
    found = backend.transit_gateway_attachments.get(id_)
    if found is None or found.state in GONE:
        raise refuse("InvalidTransitGatewayAttachmentID.NotFound", f"Transit Gateway Attachment {id_} does not exist.")
    if found.state != "available":
        raise refuse("IncorrectState", f"{id_} is in invalid state: {found.state}")
    return found


def table(backend: Any, id_: str) -> Any:
    """A live one. Raises EC2ClientError."""
    found = backend.transit_gateways_route_tables.get(id_)
    if found is None or found.state in GONE:
        raise refuse("InvalidRouteTableID.NotFound", f"Transit Gateway Route Table {id_} does not exist.")
    return found


def tables(backend: Any) -> Iterator[Any]:
    return (one for one in list(backend.transit_gateways_route_tables.values()) if one.state not in GONE)


def forget(backend: Any, id_: str) -> None:
    """An attachment that is gone: nothing is associated with it, and its routes lead nowhere."""
    for one in tables(backend):
        one.route_table_associations.pop(id_, None)
        one.route_table_propagation = [p for p in one.route_table_propagation if p.transitGatewayAttachmentId != id_]
        for route in one.routes.values():
            if any(end["transitGatewayAttachmentId"] == id_ for end in route.get("transitGatewayAttachments", ())):
                route["state"] = "blackhole"
    backend.transit_gateway_associations.pop(id_, None)
    backend.transit_gateway_propagations.pop(id_, None)


def _defaults() -> None:
    @override(EC2Backend, "create_transit_gateway")
    def create_transit_gateway(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        hub = original(*args, **given)
        for option, named in DEFAULTS.items():
            if hub.options[option] != ON:
                del hub.options[named]
        if not any(hub.options[option] == ON for option in DEFAULTS):
            del self.transit_gateways_route_tables[hub.default_route_table.id]
        return hub

    @override(EC2Backend, "set_route_table_association")
    def set_route_table_association(
        self: Any, original: Any, transit_gateway_attachment_id: str, transit_gateway_route_table_id: str
    ) -> None:
        # moto's own call after a VPC's attachment names the default table whatever the options are.
        if transit_gateway_route_table_id in self.transit_gateways_route_tables:
            original(transit_gateway_attachment_id, transit_gateway_route_table_id)

    for kind in ("vpc", "vpn"):
        _joins(f"create_transit_gateway_{kind}_attachment")
    TransitGatewayAttachment.association = property(_association)


def _joins(name: str) -> None:
    @override(EC2Backend, name)
    def create(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        made = original(*args, **given)
        hub = self.transit_gateways[made.transit_gateway_id]
        forget(self, made.id)
        if associated := hub.options.get("AssociationDefaultRouteTableId"):
            self.associate_transit_gateway_route_table(made.id, associated)
        if propagated := hub.options.get("PropagationDefaultRouteTableId"):
            self.enable_transit_gateway_route_table_propagation(made.id, propagated)
        return made


def _association(one: Any) -> dict[str, str] | None:
    found = next((t for t in tables(one.ec2_backend) if one.id in t.route_table_associations), None)
    return found and {"State": "associated", "TransitGatewayRouteTableId": found.id}


def _relations() -> None:
    @override(EC2Backend, "associate_transit_gateway_route_table")
    def associate(
        self: Any, original: Any, transit_gateway_attachment_id: str, transit_gateway_route_table_id: str
    ) -> Any:
        attachment(self, transit_gateway_attachment_id)
        table(self, transit_gateway_route_table_id)
        if any(transit_gateway_attachment_id in one.route_table_associations for one in tables(self)):
            what = f"Transit Gateway Attachment {transit_gateway_attachment_id} is already associated to a route table."
            raise refuse("Resource.AlreadyAssociated", what)
        return original(transit_gateway_attachment_id, transit_gateway_route_table_id)

    @override(EC2Backend, "disassociate_transit_gateway_route_table")
    def disassociate(self: Any, original: Any, tgw_attach_id: str, tgw_rt_id: str) -> Any:
        if tgw_attach_id not in table(self, tgw_rt_id).route_table_associations:
            what = f"{tgw_attach_id} is not associated with {tgw_rt_id}"
            raise refuse("InvalidAssociation.NotFound", what)
        return original(tgw_attach_id, tgw_rt_id)

    @override(EC2Backend, "enable_transit_gateway_route_table_propagation")
    def enable(
        self: Any, original: Any, transit_gateway_attachment_id: str, transit_gateway_route_table_id: str
    ) -> Any:
        if attachment(self, transit_gateway_attachment_id).resource_type == PEERING:
            # "Transit gateway peering attachments": routes between gateways are static.
            what = f"{transit_gateway_attachment_id}: peering attachments do not propagate routes"
            raise refuse("UnsupportedOperation", what)
        found = table(self, transit_gateway_route_table_id).route_table_propagation
        if any(one.transitGatewayAttachmentId == transit_gateway_attachment_id for one in found):
            what = f"Propagation {transit_gateway_attachment_id} is already in {transit_gateway_route_table_id}"
            raise refuse("TransitGatewayRouteTablePropagation.Duplicate", what)
        return original(transit_gateway_attachment_id, transit_gateway_route_table_id)

    @override(EC2Backend, "disable_transit_gateway_route_table_propagation")
    def disable(
        self: Any, original: Any, transit_gateway_attachment_id: str, transit_gateway_route_table_id: str
    ) -> Any:
        found = table(self, transit_gateway_route_table_id).route_table_propagation
        if not any(one.transitGatewayAttachmentId == transit_gateway_attachment_id for one in found):
            what = f"Propagation {transit_gateway_attachment_id} is not in {transit_gateway_route_table_id}"
            raise refuse("TransitGatewayRouteTablePropagation.NotFound", what)
        return original(transit_gateway_attachment_id, transit_gateway_route_table_id)


def _routes() -> None:
    @override(EC2Backend, "create_transit_gateway_route")
    def create_route(
        self: Any,
        original: Any,
        transit_gateway_route_table_id: str,
        destination_cidr_block: str,
        transit_gateway_attachment_id: str | None = None,
        *,
        blackhole: bool = False,
    ) -> Any:
        if destination_cidr_block in table(self, transit_gateway_route_table_id).routes:
            what = f"Route {destination_cidr_block} already exists in Transit Gateway Route Table"
            raise refuse("RouteAlreadyExists", f"{what} {transit_gateway_route_table_id}.")
        if not blackhole:
            attachment(self, str(transit_gateway_attachment_id))
        route = original(
            transit_gateway_route_table_id, destination_cidr_block, transit_gateway_attachment_id, blackhole
        )
        if isinstance(end := route.get("transitGatewayAttachments"), dict):
            route["transitGatewayAttachments"] = [end]
        return route

    @override(EC2Backend, "delete_transit_gateway_route")
    def delete_route(self: Any, original: Any, transit_gateway_route_table_id: str, destination_cidr_block: str) -> Any:
        if destination_cidr_block not in table(self, transit_gateway_route_table_id).routes:
            what = f"There is no route to {destination_cidr_block} in {transit_gateway_route_table_id}"
            raise refuse("InvalidRoute.NotFound", what)
        return original(transit_gateway_route_table_id, destination_cidr_block)

    @override(EC2Backend, "delete_transit_gateway_route_table")
    def delete_table(self: Any, original: Any, transit_gateway_route_table_id: str) -> Any:
        found = table(self, transit_gateway_route_table_id)
        if found.route_table_associations:
            raise refuse("IncorrectState", f"{found.id} has associations: {', '.join(found.route_table_associations)}")
        return original(transit_gateway_route_table_id)


def _ends_of_attachments() -> None:
    @override(EC2Backend, "delete_vpn_connection")
    def delete_connection(self: Any, original: Any, vpn_connection_id: str) -> Any:
        gone = original(vpn_connection_id)
        for one in list(self.transit_gateway_attachments.values()):
            if one.resource_id == vpn_connection_id:
                forget(self, one.id)
        return gone

    @override(EC2Backend, "delete_transit_gateway_vpc_attachment")
    def delete_attachment(self: Any, original: Any, transit_gateway_attachment_id: str) -> Any:
        forget(self, transit_gateway_attachment_id)
        return original(transit_gateway_attachment_id)

    @override(EC2Backend, "delete_transit_gateway_peering_attachment")
    def delete_peering(self: Any, original: Any, transit_gateway_attachment_id: str) -> Any:
        found = self.transit_gateway_attachments.get(transit_gateway_attachment_id)
        if found is None or found.resource_type != PEERING:
            what = f"Transit Gateway Attachment {transit_gateway_attachment_id} does not exist."
            raise refuse("InvalidTransitGatewayAttachmentID.NotFound", what)
        for backend in self._get_peering_attachment_backend_refs():
            if transit_gateway_attachment_id in backend.transit_gateway_attachments:
                forget(backend, transit_gateway_attachment_id)
        return original(transit_gateway_attachment_id)

    @override(EC2Backend, "describe_transit_gateway_peering_attachments")
    def describe_peerings(_: Any, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Of moto's, which tells of all attachments, those alone that are peerings."""
        return [one for one in original(*args, **kwargs) if one.resource_type == PEERING]


def _ends_of_gateways() -> None:
    @override(EC2Backend, "delete_transit_gateway")
    def delete_hub(self: Any, original: Any, transit_gateway_id: str) -> Any:
        mine = [
            *(one for one in self.transit_gateway_attachments.values() if _at(one, transit_gateway_id)),
            *(t for t in tables(self) if t.transit_gateway_id == transit_gateway_id and not _own(t)),
        ]
        if left := sorted(one.id for one in mine if one.state not in GONE):
            raise refuse("IncorrectState", f"{transit_gateway_id} has non-deleted {', '.join(left)}")
        return original(transit_gateway_id)

    @override(EC2Backend, "delete_customer_gateway")
    def delete_gateway(self: Any, original: Any, customer_gateway_id: str) -> Any:
        for one in self.vpn_connections.values():
            if one.customer_gateway_id == customer_gateway_id and one.state not in GONE:
                raise refuse("IncorrectState", f"The customer gateway is in use: {one.id}")
        return original(customer_gateway_id)


def _at(one: Any, hub: str) -> bool:
    """Whether an attachment is the hub's, at either end of a peering."""
    ends = (getattr(one, "accepter_tgw_info", {}), getattr(one, "requester_tgw_info", {}))
    return hub in (one.transit_gateway_id, *(end.get("TransitGatewayId") for end in ends))


def _own(one: Any) -> bool:
    """A hub's default table goes with it."""
    return bool(one.default_association_route_table or one.default_propagation_route_table)
