"""What a killed run may have made in Azure: every type that our programs register is found by its id."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError, ResourceNotFoundError

from landbridge.clouds.azure import lookups
from landbridge.errors import LandbridgeError
from landbridge.up import recovery
from local.providers.azure.tables import KINDS
from tests.support.cloud import ROOT

MADE = re.compile(r"\bazure\.(\w+)\.([A-Z]\w+)\(")
NO_RESOURCES = {"azure-native:azure:Provider"}


def registered() -> set[str]:
    files = [*ROOT.glob("components/**/*.py"), *ROOT.glob("stacks/*.py")]
    texts = [file.read_text() for file in files if "pulumi_azure_native as azure" in file.read_text()]
    return {f"azure-native:{module}:{name}" for text in texts for module, name in MADE.findall(text)} - NO_RESOURCES


@pytest.mark.parametrize("type_", sorted(registered()))
def test_every_type_of_our_programs_is_known(type_: str) -> None:
    assert lookups.known(type_)
    assert recovery.findable(type_)


@pytest.mark.parametrize("type_", sorted(lookups.PLACES))
def test_its_id_is_the_one_that_the_plugin_makes(type_: str) -> None:
    kind = KINDS[type_]
    inputs = {name: f"/{name}" if name == "scope" else name for name in kind.in_path}
    wanted = kind.path.format(**{**inputs, "scope": "/scope", "subscriptionId": "S"}).replace("//", "/")
    assert lookups.id_of("S", type_, inputs).replace("//", "/") == wanted
    assert lookups.version_of(type_)


class Client:
    """Of azure-mgmt-resource; every question has one answer."""

    def __init__(self, error: Exception) -> None:
        self.error, self.resources = error, self

    def get_by_id(self, _: str, *, api_version: str) -> Any:  # as the SDK has it: no version by its place
        raise self.error


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Any:
    import azure.mgmt.resource.resources as package

    return lambda error: monkeypatch.setattr(package, "ResourceManagementClient", lambda *_: Client(error))


VAULT = ("S", "azure-native:keyvault:Vault", {"resourceGroupName": "g", "vaultName": "v"})


def test_what_azure_does_not_have_was_never_made(answering: Any) -> None:
    answering(ResourceNotFoundError("none"))
    assert lookups.find(*VAULT) is None


def test_what_can_t_be_asked_is_not_taken_for_never_made(answering: Any) -> None:
    answering(ClientAuthenticationError("the login is over"))
    with pytest.raises(LandbridgeError, match=r"can't be asked .* the login is over.* Sign in"):
        lookups.find(*VAULT)


@pytest.mark.parametrize("there", [True, False])
def test_blobs_are_sought_in_their_account(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    import azure.mgmt.resource.resources as package
    import azure.storage.blob as blobs

    asked = []
    monkeypatch.setattr(package, "ResourceManagementClient", lambda *_: None)
    monkeypatch.setattr(
        blobs, "BlobClient", lambda *where, **_: asked.append(where) or SimpleNamespace(exists=lambda: there)
    )
    inputs = {"resourceGroupName": "g", "accountName": "a", "containerName": "c", "blobName": "bundles/main/x"}
    found = lookups.find("S", lookups.BLOB, inputs)
    assert asked == [("https://a.blob.core.windows.net", "c", "bundles/main/x")]
    assert (found is not None) == there
