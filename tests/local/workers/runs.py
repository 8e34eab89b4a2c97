"""Pods of runs: each container is a program of the machine's own, whatever its image."""

from typing import Any

IMAGE = "registry.example.com/train:1"
ANNOTATION = "batch.kubernetes.io/job-completion-index"
INDEX = f"metadata.annotations['{ANNOTATION}']"
# The variable that the Job's controller puts into each container.
VARIABLE = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": INDEX}}}
PORT = 18090
# What a container sees, as a line of JSON.
SEES = """
import json, os, socket, sys
from pathlib import Path
def refused(path):
    try:
        Path(path).write_text("x")
    except OSError as error:
        return error.strerror
print(json.dumps({
    "found": [path for path in ("/tmp/x", "/dev/shm/x") if Path(path).exists()],
    "environment": dict(os.environ),
    "host": socket.gethostname(),
    "names": Path("/etc/hosts").read_text().rstrip().splitlines(),
    "here": os.getcwd(),
    "code": sorted(one.name for one in Path("/code").iterdir() if not one.name.startswith("..")),
    "writable": [path for path in ("/tmp/x", "/dev/shm/x", "/data/x") if refused(path) is None],
    "refused": [refused(path) for path in ("/x", "/usr/x", "/etc/x", "/var/x", "/srv/x", "/code/x")],
}), flush=True)
"""
# The first one listens, and the other finds it by its name; each says what it has heard.
MEETS = f"""
import os, socket, sys, time
index, name = os.environ["JOB_COMPLETION_INDEX"], sys.argv[1]
if index == "0":
    with socket.create_server(("", {PORT})) as door:
        line = door.accept()[0]
    found = socket.gethostbyname(name)
else:
    while True:
        try:
            found = socket.gethostbyname(name)
            line = socket.create_connection((found, {PORT}), 5)
            break
        except OSError as error:
            time.sleep(0.3)
line.sendall(f"from {{index}}\\n".encode())
print("heard", line.makefile().readline().strip(), "at", found)
"""
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "night"},
    # As JobSet makes it: peers look for each other before they are ready.
    "spec": {"clusterIP": "None", "selector": {"landbridge.dev/run": "night"}, "publishNotReadyAddresses": True},
}


def program(name: str, command: list[str], **more: Any) -> dict[str, Any]:
    return {"name": name, "image": IMAGE, "command": command, "env": [VARIABLE], **more}


def run_pod(name: str, node: str, command: list[str], index: int = 0, **spec: Any) -> dict[str, Any]:
    """As a JobSet's Indexed Job makes it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {"landbridge.dev/run": "night"},
            "annotations": {ANNOTATION: str(index)},
        },
        "spec": {
            "nodeName": node,
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 10,
            "containers": [program("main", command)],
            **spec,
        },
    }


def code(name: str, file: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {file: "pass"}}


def share(space: str = "default") -> list[dict[str, Any]]:
    """A volume on an NFS server and its claim, as the add-on of shares makes them."""
    attributes = {"server": "nfs.example.com", "share": "/export/data"}
    csi = {"driver": "nfs.csi.k8s.io", "volumeHandle": f"lab/data#{space}", "volumeAttributes": attributes}
    both = {"accessModes": ["ReadWriteMany"], "storageClassName": "data"}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": space, "name": "data"}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"main.{space}.data"},
            "spec": {**both, "capacity": {"storage": "1Pi"}, "claimRef": claim, "csi": csi},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": space},
            "spec": {**both, "volumeName": f"main.{space}.data", "resources": {"requests": {"storage": "1Pi"}}},
        },
    ]
