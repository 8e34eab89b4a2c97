"""Running burn-in's tools here or over SSH. Both end a tool that does not end itself."""

import os
import subprocess
from collections.abc import Mapping, Sequence

from images.burn_in.run import LATE, Ran, Run
from images.running import path
from landbridge import remote_execution
from landbridge.remote_execution import Instance, RemoteExecutionError

HERE = "localhost"
# For `timeout` on the machine to do its work first: its own ten seconds, and a slow way.
GRACE_SECONDS = 45


def runner(node: str) -> Run:
    return here if node == HERE else over_ssh(node)


def host(node: str) -> str:
    """Without the user."""
    return node.rpartition("@")[2]


def here(argv: Sequence[str], seconds: float) -> Ran:
    environment = {**os.environ, "PATH": path()}
    return _ran(list(argv), seconds, environment)


def over_ssh(node: str) -> Run:
    """As root by `sudo -n`, with the user's own settings of ssh. What it returns raises RemoteExecutionError."""
    instance = Instance(host(node), node, "")

    def run(argv: Sequence[str], seconds: float) -> Ran:
        ran = _ran(remote_execution.ssh(instance, argv), seconds, os.environ)
        if ran.code == remote_execution.NO_SHELL:
            why = (ran.err.strip().splitlines() or ["it said nothing"])[-1]
            raise RemoteExecutionError(
                f"{node} cannot be reached by ssh: {why}. Nothing more was tested. It needs your key on the machine "
                "and `sudo -n` there; name a user by USER@HOST, or in your ssh settings."
            )
        return ran

    return run


def _ran(command: list[str], seconds: float, environment: Mapping[str, str]) -> Ran:
    try:
        result = remote_execution.ran(command, b"", seconds + GRACE_SECONDS, environment)
    except subprocess.TimeoutExpired:
        return Ran(LATE[0], "", "")
    return Ran(result.code, result.out, result.err)
