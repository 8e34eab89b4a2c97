"""The exporter as a program of its own, beside GPUs as a local machine plays them."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from local.providers.host import LOOPBACK, free_port
from local.workers.hardware import FILE
from local.workers.images import LIBRARIES
from local.workers.played.state import FAULTS, FOLDER, HELD
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[3]
NODE = "worker-1"
GPUS = 8


class Exporter:
    """With `libraries` before the house on its path, as images.py has it."""

    def __init__(self, folder: Path, gpus: int = GPUS, libraries: Path | None = LIBRARIES) -> None:
        self.folder, self.port = folder, free_port()
        self.write(FILE.name, {"gpus": gpus})
        self.write(HELD, {"node": NODE, "held": {}})
        path = [str(one) for one in (libraries, ROOT) if one]
        path += [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), FOLDER: str(folder), "NODE_NAME": NODE}
        self.log = folder / "log"
        with self.log.open("wb") as log:
            words = [sys.executable, "-m", "services.gpu_metrics", f"--listen={LOOPBACK}:{self.port}"]
            self.process = subprocess.Popen(words, env=environment, stderr=log)
        forgiven = (urllib.error.URLError, ConnectionError)
        assert eventually(lambda: self.page("/healthz"), 60, forgiven) == "ok\n"
        # It hears of Xids from its first look on.
        self.page("/metrics")

    def write(self, name: str, document: Any) -> None:
        fresh = self.folder / f"{name}.new"
        fresh.write_text(json.dumps(document))
        fresh.replace(self.folder / name)

    def faults(self, gpus: dict[int, Any], **more: Any) -> None:
        self.write(FAULTS, {"gpus": {str(gpu): fault for gpu, fault in gpus.items()}, **more})

    def page(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{self.port}{path}", timeout=30) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            return answer.read().decode()

    def seen(self) -> dict[str, dict[str, float]]:
        """Name → GPU's index, or "" → figure. The parser adds `_total` to counters that have it not."""
        found: dict[str, dict[str, float]] = {}
        for family in text_string_to_metric_families(self.page("/metrics")):
            for one in family.samples:
                of = found.setdefault(one.name.removesuffix("_total"), {})
                assert one.labels.get("gpu", "") not in of or not one.name.startswith("DCGM"), "told once"
                of[one.labels.get("gpu", "")] = one.value
        return found

    def labels(self, name: str) -> dict[str, dict[str, str]]:
        return {
            one.labels["gpu"]: one.labels
            for family in text_string_to_metric_families(self.page("/metrics"))
            for one in family.samples
            if one.name == name
        }

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0, self.log.read_text()
