"""Probes: httpGet, tcpSocket and exec, each in a thread that tells what it thinks of its container."""

import contextlib
import http.client
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import images
from .background import vital
from .containers import Broken, Running

KINDS = {"startupProbe": "Startup", "livenessProbe": "Liveness", "readinessProbe": "Readiness"}
# The API server fills these in; a probe's own table has them for those who ask nobody.
DEFAULTS = {
    "initialDelaySeconds": 0,
    "periodSeconds": 10,
    "timeoutSeconds": 1,
    "successThreshold": 1,
    "failureThreshold": 3,
}


class Verdict(NamedTuple):
    well: bool
    why: str = ""


class Counted:
    """Results in a row: a verdict comes when there are enough of one kind, and again only when it changes. Pure."""

    def __init__(self, probe: Mapping[str, Any]) -> None:
        settings = {**DEFAULTS, **probe}
        self.enough = {True: settings["successThreshold"], False: settings["failureThreshold"]}
        self.last: bool | None = None
        self.row = 0
        self.reported: bool | None = None

    def add(self, *, well: bool) -> bool | None:
        self.row = self.row + 1 if well == self.last else 1
        self.last = well
        if self.row < self.enough[well] or self.reported == well:
            return None
        self.reported = well
        return well


class Prober:
    """Asks until it is stopped, or its container has ended."""

    def __init__(
        self,
        kind: str,
        container: Mapping[str, Any],
        running: Running,
        address: str,
        begun: float,
        tell: Callable[[str, Running, Verdict], None],
    ) -> None:
        """`address` is the pod's; `begun` is the container's, by the monotonic clock."""
        self.kind, self.container, self.running, self.address, self.tell = kind, container, running, address, tell
        self.probe = {**DEFAULTS, **container[kind]}
        self.begun = begun
        self.stopped = threading.Event()
        threading.Thread(target=vital, args=(self.run,), daemon=True).start()

    def run(self) -> None:
        counted = Counted(self.probe)
        if self.stopped.wait(max(0.0, self.begun + self.probe["initialDelaySeconds"] - time.monotonic())):
            return
        while not self.stopped.is_set():
            verdict = self.ask()
            if counted.add(well=verdict.well) is not None and not self.stopped.is_set():
                self.tell(self.kind, self.running, verdict)
            self.stopped.wait(self.probe["periodSeconds"])

    def ask(self) -> Verdict:
        try:
            if "httpGet" in self.probe:
                return self.http(self.probe["httpGet"])
            if "tcpSocket" in self.probe:
                return self.tcp(self.probe["tcpSocket"])
            return self.exec(self.probe["exec"]["command"])
        except (OSError, http.client.HTTPException, Broken) as error:
            return Verdict(well=False, why=str(error))
        except subprocess.TimeoutExpired:
            return Verdict(well=False, why=f"command timed out after {self.probe['timeoutSeconds']} s")

    def place(self, action: Mapping[str, Any]) -> tuple[str, int]:
        port = action["port"]
        if isinstance(port, str):
            named = [one["containerPort"] for one in self.container.get("ports") or [] if one.get("name") == port]
            if not named:
                raise OSError(f"no port of the container is named {port}")
            port = named[0]
        return action.get("host") or self.address, port

    def http(self, action: Mapping[str, Any]) -> Verdict:
        """Well from 200 to 399. Certificates are not checked, as the kubelet doesn't."""
        host, port = self.place(action)
        seconds = self.probe["timeoutSeconds"]
        line = http.client.HTTPConnection(host, port, timeout=seconds)
        if action.get("scheme") == "HTTPS":
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            line = http.client.HTTPSConnection(host, port, timeout=seconds, context=context)
        headers = {
            "User-Agent": "kube-probe/local",
            **{one["name"]: one["value"] for one in action.get("httpHeaders", ())},
        }
        with contextlib.closing(line):
            line.request("GET", action.get("path") or "/", headers=headers)
            answer = line.getresponse()
            answer.read(10_000)
        return Verdict(200 <= answer.status < 400, f"HTTP probe failed with statuscode: {answer.status}")

    def tcp(self, action: Mapping[str, Any]) -> Verdict:
        socket.create_connection(self.place(action), self.probe["timeoutSeconds"]).close()
        return Verdict(well=True)

    def exec(self, command: list[str]) -> Verdict:
        program = images.program(self.container["image"], command[0])
        if program is None:
            raise OSError(f"{command[0]}: {images.HINT}")
        code, said = self.running.run(program, command, self.probe["timeoutSeconds"])
        return Verdict(code == 0, said or f"command ended with status {code}")
