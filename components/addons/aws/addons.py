"""What add-ons need in AWS: roles of teams' pods and of pods of ours, and trust in who vouches for them."""

import json
from typing import Any, TypedDict

import pulumi
import pulumi_aws as aws

from fleet import issuers
from fleet.model import Fleet

from .. import owners
from . import autoscaler_role, joining_role, recorder_role, team_roles


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
        fleet, cluster = args["fleet"], args["cluster"]
        for team in sorted(fleet.teams):
            _role(
                self,
                f"team-{team}",
                name=team_roles.role_name(fleet, cluster, team),
                trust=team_roles.trust(fleet, cluster, team),
                description=f"What pods of team {team} may do in S3",
                tags=owners.of_team(fleet, cluster, team).tags(f"team-{team}"),
                policy="storage",
                permissions=team_roles.permissions(fleet, team),
            )
        self.register_outputs({})


class AutoscalerRole(pulumi.ComponentResource):
    """The role of the autoscaler's cloud side. Its pod names it: see autoscaler.py."""

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:AutoscalerRole", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        _role(
            self,
            "autoscaler",
            name=autoscaler_role.role_name(fleet, cluster),
            trust=autoscaler_role.trust(fleet, cluster),
            description=f"What the autoscaler of {cluster} may do with scaling groups",
            tags=owners.of_cluster(fleet, cluster).tags("autoscaler"),
            policy="groups",
            permissions=autoscaler_role.permissions(fleet, cluster),
        )
        self.register_outputs({})


class JoiningRole(pulumi.ComponentResource):
    """Of the joining service of a cluster that is at home elsewhere and has machines in AWS. The table of pools names
    it: see joining.py.
    """

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:JoiningRole", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        _role(
            self,
            "joining",
            name=joining_role.role_name(fleet, cluster),
            trust=joining_role.trust(fleet, cluster),
            description=f"The joining service of {cluster} may see instances",
            tags=owners.of_cluster(fleet, cluster).tags("joining"),
            policy="machines",
            permissions=joining_role.permissions(fleet, cluster),
        )
        self.register_outputs({})


class RecorderRole(pulumi.ComponentResource):
    """Of the recorder of a cluster that is at home in AWS, or has machines there. Its pod names it: see recorder.py."""

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:RecorderRole", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        _role(
            self,
            "recorder",
            name=recorder_role.role_name(fleet, cluster),
            trust=recorder_role.trust(fleet, cluster),
            description=f"What the recorder of {cluster} may do in AWS",
            tags=owners.of_cluster(fleet, cluster).tags("recorder"),
            policy="records",
            permissions=recorder_role.permissions(fleet, cluster),
        )
        self.register_outputs({})


def _role(
    parent: pulumi.Resource,
    title: str,
    *,
    name: str,
    trust: dict[str, Any],
    description: str,
    tags: dict[str, str],
    policy: str,
    permissions: dict[str, Any],
) -> None:
    """A role with one policy; `title` is what the stack calls both."""
    child = pulumi.ResourceOptions(parent=parent)
    role = aws.iam.Role(
        title,
        name=name,
        assume_role_policy=json.dumps(trust),
        description=description,
        tags=tags,
        opts=child,
    )
    aws.iam.RolePolicy(title, role=role.name, name=policy, policy=json.dumps(permissions), opts=child)
