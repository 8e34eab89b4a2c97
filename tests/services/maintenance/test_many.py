"""An hour's notice for 500 pods on 60 nodes, by a clock that is moved: nobody a second early, and nobody forgotten."""

from concurrent.futures import ThreadPoolExecutor

from fleet.model import Maintenance
from services.maintenance.settings import Settings

from .bed import HOUR, Bed

NODES, PODS = 60, 500


def test_an_hour_s_notice_is_kept_for_500_pods_on_60_nodes(bed: Bed) -> None:
    hosts = [f"host-{number:02}" for number in range(NODES)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(bed.node, hosts))
        list(pool.map(lambda number: bed.pod(f"train-{number:03}", hosts[number % NODES]), range(PODS)))
    # The whole pool at once: it is one room's power.
    bed.keeper.told = Settings(cluster="main", maintenance=Maintenance(share=1), fills=-10)
    bed.plan("power", "site/lab", after=HOUR)
    bed.look(2)
    start = bed.at + HOUR
    found = bed.call("GET", "/api/v1/namespaces/team-lab/pods")["items"]
    assert len([one for one in found if "landbridge.dev/maintenance" in one["metadata"].get("annotations", {})]) == PODS
    told = bed.call("GET", "/api/v1/namespaces/team-lab/events")["items"]
    assert sorted(one["involvedObject"]["name"] for one in told) == [f"train-{number:03}" for number in range(PODS)]
    assert set(bed.phases("power").values()) == {"closed"}
    bed.at = start - 1
    bed.look(2)
    assert len(bed.there()) == PODS
    assert bed.keeper.step() == start, "it looks again then, and not five seconds later"
    bed.at = start
    bed.look(3)
    assert bed.there() == []
    assert set(bed.phases("power").values()) == {"drained"}
