"""What add-ons need in Azure: identities of teams' pods and of pods of ours, and what they may do."""

from typing import Any, Protocol, TypedDict

import pulumi
import pulumi_azure_native as azure

from components.azure.assignment import Assignment, assigned
from fleet.azure import ids
from fleet.azure.ids import subscription
from fleet.buckets import in_azure, resource_group
from fleet.model import Fleet

from .. import owners
from . import autoscaler_role as role
from . import fleet_metrics_role, recorder_role, team_roles


class IdentityArgs(TypedDict):
    """Names and rights follow from the fleet and the cluster's name."""

    fleet: Fleet
    cluster: str


class TeamIdentities(pulumi.ComponentResource):
    """One for each team; `client_ids`, by team, are what its pods name them by: see team_pods.py."""

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:TeamIdentities", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        self.client_ids: dict[str, pulumi.Output[str]] = {}
        for team in sorted(fleet.teams):
            identity = _identity(
                self,
                f"team-{team}",
                args,
                name=team_roles.identity_name(fleet, cluster, team),
                region=team_roles.home(fleet, cluster),
                tags=owners.of_team(fleet, cluster, team).tags(f"team-{team}"),
                federation=team_roles.federation(fleet, cluster, team),
                credential="pods",
            )
            for grant in team_roles.grants(fleet, cluster, team):
                assigned(f"team-{team}-{grant.region}", Assignment(*grant[1:]), identity, self)
            self.client_ids[team] = identity.client_id
        self.register_outputs({})


class AutoscalerIdentity(pulumi.ComponentResource):
    """`client_id` is what its pod names it by: see autoscaler.py. Pools' scale sets must be there before."""

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:AutoscalerIdentity", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        identity = _of_service(self, "autoscaler", args, role)
        definitions = {
            kind: _definition(
                self,
                f"may-{kind}",
                args,
                number=role.role_id(fleet, cluster, kind),
                name=f"{owners.of_cluster(fleet, cluster).name('autoscaler', 400)} {kind}",
                description=f"The autoscaler of {cluster} may {role.WHY[kind]}",
                actions=role.ROLES[kind],
            )
            for kind in role.ROLES
        }
        for grant in role.grants(fleet, cluster):
            # By its name, which policies can tell before it is made.
            named, what = role.definition_id(fleet, cluster, grant.role), role.assignment_id(fleet, cluster, grant)
            title = f"{grant.role}-{grant.scope.rpartition('/')[2]}"
            assigned(title, Assignment(what, named, grant.scope), identity, self, definitions[grant.role])
        self.client_id = identity.client_id
        self.register_outputs({})


class RecorderIdentity(pulumi.ComponentResource):
    """Of a cluster that is at home in Azure, or has machines there. `client_id` is what its pod names it by."""

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:RecorderIdentity", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        identity = _of_service(self, "recorder", args, recorder_role)
        if in_azure(fleet, fleet.clusters[cluster].region):
            grant = recorder_role.grant(fleet, cluster)
            assigned(f"recorder-{grant.region}", Assignment(*grant[1:]), identity, self)
        if recorder_role.machines(fleet, cluster):
            self._looks(fleet, cluster, identity)
        self.client_id = identity.client_id
        self.register_outputs({})

    def _looks(self, fleet: Fleet, cluster: str, identity: azure.managedidentity.UserAssignedIdentity) -> None:
        scope, number = subscription(fleet), recorder_role.role_id(fleet, cluster)
        definition = _definition(
            self,
            "may-look",
            {"fleet": fleet, "cluster": cluster},
            number=number,
            name=owners.of_cluster(fleet, cluster).name("recorder", 400),
            description=f"The recorder of {cluster} may read who ended a machine",
            actions=recorder_role.LOOKS,
        )
        what = recorder_role.assignment_id(fleet, cluster)
        # By its name, which policies can tell before it is made.
        assigned("recorder-looks", Assignment(what, ids.role(fleet, number), scope), identity, self, definition)


class FleetMetricsIdentity(pulumi.ComponentResource):
    """Of who reads what only clouds know. `client_id` is what its pod names it by: see monitoring/fleet_metrics.py."""

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:FleetMetricsIdentity", name, None, opts)
        fleet, cluster = args["fleet"], args["cluster"]
        identity = _of_service(self, "fleet-metrics", args, fleet_metrics_role)
        for grant in fleet_metrics_role.lists(fleet, cluster):
            assigned(f"list-{grant.region}", Assignment(*grant[1:]), identity, self)
        looks = fleet_metrics_role.looks(fleet, cluster)
        for kind in dict.fromkeys(look.role for look in looks):
            number, named = fleet_metrics_role.role_id(fleet, cluster, kind), owners.of_cluster(fleet, cluster)
            definition = _definition(
                self,
                f"may-look-at-{kind}",
                args,
                number=number,
                name=f"{named.name('fleet-metrics', 400)} {kind}",
                description=f"The fleet metrics of {cluster} may {fleet_metrics_role.WHY[kind]}",
                actions=fleet_metrics_role.ROLES[kind],
            )
            for look in (one for one in looks if one.role == kind):
                # By its name, which policies can tell before it is made.
                what = Assignment(look.name, ids.role(fleet, number), look.scope)
                assigned(f"{kind}-{look.where}", what, identity, self, definition)
        self.client_id = identity.client_id
        self.register_outputs({})


def _definition(
    parent: pulumi.Resource,
    title: str,
    args: IdentityArgs,
    *,
    number: str,
    name: str,
    description: str,
    actions: list[str],
) -> azure.authorization.RoleDefinition:
    """A role of the stack's own in the fleet's subscription."""
    scope = subscription(args["fleet"])
    return azure.authorization.RoleDefinition(
        title,
        role_definition_id=number,
        # Unique in the tenant, which may have several subscriptions with a fleet of that name.
        role_name=f"{name} {scope.rpartition('/')[2]}",
        role_type="CustomRole",
        description=description,
        scope=scope,
        assignable_scopes=[scope],
        permissions=[{"actions": actions, "not_actions": []}],
        opts=pulumi.ResourceOptions(parent=parent),
    )


class ServiceRole(Protocol):
    """What the modules of roles of services have in common."""

    def identity_name(self, fleet: Fleet, cluster: str) -> str: ...
    def home(self, fleet: Fleet, cluster: str) -> str: ...
    def federation(self, fleet: Fleet, cluster: str) -> dict[str, Any]: ...


def _of_service(
    parent: pulumi.Resource, title: str, args: IdentityArgs, role: ServiceRole
) -> azure.managedidentity.UserAssignedIdentity:
    fleet, cluster = args["fleet"], args["cluster"]
    return _identity(
        parent,
        title,
        args,
        name=role.identity_name(fleet, cluster),
        region=role.home(fleet, cluster),
        tags=owners.of_cluster(fleet, cluster).tags(title),
        federation=role.federation(fleet, cluster),
        credential=title,
    )


def _identity(
    parent: pulumi.Resource,
    title: str,
    args: IdentityArgs,
    *,
    name: str,
    region: str,
    tags: dict[str, str],
    federation: dict[str, Any],
    credential: str,
) -> azure.managedidentity.UserAssignedIdentity:
    """In a region's resource group, with whose tokens it takes; `title` is what the stack calls both."""
    group, child = resource_group(args["fleet"], region), pulumi.ResourceOptions(parent=parent)
    made = azure.managedidentity.UserAssignedIdentity(
        title, resource_name_=name, resource_group_name=group, location=region, tags=tags, opts=child
    )
    azure.managedidentity.FederatedIdentityCredential(
        title,
        federated_identity_credential_resource_name=credential,
        resource_name_=made.name,
        resource_group_name=group,
        opts=child,
        **federation,
    )
    return made
