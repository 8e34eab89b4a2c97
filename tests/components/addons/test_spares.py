"""Warm spares: pods that hold machines of a pool for work to come."""

from components.addons import addons, spares
from components.addons.images import PAUSE
from components.addons.priorities import BUYS_FROM, TABLE
from components.addons.spec import AddOnsSpec
from components.pools import containerd
from tests.components.addons.bed import with_spares


def test_a_cluster_without_spares_has_no_such_add_on(example: AddOnsSpec) -> None:
    assert spares.ADDON not in addons.manifests(example)
    assert spares.ADDON in addons.manifests(with_spares(example, west_gpu=1))


def test_each_holds_a_whole_machine_of_its_pool_and_gives_way_at_once(example: AddOnsSpec) -> None:
    west, east = spares.manifests(with_spares(example, west_gpu=2, east_gpu=1))[::-1]
    assert (west["spec"]["replicas"], east["spec"]["replicas"]) == (2, 1)
    pod = west["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"landbridge.dev/pool": "west-gpu"}
    assert pod["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert (pod["priorityClassName"], pod["terminationGracePeriodSeconds"]) == ("warm", 0)
    assert [one["key"] for one in pod["tolerations"]] == ["nvidia.com/gpu"], "not a machine that has yet to start"
    assert west["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}
    assert west["spec"]["selector"]["matchLabels"] != east["spec"]["selector"]["matchLabels"]


def test_machines_are_bought_for_them_and_all_work_stands_higher() -> None:
    warm = TABLE["warm"]
    assert warm.value >= BUYS_FROM, "the autoscaler's cutoff"
    assert not warm.preempts
    assert warm.value < min(one.value for one in TABLE.values() if one.default)


def test_their_image_is_on_every_machine() -> None:
    assert str(PAUSE) == containerd.PAUSE
