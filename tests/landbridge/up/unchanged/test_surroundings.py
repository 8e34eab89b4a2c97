"""What counts as another environment for all stacks: settings do, credentials that are new for each run don't."""

from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.esc import Environments
from landbridge.places import Place
from landbridge.up.unchanged.surroundings import settings_of, surroundings

GIVEN = {
    "AWS_ACCESS_KEY_ID": "ASIAEXAMPLE1",
    "AWS_SECRET_ACCESS_KEY": "1",
    "AWS_SESSION_TOKEN": "1",
    "AWS_REGION": "us-west-2",
    "AWS_PROFILE": "ops",
    "ARM_OIDC_TOKEN": "1",
    "ARM_TENANT_ID": "t",
    "PULUMI_ACCESS_TOKEN": "pul-1",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\nruntime: python\n")
    return Place("real", tmp_path, "s3://state", "awskms://alias/state", tmp_path)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("AWS_ACCESS_KEY_ID", False),
        ("AWS_SECRET_ACCESS_KEY", False),
        ("AWS_SESSION_TOKEN", False),
        ("ARM_OIDC_TOKEN", False),
        ("PULUMI_ACCESS_TOKEN", False),
        ("AWS_REGION", True),
        ("AWS_PROFILE", True),
        ("ARM_TENANT_ID", True),
        ("AWS_ENDPOINT_URL", True),
    ],
)
def test_short_lived_credentials_are_no_other_environment(name: str, counts: bool, place: Place) -> None:
    def around(passed: dict[str, str]) -> str:
        return surroundings(place, passed, "pulumi")["the environment"]

    assert (around(GIVEN) != around({**GIVEN, name: "new"})) == counts


def test_settings_count_and_what_esc_has_for_them(place: Place) -> None:
    bare = settings_of(place, "one")
    assert bare == settings_of(place, "one")
    (place.project / "Pulumi.one.yaml").write_text("environment: [fleet/credentials]\n")
    assert settings_of(place, "one") != bare

    def with_(environments: Environments) -> dict[str, str]:
        return settings_of(replace(place, environments=environments), "one")

    known = Environments(frozenset({"one"}), rest="1")
    assert with_(known) == with_(known) != with_(replace(known, rest="2"))
    unopened = Environments(frozenset({"one"}))
    assert with_(unopened) != with_(unopened), "nobody knows what it has: never left out"
    assert with_(Environments(frozenset({"two"}))) == settings_of(place, "one")
