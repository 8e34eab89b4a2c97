"""A worker beside the bed of a cluster: a pool's own bundle below a folder, and the stand-ins run as its units say."""

import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.control_plane.units import UNITS
from components.pools.bundle import bundle
from components.pools.hardware import fabric
from components.pools.spec import PoolSpec, pool_spec
from fleet.world import current
from local.aws import hardware as aws_hardware
from local.machines.commands import command
from local.workers import hardware
from tests.components.pools.joining_bed import CLUSTER, ROOT, TABLE, WEST
from tests.components.pools.joining_cluster import BIN, Cluster
from tests.support.scripts import FOLDERS

ROOT_GIB = 500
# The bundle's own script proves who it is; on a machine its role's credentials come from the instance's metadata.
ATTEST = """
import json, sys
told = json.load(open(sys.argv[1]))
sys.path[:0] = told["scripts"]
import api_aws, attest
api_aws.Aws.credentials = lambda self: told["role"]
attest.named, attest.settings = lambda: "aws", lambda name: told["node"]
attest.main()
"""
RUN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv.pop(1))
from local.workers import {0}, hardware
hardware.FILE = Path(sys.argv.pop(1))
hardware.BOOT = hardware.FILE.with_name("boot-id")
sys.exit({0}.main())
"""
MOVED = ("/etc/kubernetes", "/etc/containerd", "/var/lib/kubelet", "/run/containerd")


def spec(pool: str = "west-gpu") -> PoolSpec:
    world = current(ROOT / "fleet.yaml")
    return pool_spec(world.fleet, world.plan, pool)


class Worker:
    """`instance` proves who it is; `name` is who it says it is; `port` is that of its way to the API."""

    def __init__(
        self, cluster: Cluster, instance: str, name: str = "", pool: str = "west-gpu", port: int | None = None
    ) -> None:
        self.cluster, self.instance, self.name = cluster, instance, name or instance
        self.port = port or cluster.ports["api"]
        self.spec = spec(pool)
        self.zone, self.address, self.provider_id, size = self.who()
        # Short: a socket's path may have 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="worker-"))
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {"PATH": f"{BIN}:{os.environ['PATH']}"}
        self.files = bundle(self.spec, (cluster.pki / "ca.crt").read_text()).files
        for path, text in self.files.items():
            file = self.folder / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.here(text))
        self.hardware = self.folder / "hardware.json"
        self.hardware.write_text(hardware.text({**size, "disk_gib": ROOT_GIB}, self.spec.kubernetes))
        self.joining = self.folder / "etc/kubernetes/bootstrap.kubeconfig"
        self.prove()

    def who(self) -> tuple[str, str, str, dict[str, Any]]:
        """Its zone, address and id, and how large it is."""
        told = self.cluster.boto("ec2").describe_instances(InstanceIds=[self.name])["Reservations"][0]["Instances"][0]
        zone = told["Placement"]["AvailabilityZone"]
        # As it would be launched; and with RDMA, which no cloud's has, to see that nobody tells of it by itself.
        size = {**aws_hardware.of_type(self.spec.hardware.shape), "efa": fabric(self.spec.hardware.shape), "rdma": 5}
        return zone, told["PrivateIpAddress"], f"aws:///{zone}/{self.name}", size

    def prove(self) -> None:
        proof = {
            "scripts": FOLDERS,
            "role": self.cluster.own("credentials", self.instance),
            "node": {"place": WEST, "cluster": CLUSTER},
        }
        (self.folder / "proof.json").write_text(json.dumps(proof))
        told = json.loads(self.joining.read_text())
        told["users"][0]["user"]["exec"] |= {
            "command": sys.executable,
            "args": ["-c", ATTEST, str(self.folder / "proof.json")],
        }
        self.joining.write_text(json.dumps(told))

    def here(self, text: str) -> str:
        for path in MOVED:
            text = text.replace(path, f"{self.folder}{path}")
        return text.replace(self.spec.server, f"https://127.0.0.1:{self.port}")

    def words(self, unit: str) -> list[str]:
        """The unit's command line, as systemd would give it."""
        text = self.files[f"{UNITS}/{unit}.service"].replace("\\\n", " ")
        found = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)
        assert found
        facts = {
            "NODE_NAME": self.name,
            "NODE_ADDRESS": self.address,
            "NODE_PROVIDER_ID": self.provider_id,
            "NODE_RESOLV_CONF": "/etc/resolv.conf",
            "NODE_ZONE_LABEL": f"topology.kubernetes.io/zone={self.zone}",
        }
        return [self.here(word) for word in command(found[1]).argv(facts)]

    def start(self, program: str, more: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        code = [RUN.format(program), str(ROOT), str(self.hardware)]
        log = (self.folder / f"{program}.log").open("ab")
        self.running[program] = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", *code, *self.words(program)[1:], *more],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=self.environment,
        )
        return self.running[program]

    def up(self) -> "Worker":
        self.start("containerd")
        while not (self.folder / "run/containerd/containerd.sock").exists():
            assert self.running["containerd"].poll() is None, self.log("containerd")
        self.start("kubelet")
        return self

    def end(self, program: str = "kubelet") -> int:
        """As its unit is stopped."""
        self.running[program].terminate()
        return self.running.pop(program).wait(10)

    def stop(self) -> None:
        for one in self.running.values():
            one.kill()
            one.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self, program: str = "kubelet") -> str:
        file = self.folder / f"{program}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    @property
    def certificates(self) -> Path:
        return self.folder / "var/lib/kubelet/pki"

    def node(self) -> Any:
        return self.cluster.admin("GET", f"/api/v1/nodes/{self.name}")

    def ready(self) -> bool:
        return any(one["type"] == "Ready" and one["status"] == "True" for one in self.node()["status"]["conditions"])

    def kwok(self) -> int | None:
        """The process that plays it."""
        pid = self.running["kubelet"].pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return next((int(one) for one in children if "kwok" in Path(f"/proc/{one}/comm").read_text()), None)


class Host(Worker):
    """A site's host, which joins by its enrolment's token."""

    def who(self) -> tuple[str, str, str, dict[str, Any]]:
        host, _, site = self.name.partition(".")
        hosts = TABLE["pools"][self.spec.name]["hosts"]
        network = ipaddress.IPv4Network(TABLE["lans"][site])
        address = hosts.get(host) or str(network[10 + int(host.rpartition("-")[2])])
        size = {"architecture": "amd64", "cpus": 96, "memory_mib": 1 << 20, "gpus": self.spec.hardware.gpus}
        return site, address, f"onprem:///{site}/{host}", size

    def prove(self) -> None:
        host, _, site = self.name.partition(".")
        token = self.cluster.enrolment(f"host{host.rpartition('-')[2]:0>2}", host, site)
        (self.folder / "etc/kubernetes/enrolment-token").write_text(token)
