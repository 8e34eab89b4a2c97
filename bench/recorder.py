"""What a recorder costs in a cluster of 5,000 nodes and 30,000 pods: memory, CPU, calls; and whether it misses a death.

    PYTHONPATH=. .venv/bin/python bench/recorder.py
    PYTHONPATH=. .venv/bin/python bench/recorder.py --nodes 500 --pods 3000

A real API server and etcd, an S3 of this process. It ends with 1 if a pod that died is not known, or if the recorder
uses as much CPU as the API server or more.
"""

import argparse
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kube_http import STRATEGIC, Answer, Kube
from landbridge.why.deaths import of_records
from tests.services.recorder.test_whole import PODS, Bed
from tests.support import s3
from tests.support.apiserver import Server, server

THREADS = 8
LABELS = {"landbridge.dev/pool": "west-gpu", "landbridge.dev/kind": "gpu"}
MOST_SHARE = 1.0
TICKS = 100.0


def client(kube: Server) -> Kube:
    """As system:masters."""
    crt, key = kube.authority.leaf("admin", ("system:masters",))
    pair = kube.folder / "bench.pem"
    pair.write_text(crt + key)
    return Kube(kube.url, str(kube.folder / "ca.crt"), pair=(str(pair),))


def each(act: Callable[[int], None], numbers: Iterable[int]) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(act, numbers))


def node(n: int) -> dict[str, Any]:
    return {"metadata": {"name": f"gpu-{n}", "labels": LABELS}, "spec": {"providerID": f"aws:///a/i-{n:017x}"}}


def pod(n: int, nodes: int) -> dict[str, Any]:
    """Of the usual size: a dozen variables, volumes and labels."""
    env = [{"name": f"VARIABLE_{k}", "value": "x" * 40} for k in range(12)]
    volumes = [{"name": f"v{k}", "emptyDir": {}} for k in range(4)]
    mounts = [{"name": f"v{k}", "mountPath": f"/v{k}"} for k in range(4)]
    box = {"name": "run", "image": "registry.example.com/train:1", "env": env, "volumeMounts": mounts}
    labels = {f"example.com/label-{k}": f"value-{k}" for k in range(6)} | {"landbridge.dev/run": f"run-{n // 8}"}
    meta = {"name": f"run-{n // 8}-worker-{n % 8}", "labels": labels}
    return {"metadata": meta, "spec": {"nodeName": f"gpu-{n % nodes}", "containers": [box], "volumes": volumes}}


def ended(code: int) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    state = {"terminated": {"exitCode": code, "reason": "Error", "startedAt": now, "finishedAt": now}}
    box = {"name": "run", "image": "a", "imageID": "", "ready": False, "restartCount": 0, "state": state}
    return {"status": {"phase": "Failed", "startTime": now, "containerStatuses": [box]}}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mib(pid: int, what: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


def calls(port: int) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[1]) for line in lines if line.startswith("landbridge_recorder_api_calls_total"))


def measured(found: Bed, kube: Server, given: argparse.Namespace) -> bool:
    api = client(kube)
    begun = time.monotonic()
    each(lambda n: api.ask("POST", "/api/v1/nodes", node(n)) and None, range(given.nodes))
    each(lambda n: api.ask("POST", PODS, pod(n, given.nodes)) and None, range(given.pods))
    print(f"{given.nodes} nodes and {given.pods} pods made in {time.monotonic() - begun:.0f} s")
    begun = time.monotonic()
    found.start("recorder-a")
    process, server_pid = found.running["recorder-a"], kube.processes["kube-apiserver"].pid
    while not settled(process.pid):
        pass
    listed = cpu_seconds(process.pid)
    print(f"all listed in {time.monotonic() - begun:.0f} s, {listed:.1f} s of CPU, {calls(found.port):.0f} calls")
    print(f"memory {memory_mib(process.pid, 'VmRSS'):.0f} MiB, {memory_mib(process.pid, 'VmHWM'):.0f} at most")
    before = cpu_seconds(process.pid), cpu_seconds(server_pid), calls(found.port), time.monotonic()
    names = [pod(n, given.nodes)["metadata"]["name"] for n in range(given.deaths)]
    dying(api, names, given.rate)
    time.sleep(3)
    mine, servers, asked, seconds = (
        cpu_seconds(process.pid) - before[0],
        cpu_seconds(server_pid) - before[1],
        calls(found.port) - before[2],
        time.monotonic() - before[3],
    )
    print(
        f"{len(names)} deaths in {seconds:.0f} s: CPU {mine / seconds:.2f} cores, {mine / servers:.1%} of the API server's"
    )
    print(f"calls: {asked / seconds:.1f} a second, {asked / len(names):.2f} a death")
    print(f"memory {memory_mib(process.pid, 'VmRSS'):.0f} MiB, {memory_mib(process.pid, 'VmHWM'):.0f} at most")
    found.end("recorder-a")
    known = {one.title.partition("/")[2] for one in of_records(found.records("").all())}
    missed = set(names) - known
    print(f"{len(names) - len(missed)} of {len(names)} deaths are known")
    return not missed and mine / servers < MOST_SHARE


def dying(api: Kube, names: list[str], rate: float) -> None:
    """So many a second: each fails, and is deleted."""

    def one(n: int) -> None:
        due = begun + n / rate
        time.sleep(max(0.0, due - time.monotonic()))
        try:
            api.ask("PATCH", f"{PODS}/{names[n]}/status", ended(1), STRATEGIC)
            api.ask("DELETE", f"{PODS}/{names[n]}?gracePeriodSeconds=0")
        except Answer as error:
            sys.stderr.write(f"{error}\n")

    begun = time.monotonic()
    each(one, range(len(names)))


def settled(pid: int) -> bool:
    """Three seconds with next to no CPU."""
    before = cpu_seconds(pid)
    time.sleep(3)
    return 0 < cpu_seconds(pid) - before < 0.1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=30_000)
    parser.add_argument("--deaths", type=int, default=1200)
    parser.add_argument("--rate", type=float, default=20.0, help="deaths a second")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, s3.serving() as url, server(Path(folder), controllers=False) as kube:
        found = Bed(Path(folder), kube, url)
        try:
            return 0 if measured(found, kube, given) else 1
        finally:
            for replica in [*found.running]:
                found.end(replica)


if __name__ == "__main__":
    sys.exit(main())
