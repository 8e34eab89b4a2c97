"""A whole control plane on local machines, with our commands' ways to it: for tests that need the real thing."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from components.control_plane.bundle import Material, bundle
from components.control_plane.machines import ClusterSpec, cluster_spec
from components.control_plane.pki import break_glass
from fleet.world import World, current
from landbridge.cluster import kubeconfig
from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.cluster.kube import Kube
from landbridge.etcd.machine_steps import SCRIPTS
from landbridge.etcd.store import Snapshot
from landbridge.remote_execution import Local
from local import namespace
from local.client import LocalCloudError
from local.machines import machine as machines
from tests.local.machines.host import Box, Host
from tests.support import pki
from tests.support.pki import material
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".landbridge/bin"
PROGRAMS = ("etcd", "etcdctl", "etcdutl", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
HERE = "169.254.169.254"  # the one address outside the fleet that a machine reaches


@dataclass
class Folder:
    """The bucket as landbridge's own side sees it."""

    path: Path

    def where(self, key: str) -> str:
        return f"s3://bucket/{key}"

    def get_url(self, key: str) -> str:
        return f"http://{HERE}/{key}"

    def put(self, key: str, data: bytes) -> None:
        (self.path / key).parent.mkdir(parents=True, exist_ok=True)
        (self.path / key).write_bytes(data)

    def listed(self, prefix: str) -> list[Snapshot]:
        files = {str(file.relative_to(self.path)): file.stat() for file in self.path.rglob("*") if file.is_file()}
        return [
            Snapshot(key, told.st_size, datetime.fromtimestamp(told.st_mtime, UTC))
            for key, told in sorted(files.items())
            if key.startswith(prefix)
        ]


@dataclass
class Bed:
    """`store` is the folder that stands in for the bucket."""

    world: World
    spec: ClusterSpec
    made: Material
    host: Host
    boxes: dict[str, Box]
    info: ClusterInfo
    store: Folder
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def remote(self) -> Local:
        return Local(self.command)

    def command(self, machine: str, argv: Sequence[str]) -> list[str]:
        if machine not in self.boxes:
            raise LocalCloudError(f"there is no machine {machine}")
        with self.lock:  # the host answers one question at a time
            pid = self.host("result = machines[name].pid", name=machine)
        return self.around(machines.enter_command(pid, argv))

    def around(self, argv: Sequence[str]) -> list[str]:
        """The same, inside the namespace."""
        return namespace.enter_command(namespace.usable_mode(), self.host.process.pid, argv, ROOT)

    @property
    def break_glass(self) -> kubeconfig.Credential:
        name = break_glass(self.spec).name
        return kubeconfig.Credential("break-glass", self.made.certificates[name], self.made.keys[name])

    def signed(self, user: str, organization: str) -> kubeconfig.Credential:
        """A client certificate of the cluster's own authority."""
        wish = break_glass(self.spec)._replace(common_name=user, organization=organization)
        key = str(pki._key(algorithm="ECDSA")["privateKeyPem"])
        crt = pki._signed(wish, key, dict(self.made.authorities), dict(self.made.authority_keys), 24)
        return kubeconfig.Credential(user, crt, key)

    def kube(self, machine: str | None = "main-api-1", credential: kubeconfig.Credential | None = None) -> Kube:
        one = self.info.machines[machine] if machine else None
        return Kube(kubeconfig.kubeconfig(self.info, credential or self.break_glass, one), self.around)

    def until_ready(self, *names: str, seconds: float = 90) -> None:
        for machine in names or [m.name for m in self.info.api]:
            eventually(lambda machine=machine: self.kube(machine).ready, seconds)


def info(spec: ClusterSpec, made: Material) -> ClusterInfo:
    found = {
        m.name: MachineInfo(m.name, m.role, m.zone, m.address, m.host, f"group-{m.name}")
        for m in (*spec.etcd, *spec.api)
    }
    prefix = f"{spec.fleet}/{spec.name}"
    return ClusterInfo(
        name=spec.name,
        cloud="aws",
        region=spec.region,
        kubernetes=spec.kubernetes,
        endpoint=f"https://{spec.endpoint}:6443",
        authority=made.authorities["kubernetes"],
        issuer=spec.issuer,
        pods_cidr=spec.pods_cidr,
        services_cidr=spec.services_cidr,
        bucket="bucket",
        prefix=prefix,
        copies={},
        machines=found,
        break_glass_secret=f"{prefix}/break-glass",
        admin_secret=f"{prefix}/admin",
    )


def make(folder: Path, *, api: bool = True, fleet: Path = ROOT / "fleet.yaml") -> Iterator[Bed]:
    """The example's cluster: three etcd machines and, if asked for, two API machines."""
    world = current(fleet)
    spec = cluster_spec(world.fleet, world.plan, "main")
    if not api:
        spec = spec._replace(api=())
    made = material(spec)
    host = Host(folder, ["unshare", *namespace.usable_mode().make])
    store = folder / "store"
    store.mkdir()
    try:
        chosen = (*spec.etcd, *spec.api)
        hosts = "".join(f"{m.address} {m.host} {m.name}\n" for m in chosen)
        boxes = {}
        for machine in chosen:
            one = bundle(spec, machine, made)
            volumes = {}
            if machine.role == "etcd":
                for ring in ("main", "events"):
                    (folder / f"{machine.name}-{ring}").mkdir()
                    volumes[f"/dev/landbridge/etcd-{ring}"] = str(folder / f"{machine.name}-{ring}")
            boxes[machine.name] = host.machine(
                machine.name,
                f"{machine.address}/22",
                hosts=hosts,
                programs={name: str((BIN / name).resolve()) for name in PROGRAMS},
                files={**one.files, **one.keys, **stand_ins(one.files)},
                volumes=volumes,
            )
        # There is no balancer here: its name leads to the first API machine.
        names = hosts + f"127.0.0.1 localhost\n{(spec.api or spec.etcd)[0].address} {spec.endpoint}\n"
        (folder / "hosts").write_text(names)
        host(OUTSIDE, store=str(store), here=HERE, hosts=str(folder / "hosts"))
        for box in boxes.values():
            assert box.ctl("daemon-reload").code == 0
            assert box.ctl("start", "--no-block", "landbridge.target").code == 0
        yield Bed(world, spec, made, host, boxes, info(spec, made), Folder(store))
    finally:
        host.close()


def stand_ins(files: dict[str, str]) -> dict[str, str]:
    """What speaks to AWS on a machine, less AWS: its disks are laid there before, and the bucket is on this side."""
    links = "; ".join(f"ln -sfn /dev/landbridge/{disk} /run/landbridge/disks/{disk}" for disk in DISKS)
    command = f"/bin/sh -c 'mkdir -p /run/landbridge/disks; {links}'"
    unit = f"[Unit]\nDescription=Disks\n\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart={command}\n"
    script = f"{SCRIPTS}/api_aws.py"
    return {
        "/etc/systemd/system/landbridge-disks.service": unit,
        **({script: files[script] + AWS.format(here=HERE)} if script in files else {}),
    }


DISKS = ("etcd-main", "etcd-events")
AWS = """

class Aws:
    def __init__(self, region): pass

    def upload(self, bucket, key, path, about):
        call = request.Request("http://{here}/" + key, Path(path).read_bytes(), method="PUT")
        request.urlopen(call).read()

    def url(self, bucket, key): return f"s3://{{bucket}}/{{key}}"

    def put(self, bucket, key, data):
        request.urlopen(request.Request("http://{here}/" + key, data, method="PUT")).read()
"""
# The bucket: PUT and GET of files. The namespace is the machines' router.
OUTSIDE = """
import http.server, subprocess, threading
subprocess.run(["ip", "addr", "add", f"{here}/32", "dev", "lo"], check=True)
subprocess.run(["mount", "--bind", hosts, "/etc/hosts"], check=True)

class Bucket(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        path = Path(store) / self.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def do_GET(self):
        path = Path(store) / self.path.lstrip("/")
        self.send_response(200 if path.exists() else 404)
        self.end_headers()
        if path.exists():
            self.wfile.write(path.read_bytes())

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer((here, 80), Bucket)
threading.Thread(target=server.serve_forever, daemon=True).start()
"""
