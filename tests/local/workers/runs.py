"""Pods of runs: each container is a program of the machine's own, whatever its image."""

from typing import Any

IMAGE = "registry.example.com/train:1"
ANNOTATION = "batch.kubernetes.io/job-completion-index"
INDEX = f"metadata.annotations['{ANNOTATION}']"


def run_pod(name: str, node: str, command: list[str], index: int = 0, **spec: Any) -> dict[str, Any]:
    """As a JobSet's Indexed Job makes it, with the variable that the Job's controller puts in."""
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": INDEX}}}
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
            "terminationGracePeriodSeconds": 10,
            "containers": [{"name": "main", "image": IMAGE, "command": command, "env": [variable]}],
            **spec,
        },
    }
