"""The node under the leading autoscaler is lost in the midst of a burst: the other replica leads, and buys nothing twice."""

from pathlib import Path

import pytest

from tests.components.pools.joining_client import eventually
from tests.services.autoscaler.autoscaled import autoscaled

pytestmark = pytest.mark.timeout(1200)
LONG = 500
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cluster-autoscaler"
# West has room for 40 machines; so a second region is asked, by whoever leads then.
PODS = 60


def test_the_other_replica_takes_the_burst_over(tmp_path: Path) -> None:
    with autoscaled(tmp_path, site=0, leader_elect="true") as one:

        def leader() -> str:
            found = one.kube.find(LEASE)
            return found["spec"].get("holderIdentity", "") if found else ""

        was = eventually(leader, LONG)
        service, autoscaler = one.second()
        one.booting = True
        one.job("burst", PODS)
        eventually(lambda: "grow" in (service.folder / "service.log").read_text(), LONG)
        for process in (autoscaler, service.process):
            process.kill()
            process.wait()
        assert leader() == was, "it was led by the first until then"
        eventually(lambda: leader() not in ("", was), LONG)
        one.booting = False
        eventually(lambda: one.running("burst") == PODS, LONG)
        assert sum(one.launched().values()) == PODS, "as many as it takes, by the cloud's own ledger"
        assert one.said("grow"), "the second has bought what was missing"
        one.end("burst")
        eventually(lambda: not any(one.live(region) for region in one.told["region_clouds"]), LONG)
