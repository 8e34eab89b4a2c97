"""A broken link does not disturb training: real API server, controllers and scheduler, some twenty times faster."""

import time
from collections.abc import Iterator

import pytest

from components.addons.tolerations import MAY_LEAVE
from tests.components.pools.joining_client import eventually
from tests.local.workers import cut_off
from tests.local.workers.cut_off import FAST, HOSTS, Scene, who

LEAVES = {MAY_LEAVE: "true"}
FAR = set(HOSTS[1:])


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    yield from cut_off.scene(tmp_path_factory.mktemp("cut"), FAST)


def test_of_a_site_that_is_cut_off_no_pod_is_lost_or_doubled_and_no_node_bought(scene: Scene) -> None:
    scene.job("train", 4)
    scene.job("leaves", 1, HOSTS[1], LEAVES)
    scene.job("ended", 1)
    scene.region()
    before, first, nodes = who(scene.pods("train")), who(scene.pods("leaves")), scene.uids()
    assert {phase for _, phase in before.values()} == {"Running"}
    assert {node for node, _ in [*before.values(), *first.values()]} <= set(HOSTS)

    def undisturbed() -> None:
        assert who(scene.pods("train")) == before
        assert not scene.leaving("train")
        assert not scene.waiting("train")

    # Most of the site, which for Kubernetes is a zone in trouble: no more of its hosts get the taint that ends pods.
    # One or two may have it by then: they were out of sight before the third was.
    scene.far.cut()
    eventually(lambda: scene.unseen() == FAR)
    time.sleep(2)
    some = scene.ending()
    assert some < FAR

    def spared() -> None:
        undisturbed()
        assert scene.ending() == some

    scene.during(FAST.stay + FAST.grace, spared)
    # All of it, which for Kubernetes is no trouble of a zone: it would end all pods, host by host.
    scene.near.cut()
    eventually(lambda: scene.unseen() == scene.ending() == set(HOSTS))
    # What may leave is there twice: nobody can end it at the site.
    eventually(lambda: scene.leaving("leaves"))
    assert scene.cloud is not None
    eventually(lambda: (scene.cloud.name, "Running") in who(scene.pods("leaves")).values())
    assert scene.made("leaves") == 2
    # Somebody ends a pod that cannot hear it: the next one waits until it has.
    (ended,) = who(scene.pods("ended"))
    scene.end("ended")
    scene.during(FAST.stay + FAST.grace, undisturbed)
    assert scene.uids() == nodes, "nobody removes a site's nodes"
    assert (scene.made("ended"), set(who(scene.pods("ended")))) == (1, {ended})

    scene.far.mend()
    scene.near.mend()
    eventually(lambda: not scene.unseen() and not scene.ending())
    eventually(lambda: scene.status("train").get("ready") == 4)
    undisturbed()
    assert scene.made("train") == 4
    assert scene.uids() == nodes
    scene.finish("train")
    eventually(lambda: scene.status("train").get("succeeded") == 4)
    assert set(who(scene.pods("train"))) == set(before)
    assert scene.status("train").get("failed", 0) == 0
    # Back in sight, it is ended there at last.
    eventually(lambda: set(who(scene.pods("leaves"))).isdisjoint(first))
    eventually(lambda: scene.made("ended") == 2 and ended not in who(scene.pods("ended")))
