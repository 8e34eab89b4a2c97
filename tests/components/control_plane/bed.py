"""The example cluster's five machines on a host of a test's own, booted from their bundles, with a stand-in of AWS."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from components.control_plane.bundle import Material, bundle
from components.control_plane.machines import ClusterSpec, cluster_spec
from components.control_plane.pki import break_glass
from components.control_plane.rings import RINGS
from fleet.world import current
from local import namespace
from tests.local.machines.host import Box, Host, Said
from tests.support.aws import machine as aws_machine
from tests.support.pki import material
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[3]
BIN = ROOT / ".landbridge/bin"
PROGRAMS = ("etcd", "etcdctl", "etcdutl", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
PKI = "/etc/etcd/pki"
ETCDCTL = f"etcdctl --cacert={PKI}/clients-ca.crt --cert={PKI}/operator.crt --key={PKI}/operator.key"
AWS = "from tests.support.aws import machine as aws\n"
ADMIN = "/srv/admin"
Patch = Callable[[dict[str, str]], dict[str, str]]


class Bed(NamedTuple):
    spec: ClusterSpec
    made: Material
    host: Host
    boxes: dict[str, Box]

    def __getitem__(self, name: str) -> Box:
        return self.boxes[name]

    @property
    def bucket(self) -> Path:
        return self.host.folder / "bucket" / self.spec.bucket

    def kubectl(self, *words: str, by: str = "main-api-1", identity: str = ADMIN) -> Said:
        """By default with the break-glass credential, which no machine has: it is laid there for the tests."""
        server = next(m.host for m in self.spec.api if m.name == by)
        flags = [f"--client-certificate={identity}.crt", f"--client-key={identity}.key"]
        ca = "--certificate-authority=/etc/kubernetes/pki/ca.crt"
        return self[by].run("kubectl", f"--server=https://{server}:6443", ca, *flags, *words)

    def kube(self, *words: str, by: str = "main-api-1") -> str:
        said = self.kubectl(*words, by=by)
        assert said.code == 0, said.err
        return said.out

    def etcdctl(self, ring: str, *words: str, by: str = "main-etcd-1") -> str:
        said = self.asked(ring, *words, by=by)
        assert said.code == 0, said.err
        return said.out

    def asked(self, ring: str, *words: str, by: str = "main-etcd-1") -> Said:
        port = next(r.client_port for r in RINGS if r.name == ring)
        return self[by].sh(f"{ETCDCTL} --endpoints=https://127.0.0.1:{port} {' '.join(words)}")

    def lay(self, name: str, text: str) -> str:
        """A file on the first API machine."""
        (self["main-api-1"].disk / "srv" / name).write_text(text)
        return f"/srv/{name}"

    def ready(self, seconds: float = 90) -> None:
        for machine in self.spec.api:
            eventually(lambda name=machine.name: self.kubectl("get", "--raw", "/readyz", by=name).out == "ok", seconds)

    def whole(self, seconds: float = 90) -> None:
        """API servers are ready by a majority of etcd's members: this waits for the others."""
        for ring in RINGS:
            for machine in self.spec.etcd:
                eventually(
                    lambda ring=ring.name, by=machine.name: self.asked(ring, "endpoint", "health", by=by).code == 0,
                    seconds,
                )


def make(folder: Path, held: str = "", made: Material | None = None, patched: Patch = dict) -> Bed:
    """All five machines, each with its bundle, started at the same time. The disks of `held` come free only after 3 seconds.

    `made` are other keys than fresh ones, `patched` changes files before they are laid.
    """
    world = current(ROOT / "fleet.yaml")
    spec = cluster_spec(world.fleet, world.plan, "main")
    made = made or material(spec)
    host = Host(folder, ["unshare", *namespace.usable_mode().make])
    programs = {name: str((BIN / name).resolve()) for name in PROGRAMS}
    hosts = aws_machine.HOSTS + "".join(f"{m.address} {m.host} {m.name}\n" for m in spec.machines)
    trusted = aws_machine.trust(folder)
    name = break_glass(spec).name
    admin = {f"{ADMIN}.crt": made.certificates[name], f"{ADMIN}.key": made.keys[name]}
    boxes, disks = {}, []
    for machine in spec.machines:
        one = bundle(spec, machine, made)
        volumes = {}
        for ring in RINGS if machine.role == "etcd" else ():
            number = f"vol-0{ring.name}{machine.name[-1]}"
            place = folder / "volumes" / number
            (place / "data").mkdir(parents=True)
            (place / "volume.json").write_text(json.dumps({"id": number, "type": ""}))
            volumes[f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{number.replace('-', '')}"] = str(place)
            tags = {
                "landbridge:fleet": spec.fleet,
                "landbridge:machine": machine.name,
                "landbridge:disk": f"etcd-{ring.name}",
            }
            holder = ("i-before", "attached") if machine.name == held else ("", "available")
            disks.append({"id": number, "tags": tags, "holder": holder[0], "state": holder[1]})
        boxes[machine.name] = host.machine(
            machine.name,
            f"{machine.address}/22",
            hosts=hosts,
            programs=programs,
            files={**patched({**one.files, **one.keys}), **trusted, **(admin if machine.role == "api" else {})},
            volumes=volumes,
        )
    serve = """
    import threading
    aws.STATE.volumes = disks
    aws.serve(folder, instances)
    def free():
        for disk in disks:
            if disk["holder"] == "i-before":
                disk.update(holder="", state="available")
    threading.Timer(3, free).start()
    """
    instances = {machine.address: f"i-{machine.name}" for machine in spec.machines}
    host(AWS + serve.replace("\n    ", "\n"), folder=str(folder), disks=disks, instances=instances)
    for box in boxes.values():
        assert box.ctl("daemon-reload").code == 0
        assert box.ctl("start", "--no-block", "landbridge.target").code == 0
    return Bed(spec, made, host, boxes)
