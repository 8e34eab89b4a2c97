"""The service, the machines' scripts and the add-ons mean the same by their names, and the guide's lines run."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from components.addons import controllers, queues
from components.pools import labels
from fleet import maintenance, maintenance_holds
from fleet.maintenance import NodeState
from services.maintenance import marks, nodes
from tests.components.addons.bed import ROOT

GUIDE = ROOT / "docs/guide/maintenance.md"


def test_labels_and_taints_are_those_of_pools() -> None:
    assert maintenance.LABELS.keys() | {"node"} == {*maintenance.TARGETS}
    assert {*maintenance.LABELS.values()} == {labels.POOL, labels.PLACE, labels.ZONE}
    assert (labels.GPU_FAILED.key, labels.GPU_BURN_IN.key) == nodes.FAILED
    assert labels.GPU_STARTING.key == nodes.STARTING
    assert nodes.GPUS == maintenance_holds.GPUS == labels.GPU_RESOURCE
    assert maintenance.TAINT.startswith(f"{labels.STATUS}/")
    assert maintenance.GROUP == labels.DOMAIN


def test_holds_are_where_and_of_what_kueue_s_queues_are() -> None:
    assert (maintenance_holds.API, maintenance_holds.SPACE) == (queues.API, controllers.SPACE)
    assert maintenance_holds.PLACE == labels.PLACE


def programs() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_guide_s_program_hears_the_signal() -> None:
    _, program = programs()
    raised = "save_checkpoint = lambda: print('saved')\n" + program + "signal.raise_signal(signal.SIGUSR1)\n"
    done = subprocess.run([sys.executable, "-c", raised], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (143, "saved\n")


def test_the_guide_s_program_reads_what_the_service_writes(tmp_path: Path) -> None:
    program, _ = programs()
    (shown,) = re.findall(r"^```json\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    start = time.time() + 300
    spec = {"source": "operator", "target": {"kind": "node", "name": "gpu-1"}, "why": "new NIC", "noticeSeconds": 0}
    times = {"start": maintenance.stamp(start), "end": maintenance.stamp(start + 3600), "closedSeconds": 3600}
    meta = {"name": "nic", "uid": "u", "resourceVersion": "1"}
    plan = maintenance.read({"metadata": meta, "spec": {**spec, **times}})
    written = marks.of_pod([(plan, NodeState("closed", 0.0, 0.0))], time.time())
    assert json.loads(shown).keys() == json.loads(written).keys()
    said = []
    for text in (written, ""):
        (tmp_path / "maintenance").write_text(text)
        given = {"MAINTENANCE_FILE": str(tmp_path / "maintenance")}
        done = subprocess.run([sys.executable, "-c", program], env=given, capture_output=True, text=True, check=True)
        said.append(done.stdout)
    assert said == ["checkpoint, and then the end\n", ""]
