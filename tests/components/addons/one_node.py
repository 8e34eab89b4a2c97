"""One node of a cluster with the real programs of its add-ons, each as the container of its pod says.

It has a network of its own with the node's address. Each program has the files of its pod over /etc and /run, a token
of its service account, and its own way to the API by the cluster's name and port, on which its bytes are counted. The
programs come from `tools/add_ons.py`, not from images.
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from components.addons.manifests import SPACE, Manifest
from components.addons.spec import AddOnsSpec
from components.control_plane.machines import API_PORT
from local import namespace
from tests.components.pools.joining_cluster import BIN, ROOT, Cluster
from tests.support.children import DYING_WITH_US
from tests.support.link import POUR

BUILT = ROOT / ".landbridge/add-ons"
# An image's own program, where a container names none.
STARTED_BY = {"coredns": "coredns"}
TOKENS = "run/secrets/kubernetes.io/serviceaccount"
TOKEN_SECONDS = 86400
# Runs in the node's network: gives it the address, and leads each address of the loopback to a socket's file.
INSIDE = (
    """
import asyncio, json, subprocess, sys
address, port, ways = json.loads(sys.argv[1])
for words in (
    "link set lo up",
    "link add lan0 type veth peer name lan1",
    f"address add {address} dev lan0",
    "link set lan0 up",
    "link set lan1 up",
    "route add default dev lan0",
):
    subprocess.run(["ip", *words.split()], check=True)
"""
    + POUR
    + """
def to(path):
    async def passed(reader, writer):
        back, out = await asyncio.open_unix_connection(path)
        await asyncio.gather(pour(reader, out), pour(back, writer))
    return passed

async def main():
    for here, path in ways.items():
        await asyncio.start_server(to(path), here, port)
    print("open", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
)
# Two folders lie over those of the machine.
COVERED = 'mount --bind "$1/etc" /etc && mount --bind "$1/run" /run && shift && exec "$@"'


class AddOn(NamedTuple):
    """`workload` is a DaemonSet or Deployment among its manifests."""

    name: str
    workload: str
    manifests: Sequence[Manifest]

    def of(self, kind: str) -> dict[str, Manifest]:
        return {one["metadata"]["name"]: one for one in self.manifests if one["kind"] == kind}

    @property
    def pod(self) -> Manifest:
        found: Manifest = {**self.of("DaemonSet"), **self.of("Deployment")}[self.workload]["spec"]["template"]["spec"]
        return found

    @property
    def user(self) -> str:
        return f"system:serviceaccount:{SPACE}:{self.pod['serviceAccountName']}"

    @property
    def rights(self) -> list[Manifest]:
        return [
            one for kind in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding") for one in self.of(kind).values()
        ]

    def command(self, given: Mapping[str, str]) -> list[str]:
        """With what has been built for the program of the image."""
        container = self.pod["containers"][0]
        program = Path((container.get("command") or [STARTED_BY[self.name]])[0]).name
        found = next(folder / program for folder in (BUILT, BIN) if (folder / program).exists())
        return [str(found), *(re.sub(r"\$\((\w+)\)", lambda one: given[one[1]], word) for word in container["args"])]

    def environment(self, node: str, address: str, endpoint: str) -> dict[str, str]:
        """With what a kubelet tells each pod of the API; there it is the service's address."""
        there = {"KUBERNETES_SERVICE_HOST": endpoint, "KUBERNETES_SERVICE_PORT": str(API_PORT)}
        fields = {"spec.nodeName": node, "status.hostIP": address}
        return there | {
            one["name"]: one.get("value") or fields[one["valueFrom"]["fieldRef"]["fieldPath"]]
            for one in self.pod["containers"][0].get("env", ())
        }

    def files(self) -> dict[str, str]:
        """Path → content of its configuration."""
        volumes = {one["name"]: one["configMap"]["name"] for one in self.pod["volumes"] if "configMap" in one}
        mounts = {one["name"]: one["mountPath"] for one in self.pod["containers"][0]["volumeMounts"]}
        maps = self.of("ConfigMap")
        return {
            f"{mounts[volume]}/{file}": text
            for volume, name in volumes.items()
            for file, text in maps[name]["data"].items()
        }


class Ways:
    """From sockets' files to the API server. `brought` counts what it sends, by add-on, in bytes."""

    def __init__(self, folder: Path, port: int, names: Sequence[str]) -> None:
        self.port, self.brought = port, dict.fromkeys(names, 0)
        self.sockets = {name: str(folder / f"{name}.sock") for name in names}
        self.loop, opened = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self._run, args=(opened,), daemon=True).start()
        assert opened.wait(60)

    def _run(self, opened: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._listen())
        self.loop.call_soon(opened.set)
        self.loop.run_forever()

    async def _listen(self) -> None:
        for name, path in self.sockets.items():
            await asyncio.start_unix_server(lambda r, w, name=name: self._passed(name, r, w), path)

    async def _passed(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, out = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._pour("", reader, out), self._pour(name, back, writer))

    async def _pour(self, name: str, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if name:
                    self.brought[name] += len(data)
                sink.write(data)
                await sink.drain()
        sink.close()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)


@contextlib.contextmanager
def running(cluster: Cluster, spec: AddOnsSpec, addons: Sequence[AddOn], node: str, lan: str) -> Iterator[Ways]:
    """The programs run in the block. `lan` is the node's address with its prefix. Raises OSError when one has ended."""
    folder = cluster.folder / f"node-{len(list(cluster.folder.glob('node-*')))}"
    folder.mkdir()
    ways = Ways(folder, cluster.ports["api"], [addon.name for addon in addons])
    way = namespace.usable_mode()
    addresses = {addon.name: f"127.0.0.{number}" for number, addon in enumerate(addons, 2)}
    told = json.dumps([lan, API_PORT, {addresses[name]: path for name, path in ways.sockets.items()}])
    words = [*DYING_WITH_US, "unshare", *way.make, sys.executable, "-S", "-E", "-c", INSIDE, told]
    network = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    programs: dict[str, subprocess.Popen[bytes]] = {}
    try:
        assert network.stdout is not None
        assert network.stdout.readline() == b"open\n"
        for addon in addons:
            own = folder / addon.name
            _lay(own, cluster, addon, f"{addresses[addon.name]} {spec.cluster.endpoint}\n")
            given = addon.environment(node, lan.split("/")[0], spec.cluster.endpoint)
            covered = ["unshare", "--mount", "sh", "-c", COVERED, "sh", str(own), *addon.command(given)]
            log = (cluster.folder / f"{addon.name}.log").open("ab")
            programs[addon.name] = subprocess.Popen(
                [*DYING_WITH_US, *namespace.enter_command(way, network.pid, covered, Path("/"))],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **given},
            )
        yield ways
        ended = {name: one.returncode for name, one in programs.items() if one.poll() is not None}
        if ended:
            raise OSError(
                "\n".join(f"{name} ended with {code}: {cluster.log(name)[-3000:]}" for name, code in ended.items())
            )
    finally:
        for one in [*programs.values(), network]:
            one.send_signal(signal.SIGKILL)
            one.wait()
        ways.close()


def _lay(own: Path, cluster: Cluster, addon: AddOn, host: str) -> None:
    account = addon.pod["serviceAccountName"]
    asked = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": TOKEN_SECONDS},
    }
    token = cluster.admin("POST", f"/api/v1/namespaces/{SPACE}/serviceaccounts/{account}/token", asked)
    laid = {
        **addon.files(),
        "/etc/hosts": f"127.0.0.1 localhost\n{host}",
        "/etc/nsswitch.conf": "hosts: files dns\n",
        # Nobody answers there.
        "/etc/resolv.conf": "nameserver 192.0.2.53\n",
        "/run/xtables.lock": "",
        f"/{TOKENS}/token": token["status"]["token"],
        f"/{TOKENS}/ca.crt": (cluster.pki / "ca.crt").read_text(),
        f"/{TOKENS}/namespace": SPACE,
    }
    for path, text in laid.items():
        file = own / path.removeprefix("/var").lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name in ("flannel", "nri", "netns"):
        (own / "run" / name).mkdir(exist_ok=True)
    # Debian finds its iptables by them.
    for name in ("alternatives", "protocols"):
        if (there := Path("/etc") / name).is_dir():
            shutil.copytree(there, own / "etc" / name, symlinks=True)
        elif there.exists():
            shutil.copy(there, own / "etc" / name)
