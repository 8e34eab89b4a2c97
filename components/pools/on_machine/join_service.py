"""Lets machines join the cluster, and keeps out those that have gone. Runs on every API machine.

One copy, which holds the lease, judges requests for certificates, removes the nodes of machines that are gone, and
looks after the GPU machines' taints. Whose a token is each machine answers its own API server (join_webhook.py), in a
process of its own: it goes on when this one loses the lease and ends.
"""

import os
import signal
import threading
from types import FrameType
from typing import Any

import join_approver
import join_table
import nodes as cluster_nodes
from api_aws import Aws
from arm_azure import Arm
from departed import Departures
from gpu_taints import Taints
from instances import Instances, Source
from instances_aws import Ec2
from instances_azure import ScaleSets
from join_approver import Approver
from join_rules import pools_of
from machine import say, settings
from nodes import Nodes
from web_identity_aws import AwsByToken

from kube_http import Answer, Kube, follow
from kube_lease import Lease

ADDRESS, PORT = "127.0.0.1", 6443
CALL_SECONDS, LEASE_CALL_SECONDS = 20.0, 4.0
PKI = "/etc/kubernetes/pki"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/landbridge-joining"


def sources(told: Any, kube: Kube) -> dict[str, Source]:
    """Whom to ask in each region with pools."""
    groups = {region: names for region, names in told["regions"].items() if names}
    found: dict[str, Source] = {}
    azure, role = told.get("azure") or {}, (told.get("aws") or {}).get("role")
    for region, names in groups.items():
        if place := azure.get("places", {}).get(region):
            found[region] = ScaleSets(names, place, Arm(kube, azure["tenant"]).get, azure.get("alone", ()))
        else:
            found[region] = Ec2(names, (AwsByToken(region, kube, role) if role else Aws(region)).ec2)
    return found


def lead(told: Any, kube: Kube) -> None:
    """Starts all that only one copy does. `told` are the settings with the table of pools."""
    pools, seconds = pools_of(told), told["seconds"]
    instances = Instances(sources(told, kube))
    taints = Taints(kube, pools, seconds["gpu"])
    nodes = Nodes(taints.changed)
    departures = Departures(kube, nodes, instances, seconds["gone"])
    approver = Approver(kube, told, pools, instances, nodes, departures)
    instances.start(approver.hurry)
    approver.start()
    for target, arguments in (
        (follow, (kube, cluster_nodes.PATH, cluster_nodes.read, nodes.listed, nodes.changed, say)),
        (follow, (kube, join_approver.PATH, join_approver.undecided, approver.listed, approver.changed, say)),
        (departures.run, (seconds["pass"],)),
        (taints.run, (nodes,)),
    ):
        threading.Thread(target=target, args=arguments, daemon=True).start()


def here(seconds: float) -> Kube:
    """To the machine's own API server."""
    pair = f"{PKI}/joining.crt", f"{PKI}/joining.key"
    return Kube(f"https://{ADDRESS}:{PORT}", f"{PKI}/ca.crt", pair=pair, seconds=seconds)


def main() -> None:
    told: Any = settings("joining")
    lease = Lease(here(LEASE_CALL_SECONDS), LEASE, str(told["machine"]), say)

    def end(_number: int, _frame: FrameType | None) -> None:
        # In a thread: the one that this interrupts may hold the lease's lock.
        threading.Thread(target=_release, args=(lease,)).start()

    def lost(why: str) -> None:
        say(f"leads no more: {why}")
        os._exit(1)  # nothing that was begun goes on; systemd starts it again

    def failed(problem: threading.ExceptHookArgs) -> None:
        say(f"ERROR: {problem.thread.name if problem.thread else ''}: {problem.exc_type.__name__}: {problem.exc_value}")
        os._exit(1)

    threading.excepthook = failed
    signal.signal(signal.SIGTERM, end)
    lease.hold(lost)
    kube, leads = here(CALL_SECONDS), threading.Event()

    def learn(table: Any) -> bool:
        if leads.is_set():
            say("the pools have changed: begins anew with them")
            return True
        leads.set()
        lead({**told, **table}, kube)
        return False

    join_table.follow(kube, learn)
    _release(lease)


def _release(lease: Lease) -> None:
    try:
        lease.release()
    except (Answer, OSError) as error:
        say(f"the lease was not given back: {error}")
    os._exit(0)


if __name__ == "__main__":
    main()
