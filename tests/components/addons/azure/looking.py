"""An identity of the local Azure that may do so much over one scope, and no more."""

import uuid
from typing import Any

from azure.core import PipelineClient
from azure.core.pipeline.policies import BearerTokenCredentialPolicy
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient

from tests.local.azure.support import SUBSCRIPTION, GivenToken, LocalAzure

ARM, SCOPE, REGION = "https://management.azure.com", "https://management.azure.com/.default", "southcentralus"


def looking(azure: LocalAzure, group: str, *actions: str, scope: str = "") -> Any:
    """A client of it; it is over the subscription, unless a scope is given."""
    made = azure.client(ManagedServiceIdentityClient).user_assigned_identities
    identity = made.create_or_update(group, f"looking-{uuid.uuid4()}", {"location": REGION})
    about, roles = f"/subscriptions/{SUBSCRIPTION}", azure.client(AuthorizationManagementClient)
    told = {"roleName": f"{group} {uuid.uuid4()}", "roleType": "CustomRole", "assignableScopes": [about]}
    properties = {"properties": {**told, "permissions": [{"actions": [*actions]}]}}
    kind = roles.role_definitions.create_or_update(about, str(uuid.uuid4()), properties)
    who = {"roleDefinitionId": kind.id, "principalId": identity.principal_id, "principalType": "ServicePrincipal"}
    roles.role_assignments.create(scope or about, str(uuid.uuid4()), {"properties": who})
    token = azure.own("token", {"identity": identity.id, "resource": "https://management.azure.com/"}, "POST")
    known = BearerTokenCredentialPolicy(GivenToken(token["access_token"]), SCOPE)  # type: ignore[arg-type]
    return PipelineClient(ARM, policies=[known], transport=azure.transport())
