"""What a real API server says of those who ask it for deprecated kinds, of budgets, and of plans."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from fleet.model import Maintenance, Window
from landbridge.cluster.kube import Kube
from landbridge.kubernetes_update import observed
from landbridge.kubernetes_update.observed import LABEL, LINE
from tests.components.addons import bed
from tests.support.apiserver import Server, server


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("api")) as made:
        yield made


def test_who_asked_for_a_deprecated_kind_stands_in_its_metrics(api: Server) -> None:
    api.api.call("GET", "/api/v1/componentstatuses")
    kube = Kube(api.kubeconfig())
    (told,) = (
        dict(LABEL.findall(one)) for one in LINE.findall(kube.done("get", "--raw=/metrics")) if "componentstat" in one
    )
    assert told == {
        "group": "",
        "version": "v1",
        "resource": "componentstatuses",
        "subresource": "",
        "removed_release": "",
    }
    assert observed.deprecated(kube, 1) == [], "it is deprecated, and no version is without it yet"


def test_a_cluster_without_the_add_on_has_no_plans(api: Server) -> None:
    assert observed.planned(Kube(api.kubeconfig())) == []


def test_metrics_are_asked_for_until_each_server_has_answered(api: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    kube, done = Kube(api.kubeconfig()), Kube.done

    def noted(self: Kube, *words: str) -> str:
        asked.append(words[1])
        return done(self, *words)

    monkeypatch.setattr(Kube, "done", noted)
    observed.deprecated(kube, 1)
    assert len(asked) == 1
    observed.deprecated(kube, 2)
    assert len(asked) == 1 + observed.TRIES, "the second one is never heard"


def test_stacks_that_follow_a_cluster_are_its_own() -> None:
    world = bed.both()
    assert observed.following(world, "south")[-1:] == ["south-addons"]
    pools = {name for name, pool in world.fleet.pools.items() if pool.cluster == "main"}
    assert set(observed.following(world, "main")) == {*pools, "main-addons"}
    later = observed.at_version(world, "main", "1.36.9").fleet.clusters
    assert {name: one.kubernetes for name, one in later.items()} == {
        **{name: one.kubernetes for name, one in world.fleet.clusters.items()},
        "main": "1.36.9",
    }


def test_a_pool_s_own_window_comes_before_its_region_s() -> None:
    world, noon = bed.both(), datetime(2026, 12, 1, 12, tzinfo=UTC)
    night, day = Window(begins="22:00", ends="23:00"), Window(begins="10:00", ends="14:00")
    told = Maintenance(windows={"us-west-2": [night], "own-west": [day]}, frozen=["2026-12-01"])
    fleet = world.fleet.model_copy(update={"maintenance": told})
    frozen = replace(world, fleet=fleet)
    assert observed.opens(frozen, "own-west", "us-west-2", noon) == datetime(2026, 12, 2, 10, tzinfo=UTC)
    assert observed.opens(frozen, "", "us-west-2", noon) == datetime(2026, 12, 2, 22, tzinfo=UTC)
    free = replace(world, fleet=fleet.model_copy(update={"maintenance": told.model_copy(update={"frozen": []})}))
    assert observed.opens(free, "own-west", "us-west-2", noon) is None
    assert observed.opens(free, "", "eu-west-1", noon) is None
