"""The kubelet of local machines: joins, renews and registers as the real one does; kwok plays status and most pods.

It takes the real one's flags and configuration as pools' bundles give them, and has no right that the real one lacks.
"""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from kube_http import MERGE, Answer, Json, Kube

from . import configuration, devices, flags, hardware, kubeconfig, kwok, node, port, report
from .api_proxy import ApiProxy
from .background import FIRST_PAUSE, background, leave, persist
from .callers import Callers
from .certificates import CLIENT, Denied, Store, private, serving
from .gpus import Held
from .lease import Lease
from .overlay import Overlay
from .pods import Pods
from .unit import notify, say

NODES = "/api/v1/nodes"
# Whatever a kubelet writes may be written twice: what fails on a kept line is asked on a fresh one.
AGAIN = (OSError, http.client.HTTPException)
# As everywhere: what looks for containers' logs looks there.
LOGS = Path("/var/log/pods")
# Each asking leaves a request behind, and one that was denied is denied again.
MOST_ASKING_SECONDS = 60.0


def main(arguments: list[str] | None = None) -> NoReturn:
    code = 0
    try:
        Kubelet(flags.parse(sys.argv[1:] if arguments is None else arguments)).run()
    except (ValueError, OSError, Answer, Denied) as error:
        say(f"kubelet: {error}")
        code = 1
    except SystemExit as told:
        code = int(told.code or 0)
    leave(code)


class Kubelet:
    def __init__(self, given: flags.Flags) -> None:
        """Raises ValueError, OSError."""
        self.flags, self.config, self.hardware = given, configuration.read(given.config), hardware.read()
        self.name = given.hostname_override
        self.client = Store(given.cert_dir, self.name, CLIENT)
        self.server = Store(given.cert_dir, self.name, serving(self.name, given.node_ip))
        self.player: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Until it is told to end, or kwok does. Raises OSError, Denied."""
        # At once: its containers get the same signal, and it would tell of their ends as of their own.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self.end())
        answers(self.config.runtime)
        api = self.connect()
        # Before it is registered, which may take longer than this certificate lives.
        background(lambda: self.rotate(api))
        made = persist(lambda: self.registered(api))
        background(Lease(api, made, self.config.lease_seconds).run)
        plugged: list[devices.Advertised | Held] = [
            devices.Advertised(api, self.name, one) for one in devices.of(self.hardware)
        ]
        if self.hardware.gpus:
            plugged.append(Held(self.name, self.hardware.gpus, hardware.FILE.parent))
        folder, domain = self.flags.cert_dir.with_name("pods"), self.config.domain
        overlay = Overlay(api, self.name, self.flags.node_ip)
        place = report.Node(api, self.name, self.flags.node_ip, folder, LOGS, domain, overlay)
        pods = Pods(place, plugged)
        background(pods.run)
        background(lambda: self.serve(api, pods))
        self.player = kwok.start(ApiProxy(api, self.name).address, self.name, self.flags.node_ip, self.flags.cert_dir)
        notify("READY=1")
        raise OSError(f"kwok ended with status {self.player.wait()}")

    def end(self) -> NoReturn:
        if self.player:
            self.player.kill()
            # Not its own wait(): the signal came inside of that, and it would wait for itself.
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.player.pid, 0)
        leave(0)

    def connect(self) -> Kube:
        """By the certificate that is there, or else by a new one. Raises Denied."""
        known = kubeconfig.read_own(self.flags.kubeconfig)
        if known and self.client.good():
            return Kube(known[0], known[1], pair=(known[2],), again=AGAIN)
        access = kubeconfig.joining(self.flags.bootstrap_kubeconfig)

        def join() -> Kube:
            self.client.first(Kube(access.server, access.authority, token=access.token, again=AGAIN))
            self.flags.kubeconfig.parent.mkdir(parents=True, exist_ok=True)
            private(self.flags.kubeconfig, kubeconfig.own(access, self.client.current))
            return Kube(access.server, access.authority, pair=(self.client.current,), again=AGAIN)

        return persist(join)

    def registered(self, api: Kube) -> Json:
        """The Node as it is then. One from before keeps its labels and taints, as with the real kubelet."""
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        try:
            return api.ask("POST", NODES, node.node(self.flags, self.config, self.hardware, now))
        except Answer as answer:
            if answer.status != 409:
                raise
        place = f"{NODES}/{self.name}"
        found = api.ask("GET", place)
        if found["spec"].get("providerID") not in (None, self.flags.provider_id):
            raise OSError(f"the node {self.name} is another machine: {found['spec']['providerID']}")
        api.ask("PATCH", place, {"metadata": {"labels": node.own_labels(self.flags, self.hardware)}}, MERGE)
        status = node.status(self.flags, self.config, self.hardware)
        return api.ask("PATCH", f"{place}/status", {"status": status}, MERGE)

    def rotate(self, api: Kube) -> None:
        """For ever: the next certificate of its own, well before the end of this one."""
        self.keep_new(self.client, api)

    def serve(self, api: Kube, pods: Pods) -> None:
        """For ever: its port, and the certificate of that."""
        if not self.server.good():
            self.obtain(self.server, api)
        who = self.config.client_authority, Callers(api, self.name)
        served = port.Served(self.flags.node_ip, self.server.current, *who, pods)
        background(lambda: port.run(served))
        self.keep_new(self.server, api)

    def keep_new(self, store: Store, api: Kube) -> None:
        while True:
            moment = store.renewal()
            while (left := moment - time.time()) > 0:
                # In short steps: a machine may sleep, and its clock may be set.
                time.sleep(min(left, 60.0))
            self.obtain(store, api)

    def obtain(self, store: Store, api: Kube) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                return store.renew(api)
            except (OSError, Answer, Denied) as error:
                say(f"{store.kind.prefix}: asks again in {pause:g} s: {error}")
            time.sleep(pause)
            pause = min(2 * pause, MOST_ASKING_SECONDS)


def answers(runtime: Path) -> None:
    """Raises OSError if no containerd is there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.connect(str(runtime))
        except OSError as error:
            raise OSError(f"no container runtime answers on {runtime}: {error.strerror}") from None


if __name__ == "__main__":
    main()
