"""Pods that a local machine runs itself: small Python programs, which say what they see in lines of JSON."""

from typing import Any

IMAGE = "localhost/landbridge-services:0.1.0"
DEFAULT = "/api/v1/namespaces/default"
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"colour": "blue"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hidden"}, "stringData": {"word": "sesame"}}
BEFORE = """
import os
from pathlib import Path
Path("/run/shared/made").write_text("by the first")
print(os.getuid())
"""
BESIDE = """
import http.server, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("asked to end", time.time()), sys.exit(0)))
time.sleep(1)
print("up", time.time(), flush=True)
http.server.HTTPServer(("", 18087), http.server.SimpleHTTPRequestHandler).serve_forever()
"""
MAIN = """
import json, os, signal, socket, sys, time
from pathlib import Path
import boto3, local.workers.images
# No unit finds it any more by the session that it came from.
os.setsid()
def refused(path):
    try:
        Path(path).write_text("x")
    except OSError as error:
        return error.strerror
where = Path("/var/run/secrets/kubernetes.io/serviceaccount")
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), print("ended", time.time()), sys.exit(0)))
print(json.dumps({
    "begun": time.time(),
    "shared": Path("/run/shared/made").read_text(),
    "colour": Path("/etc/settings/colour").read_text(),
    "data": os.readlink("/etc/settings/colour"),
    "token": (where / "token").read_text(),
    "team": Path("/run/team/token").read_text(),
    "authority": (where / "ca.crt").read_text(),
    "environment": dict(os.environ),
    "arguments": sys.argv[1:],
    "host": socket.gethostname(),
    "who": [os.getpid(), os.getuid(), os.getgid(), os.getgroups()],
    "refused": [refused(path) for path in ("/usr/x", "/etc/settings/x", "/var/x")],
    "shared memory": refused("/dev/shm/x"),
}), flush=True)
while True:
    time.sleep(1)
"""


def container(name: str, code: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": IMAGE, "imagePullPolicy": "Never", "command": ["python3", "-u", "-c", code], **more}


def pod(name: str, node: str, *containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    meta = {"name": name, "labels": {"app": name}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"nodeName": node, "containers": list(containers), **spec},
    }


def whole(node: str) -> dict[str, Any]:
    """With all that is honoured: an init container, one beside, volumes of each kind, variables."""
    closed = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    shared = {"name": "shared", "mountPath": "/run/shared"}
    get = {"httpGet": {"path": "/", "port": "web"}, "periodSeconds": 1, "timeoutSeconds": 30}
    field = {"fieldRef": {"fieldPath": "metadata.name"}}
    variables = [
        {"name": "POD", "valueFrom": field},
        {"name": "HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
        {"name": "COLOUR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "colour"}}},
        {"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "hidden", "key": "word"}}},
        {"name": "NONE", "valueFrom": {"secretKeyRef": {"name": "nobody", "key": "word", "optional": True}}},
        {"name": "BOTH", "value": "$(POD)-$(COLOUR)-$(PATH)-$$(POD)"},
    ]
    token = {"serviceAccountToken": {"audience": "example.com", "expirationSeconds": 7200, "path": "token"}}
    mounts = [
        shared,
        {"name": "settings", "mountPath": "/etc/settings", "readOnly": True},
        {"name": "team", "mountPath": "/run/team", "readOnly": True},
    ]
    return pod(
        "whole",
        node,
        container("main", MAIN, args=["$(COLOUR)"], env=variables, volumeMounts=mounts, securityContext=closed),
        initContainers=[
            container("before", BEFORE, volumeMounts=[shared], securityContext=closed),
            container(
                "beside",
                BESIDE,
                restartPolicy="Always",
                ports=[{"name": "web", "containerPort": 18087}],
                startupProbe={**get, "failureThreshold": 60},
                livenessProbe=get,
                securityContext=closed,
            ),
        ],
        volumes=[
            {"name": "shared", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
            {"name": "settings", "configMap": {"name": "settings"}},
            {"name": "team", "projected": {"sources": [token]}},
        ],
        securityContext={"runAsUser": 65534, "fsGroup": 65534},
    )
