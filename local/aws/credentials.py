"""A machine's credentials: its instance profile's role, as EC2 assumes it for the machine."""

from datetime import UTC
from typing import Any

from .access.policy import Caller, Request, verdict
from .extensions.machines import find

SECONDS = 6 * 3600
EC2 = "ec2.amazonaws.com"


class NoRole(ValueError):
    """Instance metadata's own code for why there are no credentials."""


def credentials(instance_id: str) -> dict[str, str]:
    """What instance metadata shows. Raises NoRole, or KeyError when there is no such instance."""
    from moto.sts.models import sts_backends

    instance = find(instance_id)
    association = instance.ec2_backend.iam_instance_profile_associations.get(instance_id)
    role = next(iter(association.iam_instance_profile.roles), None) if association else None
    if role is None:
        raise NoRole("InstanceProfileNotFound")
    request = Request("sts:AssumeRole", role.arn, {})
    trusts: Any = role.assume_role_policy_document
    if not verdict([trusts], request, Caller(instance.owner_id, service=EC2)).allowed:
        raise NoRole("AssumeRoleUnauthorizedAccess")
    backend = sts_backends[instance.owner_id]["aws"]
    made = backend.assume_role(instance.ec2_backend.region_name, instance_id, role.arn, "", SECONDS, "")
    return {
        "AccessKeyId": made.access_key_id,
        "SecretAccessKey": made.secret_access_key,
        "Token": made.session_token,
        "Expiration": made.expiration.replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
