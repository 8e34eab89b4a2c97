"""Six minutes without a link, with Kubernetes' own times: what a site's Job loses, and what leaves of itself.

Real etcd, API server, controllers, scheduler and joining service with our flags; four hosts of a site and a cloud's
machine, whose kubelets are the local cloud's. Beside the Job one that opted out, which shows that the time was long
enough: it is left alone for fifty seconds of silence and five minutes of grace.
"""

import tempfile
import time
from pathlib import Path

from components.addons.tolerations import MAY_LEAVE
from tests.components.pools.joining_client import eventually
from tests.local.workers.cut_off import HOSTS, REAL, Scene, scene, who

CUT_SECONDS, MOST_SECONDS = 360, 600


def measured(made: Scene) -> None:
    made.job("train", 4)
    made.job("leaves", 1, HOSTS[1], {MAY_LEAVE: "true"})
    made.region()
    before, nodes = who(made.pods("train")), made.uids()
    assert {phase for _, phase in before.values()} == {"Running"}
    made.far.cut()
    made.near.cut()
    began, left, unseen, waited = time.monotonic(), 0.0, 0.0, 0
    while (past := time.monotonic() - began) < CUT_SECONDS or (not left and past < MOST_SECONDS):
        assert set(who(made.pods("train"))) == set(before), "a pod of the Job was lost or doubled"
        assert not made.leaving("train"), "a pod of the Job was told to leave"
        waited += made.waiting("train")
        unseen = unseen or (past if made.unseen() == set(HOSTS) else 0.0)
        left = left or (past if made.leaving("leaves") else 0.0)
        time.sleep(1)
    cut = time.monotonic() - began
    tainted = len(made.ending())
    for link in (made.far, made.near):
        link.mend()
    eventually(lambda: not made.unseen() and not made.ending(), 300)
    back = time.monotonic() - began - cut
    eventually(lambda: made.status("train").get("ready") == 4)
    kept, nodes_kept = who(made.pods("train")) == before, made.uids() == nodes
    made.finish("train")
    eventually(lambda: made.status("train").get("succeeded") == 4)
    print(
        f"cut off for {cut:.0f} s: out of sight after {unseen:.0f} s; all its pods and nodes the same: "
        f"{'yes' if kept and nodes_kept else 'NO'}; pods that the Job's controller made: {made.made('train')} for 4; "
        f"looks that found a pod of it waiting for a node: {waited}; hosts with the taint that ends pods: {tainted} of 4"
    )
    print(
        f"the Job that opted out: its pod was told to leave after {left:.0f} s, and made {made.made('leaves')} times for 1"
    )
    print(f"in sight again {back:.1f} s after the link was; the Job completed with no pod failed")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-", ignore_cleanup_errors=True) as folder:
        running = scene(Path(folder), REAL)
        try:
            measured(next(running))
        finally:
            running.close()


if __name__ == "__main__":
    main()
