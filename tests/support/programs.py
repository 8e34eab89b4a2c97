"""Programs of tests as forks of one interpreter, as `landbridge` has them: imports are most of what a program costs."""

import atexit
import subprocess
import sys
from pathlib import Path

from landbridge.engine.programs import client, interpreter

from .cloud import COMMAND, ROOT, Cloud

# Prints its address; ends with its input. Who is in a local cloud has its network, and hears of no socket outside.
INSIDE = """\
import os, socket, sys
from landbridge.engine.programs import server
listener = socket.socket(socket.AF_UNIX)
listener.bind("")
listener.listen(socket.SOMAXCONN)
print(listener.getsockname()[1:].decode(), flush=True)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
server.main(listener)
server.end(list(sys.argv))
"""
_inside: dict[Path, tuple[str, "subprocess.Popen[str]"]] = {}


def runtime(folder: Path) -> str:
    """What a Pulumi.yaml in `folder` says of it."""
    interpreter.make_folder(folder)
    return f"{{name: python, options: {{virtualenv: {interpreter.FOLDER}}}}}"


def environment() -> dict[str, str]:
    """Of a `pulumi` that a test starts."""
    return interpreter.environment({})


def inside(cloud: Cloud) -> dict[str, str]:
    """The same of one that runs in a local cloud."""
    address, process = _inside.get(cloud.home, ("", None))
    if process is None or process.poll() is not None:
        address, process = _inside[cloud.home] = _started(cloud)
    return {client.ADDRESS: address}


def _started(cloud: Cloud) -> tuple[str, "subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [COMMAND, "local", "exec", "--", sys.executable, "-P", "-c", INSIDE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env=cloud._environment(),
    )
    assert process.stdin
    assert process.stdout
    atexit.register(process.stdin.close)
    return process.stdout.readline().strip(), process
