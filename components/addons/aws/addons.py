"""What add-ons need in AWS: roles of each team's pods and of the autoscaler's, and trust in who vouches for them."""

import json
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from fleet import issuers
from fleet.model import Fleet

from .. import owners
from . import autoscaler_role, team_roles


class RolesArgs(TypedDict):
    """Names and policies follow from the fleet and the cluster's name."""

    fleet: Fleet
    cluster: str


class IssuerTrust(pulumi.ComponentResource):
    """IAM's trust in the issuer of a cluster that is at home elsewhere: at home in AWS its own stack makes it."""

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:IssuerTrust", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        aws.iam.OpenIdConnectProvider(
            name,
            url=issuers.url(fleet, cluster),
            client_id_lists=[issuers.AUDIENCE],
            tags=owners.of_cluster(fleet, cluster).tags(name),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})


class TeamRoles(pulumi.ComponentResource):
    """A role for each team. Who uses one is in the cluster: see team_pods.py."""

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:TeamRoles", name, None, opts)
        fleet, cluster, child = args["fleet"], args["cluster"], pulumi.ResourceOptions(parent=self)
        for team in sorted(fleet.teams):
            role = aws.iam.Role(
                f"team-{team}",
                name=team_roles.role_name(fleet, cluster, team),
                assume_role_policy=json.dumps(team_roles.trust(fleet, cluster, team)),
                description=f"What pods of team {team} may do in S3",
                tags=owners.of_team(fleet, cluster, team).tags(f"team-{team}"),
                opts=child,
            )
            aws.iam.RolePolicy(
                f"team-{team}",
                role=role.name,
                name="storage",
                policy=json.dumps(team_roles.permissions(fleet, team)),
                opts=child,
            )
        self.register_outputs({})


class AutoscalerRole(pulumi.ComponentResource):
    """The role of the autoscaler's cloud side. Its pod names it: see autoscaler.py."""

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:AutoscalerRole", name, None, opts)
        fleet, cluster, child = args["fleet"], args["cluster"], pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            "autoscaler",
            name=autoscaler_role.role_name(fleet, cluster),
            assume_role_policy=json.dumps(autoscaler_role.trust(fleet, cluster)),
            description=f"What the autoscaler of {cluster} may do with scaling groups",
            tags=owners.of_cluster(fleet, cluster).tags("autoscaler"),
            opts=child,
        )
        aws.iam.RolePolicy(
            "autoscaler",
            role=role.name,
            name="groups",
            policy=json.dumps(autoscaler_role.permissions(fleet, cluster)),
            opts=child,
        )
        self.register_outputs({})
