"""Managed identities and whose tokens they take, by azure-mgmt-msi."""

import contextlib
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError

import jwt
import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.identity import ClientAssertionCredential
from azure.mgmt.msi import ManagedServiceIdentityClient
from azure.storage.blob import BlobServiceClient
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from werkzeug.wrappers import Response

from local.authority import Authority
from local.aws.extensions import web_identity
from local.azure.server import free_port
from local.azure.sign_in import TENANT
from local.tls import serve_names

from .reached import by_name
from .support import STARTS, LocalAzure


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


@pytest.fixture(scope="module")
def key() -> Any:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def issuer(azure: LocalAzure, place: str, key: Any) -> str:
    """The URL of an issuer whose documents lie in a public container, as a cluster's do."""
    name = f"st{uuid.uuid4().hex[:12]}"
    account = f"{place}/providers/Microsoft.Storage/storageAccounts/{name}"
    sorts = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    azure.put(account, {**sorts, "properties": {"allowBlobPublicAccess": True}})
    azure.ask("GET", account)
    azure.put(f"{account}/blobServices/default/containers/issuer", {"properties": {"publicAccess": "Blob"}})
    url = f"https://{name}.blob.core.windows.net/issuer/cluster"
    secret = azure.ask("POST", f"{account}/listKeys").json()["keys"][0]["value"]
    blobs = BlobServiceClient(f"https://{name}.blob.core.windows.net", secret, transport=azure.transport())
    public = {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": "first", "use": "sig", "alg": "RS256"}
    for file, told in (
        (".well-known/openid-configuration", {"issuer": url, "jwks_uri": f"{url}/keys.json"}),
        ("keys.json", {"keys": [public]}),
    ):
        blobs.get_container_client("issuer").upload_blob(f"cluster/{file}", json.dumps(told))
    return url


AUDIENCE = "api://AzureADTokenExchange"


@pytest.fixture
def other_cloud(azure: LocalAzure, key: Any) -> Iterator[str]:
    """The URL of an issuer at another name of the local cloud, which another authority vouches for."""
    told: dict[str, Any] = {}

    def application(environ: Any, start_response: Any) -> Any:
        return Response(json.dumps(told[environ["PATH_INFO"]]))(environ, start_response)

    authority = Authority(azure.authority.parents[1] / "authority")
    port, server = _listening(lambda port: serve_names(application, authority, "127.0.0.1", port, "localhost".__eq__))
    url = f"https://localhost:{port}/cluster"
    public = {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": "first"}
    told["/cluster/.well-known/openid-configuration"] = {"issuer": url, "jwks_uri": f"{url}/keys.json"}
    told["/cluster/keys.json"] = {"keys": [public]}
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield url
    server.shutdown()
    thread.join()
    server.server_close()


def _listening(serve: Callable[[int], Any]) -> tuple[int, Any]:
    """A port and its server; another port if somebody took it meanwhile."""
    for _ in range(STARTS - 1):
        port = free_port()
        with contextlib.suppress(OSError):
            return port, serve(port)
    port = free_port()
    return port, serve(port)


@pytest.mark.parametrize("whose", ["issuer", "other_cloud"])
def test_a_pod_gets_an_identitys_token_by_its_clusters(
    request: Any, azure: LocalAzure, place: str, whose: str, key: Any
) -> None:
    issuer = request.getfixturevalue(whose)
    group = place.rpartition("/")[2]
    client = azure.client(ManagedServiceIdentityClient)
    pods = client.user_assigned_identities.create_or_update(group, "pods", {"location": "southcentralus"})
    told = {"issuer": issuer, "subject": "system:serviceaccount:a:b", "audiences": [AUDIENCE]}
    client.federated_identity_credentials.create_or_update(group, "pods", "first", {"properties": told})

    def ask(signer: Any = key, kid: str = "first", **claims: Any) -> str:
        at = int(time.time())
        right = {"iss": issuer, "sub": told["subject"], "aud": AUDIENCE, "iat": at, "exp": at + 600}
        text = jwt.encode({**right, **claims}, signer, algorithm="RS256", headers={"kid": kid})
        credential = ClientAssertionCredential(
            TENANT, pods.client_id, lambda: text, transport=azure.transport(), disable_instance_discovery=True
        )
        return credential.get_token("https://vault.azure.net/.default").token

    claims = jwt.decode(ask(), options={"verify_signature": False})
    assert (claims["oid"], claims["appid"]) == (pods.principal_id, pods.client_id)
    assert claims["aud"] == "https://vault.azure.net"
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    for wrong, code in (
        ({"sub": "system:serviceaccount:a:c"}, "AADSTS700213"),
        ({"iss": "https://other.example.com"}, "AADSTS700211"),
        ({"aud": "other"}, "AADSTS700212"),
        ({"exp": 1}, "AADSTS700024"),
        ({"signer": other}, "AADSTS700027"),
        ({"kid": "second"}, "AADSTS700027"),
    ):
        with pytest.raises(ClientAuthenticationError, match=code):
            ask(**wrong)
    if whose == "issuer":
        name = issuer.removeprefix("https://").partition(".")[0]
        account = f"{place}/providers/Microsoft.Storage/storageAccounts/{name}"
        azure.ask("PATCH", account, {"properties": {"networkAcls": {"defaultAction": "Deny"}}})
        with pytest.raises(ClientAuthenticationError, match="AADSTS50166"):
            ask()
    client.federated_identity_credentials.delete(group, "pods", "first")
    with pytest.raises(ClientAuthenticationError, match="AADSTS700211"):
        ask()


def test_the_other_cloud_reads_an_issuer_s_documents_as_anybody_may(
    monkeypatch: pytest.MonkeyPatch, azure: LocalAzure, issuer: str
) -> None:
    by_name(monkeypatch, azure)
    told = json.loads(web_identity.elsewhere(f"{issuer}/.well-known/openid-configuration"))
    assert told["issuer"] == issuer
    with pytest.raises(LookupError, match="cannot be read"):
        web_identity.elsewhere(f"{issuer}/another")


def test_a_machine_gets_tokens_of_what_it_has_alone(azure: LocalAzure, place: str) -> None:
    group = place.rpartition("/")[2]
    client = azure.client(ManagedServiceIdentityClient)
    one, two = (
        client.user_assigned_identities.create_or_update(group, name, {"location": "southcentralus"})
        for name in ("one", "two")
    )
    resource = f"{place}/providers/Microsoft.Storage/storageAccounts/st{uuid.uuid4().hex[:12]}"

    def have(*identities: str) -> None:
        told = {"type": "UserAssigned", "userAssignedIdentities": {name: {} for name in identities}}
        identity = told if identities else {"type": "None"}
        body = {"location": "southcentralus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
        azure.put(resource, {**body, "identity": identity})
        azure.ask("GET", resource)

    def token(**more: str) -> Any:
        return azure.own("token", {"identity": resource, "resource": "https://vault.azure.net", **more}, "POST")

    have(one.id)
    assert token()["client_id"] == one.client_id
    have(one.id, two.id)
    assert token(client_id=two.client_id)["client_id"] == two.client_id
    with pytest.raises(HTTPError, match="400"):
        token()
    have()
    with pytest.raises(HTTPError, match="400"):
        token()
