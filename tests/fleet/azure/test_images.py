"""Names of images in Azure: what Azure takes, one for each bake, and back."""

import re

from hypothesis import given
from hypothesis import strategies as st

from fleet.azure import images as names
from fleet.loader import load
from tests.support.cloud import ROOT

DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
FLEETS = st.from_regex(r"[a-z]([a-z0-9-]{0,30}[a-z0-9])?", fullmatch=True)


@given(DIGESTS)
def test_a_version_is_of_azures_form_and_says_whose_bake_it_is(digest: str) -> None:
    version = names.version(digest)
    assert all(0 <= int(part) < 1 << 31 for part in version.split("."))
    assert len(version.split(".")) == 3
    assert names.digits(version) == digest[:12]


@given(FLEETS, FLEETS)
def test_galleries_have_names_that_azure_takes_and_never_the_same(one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._]{0,78}[A-Za-z0-9])?", names.gallery(one))
    assert (names.gallery(one) == names.gallery(other)) == (one == other)


def test_an_image_s_id_follows_from_the_fleet_file() -> None:
    fleet = load(ROOT / "tests/components/variants/azure-beside.yaml")
    assert names.image_id(fleet, "1.36.2", "gpu") == (
        "/subscriptions/00000000-0000-4000-8000-000000000000/resourceGroups/azure-beside-images"
        "/providers/Microsoft.Compute/galleries/azure.beside/images/gpu-1.36.2"
    )
    found = names.VERSION.match(f"{names.image_id(fleet, '1.36.2')}/versions/1.2.3".upper())
    assert found
    assert found["version"] == "1.2.3"


def test_what_a_channel_says_stands_first_in_its_tag() -> None:
    tags = {"landbridge:stable:southcentralus": "1.2.3 0.0.1 and more", "landbridge:fleet": "both"}
    assert names.channel_version(tags, "southcentralus") == "1.2.3"
    assert names.channel_version(tags, "westeurope") == names.channel_version(tags, "southcentralus", "candidate") == ""
    assert [names.pointer(name) for name in tags] == [("stable", "southcentralus"), None]
    assert names.pointer(names.tag(names.DISABLED, "southcentralus")) is None
