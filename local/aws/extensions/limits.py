"""AWS's sizes and default quotas, which moto does not know. One table; the error codes are those of each API.

Quotas: "Amazon VPC quotas", "Elastic IP addresses", "Transit gateway quotas" (AWS documentation): those
that a region runs into first.
User data: "up to 16 KB in raw form, before base64" (EC2 user guide). Secrets: 65,536 bytes (Secrets Manager quotas).
"""

import base64
from collections.abc import Callable
from typing import Any, NamedTuple

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ec2.models.launch_templates import LaunchTemplate
from moto.secretsmanager.exceptions import InvalidRequestException, ValidationException
from moto.secretsmanager.models import SecretsManagerBackend

from .patching import override

USER_DATA_BYTES = 16_384
SECRET_BYTES = 65_536


class Quota(NamedTuple):
    """`count` says how many there are already where the call would add one."""

    call: str
    most: int
    code: str
    what: str
    count: Callable[..., int]


def _in_zone(backend: Any, given: dict[str, Any]) -> int:
    zone = backend.get_subnet(given["subnet_id"]).availability_zone
    gateways = [g for g in backend.nat_gateways.values() if g.state != "deleted"]
    return sum(backend.get_subnet(gateway.subnet_id).availability_zone == zone for gateway in gateways)


def _gateways(backend: Any, _: dict[str, Any]) -> int:
    return len(backend.internet_gateways)


def _live_hubs(backend: Any, _: dict[str, Any]) -> int:
    return sum(hub.state not in ("deleted", "deleting") for hub in backend.transit_gateways.values())


QUOTAS = (
    Quota("create_vpc", 5, "VpcLimitExceeded", "VPCs", lambda backend, _: len(backend.vpcs)),
    Quota(
        "create_internet_gateway",
        5,
        "InternetGatewayLimitExceeded",
        "internet gateways",
        lambda b, _: len(b.internet_gateways),
    ),
    Quota("allocate_address", 5, "AddressLimitExceeded", "addresses", lambda backend, _: len(backend.addresses)),
    Quota("create_nat_gateway", 5, "NatGatewayLimitExceeded", "NAT gateways in this zone", _in_zone),
    Quota("create_transit_gateway", 5, "TransitGatewayLimitExceeded", "transit gateways", _live_hubs),
)


def install() -> None:
    for quota in QUOTAS:
        _enforce(quota)
    _limit_user_data()
    _limit_secrets()


def _enforce(quota: Quota) -> None:
    @override(EC2Backend, quota.call)
    def limited(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        named = {**given, "subnet_id": given.get("subnet_id", args[0] if args else None)}
        if quota.count(self, named) >= quota.most:
            raise EC2ClientError(quota.code, f"The maximum number of {quota.what} has been reached ({quota.most}).")
        return original(*args, **given)


def _limit_user_data() -> None:
    @override(EC2Backend, "run_instances")
    def run_instances(self: Any, original: Any, *args: Any, **given: Any) -> Any:  # noqa: ARG001
        _check_user_data(given.get("user_data", args[2] if len(args) > 2 else None))
        kind = given.get("instance_type")
        if kind and kind not in INSTANCE_TYPES:  # moto has a check of its own, with a code that AWS does not use
            raise EC2ClientError("InvalidParameterValue", f"Invalid value '{kind}' for InstanceType.")
        return original(*args, **given)

    @override(EC2Backend, "create_launch_template")
    def create_launch_template(self: Any, original: Any, *args: Any, **given: Any) -> Any:  # noqa: ARG001
        data = given.get("template_data", args[2] if len(args) > 2 else None) or {}
        _check_user_data(data.get("UserData"))
        return original(*args, **given)

    @override(LaunchTemplate, "create_version")
    def create_version(self: Any, original: Any, data: dict[str, Any], *args: Any, **given: Any) -> Any:  # noqa: ARG001
        _check_user_data(data.get("UserData"))
        return original(data, *args, **given)


def _check_user_data(encoded: Any) -> None:
    if encoded and len(base64.b64decode(str(encoded))) > USER_DATA_BYTES:
        raise EC2ClientError("InvalidParameterValue", "User data is limited to 16384 bytes")


def _limit_secrets() -> None:
    for call in ("create_secret", "put_secret_value", "update_secret"):

        @override(SecretsManagerBackend, call)
        def limited(self: Any, original: Any, *args: Any, **given: Any) -> Any:  # noqa: ARG001
            sizes = {
                "secret_string": len((given.get("secret_string") or "").encode()),
                "secret_binary": len(base64.b64decode(given.get("secret_binary") or "")),
            }
            for name, size in sizes.items():
                if size > SECRET_BYTES:
                    # Never the value itself, which AWS would quote.
                    raise ValidationException(
                        f"Value at '{name}' failed to satisfy constraint: at most {SECRET_BYTES} bytes"
                    )
            return original(*args, **given)

    @override(SecretsManagerBackend, "create_secret")
    def create_secret(self: Any, original: Any, name: str, *args: Any, **given: Any) -> Any:
        if name in self.secrets and self.secrets[name].is_deleted():
            message = "You can't create this secret because a secret with this name is already scheduled for deletion."
            raise InvalidRequestException(message)
        return original(name, *args, **given)
