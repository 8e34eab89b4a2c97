"""The API servers of a rebuilt cluster: the new issuer signs, the former one's tokens are still taken."""

from pathlib import Path

import pytest

from components.control_plane.api import api_flags, files
from components.control_plane.machines import ClusterSpec, cluster_spec
from components.control_plane.units import command
from fleet.world import current

ROOT = Path(__file__).parents[3]
FORMER = "https://example-main-issuer-us-east-1-123456789012.s3.us-east-1.amazonaws.com"


@pytest.fixture(scope="module")
def spec() -> ClusterSpec:
    world = current(ROOT / "fleet.yaml")
    return cluster_spec(world.fleet, world.plan, "main")


def test_the_new_issuer_signs_and_both_are_taken(spec: ClusterSpec) -> None:
    rebuilt = spec._replace(former_issuer=FORMER)
    text = files(rebuilt, rebuilt.api[0])["/etc/systemd/system/kube-apiserver.service"]
    given = [line.strip(" \\") for line in text.splitlines()]
    issuers = [line for line in given if line.startswith("--service-account-issuer=")]
    assert issuers == [f"--service-account-issuer={spec.issuer}", f"--service-account-issuer={FORMER}"]
    assert f"--api-audiences={spec.issuer},{FORMER}" in given
    assert f"--service-account-jwks-uri={spec.issuer}/openid/v1/jwks" in given


def test_a_cluster_that_was_born_here_knows_one_issuer(spec: ClusterSpec) -> None:
    flags = api_flags(spec, spec.api[0])
    assert (flags["service-account-issuer"], flags["api-audiences"]) == ([spec.issuer], spec.issuer)


def test_a_flag_with_several_values_is_given_for_each_in_order() -> None:
    given = command("p", {"b": ["2", "1"], "a": "x"}).split()
    assert [word for word in given if word != "\\"] == ["/usr/local/bin/p", "--a=x", "--b=2", "--b=1"]
