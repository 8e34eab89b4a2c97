"""Why a pod waits: each cause has a fixture, in why.py."""

from typing import Any, get_args

import pytest

from components.pools import labels
from landbridge.autoscaler.causes import CAUSES
from services.autoscaler import limits
from services.autoscaler.causes import CODES, PLACE, causes
from services.autoscaler.fits import misfit
from tests.services.autoscaler.why import EAST, FIXTURES, SITE, TWENTY, WEST, around, pod, said, settings


@pytest.mark.parametrize("code", CODES)
def test_each_cause_is_found_where_it_is_one(code: str) -> None:
    one = FIXTURES[code]
    found = [cause for cause in causes(one.pod, one.around) if cause.code == code]
    assert [cause.group for cause in found][:1] == [one.group]
    assert one.text in found[0].text
    assert found[0].until == one.until


@pytest.mark.parametrize("code", [code for code in CODES if code != "undecided"])
def test_and_not_of_a_pod_that_could_have_a_machine_at_once(code: str) -> None:
    assert code not in {cause.code for cause in causes(pod(), around())}


def test_every_cause_has_a_fixture_and_a_meaning() -> None:
    assert set(FIXTURES) == set(CODES) == set(CAUSES)
    assert set(get_args(limits.Code)) <= set(CODES)
    assert PLACE == labels.PLACE


def test_a_refusal_and_the_time_until_the_next_try_are_two_causes_and_another_pool_a_third() -> None:
    one = FIXTURES["refused-capacity"]
    found = [(cause.code, cause.group) for cause in causes(one.pod, one.around)]
    assert found == [("refused-capacity", WEST), ("backoff", WEST), ("undecided", EAST)]


def test_who_waits_for_a_node_that_comes_does_not_wait_for_a_decision() -> None:
    found = causes(pod(), around(said(target=1, growth="InProgress")))
    assert [(cause.code, cause.group) for cause in found] == [("coming", WEST)]


def test_a_limit_of_all_holds_for_all() -> None:
    found = causes(pod(), around(TWENTY, told=settings(fleet={"gpus": 160})))
    assert [(cause.code, cause.group) for cause in found] == [("fleet-gpus", WEST), ("fleet-gpus", EAST)]


def test_a_site_is_a_cause_only_where_no_pool_would_help() -> None:
    assert "site" not in {cause.code for cause in causes(pod(), around(nodes=SITE))}


def terms(*expressions: dict[str, Any]) -> dict[str, Any]:
    wanted = {"nodeSelectorTerms": [{"matchExpressions": [one]} for one in expressions]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": wanted}}


PLACES = {"key": PLACE, "operator": "In"}


@pytest.mark.parametrize(
    ("affinity", "fits"),
    [
        (terms({**PLACES, "values": ["us-west-2", "lab"]}), True),
        (terms({**PLACES, "values": ["lab"]}), False),
        (terms({**PLACES, "values": ["lab"]}, {"key": "landbridge.dev/pool", "operator": "Exists"}), True),
        (terms({"key": PLACE, "operator": "NotIn", "values": ["us-west-2"]}), False),
        (terms({"key": PLACE, "operator": "DoesNotExist"}), False),
        (terms({"key": "absent", "operator": "DoesNotExist"}), True),
        (terms({"key": "absent", "operator": "Gt", "values": ["1"]}), False),
    ],
)
def test_an_affinity_fits_if_one_of_its_terms_does(affinity: dict[str, Any], *, fits: bool) -> None:
    found = misfit(pod(affinity=affinity), around().settings.groups[0].template)
    assert (found is None) == fits
    assert found is None or found.code == "selector"


def test_what_prepares_and_what_runs_beside_are_counted_as_the_scheduler_does() -> None:
    """8 GPUs at most: a container that prepares has ended before the others begin, a sidecar has not."""
    template = around().settings.groups[0].template
    four = {"resources": {"requests": {"nvidia.com/gpu": "4"}}}
    before, beside = {"name": "a", **four}, {"name": "b", "restartPolicy": "Always", **four}
    assert misfit(pod(initContainers=[before]), template) is None
    assert getattr(misfit(pod(initContainers=[before, beside]), template), "code", "") == "too-large"
    little = [{"name": "work", "resources": {"requests": {"cpu": "1"}}}]
    six = {**before, "resources": {"requests": {"nvidia.com/gpu": "6"}}}
    assert misfit(pod(containers=little, initContainers=[six, beside]), template) is None
    after = misfit(pod(containers=little, initContainers=[beside, six]), template)
    assert "asks for 10 nvidia.com/gpu" in str(after), "a sidecar that began before it"
    large = {"resources": {"requests": {"memory": "2000Gi"}}}
    assert "2000Gi memory, and a machine has 1900Gi" in str(misfit(pod(containers=[large]), template))
