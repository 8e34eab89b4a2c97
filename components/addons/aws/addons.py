"""What add-ons need in AWS: roles of teams' pods and of pods of ours, and trust in who vouches for them."""

import json
from typing import Any, NamedTuple, Protocol, TypedDict

import pulumi
import pulumi_aws as aws

from fleet import issuers
from fleet.model import Fleet

from .. import owners
from . import autoscaler_role, fleet_metrics_role, joining_role, recorder_role, team_roles


class Document(Protocol):
    """What is said of a service's role, as plain data: the modules beside this one."""

    def role_name(self, fleet: Fleet, cluster: str) -> str: ...

    def trust(self, fleet: Fleet, cluster: str) -> dict[str, Any]: ...

    def permissions(self, fleet: Fleet, cluster: str) -> dict[str, Any]: ...


class Texts(NamedTuple):
    """`title` is what the stack calls the role; {} in the description is the cluster."""

    title: str
    description: str
    policy: str


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


class ServiceRole(pulumi.ComponentResource):
    """Of a service of ours in the cluster, by its own document: `of` says who takes it, and what it may."""

    def __init__(
        self, kind: str, name: str, args: RolesArgs, of: Document, texts: Texts, opts: pulumi.ResourceOptions | None
    ) -> None:
        super().__init__(f"landbridge:addons:{kind}", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        _role(
            self,
            texts.title,
            name=of.role_name(fleet, cluster),
            trust=of.trust(fleet, cluster),
            description=texts.description.format(cluster),
            tags=owners.of_cluster(fleet, cluster).tags(texts.title),
            policy=texts.policy,
            permissions=of.permissions(fleet, cluster),
        )
        self.register_outputs({})


class AutoscalerRole(ServiceRole):
    """The role of the autoscaler's cloud side. Its pod names it: see autoscaler.py."""

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        texts = Texts("autoscaler", "What the autoscaler of {} may do with scaling groups", "groups")
        super().__init__("AutoscalerRole", name, args, autoscaler_role, texts, opts)


class JoiningRole(ServiceRole):
    """Of the joining service of a cluster that is at home elsewhere and has machines in AWS. The table of pools names
    it: see joining.py.
    """

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        texts = Texts("joining", "The joining service of {} may see instances", "machines")
        super().__init__("JoiningRole", name, args, joining_role, texts, opts)


class RecorderRole(ServiceRole):
    """Of the recorder of a cluster that is at home in AWS, or has machines there. Its pod names it: see recorder.py."""

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        texts = Texts("recorder", "What the recorder of {} may do in AWS", "records")
        super().__init__("RecorderRole", name, args, recorder_role, texts, opts)


class FleetMetricsRole(ServiceRole):
    """Of who reads what only clouds know. Its pod names it: see monitoring/fleet_metrics.py."""

    def __init__(self, name: str, args: RolesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        texts = Texts("fleet-metrics", "What the fleet metrics of {} may see in AWS", "looks")
        super().__init__("FleetMetricsRole", name, args, fleet_metrics_role, texts, opts)


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
