"""A VPC's own prefix keeps its local route: another route to the same destination is refused.

"Error codes for the Amazon EC2 API": RouteAlreadyExists, "a route for the specified CIDR block already exists in this
route table", and "Route tables" in the VPC user guide: every route table has a local route, which ReplaceRoute alone
can point elsewhere. moto lets a new route take the local one's place.
"""

import ipaddress
from typing import Any

from moto.ec2.exceptions import InvalidDestinationCIDRBlockParameterError, RouteAlreadyExistsError
from moto.ec2.models import EC2Backend

from .patching import override


def install() -> None:
    """Checks each new route against the table's local ones."""

    @override(EC2Backend, "create_route")
    def create_route(
        self: Any, original: Any, route_table_id: str, destination_cidr_block: str | None, *args: Any, **given: Any
    ) -> Any:
        local = (
            [] if given.get("local") else [r for r in self.get_route_table(route_table_id)._routes.values() if r.local]
        )
        wanted = {_network(cidr) for cidr in (destination_cidr_block, given.get("destination_ipv6_cidr_block")) if cidr}
        for route in local:
            own = route.destination_cidr_block or route.destination_ipv6_cidr_block
            if own and _network(own) in wanted:
                raise RouteAlreadyExistsError(own)
        return original(route_table_id, destination_cidr_block, *args, **given)


def _network(cidr: str) -> Any:
    try:
        return ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        raise InvalidDestinationCIDRBlockParameterError(cidr) from None
