"""Names in the world: AWS's by the account's number, Azure's short ones by a digest, each its own."""

import re
from pathlib import Path

import pytest

from fleet import buckets, issuers
from fleet.loader import load
from fleet.model import Fleet

HERE = Path(__file__).parent
REGION = "southcentralus"


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return load(HERE / "good/azure.yaml")


def names(fleet: Fleet) -> list[str]:
    regions = list(fleet.regions)
    found = [name(fleet, region) for region in regions for name in (buckets.bucket_name, buckets.shares_account)]
    return [*found, *(buckets.vault_name(fleet, region) for region in regions), issuers.bucket(fleet, "main")]


def test_names_of_azure_are_short_plain_readable_and_each_its_own(fleet: Fleet) -> None:
    found = names(fleet)
    assert len(set(found)) == len(found) == 7
    # A vault's begins with a letter, too.
    assert all(re.fullmatch(r"[a-z][a-z0-9]{2,23}", name) for name in found)
    assert all(name.startswith("azurealone") for name in found)
    assert buckets.resource_group(fleet, REGION) == "azure-alone-southcentralus"


def test_a_short_and_a_long_fleet_have_good_names_as_well(fleet: Fleet) -> None:
    for name in ("a", "a" * 32):
        assert all(re.fullmatch(r"[a-z][a-z0-9]{2,23}", one) for one in names(fleet.model_copy(update={"fleet": name})))


def test_another_subscription_has_other_names_and_the_same_one_never_changes_them(fleet: Fleet) -> None:
    assert fleet.azure is not None
    other = fleet.azure.model_copy(update={"subscription_id": "00000000-0000-0000-0000-00000000000f"})
    assert not set(names(fleet)) & set(names(fleet.model_copy(update={"azure": other})))
    assert buckets.bucket_name(fleet, REGION) == "azurealonesou03c18b6b733"
    assert buckets.vault_name(fleet, REGION) == "azurealonesouf777312deb9"


def test_names_of_aws_are_as_they_were() -> None:
    example = load(HERE.parents[1] / "fleet.yaml")
    assert buckets.bucket_name(example, "us-west-2") == "example-us-west-2-123456789012"
    assert issuers.bucket(example, "main") == "example-main-issuer-us-west-2-123456789012"


def test_an_issuer_on_azure_has_an_address_in_its_account(fleet: Fleet) -> None:
    account = issuers.bucket(fleet, "main")
    assert issuers.url(fleet, "main") == f"https://{account}.blob.core.windows.net/issuer"
