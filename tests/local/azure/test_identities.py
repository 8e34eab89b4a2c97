"""Managed identities and whose tokens they take, by azure-mgmt-msi."""

from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError
from azure.mgmt.msi import ManagedServiceIdentityClient

from .support import LocalAzure


@pytest.fixture
def identities(azure: LocalAzure) -> Any:
    return azure.client(ManagedServiceIdentityClient)


def test_an_identity_keeps_its_principal(identities: Any, group: str) -> None:
    told = {"location": "southcentralus"}
    made = identities.user_assigned_identities.create_or_update(group, "machine", told)
    again = identities.user_assigned_identities.create_or_update(group, "machine", {**told, "tags": {"a": "b"}})
    assert (again.principal_id, again.client_id) == (made.principal_id, made.client_id)
    assert made.principal_id != made.client_id
    identities.user_assigned_identities.delete(group, "machine")
    assert identities.user_assigned_identities.create_or_update(group, "machine", told).client_id != made.client_id


def test_two_credentials_of_an_identity_take_different_tokens(identities: Any, group: str) -> None:
    identities.user_assigned_identities.create_or_update(group, "pods", {"location": "southcentralus"})
    credentials = identities.federated_identity_credentials
    told = {"issuer": "https://issuer.example.com", "subject": "a", "audiences": ["api://AzureADTokenExchange"]}

    def put(name: str, **change: Any) -> Any:
        return credentials.create_or_update(group, "pods", name, {"properties": {**told, **change}})

    assert put("first").subject == "a"
    for change, code in (({}, "Conflict"), ({"issuer": "http://plain"}, "BadRequest"), ({"audiences": []}, "audience")):
        with pytest.raises(HttpResponseError, match=code):
            put("second", **change)
    for number in range(19):
        put(f"more-{number}", subject=f"b{number}")
    with pytest.raises(HttpResponseError, match="Too many"):
        put("last", subject="c")
