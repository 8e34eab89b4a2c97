"""A worker beside the bed of a cluster: a pool's own bundle below a folder, and the stand-ins run as its units say."""

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

from components.control_plane.units import ON_MACHINE, UNITS
from components.pools.bundle import bundle
from components.pools.joining import OWN_SCRIPTS
from components.pools.spec import PoolSpec, pool_spec
from fleet.world import current
from local.aws import hardware as aws_hardware
from local.machines.commands import command
from local.workers import hardware
from tests.components.pools.joining_bed import CLUSTER, ROOT, WEST
from tests.components.pools.joining_cluster import BIN, Cluster

ROOT_GIB = 500
# The bundle's own script proves who it is; on a machine its role's credentials come from the instance's metadata.
ATTEST = """
import json, sys
told = json.load(open(sys.argv[1]))
sys.path[:0] = told["scripts"]
import aws, attest
aws.Aws.credentials = lambda self: told["role"]
attest.settings = lambda name: told["node"]
attest.main()
"""
RUN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv.pop(1))
from local.workers import {0}, hardware
hardware.FILE = Path(sys.argv.pop(1))
sys.exit({0}.main())
"""
MOVED = ("/etc/kubernetes", "/etc/containerd", "/var/lib/kubelet", "/run/containerd")


def spec(pool: str = "west-gpu") -> PoolSpec:
    world = current(ROOT / "fleet.yaml")
    return pool_spec(world.fleet, world.plan, pool)


class Worker:
    """`instance` proves who it is; `name` is who it says it is."""

    def __init__(self, cluster: Cluster, instance: str, name: str = "", pool: str = "west-gpu") -> None:
        self.cluster, self.instance, self.name = cluster, instance, name or instance
        self.spec = spec(pool)
        told = cluster.boto("ec2").describe_instances(InstanceIds=[self.name])["Reservations"][0]["Instances"][0]
        self.zone, self.address = told["Placement"]["AvailabilityZone"], told["PrivateIpAddress"]
        # Short: a socket's path may have 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="worker-"))
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {"PATH": f"{BIN}:{os.environ['PATH']}"}
        self.files = bundle(self.spec, (cluster.pki / "ca.crt").read_text()).files
        for path, text in self.files.items():
            file = self.folder / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.here(text))
        made = {**aws_hardware.of_type(self.spec.hardware.shape), "disk_gib": ROOT_GIB}
        self.hardware = self.folder / "hardware.json"
        self.hardware.write_text(hardware.text(made, self.spec.kubernetes))
        proof = {
            "scripts": [str(ON_MACHINE), str(OWN_SCRIPTS)],
            "role": cluster.own("credentials", instance),
            "node": {"place": WEST, "cluster": CLUSTER},
        }
        (self.folder / "proof.json").write_text(json.dumps(proof))
        self.joining = self.folder / "etc/kubernetes/bootstrap.kubeconfig"
        told = json.loads(self.joining.read_text())
        told["users"][0]["user"]["exec"] |= {
            "command": sys.executable,
            "args": ["-c", ATTEST, str(self.folder / "proof.json")],
        }
        self.joining.write_text(json.dumps(told))

    def here(self, text: str) -> str:
        for path in MOVED:
            text = text.replace(path, f"{self.folder}{path}")
        return text.replace(self.spec.server, f"https://127.0.0.1:{self.cluster.ports['api']}")

    def words(self, unit: str) -> list[str]:
        """The unit's command line, as systemd would give it."""
        text = self.files[f"{UNITS}/{unit}.service"].replace("\\\n", " ")
        found = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)
        assert found
        facts = {
            "NODE_NAME": self.name,
            "NODE_ADDRESS": self.address,
            "NODE_PROVIDER_ID": f"aws:///{self.zone}/{self.name}",
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
