"""The identity as which a cluster's joining service looks at machines in Azure."""

from typing import TypedDict

import pulumi
import pulumi_azure_native as azure

from components.azure.assignment import Assignment, assigned
from fleet.azure.ids import subscription
from fleet.model import Fleet

from ..owners import of_cluster
from . import joining_role as joining


class JoiningIdentityArgs(TypedDict):
    """Names and rights follow from the fleet and the cluster's name."""

    fleet: Fleet
    cluster: str


class JoiningIdentity(pulumi.ComponentResource):
    """`client_id` is what the service names it by."""

    def __init__(self, name: str, args: JoiningIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:addons:JoiningIdentity", name, None, opts)
        fleet, cluster, child = args["fleet"], args["cluster"], pulumi.ResourceOptions(parent=self)
        place = joining.identity(fleet, cluster)
        identity = azure.managedidentity.UserAssignedIdentity(
            "joining", tags=of_cluster(fleet, cluster).tags("joining"), opts=child, **place
        )
        azure.managedidentity.FederatedIdentityCredential(
            "joining",
            federated_identity_credential_resource_name="joining",
            resource_name_=identity.name,
            resource_group_name=place["resource_group_name"],
            opts=child,
            **joining.federation(fleet, cluster),
        )
        scope = subscription(fleet)
        definition = azure.authorization.RoleDefinition(
            "may-look",
            role_definition_id=joining.role_id(fleet, cluster),
            role_name=joining.role_name(fleet, cluster),
            role_type="CustomRole",
            description=f"The joining service of {cluster} may see the machines of scale sets",
            scope=scope,
            assignable_scopes=[scope],
            permissions=[{"actions": joining.actions(fleet, cluster), "not_actions": []}],
            opts=child,
        )
        for grant in joining.grants(fleet, cluster):
            # By its name, which policies can tell before it is made.
            assignment = Assignment(grant.name, joining.definition_id(fleet, cluster), grant.scope)
            assigned(f"look-{grant.region}", assignment, identity, self, definition)
        self.client_id = identity.client_id
        self.register_outputs({})
