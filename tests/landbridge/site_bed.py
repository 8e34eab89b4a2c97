"""A site's bare hosts beside the bed of a cluster, in one namespace, and our commands' ways to both.

The bucket is a web server: what S3's signed addresses are worth the engine's tests see.
"""

import json
import subprocess
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from components.boot.user_data import public_key, signed_object
from components.control_plane.bundle import Bundle, digests, manifest
from components.control_plane.machines import cluster_spec
from components.pools.bundle import bundle, with_files
from components.pools.site.enrolment import Pointer
from components.pools.spec import PoolSpec, pool_spec
from components.storage.site import nfs_server as site_nfs_server
from components.storage.site import nfs_units as site_nfs_units
from fleet.world import World, current
from landbridge.cluster import kubeconfig
from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.cluster.kube import Kube
from landbridge.cluster.session import Session
from landbridge.places import Place
from landbridge.remote_execution import Local
from landbridge.site import enrol, hosts
from landbridge.site.apply import Apply, Patience
from landbridge.site.status import Hosts, State
from landbridge.site.store import Published
from local import namespace
from local.client import LocalCloudError
from local.machines import machine as machines
from local.workers import hardware
from tests.components.pools import joining_bed
from tests.components.pools.joining_cluster import BIN
from tests.local.machines.host import Box, Host

ROOT = Path(__file__).parents[2]
API, SITE, PORT = "10.128.0.5", "lab", 8080
ADDRESSES = joining_bed.HOSTS
HOUR = timedelta(hours=1)
BED = (
    joining_bed.AMONG_MACHINES
    + """
import http.server, threading

class Bucket(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *words):
        super().__init__(*words, directory=store)
    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer((api, port), Bucket)
threading.Thread(target=server.serve_forever, daemon=True).start()
result = [(bed.cluster.pki / "ca.crt").read_text(), *((bed.cluster.folder / f"admin.{e}").read_text() for e in ("crt", "key"))]
"""
)


@dataclass
class SiteBed:
    """`published` is what the pool's stack would have in the bucket now; `own` are bundles of single hosts."""

    world: World
    spec: PoolSpec
    host: Host
    authority: str
    session: Session
    store: Path
    key: str
    boxes: dict[str, Box] = field(default_factory=dict)
    published: Published = field(init=False)
    own: dict[str, Published] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.publish({})

    def publish(self, changes: dict[str, str], key: str = "") -> Published:
        """The pool's bundle with other files, signed."""
        files = {**bundle(self.spec, self.authority).files, **changes}
        self.published = self.signed(self.spec.prefix, files, key)
        (self.store / "manifest.json").write_text(json.dumps(self.published.signed_manifest))
        (self.store / f"{self.published.version}.json").write_text(json.dumps(files))
        return self.published

    def serve(self, host: str, changes: dict[str, str]) -> Published:
        """The bundle of a host that serves NFS. One share and no people: nothing here has quotas or their uids."""
        shares = {"homes": self.world.fleet.storage.shares["homes"]}
        storage = self.world.fleet.storage.model_copy(update={"shares": shares, "backups": False})
        lab = self.world.fleet.sites[SITE].model_copy(update={"nfs": host})
        fleet = self.world.fleet.model_copy(update={"storage": storage, "people": {}, "sites": {SITE: lab}})
        more = {**site_nfs_server.bundle(fleet, self.world.plan, SITE), **changes}
        made = with_files(bundle(self.spec, self.authority), more, site_nfs_units.TARGET)
        self.own[host] = self.signed(self.spec.own_prefix(host), made.files, "")
        return self.own[host]

    def signed(self, prefix: str, files: dict[str, str], key: str) -> Published:
        told = digests(Bundle(self.spec.name, files, {}))
        signed: dict[str, str] = json.loads(signed_object(key or self.key, manifest(prefix, told, "")))
        return Published("us-west-2", "bucket", prefix, public_key(self.key), signed, files)

    def read(self, session: Session, pool: str, hosts: Collection[str]) -> dict[str, Published]:
        """In the place of store.read."""
        assert (session, pool) == (self.session, self.spec.name)
        return {host: self.own.get(host, self.published) for host in hosts}

    def pointer(self, session: Session, published: Published, seconds: int) -> Pointer:
        """In the place of store.pointer."""
        home = f"http://{API}:{PORT}"
        version = published.version
        return Pointer(
            published.prefix, version, published.verify_key, f"{home}/manifest.json", f"{home}/{version}.json"
        )

    def stand_up(self, name: str) -> Box:
        """A bare host."""
        size = {"architecture": "amd64", "cpus": 96, "memory_mib": 1 << 20, "disk_gib": 1000, "gpus": 8}
        server = self.spec.server.removeprefix("https://").partition(":")[0]
        self.boxes[name] = self.host.machine(
            f"{name}.{SITE}",
            f"{ADDRESSES[name]}/22",
            hosts=f"{API} {server}\n",
            programs={"kwok": str((BIN / "kwok").resolve())},
            files={str(hardware.FILE): hardware.text(size, self.spec.kubernetes)},
        )
        return self.boxes[name]

    def enrolment(self, name: str) -> str:
        """The command for a host."""
        return enrol.enrol(self.session, hosts.one(self.world, SITE, name, None), HOUR).command

    def type(self, name: str, command: str, seconds: float = 240) -> subprocess.CompletedProcess[str]:
        """What root's shell on the host says to a command."""
        argv = self.command(f"{name}.{SITE}", ["timeout", str(seconds), "sh"])
        return subprocess.run(argv, input=command, capture_output=True, text=True, check=False, timeout=seconds + 60)

    def hosts(self, *names: str) -> Hosts:
        return Hosts(self.session, hosts.chosen(self.world, SITE, names or tuple(self.boxes), None))

    def state(self, name: str) -> State:
        return self.hosts(name).look()[name]

    def apply(self, *names: str, seconds: float = 120) -> Apply:
        return Apply(self.hosts(*names), print, Patience(seconds, 240, 0.3))

    @property
    def kube(self) -> Kube:
        return self.session.admin

    def command(self, machine: str, argv: Sequence[str]) -> list[str]:
        if machine.partition(".")[0] not in self.boxes:
            raise LocalCloudError(f"there is no machine {machine}")
        with self.lock:  # the host answers one question at a time
            pid = self.host("result = machines[name].pid", name=machine)
        return self.around(machines.enter_command(pid, argv))

    def around(self, argv: Sequence[str]) -> list[str]:
        return namespace.enter_command(namespace.usable_mode(), self.host.process.pid, argv, ROOT)


def make(folder: Path) -> Iterator[SiteBed]:
    world = current(ROOT / "fleet.yaml")
    host = Host(folder, ["unshare", *namespace.usable_mode().make])
    (folder / "store").mkdir()
    (folder / "bed").mkdir()
    try:
        given = {"folder": str(folder / "bed"), "store": str(folder / "store"), "port": PORT}
        authority, crt, key = host(BED, api=API, **given)
        info = cluster_info(world, authority)
        place = Place("local", folder, "file:///nowhere", "passphrase", folder, cloud=object())  # type: ignore[arg-type]
        session = Session(world, place, info)
        pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        spec = pool_spec(world.fleet, world.plan, "site-gpu")
        bed = SiteBed(world, spec, host, authority, session, folder / "store", pem)
        credential = kubeconfig.Credential("admin", crt, key)
        config = kubeconfig.kubeconfig(info, credential, MachineInfo("a", "api", "a", "127.0.0.1", "a", "a"))
        # Both are made when they are first asked for.
        session.__dict__.update(admin=Kube(config, bed.around), remote=Local(bed.command))
        yield bed
    finally:
        host.close()


def cluster_info(world: World, authority: str) -> ClusterInfo:
    spec = cluster_spec(world.fleet, world.plan, "main")
    told: dict[str, Any] = dict.fromkeys(ClusterInfo._fields, "-")
    named = {"name": "main", "region": spec.region, "endpoint": f"https://{spec.endpoint}:6443"}
    return ClusterInfo(**{**told, **named, "authority": authority, "prefix": "example/main", "machines": {}})
