"""How large things may be: user data, secrets, parameters.

User data: "up to 16 KB in raw form, before base64" (EC2 user guide). Secrets: 65,536 bytes (Secrets Manager quotas).
Parameters: "Standard parameters have a value limit of 4 KB. Advanced parameters have a value limit of 8 KB" (Systems
Manager API, PutParameter).
"""

import base64
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ec2.models.launch_templates import LaunchTemplate
from moto.secretsmanager.exceptions import InvalidRequestException, ValidationException
from moto.secretsmanager.models import SecretsManagerBackend
from moto.ssm.exceptions import ValidationException as ParameterRefused
from moto.ssm.models import SimpleSystemManagerBackend

from .patching import override

USER_DATA_BYTES = 16_384
SECRET_BYTES = 65_536
PARAMETER_BYTES = {"Standard": 4_096, "Advanced": 8_192}
TIERS = "https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-advanced-parameters.html"


def install() -> None:
    """Puts the sizes into EC2, Secrets Manager and Parameter Store."""
    _limit_user_data()
    _limit_secrets()
    _limit_parameters()


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


def _limit_parameters() -> None:
    @override(SimpleSystemManagerBackend, "put_parameter")
    def put_parameter(self: Any, original: Any, *args: Any, **given: Any) -> Any:
        named = dict(zip(("name", "description", "value"), args, strict=False)) | given
        versions = self._parameters.get(named["name"]) or []
        before = getattr(versions[-1], "tier", None) if versions else None
        size = len((named["value"] or "").encode())
        given["tier"] = tier = _tier(given.get("tier") or before or self.default_parameter_tier, before, size)
        if size > PARAMETER_BYTES[tier]:
            # Never the value itself.
            more = {
                "Standard": f" To create a larger parameter value, upgrade the parameter to the advanced tier: {TIERS}"
            }
            raise ParameterRefused(
                f"{tier} tier parameters support a maximum parameter value of {PARAMETER_BYTES[tier]} characters."
                + more.get(tier, "")
            )
        return original(*args, **given)


def _tier(tier: str, before: str | None, size: int) -> str:
    """Intelligent-Tiering "evaluates each request"; what is advanced can't be made standard again."""
    if tier == "Intelligent-Tiering":
        return "Advanced" if before == "Advanced" or size > PARAMETER_BYTES["Standard"] else "Standard"
    if before == "Advanced" and tier == "Standard":
        raise ParameterRefused(f"This parameter uses the advanced-parameter tier and can't be downgraded: {TIERS}")
    return tier
