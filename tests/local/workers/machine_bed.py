"""Whole local machines beside a control plane, in a namespace: each boots a pool's bundle, unchanged, and is a node.

They are hosts of a site, which join by their enrolments' tokens.
"""

import ipaddress
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from components.addons import flannel, kube_proxy
from components.addons.spec import AddOnsSpec, addons_spec
from components.pools.bundle import bundle
from fleet.world import current
from local.workers import hardware, log_lines, shares
from tests.components.pools import joining_bed
from tests.components.pools.joining_bed import ROOT
from tests.components.pools.joining_client import eventually
from tests.components.pools.joining_cluster import BIN
from tests.local.machines.host import Box, Host
from tests.local.workers.real_pods import DEFAULT
from tests.local.workers.worker import spec

# In no range of pods: those are behind the overlay.
API, SITE = "10.132.0.5", "lab"
ADDRESSES = joining_bed.HOSTS
# In the namespace: the bed of a cluster, where machines are.
BED = f"""{joining_bed.AMONG_MACHINES}
result = (bed.cluster.pki / "ca.crt").read_text()
"""
ENROL = """
from tests.components.pools import joining_cluster as bed
result = bed.cluster.enrolment(number, host)
"""
ASK = """
from tests.components.pools import joining_cluster as bed
result = bed.cluster.admin(method, path, body, kind)
"""
APPLY = """
from tests.components.pools import joining_cluster as bed
for one in things:
    bed.apply(bed.cluster.admin, one)
"""
# Its words, for all who run it there.
KUBECTL = """
import subprocess, time
from tests.components.pools import joining_cluster as bed
one = bed.cluster
who = {
    "server": f"https://127.0.0.1:{one.ports['api']}",
    "certificate-authority": one.pki / "ca.crt",
    "client-certificate": one.folder / "admin.crt",
    "client-key": one.folder / "admin.key",
    "cache-dir": one.folder / "kubectl",
}
words = [*before, str(bed.BIN / "kubectl"), *(f"--{name}={value}" for name, value in who.items()), *words]
"""
SHOWN = """
import contextlib, threading
running = subprocess.Popen(
    words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
)
def give():
    with contextlib.suppress(BrokenPipeError), running.stdin:
        running.stdin.write(given)
threading.Thread(target=give).start()
late = threading.Timer(120, running.kill)
late.start()
lines, times = [], []
for line in running.stdout:
    lines.append(line)
    times.append(time.monotonic())
late.cancel()
result = [running.wait(), "".join(lines), times]
"""


def control_plane(host: Host, folder: Path) -> str:
    """Its authority."""
    return str(host(BED, api=API, folder=str(folder)))


def boot(host: Host, name: str, authority: str) -> Box:
    pool = spec("site-gpu")
    size = {"architecture": "amd64", "cpus": 96, "memory_mib": 1 << 20, "disk_gib": 1000, "gpus": 8}
    files = {
        **bundle(pool, authority).files,
        # A local machine has no way out by which it would find its own address.
        "/etc/landbridge/host.json": json.dumps({"host": name, "address": ADDRESSES[name]}),
        "/etc/kubernetes/enrolment-token": host(ENROL, number=f"abc12{name[-1]}", host=name),
        str(hardware.FILE): hardware.text(size, pool.kubernetes),
    }
    (host.folder / "shares").mkdir(exist_ok=True)
    server = pool.server.removeprefix("https://").partition(":")[0]
    made = host.machine(
        name,
        f"{ADDRESSES[name]}/22",
        hosts=f"{API} {server}\n",
        volumes={str(shares.PLACE): str(host.folder / "shares")},
        programs={"kwok": str((BIN / "kwok").resolve())},
        files=files,
    )
    # Without it pods would wait for their network.
    on_each(flannel.SITE, flannel.manifests, made)
    made.ctl("daemon-reload")
    made.ctl("start", "--no-block", "landbridge.target")
    return made


def node(box: Box) -> str:
    return f"{box.name}.{SITE}"


def asked(box: Box, path: str, method: str = "GET", body: Any = None, kind: str = "application/json") -> Any:
    return box.host(ASK, method=method, path=path, body=body, kind=kind)


def ready(box: Box) -> Any:
    found = asked(box, f"/api/v1/nodes/{node(box)}")
    return found if ("Ready", "True") in [(c["type"], c["status"]) for c in found["status"]["conditions"]] else None


def retried(what: Any, seconds: float = 90) -> Any:
    def once() -> Any:
        try:
            return what()
        except RuntimeError as error:  # not there yet
            raise OSError(error) from None

    return eventually(once, seconds)


def of_pods(box: Box) -> str:
    """The address that real pods of a machine have."""
    return str(ipaddress.IPv4Network(asked(box, f"/api/v1/nodes/{node(box)}")["spec"]["podCIDR"])[-2])


def status(box: Box, name: str) -> Any:
    return asked(box, f"{DEFAULT}/pods/{name}")["status"]


def part(told: Any, name: str) -> Any:
    parts = [*told.get("initContainerStatuses", []), *told.get("containerStatuses", [])]
    return next((one for one in parts if one["name"] == name), None)


def conditions(told: Any) -> dict[str, str]:
    return {one["type"]: one["status"] for one in told.get("conditions") or []}


def output(box: Box, pod: str, name: str, run: int = 0) -> str:
    (folder,) = (box.disk / "var/log/pods").glob(f"default_{pod}_*")
    file = folder / name / f"{run}.log"
    return b"".join(log_lines.printed([file.read_bytes()])).decode() if file.exists() else ""


def made(box: Box, *things: Any) -> None:
    for one in things:
        asked(box, f"{DEFAULT}/{one['kind'].lower()}s", "POST", one)


def gone(box: Box, name: str) -> bool:
    return name not in [one["metadata"]["name"] for one in asked(box, f"{DEFAULT}/pods")["items"]]


def leave(box: Box, *names: str) -> None:
    for name in names:
        asked(box, f"{DEFAULT}/pods/{name}", "DELETE")
    for name in names:
        retried(lambda name=name: gone(box, name))


class Shown(NamedTuple):
    """`times` are those at which its lines came."""

    code: int
    text: str
    times: list[float]


def applied(box: Box, *things: Any) -> None:
    box.host(APPLY, things=list(things))


def proxies(*boxes: Box) -> None:
    on_each(kube_proxy.ADDON, kube_proxy.manifests, *boxes)


def on_each(addon: str, manifests: Callable[[AddOnsSpec], list[Any]], *boxes: Box) -> None:
    """An add-on's pod on these machines, whose DaemonSet nobody schedules here."""
    world = current(ROOT / "fleet.yaml")
    things = manifests(addons_spec(world.fleet, world.plan, "main"))
    (daemon,) = (one for one in things if (one["kind"], one["metadata"]["name"]) == ("DaemonSet", addon))
    applied(boxes[0], *(one for one in things if one["kind"] != "DaemonSet"))
    template = daemon["spec"]["template"]
    for box in boxes:
        meta = {**template["metadata"], "name": f"{addon}-{box.name}"}
        one = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**template["spec"], "nodeName": node(box)}}
        asked(box, "/api/v1/namespaces/kube-system/pods", "POST", one)


def kubectl(box: Box, *words: str, given: str = "", before: Sequence[str] = ()) -> Shown:
    """`given` is piped in; `before` are the words of a program that runs it."""
    return Shown(*box.host(KUBECTL + SHOWN, words=list(words), given=given, before=list(before)))
