"""How many machines a second the joining service lets in, and how much memory it takes.

200 instances at once, on a real API server: each shows its token, which the service has the local AWS judge, and asks
for its certificate. Then 200 renewals that were there before the service was: what it does when nothing else is slow.
"""

import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.components.pools.joining_bed import key, request
from tests.components.pools.joining_client import Client, eventually
from tests.components.pools.joining_cluster import REQUESTS, Cluster, make

COUNT, AT_ONCE = 200, 32


def resident(cluster: Cluster, program: str) -> float:
    """MiB at most, so far."""
    text = Path(f"/proc/{cluster.running[program].pid}/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) / 1024


def memory(cluster: Cluster, when: str) -> None:
    told = [f"{name} {resident(cluster, name):.0f} MiB" for name in ("service", "webhook")]
    print(f"memory {when}: {', '.join(told)}", flush=True)


def decided(cluster: Cluster, prefix: str) -> int:
    items = cluster.admin("GET", REQUESTS)["items"]
    mine = [one for one in items if one["metadata"]["name"].startswith(prefix)]
    assert all(c["type"] == "Approved" for one in mine for c in one["status"].get("conditions", [])), "one was denied"
    return sum("conditions" in one["status"] for one in mine)


def together(cluster: Cluster, clients: list[Client], pems: list[str], prefix: str) -> list[float]:
    """Seconds that each call took."""

    def one(number: int) -> float:
        began = time.perf_counter()
        cluster.ask(clients[number], prefix, pems[number])
        return time.perf_counter() - began

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return sorted(pool.map(one, range(len(clients))))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-", ignore_cleanup_errors=True) as folder:
        running = make(Path(folder))
        cluster = next(running)
        try:
            ids = cluster.grow("example-west-gpu", COUNT)
            memory(cluster, "before")
            pems = [request(name, made=key()) for name in ids]
            tokens = [cluster.client(token=cluster.token(name)) for name in ids]
            began = time.perf_counter()
            took = together(cluster, tokens, pems, "first")
            asked = time.perf_counter() - began
            eventually(lambda: decided(cluster, "first") == COUNT, 300)
            whole = time.perf_counter() - began
            print(
                f"{COUNT} machines at once: all asked after {asked:.1f} s (a call with its token: median "
                f"{statistics.median(took):.2f} s, 99 % {took[int(COUNT * 0.99)]:.2f} s), all approved after {whole:.1f} s: "
                f"{COUNT / whole:.0f} joins a second"
            )
            memory(cluster, "after")
            service = cluster.running.pop("service")
            service.terminate()
            service.wait()
            admin = cluster.admin
            with ThreadPoolExecutor(8) as pool:
                nodes = list(pool.map(lambda pair: _renewal(cluster, admin, *pair), zip(ids, pems, strict=True)))
            assert len(nodes) == COUNT
            cluster.serve()
            began = time.perf_counter()
            eventually(lambda: decided(cluster, "renewal") > 0, 60)
            begun, first = time.perf_counter(), decided(cluster, "renewal")
            eventually(lambda: decided(cluster, "renewal") == COUNT, 300)
            seconds = time.perf_counter() - begun
            print(
                f"{COUNT} renewals that waited for it: approved {time.perf_counter() - began:.1f} s after it leads; "
                f"{(COUNT - first) / max(seconds, 0.001):.0f} a second once the first was"
            )
        except BaseException:
            for name in ("service", "webhook", "api"):
                odd = [
                    line for line in cluster.log(name).splitlines() if "proved" not in line and "approved" not in line
                ]
                print(name, *odd[-8:], sep="\n", flush=True)
            raise
        finally:
            running.close()


def _renewal(cluster: Cluster, admin: Client, name: str, pem: str) -> str:
    """By the node itself: its administrator speaks for it here."""
    return cluster.ask(
        Client(
            admin.port,
            admin.authority,
            certificate=admin.certificate,
            headers={"Impersonate-User": f"system:node:{name}", "Impersonate-Group": "system:nodes"},
        ),
        "renewal",
        pem,
    )


if __name__ == "__main__":
    main()
