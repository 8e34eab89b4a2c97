"""What Prometheus costs by the series: memory, disk and CPU, with our configuration's ways at thirty times the pace.

    PYTHONPATH=. .venv/bin/python bench/monitoring.py
    PYTHONPATH=. .venv/bin/python bench/monitoring.py --nodes 50 200 --series 1600

Machines of GPUs are played: each page has `--series` series, of which half change each time. Two hours of a scrape each 30 s
are 240 samples; here they come in 4 minutes, and are then written as a block. Two sizes are run one after the other, so that
what a series costs is told apart from what Prometheus costs anyhow. The last table reckons fleets with these figures.
"""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import NamedTuple

from ruamel.yaml import YAML

from local.kubernetes import BIN
from tests.support.apiserver import free_port
from tests.support.prometheus import get, ready

HERE, VARIANTS, LABELS_A_GPU = "127.0.0.1", 32, 8
PACE_SECONDS, SAMPLES = 1, 240
TICKS = os.sysconf("SC_CLK_TCK")
# Nodes → series of each: what this add-on keeps of eight GPUs and a machine, and what an issue of the field asks for.
FLEETS = ((200, 600), (1000, 600), (5000, 600), (5000, 1600))


class Cost(NamedTuple):
    series: int
    memory_bytes: int
    cpu_seconds: float
    samples: int
    disk_bytes: int
    kept: int


def page(series: int, variant: int) -> bytes:
    """One of a machine's; its node's name comes by the target."""
    random = Random(variant)
    lines = []
    for n in range(series):
        value = random.randrange(1000) if n % 2 else n
        about = f'gpu="{n % LABELS_A_GPU}",UUID="GPU-{n % LABELS_A_GPU:032x}",modelName="NVIDIA H100 80GB HBM3"'
        lines.append(f"played_{n // LABELS_A_GPU}{{{about}}} {value}\n")
    return "".join(lines).encode()


class Pages(BaseHTTPRequestHandler):
    pages: list[bytes]
    asked = 0

    def do_GET(self) -> None:
        Pages.asked += 1
        body = self.pages[(Pages.asked + hash(self.path)) % VARIANTS]
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def config(folder: Path, nodes: int, pages: int) -> Path:
    played = [
        {
            "targets": [f"{HERE}:{pages}"],
            "labels": {"__metrics_path__": f"/{n}", "node": f"gpu-{n}", "instance": f"gpu-{n}"},
        }
        for n in range(nodes)
    ]
    interval = {"scrape_interval": f"{PACE_SECONDS}s"}
    document = {"global": interval, "scrape_configs": [{"job_name": "played", "static_configs": played}]}
    path = folder / "prometheus.yaml"
    with path.open("w") as file:
        YAML().dump(document, file)
    return path


def measured(nodes: int, pages: int) -> Cost:
    folder, port = Path(tempfile.mkdtemp()), free_port()
    words = [
        f"--config.file={config(folder, nodes, pages)}",
        f"--storage.tsdb.path={folder}/data",
        f"--storage.tsdb.min-block-duration={PACE_SECONDS * SAMPLES}s",
        f"--web.listen-address={HERE}:{port}",
        "--log.level=error",
    ]
    process = subprocess.Popen([BIN / "prometheus", *words])
    try:
        ready(port)
        most, ends = 0, time.monotonic() + PACE_SECONDS * SAMPLES * 2.6
        while time.monotonic() < ends:
            status = Path(f"/proc/{process.pid}/status").read_text()
            most = max(most, int(status.partition("VmRSS:")[2].split()[0]) << 10)
            time.sleep(1)
        stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        series = int(get(port, "/api/v1/status/tsdb")["data"]["headStats"]["numSeries"])
        blocks = [one for one in (folder / "data").glob("01*") if (one / "meta.json").exists()]
        assert blocks, "it has written no block yet"
        kept = [YAML(typ="safe").load(one / "meta.json")["stats"]["numSamples"] for one in blocks]
        disk = sum(file.stat().st_size for one in blocks for file in one.rglob("*") if file.is_file())
        return Cost(series, most, (int(stat[11]) + int(stat[12])) / TICKS, appended(port), disk, sum(kept))
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def appended(port: int) -> int:
    with urllib.request.urlopen(f"http://{HERE}:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return int(
        sum(float(value) for value in re.findall(r"^prometheus_tsdb_head_samples_appended_total.* (\S+)$", text, re.M))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs=2, default=(25, 100), help="two sizes, the smaller first")
    parser.add_argument("--series", type=int, default=1600, help="of each machine")
    given = parser.parse_args()
    Pages.pages = [page(given.series, variant) for variant in range(VARIANTS)]
    server = ThreadingHTTPServer((HERE, 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    few, many = (measured(nodes, server.server_address[1]) for nodes in given.nodes)
    a_series = (many.memory_bytes - few.memory_bytes) / (many.series - few.series)
    always = few.memory_bytes - a_series * few.series
    a_sample = many.disk_bytes / many.kept
    cpu = (many.cpu_seconds - few.cpu_seconds) / (many.samples - few.samples) * 1e6
    for one in (few, many):
        print(
            f"{one.series:>9,} series: {one.memory_bytes / 2**20:,.0f} MiB at most, {one.cpu_seconds:.0f} s of CPU, "
            f"{one.disk_bytes / one.kept:.2f} bytes a sample on disk"
        )
    print(
        f"a series: {a_series:,.0f} bytes of memory; a million samples: {cpu:.2f} s of CPU; always: {always / 2**20:.0f} MiB"
    )
    print("\n   nodes   series a node     memory GiB   disk a day GiB   of a core")
    for nodes, series in FLEETS:
        number = nodes * series
        memory, disk = (always + number * a_series) / 2**30, number * 2880 * a_sample / 2**30
        print(f"{nodes:>8,} {series:>15,} {memory:>14.1f} {disk:>16.1f} {number / 30 / 1e6 * cpu:>10.0%}")


if __name__ == "__main__":
    main()
