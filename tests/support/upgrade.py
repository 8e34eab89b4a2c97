"""What an upgrade's test sees of a cluster, run inside the local cloud: `python -m tests.support.upgrade MODE [FOLDER]`.

`facts` prints which version each program of each API machine has. `witness` writes steadily, asks which version answers
behind the balancer, and goes on until FOLDER/stop is there; it leaves FOLDER/report.json. FOLDER/ready tells that its
objects are made.
"""

import http.client
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from fleet.world import current
from landbridge.cluster import kubeconfig, session
from landbridge.cluster.session import Session
from landbridge.drill.writer import Api, Writer

NAMESPACE = "upgrade"
PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
GROUP = "test.example.com"
LABELS = {"app": "upgrade"}
BOX = {"name": "x", "image": "x"}
# One of each kind of storage: plain, encrypted, from a controller, from the events' ring, and of a type of our own.
OBJECTS: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "before"}, "data": {"word": "kept"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "before"}, "data": {"word": "a2VwdA=="}},
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "before"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [BOX]}},
        },
    },
    {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "before"},
        "involvedObject": {"kind": "ConfigMap", "name": "before", "namespace": NAMESPACE},
        "reason": "Kept",
        "type": "Normal",
    },
    {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "before"}, "spec": {"word": "kept"}},
]
TYPE = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"things.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}


def opened() -> Session:
    return session.opened(current(), None, local=True)


def facts() -> dict[str, dict[str, str]]:
    """By API machine: what its server answers, what each of its programs is, and units that were started twice."""
    here, found = opened(), {}
    credential = kubeconfig.admin(here.cloud, here.info)
    for machine in here.info.api:
        told = Api(here.info, credential, machine.host).surely("GET", "/version", seconds=30)
        found[machine.name] = {"serves": told["gitVersion"].removeprefix("v")}
        for program in PROGRAMS:
            said = here.remote.run(machine.name, [program, "--version"])
            found[machine.name][program] = said.out.strip().rpartition("v")[2] or said.why
            state = here.remote.run(machine.name, ["systemctl", "status", program]).out
            if "estart" in state or "active" not in state:
                found[machine.name][f"{program} unwell"] = state
    return found


class Witness:
    def __init__(self, folder: Path) -> None:
        self.folder, self.session = folder, opened()
        self.credential = kubeconfig.admin(self.session.cloud, self.session.info)
        self.kube = self.session.admin
        self.writer = Writer(self.session.info, self.credential, NAMESPACE, "upgrade")
        self.versions: list[str] = []
        self.asked = 0

    @property
    def stopped(self) -> bool:
        return (self.folder / "stop").exists()

    def make(self) -> None:
        self.kube.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, TYPE])
        self.kube.done("wait", "--for=condition=Established", f"crd/things.{GROUP}", "--timeout=30s")
        for one in OBJECTS:
            one["metadata"]["namespace"] = NAMESPACE
        self.kube.apply(OBJECTS)
        self.until_replicas(2)

    def until_replicas(self, count: int) -> None:
        """Until the controller manager has made so many pods. They stay pending: there are no nodes."""
        self.kube.done("scale", "-n", NAMESPACE, "deployment/before", f"--replicas={count}")
        self.kube.done(
            "wait",
            "-n",
            NAMESPACE,
            f"--for=jsonpath={{.status.replicas}}={count}",
            "deployment/before",
            "--timeout=60s",
        )

    def ask(self) -> None:
        """Each time over a new connection, which the balancer gives to any server."""
        api = Api(self.session.info, self.credential)
        while not self.stopped:
            try:
                _, told = api.call("GET", "/version")
                self.versions.append(told["gitVersion"].removeprefix("v"))
            except (OSError, http.client.HTTPException, TypeError, KeyError):
                pass  # it is the writes that must not fail
            api.close()
            time.sleep(0.2)

    def kept(self) -> list[str]:
        """Which of the objects are there with what they had."""
        found = []
        for one in OBJECTS:
            kind = f"{one['kind']}.{GROUP}" if one["kind"] == "Thing" else one["kind"]
            now = self.kube.find(kind, "before", f"--namespace={NAMESPACE}")
            same = now is not None and all(now[part] == one[part] for part in ("data", "reason") if part in one)
            if same and (one["kind"] != "Thing" or now["spec"] == one["spec"]):  # type: ignore[index]
                found.append(one["kind"])
        return found

    def run(self) -> None:
        self.make()
        self.writer.start()
        asking = threading.Thread(target=self.ask)
        asking.start()
        self.writer.more(5, 60)
        (self.folder / "ready").touch()
        while not self.stopped:
            time.sleep(0.2)
        self.writer.stop()
        asking.join()
        self.until_replicas(3)
        present = self.writer.present()
        report = {
            "acknowledged": len(self.writer.acknowledged),
            "failed": self.writer.failed,
            "retries": self.writer.retries,
            "slowest": max(one.waited for one in self.writer.acknowledged),
            "lost": sorted({one.number for one in self.writer.acknowledged} - present),
            "versions": self.versions,
            "kept": self.kept(),
        }
        draft = self.folder / "report.new"
        draft.write_text(json.dumps(report))
        draft.replace(self.folder / "report.json")


if __name__ == "__main__":
    if sys.argv[1] == "facts":
        sys.stdout.write(json.dumps(facts()))
    else:
        Witness(Path(sys.argv[2])).run()
