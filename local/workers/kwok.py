"""The kwok that plays one node's status and its pods (its page "kwok Manage Nodes and Pods")."""

import ctypes
import json
import shutil
import signal
import subprocess
from pathlib import Path

import installation

from .certificates import private

STAGES = Path(__file__).with_name("stages.yaml")
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def start(server: str, node: str, address: str, folder: Path) -> "subprocess.Popen[bytes]":
    """Ends with this thread. Raises OSError."""
    program = shutil.which("kwok")
    if program is None:
        raise OSError(f"there is no kwok on this machine: {installation.SETUP_LOCAL} builds it")
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "door", "cluster": {"server": server}}],
        "contexts": [{"name": "door", "context": {"cluster": "door", "user": ""}}],
        "current-context": "door",
    }
    kubeconfig = folder / "kwok.kubeconfig"
    private(kubeconfig, json.dumps(config))
    words = [
        program,
        f"--config={STAGES}",
        f"--kubeconfig={kubeconfig}",
        f"--manage-single-node={node}",
        f"--node-ip={address}",
        # The kubelet itself keeps its lease: kwok would list those of all nodes.
        "--node-lease-duration-seconds=0",
        "-v=WARN",
    ]
    # GOGC: memory counts more than speed where hundreds of them run on one laptop.
    environment = {"HOME": str(folder), "GOMAXPROCS": "1", "GOGC": "25"}
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, env=environment, cwd=folder, preexec_fn=_end_with_parent)


def _end_with_parent() -> None:
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
