"""Roles and who has them, by azure-mgmt-authorization, and what they let a principal do in ARM."""

import uuid
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.msi import ManagedServiceIdentityClient
from azure.mgmt.storage import StorageManagementClient

from local.azure.roles.conditions import BadCondition, Request, action_fits, attribute, parsed

from .support import SUBSCRIPTION, LocalAzure

READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
READ = f"{BLOBS}/read"


def role(guid: str) -> str:
    return f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{guid}"


@pytest.fixture
def roles(azure: LocalAzure) -> Any:
    return azure.client(AuthorizationManagementClient)


@pytest.fixture
def principal(azure: LocalAzure, group: str) -> Any:
    identities = azure.client(ManagedServiceIdentityClient).user_assigned_identities
    return identities.create_or_update(group, "machine", {"location": "southcentralus"})


def assign(roles: Any, scope: str, principal: str, guid: str, **more: Any) -> Any:
    told = {"roleDefinitionId": role(guid), "principalId": principal, **more}
    return roles.role_assignments.create(scope, str(uuid.uuid4()), {"properties": told})


def refused(code: str) -> Any:
    return pytest.raises(HttpResponseError, match=code)


def test_built_in_roles_are_there_for_all_to_read(roles: Any, place: str) -> None:
    found = roles.role_definitions.get(place, READER)
    assert (found.role_name, found.role_type, found.permissions[0].actions) == ("Reader", "BuiltInRole", ["*/read"])
    named = roles.role_definitions.list(place, filter="roleName eq 'Key Vault Secrets User'")
    assert [one.name for one in named] == ["4633458b-17de-408a-b874-0445c86b69e6"]
    with refused("RoleDefinitionCannotBeUpdated"):
        roles.role_definitions.create_or_update(place, READER, {"properties": {"roleName": "Mine"}})


def test_nobody_has_a_role_twice(roles: Any, place: str, principal: Any) -> None:
    made = assign(roles, place, principal.principal_id, READER, principalType="ServicePrincipal")
    assert (made.scope, made.principal_type) == (place, "ServicePrincipal")
    with refused("RoleAssignmentExists"):
        assign(roles, place, principal.principal_id, READER)
    assert made.id in [one.id for one in roles.role_assignments.list_for_scope(place)]
    below = roles.role_assignments.list_for_scope(principal.id, filter="atScope()")
    assert made.id in [one.id for one in below]
    with refused("RoleAssignmentUpdateNotPermitted"):
        told = {"roleDefinitionId": role(CONTRIBUTOR), "principalId": principal.principal_id}
        roles.role_assignments.create(place, made.name, {"properties": told})
    roles.role_assignments.delete(place, made.name)
    assert [one.id for one in roles.role_assignments.list_for_scope(place) if one.id == made.id] == []


def test_what_azure_does_not_know_gets_no_role(roles: Any, place: str, principal: Any) -> None:
    with refused("PrincipalNotFound"):
        assign(roles, place, str(uuid.uuid4()), READER)
    with refused("RoleDefinitionDoesNotExist"):
        assign(roles, place, principal.principal_id, str(uuid.uuid4()))
    with refused("InvalidRoleAssignmentId"):
        roles.role_assignments.create(place, "no-guid", {"properties": {}})
    with refused("InvalidConditionVersion"):
        assign(roles, place, principal.principal_id, READER, condition="true")
    with refused("InvalidCondition"):
        assign(roles, place, principal.principal_id, READER, condition="true", conditionVersion="2.0")
    # Azure looks for no principal whose type is said: one that was made just now may not have come everywhere yet.
    assert assign(roles, place, str(uuid.uuid4()), READER, principalType="ServicePrincipal")


def test_a_principal_does_what_its_role_says_and_only_there(
    azure: LocalAzure, roles: Any, group: str, place: str, principal: Any
) -> None:
    token = azure.own("token", {"identity": principal.id, "resource": "https://management.azure.com/"}, "POST")
    storage = azure.client(StorageManagementClient, token=token["access_token"])
    name = f"st{uuid.uuid4().hex[:12]}"
    account = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    with refused("AuthorizationFailed"):
        storage.storage_accounts.list_by_resource_group(group).next()
    assign(roles, place, principal.principal_id, READER)
    assert list(storage.storage_accounts.list_by_resource_group(group)) == []
    with refused("AuthorizationFailed"):
        storage.storage_accounts.begin_create(group, name, account)
    assign(roles, place, principal.principal_id, CONTRIBUTOR)
    storage.storage_accounts.begin_create(group, name, account).result()
    with refused("AuthorizationFailed"):
        storage.storage_accounts.list().next()
    mine = azure.client(AuthorizationManagementClient, token=token["access_token"])
    with refused("AuthorizationFailed"):
        assign(mine, place, principal.principal_id, READER)


def test_a_subscriptions_lists_are_for_who_may_read_them(
    azure: LocalAzure, roles: Any, place: str, principal: Any
) -> None:
    token = azure.own("token", {"identity": principal.id, "resource": "https://management.azure.com/"}, "POST")
    subscription = f"/subscriptions/{SUBSCRIPTION}"
    lists = [subscription, *(f"{subscription}/{name}" for name in ("resourceGroups", "resources", "providers"))]

    def ask(path: str) -> int:
        return int(azure.ask("GET", path, Authorization=f"Bearer {token['access_token']}").status_code)

    assert [ask(path) for path in (*lists, f"{place}/resources")] == [403] * 5
    assign(roles, place, principal.principal_id, READER)
    assert [ask(path) for path in (*lists, f"{place}/resources")] == [403] * 4 + [200]
    given = assign(roles, subscription, principal.principal_id, READER)
    assert [ask(path) for path in lists] == [200] * 4
    roles.role_assignments.delete_by_id(given.id)


def test_who_may_only_read_changes_no_tags(azure: LocalAzure, roles: Any, place: str, principal: Any) -> None:
    assign(roles, place, principal.principal_id, READER)
    token = azure.own("token", {"identity": principal.id, "resource": "https://management.azure.com/"}, "POST")
    path, mine = f"{place}/providers/Microsoft.Resources/tags/default", f"Bearer {token['access_token']}"
    told = {"operation": "Merge", "properties": {"tags": {"one": "1"}}}
    before = azure.ask("GET", path, Authorization=mine).json()
    for method in ("PUT", "PATCH", "DELETE"):
        refused = azure.ask(method, path, told, Authorization=mine)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "AuthorizationFailed")
    assert azure.ask("GET", path).json() == before


def test_a_role_of_ones_own_counts_and_stays_while_somebody_has_it(
    azure: LocalAzure, roles: Any, group: str, place: str, principal: Any
) -> None:
    guid = str(uuid.uuid4())
    told = {
        "roleName": f"Accounts of {group}",
        "assignableScopes": [place],
        "permissions": [
            {"actions": ["Microsoft.Storage/storageAccounts/*"], "notActions": ["*/listKeys/action"]},
        ],
    }
    made = roles.role_definitions.create_or_update(place, guid, {"properties": told})
    assert made.role_type == "CustomRole"
    with refused("RoleDefinitionWithSameNameExists"):
        roles.role_definitions.create_or_update(place, str(uuid.uuid4()), {"properties": told})
    given = assign(roles, place, principal.principal_id, guid)
    token = azure.own("token", {"identity": principal.id, "resource": "https://management.azure.com"}, "POST")
    storage = azure.client(StorageManagementClient, token=token["access_token"])
    name = f"st{uuid.uuid4().hex[:12]}"
    account = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    storage.storage_accounts.begin_create(group, name, account).result()
    with refused("AuthorizationFailed"):
        storage.storage_accounts.list_keys(group, name)
    with refused("RoleDefinitionHasAssignments"):
        roles.role_definitions.delete(place, guid)
    roles.role_assignments.delete_by_id(given.id)
    roles.role_definitions.delete(place, guid)


def test_a_role_of_ones_own_has_no_condition_and_is_given_only_in_its_scopes(
    azure: LocalAzure, roles: Any, group: str, place: str, principal: Any
) -> None:
    allowed = {"actions": ["*/read"], "condition": "Exists @Resource[a:b]"}
    told = {"roleName": f"Reads {group}", "assignableScopes": [principal.id], "permissions": [allowed]}
    guid = str(uuid.uuid4())
    # Azure's client sends none.
    answer = azure.put(f"{place}/providers/Microsoft.Authorization/roleDefinitions/{guid}", {"properties": told})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "InvalidRoleDefinition")
    del allowed["condition"]
    roles.role_definitions.create_or_update(place, guid, {"properties": told})
    with refused("assignableScopes"):
        assign(roles, place, principal.principal_id, guid)
    assert assign(roles, principal.id, principal.principal_id, guid)


def test_nobody_gives_away_an_identity_that_is_not_its_own_to_give(
    azure: LocalAzure, roles: Any, group: str, place: str, principal: Any
) -> None:
    assign(roles, place, principal.principal_id, "17d1049b-9a84-46fb-8f53-869881c3d3ab")
    token = azure.own("token", {"identity": principal.id, "resource": "https://management.azure.com"}, "POST")
    storage = azure.client(StorageManagementClient, token=token["access_token"])
    identity = {"type": "UserAssigned", "userAssignedIdentities": {principal.id: {}}}
    account = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "identity": identity}
    name = f"st{uuid.uuid4().hex[:12]}"
    with refused("LinkedAuthorizationFailed"):
        storage.storage_accounts.begin_create(group, name, account)
    nothing = {**account, "identity": {**identity, "userAssignedIdentities": {principal.id: None}}}
    path = f"{place}/providers/Microsoft.Storage/storageAccounts/{name}"
    answer = azure.ask("PUT", path, nothing, Authorization=f"Bearer {token['access_token']}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "LinkedAuthorizationFailed")
    assign(roles, principal.id, principal.principal_id, "f1a07417-d97a-45cb-824c-7a7467783830")
    made = storage.storage_accounts.begin_create(group, name, account).result()
    assert [one.principal_id for one in made.identity.user_assigned_identities.values()] == [principal.principal_id]


PATH, NAME = attribute("Resource", "containers/blobs:path"), attribute("Resource", "containers:name")
BELOW = (
    f"((!(ActionMatches{{'{READ}'}} AND NOT SubOperationMatches{{'Blob.List'}})) OR "
    "(@Resource[Microsoft.Storage/storageAccounts/blobServices/containers/blobs:path] StringLike 'one/*'))"
)


@pytest.mark.parametrize(
    ("condition", "asked", "holds"),
    [
        (BELOW, Request(READ, {PATH: "one/two/three"}), True),
        (BELOW, Request(READ, {PATH: "one"}), False),
        (BELOW, Request(READ, {PATH: "ONE/two"}), False),
        (BELOW, Request(READ, {}), False),
        (BELOW, Request(READ, {}, "Blob.List"), True),
        (BELOW, Request(f"{BLOBS}/write", {PATH: "other"}), True),
        ("@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name] StringEquals 'a'", Request(READ, {NAME: "a"}), True),
        ("NOT Exists @Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name]", Request(READ, {NAME: "a"}), False),
        (
            "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name] "
            "ForAnyOfAnyValues:StringEquals {'a', 'b'}",
            Request(READ, {NAME: "b"}),
            True,
        ),
        ("@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name] StringNotEquals 'a'", Request(READ, {}), False),
    ],
)  # fmt: skip
def test_a_condition_holds_as_azure_says(condition: str, asked: Request, holds: bool) -> None:
    assert parsed(condition)(asked) is holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:tags] StringEquals 'a'",
        "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name] DateTimeEquals 'a'",
        "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name] StringEquals 'a' 'b'",
        "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name] StringEquals {'a'}",
        *(
            "@Resource[Microsoft.Storage/storageAccounts/blobServices/containers:name] "
            f"ForAnyOfAnyValues:StringEquals {{{several}}}"
            for several in ("", "'a' 'b'", "'a', b", "a 'b'", "'a',")
        ),
        "SubOperationMatches{'Blob.Lists'}",
    ],
)
def test_a_condition_that_is_not_understood_is_none(text: str) -> None:
    with pytest.raises(BadCondition):
        parsed(text)


def test_wildcards_of_actions_go_over_slashes() -> None:
    assert action_fits("Microsoft.Storage/*/read", "microsoft.storage/storageAccounts/blobServices/read")
    assert action_fits("Microsoft.ManagedIdentity/x/*/assign/action", "Microsoft.ManagedIdentity/x/assign/action")
    assert not action_fits("Microsoft.Storage/*/read", "Microsoft.Storage/storageAccounts/write")
