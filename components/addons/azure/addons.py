"""What add-ons need in Azure: identities of each team's pods and of the autoscaler's, and what they may do."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.azure.assignment import Assignment, assigned
from fleet.buckets import resource_group
from fleet.model import Fleet

from .. import owners
from . import autoscaler_role as role
from . import team_roles


class IdentityArgs(TypedDict):
    """Names and rights follow from the fleet and the cluster's name."""

    fleet: Fleet
    cluster: str


class TeamIdentities(pulumi.ComponentResource):
    """One for each team; `client_ids`, by team, are what its pods name them by: see team_pods.py."""

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:TeamIdentities", name, None, opts)
        fleet, cluster, child = args["fleet"], args["cluster"], pulumi.ResourceOptions(parent=self)
        region = team_roles.home(fleet, cluster)
        self.client_ids: dict[str, pulumi.Output[str]] = {}
        for team in sorted(fleet.teams):
            identity = azure.managedidentity.UserAssignedIdentity(
                f"team-{team}",
                resource_name_=team_roles.identity_name(fleet, cluster, team),
                resource_group_name=resource_group(fleet, region),
                location=region,
                tags=owners.of_team(fleet, cluster, team).tags(f"team-{team}"),
                opts=child,
            )
            azure.managedidentity.FederatedIdentityCredential(
                f"team-{team}",
                federated_identity_credential_resource_name="pods",
                resource_name_=identity.name,
                resource_group_name=resource_group(fleet, region),
                opts=child,
                **team_roles.federation(fleet, cluster, team),
            )
            for grant in team_roles.grants(fleet, cluster, team):
                assigned(f"team-{team}-{grant.region}", Assignment(*grant[1:]), identity, self)
            self.client_ids[team] = identity.client_id
        self.register_outputs({})


class AutoscalerIdentity(pulumi.ComponentResource):
    """`client_id` is what its pod names it by: see autoscaler.py. Pools' scale sets must be there before."""

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:AutoscalerIdentity", name, None, opts)
        fleet, cluster, child = args["fleet"], args["cluster"], pulumi.ResourceOptions(parent=self)
        region = role.home(fleet, cluster)
        identity = azure.managedidentity.UserAssignedIdentity(
            "autoscaler",
            resource_name_=role.identity_name(fleet, cluster),
            resource_group_name=resource_group(fleet, region),
            location=region,
            tags=owners.of_cluster(fleet, cluster).tags("autoscaler"),
            opts=child,
        )
        azure.managedidentity.FederatedIdentityCredential(
            "autoscaler",
            federated_identity_credential_resource_name="autoscaler",
            resource_name_=identity.name,
            resource_group_name=resource_group(fleet, region),
            opts=child,
            **role.federation(fleet, cluster),
        )
        definitions = {kind: self._definition(fleet, cluster, kind, child) for kind in role.ROLES}
        for grant in role.grants(fleet, cluster):
            # By its name, which policies can tell before it is made.
            named, what = role.definition_id(fleet, cluster, grant.role), role.assignment_id(fleet, cluster, grant)
            title = f"{grant.role}-{grant.scope.rpartition('/')[2]}"
            assigned(title, Assignment(what, named, grant.scope), identity, self, definitions[grant.role])
        self.client_id = identity.client_id
        self.register_outputs({})

    def _definition(
        self, fleet: Fleet, cluster: str, kind: str, child: pulumi.ResourceOptions
    ) -> azure.authorization.RoleDefinition:
        scope = role.subscription(fleet)
        return azure.authorization.RoleDefinition(
            f"may-{kind}",
            role_definition_id=role.role_id(fleet, cluster, kind),
            # Unique in the tenant, which may have several subscriptions with a fleet of that name.
            role_name=f"{owners.of_cluster(fleet, cluster).name('autoscaler', 400)} {kind} {scope.rpartition('/')[2]}",
            role_type="CustomRole",
            description=f"The autoscaler of {cluster} may {role.WHY[kind]}",
            scope=scope,
            assignable_scopes=[scope],
            permissions=[{"actions": role.ROLES[kind], "not_actions": []}],
            opts=child,
        )
