"""Which version of Kubernetes may follow which, and names that clouds bound."""

import pytest

from fleet import issuers
from fleet.fitting import fitting
from fleet.kubernetes_versions import ahead_refusal, back, behind_refusal, refusal, steps
from fleet.model import AwsAccount, Cluster, Fleet, Region, Team


@pytest.mark.parametrize(
    ("running", "wanted"), [(None, "1.36.2"), ("1.36.2", "1.36.2"), ("1.36.2", "1.36.0"), ("1.35.9", "1.36.2")]
)
def test_the_next_minor_and_any_patch_may_follow(running: str | None, wanted: str) -> None:
    assert refusal(running, wanted) is None


@pytest.mark.parametrize(
    ("running", "wanted", "words"),
    [
        ("1.34.9", "1.36.2", "skips a minor version after 1.34.9, which runs: go to 1.35 first"),
        ("1.36.2", "1.35.9", "is older than 1.36.2, which runs"),
        ("1.9.11", "1.11.1", "go to 1.10 first"),
    ],
)
def test_a_minor_is_neither_skipped_nor_gone_back(running: str, wanted: str, words: str) -> None:
    told = refusal(running, wanted)
    assert told is not None
    assert words in told


def test_a_minor_that_no_api_server_has_taken_may_be_gone_back_from() -> None:
    assert refusal("1.36.2", "1.35.9", undone=True) is None
    assert "is older than 1.37.0" in (refusal("1.37.0", "1.35.9", undone=True) or "")
    assert back("1.36.2", "1.35.9")
    assert not any(back(before, "1.36.2") for before in (None, "1.36.9", "1.35.9"))


def test_pools_and_add_ons_wait_for_the_api_servers() -> None:
    assert ahead_refusal("cpu", "main", "1.37.0", []) is None
    assert ahead_refusal("cpu", "main", "1.37.0", ["main-api-1", "main-api-2"]) == (
        "cpu must wait with kubernetes 1.37.0: nothing may be ahead of the API, and main-api-1, main-api-2 have an "
        "older minor version. Run `landbridge cluster roll main`, then `landbridge up` again"
    )


def test_a_step_waits_for_machines_that_have_not_taken_the_last_one() -> None:
    assert [steps(None, "1.36.2"), steps("1.36.1", "1.36.2"), steps("1.35.8", "1.36.2")] == [False, False, True]
    assert behind_refusal("main", "1.36.2", "1.37.0", []) is None
    told = behind_refusal("main", "1.36.2", "1.37.0", ["main-api-1", "main-api-2"])
    assert told == (
        "kubernetes 1.37.0 must wait: main-api-1, main-api-2 run none of 1.36 yet and would skip it. Stay at 1.36.2, "
        "run `landbridge cluster roll main`, and then go on"
    )


def test_a_long_name_keeps_its_beginning_and_stays_its_own() -> None:
    assert fitting("example-main-api", 32) == "example-main-api"
    long = "a-fleet-of-some-length-" + "x" * 40
    assert len(fitting(long, 32)) == 32
    assert fitting(long, 32).startswith("a-fleet-of-some-length-")
    assert fitting(long, 32) != fitting(long + "y", 32)


def test_an_issuer_s_bucket_has_a_name_that_s3_takes_whatever_fleet_and_cluster_are_called() -> None:
    fleet = Fleet(
        fleet="f" * 32,
        owner="ops",
        domain="example.com",
        supernet="10.128.0.0/9",
        aws=AwsAccount(account_id="123456789012"),
        regions={"ap-southeast-2": Region(cloud="aws", zones=["a"])},
        clusters={name: Cluster(region="ap-southeast-2", kubernetes="1.36.2") for name in ("c" * 32, "c" * 31 + "d")},
        teams={"ops": Team(gid=2000)},
    )
    names = {issuers.bucket(fleet, cluster) for cluster in fleet.clusters}
    assert len(names) == 2
    assert all(len(name) <= 63 for name in names)
    assert all(issuers.url(fleet, cluster).startswith("https://f") for cluster in fleet.clusters)
