"""A control plane from zero to /readyz on local machines, and how much memory all its processes take.

The example's five machines with the production bundles: 3 etcd machines with two members each, 2 API machines. Beside
it, in the same run, the bare programs' own share: one etcd and one API server with no flags but those they cannot do
without.
"""

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from tests.components.control_plane.bed import BIN, Bed, make

ROUNDS = 3
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
# Resident bytes of every process of the program named, those shared with others of the same binary among them.
MEMORY = """for p in /proc/[0-9]*; do
  [ "$(readlink $p/exe)" ] && echo "$(basename $(cut -d '' -f1 $p/cmdline 2>/dev/null | tr -d '\\0')) \
$(awk '/^Rss:/{r=$2} /^Pss:/{s=$2} END{print r, s}' $p/smaps_rollup 2>/dev/null)"
done 2>/dev/null"""


def memory(bed: Bed) -> dict[str, tuple[int, int, int]]:
    """Program → number of processes, their resident MiB, and that with shared pages counted once."""
    found: dict[str, tuple[int, int, int]] = {}
    for box in bed.boxes.values():
        for line in box.sh(MEMORY).out.splitlines():
            name, *sizes = line.split()
            if name in PROGRAMS and len(sizes) == 2:
                count, resident, share = found.get(name, (0, 0, 0))
                found[name] = (count + 1, resident + int(sizes[0]), share + int(sizes[1]))
    return {name: (count, resident // 1024, share // 1024) for name, (count, resident, share) in found.items()}


def bare() -> float:
    """Seconds until one bare API server on one bare etcd is ready: what no control plane can be faster than."""
    with tempfile.TemporaryDirectory(prefix="landbridge-bench-") as name:
        folder = Path(name)
        began = time.perf_counter()
        (folder / "sa.key").write_bytes(
            subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, check=True).stdout
        )
        client, peer = "http://127.0.0.1:32379", "http://127.0.0.1:32380"
        etcd = subprocess.Popen(
            [
                BIN / "etcd",
                f"--data-dir={folder}/data",
                f"--listen-client-urls={client}",
                f"--advertise-client-urls={client}",
                f"--listen-peer-urls={peer}",
                f"--initial-advertise-peer-urls={peer}",
                f"--initial-cluster=default={peer}",
            ],
            stderr=subprocess.DEVNULL,
        )
        server = subprocess.Popen(
            [
                BIN / "kube-apiserver",
                f"--etcd-servers={client}",
                f"--cert-dir={folder}",
                "--secure-port=32443",
                "--authorization-mode=RBAC",
                "--service-cluster-ip-range=10.0.0.0/24",
                "--service-account-issuer=https://x",
                f"--service-account-key-file={folder}/sa.key",
                f"--service-account-signing-key-file={folder}/sa.key",
            ],
            stderr=subprocess.DEVNULL,
        )
        try:
            ask = ["curl", "--silent", "--insecure", "https://127.0.0.1:32443/readyz"]
            while subprocess.run(ask, capture_output=True, text=True, check=False).stdout != "ok":
                if time.perf_counter() - began > 120:
                    raise SystemExit("the bare API server does not become ready")
                time.sleep(0.1)
            return time.perf_counter() - began
        finally:
            for process in (server, etcd):
                process.kill()
                process.wait()


def main() -> None:
    ours, least = [], []
    for number in range(ROUNDS):
        least.append(bare())
        with tempfile.TemporaryDirectory(prefix="landbridge-bench-", ignore_cleanup_errors=True) as folder:
            began = time.perf_counter()
            bed = make(Path(folder))
            try:
                bed.ready(120)
                ours.append(time.perf_counter() - began)
                if number == ROUNDS - 1:
                    time.sleep(20)
                    found = memory(bed)
            finally:
                bed.host.close()
    middle, bound = statistics.median(ours), statistics.median(least)
    print(
        f"from zero to /readyz of both API servers: {middle:.1f} s (goal 30), one bare API server on one bare etcd "
        f"{bound:.1f} s: {middle / bound:.1f} times"
    )
    for name, (count, resident, share) in sorted(found.items()):
        print(f"memory: {count} {name}: {resident} MiB, {share} MiB with shared pages counted once")
    total = sum(resident for _, resident, _ in found.values())
    print(f"memory: all together {total} MiB, {sum(s for *_, s in found.values())} MiB (goal 1536)")


if __name__ == "__main__":
    main()
