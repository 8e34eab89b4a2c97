"""Hosts of a site that change their pool, and hosts that leave: what runs and lies there, and what the cluster says. In order."""

import re

import pytest

from components.pools import node_template
from landbridge.site import nodes, transfer, unenrol
from tests.landbridge.site.test_site import NODE, OTHER, work
from tests.landbridge.site_bed import SiteBed
from tests.support.waiting import eventually

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def enrolled(site: SiteBed) -> SiteBed:
    for name, node in (("host-1", NODE), ("host-2", OTHER)):
        site.stand_up(name)
        said = site.type(name, site.enrolment(name))
        assert said.returncode == 0, said.stderr
        eventually(lambda node=node: nodes.ready(site.kube.find("nodes", node)))
    return site


def test_a_host_that_the_fleet_file_gives_to_another_pool_moves_when_it_has_no_work_in_the_first(
    enrolled: SiteBed,
) -> None:
    box = enrolled.boxes["host-1"]
    # As one of pool other, of which the cluster knows it, too.
    assert box.sh("sed -i s#example/main/site-gpu#example/main/other# /etc/landbridge/manifest.json").code == 0
    enrolled.kube.done("label", "node", NODE, "landbridge.dev/pool=other", "--overwrite")
    state = enrolled.state("host-1")
    assert state.unknown == (
        "it has the bundle of example/main/other as host-1. `landbridge site enrol lab host-1` moves it to site-gpu as soon "
        "as it has no work there"
    )
    before = enrolled.kube.get("nodes", NODE)["metadata"]["uid"]
    work(enrolled, NODE)
    eventually(lambda: nodes.busy(enrolled.kube, NODE) == ["default/work"])
    with pytest.raises(transfer.AtWorkError, match=r"is still at work for other of main: default/work\. ") as caught:
        enrolled.enrolment("host-1")
    node = enrolled.kube.get("nodes", NODE)
    assert (node["metadata"]["uid"], nodes.cordoned(node), nodes.applying(node)) == (before, False, False)
    # What the message says ends it.
    remedy = re.search(r"`landbridge kubectl --cluster main ([^`]+)`", str(caught.value))
    assert remedy
    enrolled.kube.done(*remedy[1].split(), "--timeout=60s", seconds=90)
    eventually(lambda: not nodes.busy(enrolled.kube, NODE))
    said = enrolled.type("host-1", enrolled.enrolment("host-1"))
    assert (said.returncode, said.stdout) == (0, "This machine is host-1.lab, from now on.\n"), said.stderr
    eventually(lambda: nodes.ready(enrolled.kube.find("nodes", NODE)))
    node = enrolled.kube.get("nodes", NODE)
    assert node["metadata"]["uid"] != before
    assert node["metadata"]["labels"] == node_template.node_labels(enrolled.spec, "lab", NODE)
    assert not nodes.cordoned(node)
    assert enrolled.state("host-1").healthy


def test_a_host_of_a_cluster_that_could_not_be_asked_or_of_another_fleet_stays_where_it_is(enrolled: SiteBed) -> None:
    box = enrolled.boxes["host-1"]
    for prefix in ("example/away/other", "foreign/main/other"):
        assert (
            box.sh(
                f"cp -n /etc/landbridge/manifest.json /tmp/m; sed -i s#example/main/site-gpu#{prefix}# /etc/landbridge/manifest.json"
            ).code
            == 0
        )
        command = enrolled.enrolment("host-1").replace("'unasked': ()", "'unasked': ('away',)")
        assert "'away'" in command
        said = enrolled.type("host-1", command)
        assert said.returncode == 1
        assert f"this machine is of {prefix}, not of example/main/site-gpu" in said.stderr
        assert box.sh("cp /tmp/m /etc/landbridge/manifest.json").code == 0
    assert enrolled.state("host-1").healthy


def leave(bed: SiteBed, *, serving: bool) -> list[str]:
    """As the destroy of the pool's stack has it."""
    outputs = {
        "site": "lab",
        "cluster": "main",
        "prefix": "example/main/site-gpu",
        "hosts": ["host-1", "host-2", "host-3"],
    }
    pool = unenrol.of("site-gpu", outputs)
    assert pool
    return unenrol.leave(bed.session, pool, serving=serving)


def test_hosts_of_a_pool_that_is_destroyed_leave_and_can_be_enrolled_again(enrolled: SiteBed) -> None:
    box = enrolled.boxes["host-1"]
    enrolled.serve("host-1", {})
    assert [one.what for one in enrolled.apply("host-1").run()] == ["changed"]
    told = leave(enrolled, serving=False)
    assert len(told) == 2, "\n".join(told)
    serves, away = told
    assert serves.startswith("host-1.lab goes on serving (")
    assert away.startswith("host-3.lab was not asked to leave: host-3.lab cannot be reached")
    assert nodes.ready(enrolled.kube.find("nodes", NODE))
    assert enrolled.kube.find("nodes", OTHER) is None
    assert leave(enrolled, serving=True) == [away]
    assert enrolled.kube.find("nodes", NODE) is None
    assert box.sh("pgrep -x kwok").out == ""
    left = box.sh(
        "find /etc/landbridge /etc/kubernetes /etc/systemd/system /var/lib/landbridge /var/lib/kubelet -type f"
    ).out
    assert left == ""
    enrolled.own.clear()
    said = enrolled.type("host-1", enrolled.enrolment("host-1"))
    assert (said.returncode, said.stdout) == (0, "This machine is host-1.lab, from now on.\n"), said.stderr
    eventually(lambda: nodes.ready(enrolled.kube.find("nodes", NODE)))
    assert enrolled.state("host-1").healthy


def test_a_host_that_was_moved_meanwhile_does_not_leave(enrolled: SiteBed) -> None:
    pool = unenrol.of("old", {"site": "lab", "cluster": "main", "prefix": "example/main/old", "hosts": ["host-1"]})
    assert pool
    assert unenrol.leave(enrolled.session, pool, serving=True) == []
    assert enrolled.state("host-1").healthy


def test_what_is_said_of_a_host_that_is_not_reached_ends_its_kubelet(enrolled: SiteBed) -> None:
    remedy = re.search(r"`([^`]+)`", unenrol.BY_HAND)
    assert remedy
    box = enrolled.boxes["host-1"]
    assert box.sh("pgrep -x kwok").out != ""
    assert box.sh(remedy[1]).code == 0
    assert box.sh("pgrep -x kwok").out == ""
