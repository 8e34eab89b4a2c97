"""VictoriaLogs and vlagent as processes of a test, and folders of pods as the kubelet lays them."""

import contextlib
import json
import shutil
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from components.addons.monitoring import log_collector
from local.workers import log_lines
from tests.support.apiserver import HERE, free_port
from tests.support.prometheus import running
from tests.support.waiting import eventually

import node_journal  # isort: skip


def healthy(address: str) -> None:
    def answers() -> bool:
        with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
            return bool(answer.status == 200)

    eventually(answers, 60, (OSError,))


@contextlib.contextmanager
def store(folder: Path, port: int) -> Iterator[str]:
    """Its address."""
    folder.mkdir(exist_ok=True)
    words = (f"-storageDataPath={folder}/data", f"-httpListenAddr={HERE}:{port}", "-memory.allowedBytes=64MiB")
    with running("victoria-logs", folder / "log", *words):
        healthy(address := f"http://{HERE}:{port}")
        yield address


class Machine:
    """Whose pods' logs are in `pods`, and what its units say in `journal`."""

    def __init__(self, folder: Path, node: str) -> None:
        self.folder, self.node, self.pods = folder, node, folder / "pods"
        self.pods.mkdir(parents=True)

    @contextlib.contextmanager
    def collecting(self, *addresses: str) -> Iterator[None]:
        given = log_collector.arguments([*addresses], *(str(self.folder / name) for name in log_collector.FOLDERS))
        words = [word.replace(log_collector.ON, self.node) for word in given]
        port = free_port()
        with running("vlagent", self.folder / "log", *words, f"-httpListenAddr={HERE}:{port}"):
            healthy(f"http://{HERE}:{port}")
            yield

    def prints(self, namespace: str, pod: str, text: str, container: str = "run", starts: int = 0) -> None:
        file = self.pods / f"{namespace}_{pod}_uid-of-{pod}" / container / f"{starts}.log"
        file.parent.mkdir(parents=True, exist_ok=True)
        made, rest = log_lines.entries(text.encode())
        with file.open("ab") as log:
            log.write(made + log_lines.last(rest))

    def says(self, unit: str, *texts: str, most: int = node_journal.MOST_BYTES) -> None:
        """As journalctl tells it, and the unit that follows it lays it down. A file has `most` bytes."""
        (self.folder / "journal").mkdir(exist_ok=True)
        told = {"_SYSTEMD_UNIT": f"{unit}.service"} if unit != "kernel" else {"_TRANSPORT": "kernel"}
        at = str(time.time_ns() // 1000)
        entries = [{**told, "MESSAGE": text, "__REALTIME_TIMESTAMP": at, "__CURSOR": at} for text in texts]
        node_journal.Kept(self.folder / "journal", most).take(json.dumps(one).encode() for one in entries)

    def forget(self, namespace: str, pod: str) -> None:
        """As the kubelet does with a pod that is deleted."""
        shutil.rmtree(self.pods / f"{namespace}_{pod}_uid-of-{pod}")
