"""The local cloud's one daemon: inside its namespaces it starts AWS and the provider host, and ends when either does.

`python -m local.daemon FOLDER`; `local.client` starts it.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

from .namespace import alone, bring_up_loopback, started_at

# Fixed: the network namespace is private. local/plugins/launcher.py knows the second one too.
AWS_PORT, PROVIDERS_PORT = 5000, 5001
READY_SECONDS = 60
PR_SET_PDEATHSIG = 1
HOSTS = "127.0.0.1 localhost\n"


def main(folder: Path) -> int:
    if os.environ.get("LANDBRIDGE_UNSHARED") != "1" or not alone():
        print("the local cloud refuses to run where it could reach a network", file=sys.stderr)
        return 1
    bring_up_loopback()
    _own_hosts_file(folder)
    commands = {
        "aws": ["local.aws.server", "--port", str(AWS_PORT)],
        "providers": ["local.providers.host", "--port", str(PROVIDERS_PORT), "--aws", f"http://127.0.0.1:{AWS_PORT}"],
    }
    children = {name: _start(command) for name, command in commands.items()}
    signal.signal(signal.SIGTERM, lambda *_: _end(children))
    if not _ready(children, (AWS_PORT, PROVIDERS_PORT)):
        _end(children)
        return 1
    state = {"pid": os.getpid(), "started_at": started_at(os.getpid()), "generation": uuid.uuid4().hex, "since": time.time()}
    temporary = folder / "daemon.json.new"
    temporary.write_text(json.dumps(state))
    temporary.replace(folder / "daemon.json")
    return _watch(children, folder)


def _own_hosts_file(folder: Path) -> None:
    """Planned names go here; the mount namespace keeps it from everybody else."""
    hosts = folder / "hosts"
    hosts.write_text(HOSTS)
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)


def _start(module: list[str]) -> subprocess.Popen[bytes]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    return subprocess.Popen([sys.executable, "-m", *module], env=environment, preexec_fn=_die_with_parent)  # noqa: PLW1509


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _ready(children: dict[str, subprocess.Popen[bytes]], ports: tuple[int, ...]) -> bool:
    deadline = time.monotonic() + READY_SECONDS
    for port in ports:
        while True:
            if any(child.poll() is not None for child in children.values()) or time.monotonic() > deadline:
                print(f"port {port} did not answer", file=sys.stderr)
                return False
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
    return True


def _watch(children: dict[str, subprocess.Popen[bytes]], folder: Path) -> int:
    while all(child.poll() is None for child in children.values()):
        time.sleep(0.2)
    for name, child in children.items():
        if child.returncode not in (None, 0, -signal.SIGTERM):
            print(f"{name} ended with {child.returncode}: the local cloud ends too", file=sys.stderr, flush=True)
    _end(children)
    (folder / "daemon.json").unlink(missing_ok=True)
    return 0


def _end(children: dict[str, subprocess.Popen[bytes]]) -> None:
    for child in children.values():
        if child.poll() is None:
            child.terminate()
    for child in children.values():
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
