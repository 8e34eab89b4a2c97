"""The role of a site's NFS server on AWS, and what IAM Roles Anywhere gives it for: the cluster's word for its node."""

import json
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.preview import NO_KEY, known_in_preview, known_key_arn
from components.tags import Owner
from fleet.model import Fleet

from ..site.nfs_spec import NfsSpec
from .nfs_roles import SESSION_SECONDS, permissions, trust

# IAM's bound of a role's name, and that of Roles Anywhere for its own.
ROLE, NAME = 64, 255


class NfsRoleArgs(TypedDict):
    """`spec` has backups. `key_arn` is the key of their region; `authority` PEM of one or two that sign for nodes."""

    fleet: Fleet
    spec: NfsSpec
    owner: Owner
    key_arn: pulumi.Input[str]
    authority: pulumi.Input[str]


class NfsRole(pulumi.ComponentResource):
    """`arns` are those of nfs_server.Identity, in its order: no secret, and worth nothing without the node's key."""

    def __init__(self, name: str, args: NfsRoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:storage:NfsRole", name, None, opts)
        fleet, spec, owner = args["fleet"], args["spec"], args["owner"]
        assert fleet.aws is not None
        assert spec.backup is not None
        child, tags = pulumi.ResourceOptions(parent=self), owner.tags(f"{spec.site}-{name}")
        account, region = fleet.aws.account_id, spec.backup.region
        anchor = aws.rolesanywhere.TrustAnchor(
            name,
            name=owner.name(f"{spec.site}-{name}", NAME),
            enabled=True,
            source={
                "source_type": "CERTIFICATE_BUNDLE",
                "source_data": {"x509_certificate_data": args["authority"]},
            },
            tags=tags,
            opts=child,
        )
        anchor_arn = known_in_preview(anchor.arn, f"arn:aws:rolesanywhere:{region}:{account}:trust-anchor/{NO_KEY}")
        role = aws.iam.Role(
            name,
            # With the region: under another home it would meet the role of its life before.
            name=owner.name(f"{region}-{name}", ROLE),
            assume_role_policy=anchor_arn.apply(lambda arn: json.dumps(trust(spec, arn))),
            description=f"What the NFS server of {spec.site} may do",
            max_session_duration=SESSION_SECONDS,
            tags=tags,
            opts=child,
        )
        policy = aws.iam.RolePolicy(
            name,
            role=role.name,
            name=name,
            policy=known_key_arn(args["key_arn"], region, account).apply(
                lambda arn: json.dumps(permissions(fleet, spec, arn))
            ),
            opts=child,
        )
        profile = aws.rolesanywhere.Profile(
            name,
            name=owner.name(f"{spec.site}-{name}", NAME),
            enabled=True,
            role_arns=[role.arn],
            duration_seconds=SESSION_SECONDS,
            tags=tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[policy]),
        )
        self.arns: pulumi.Output[list[str]] = pulumi.Output.all(anchor.arn, profile.arn, role.arn)
        self.register_outputs({})
