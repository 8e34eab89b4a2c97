"""One etcd, one API server with its real flags, its controllers, the local AWS and the service, all on the loopback.

The bundle's files are laid below a folder; what differs from a machine are paths, ports and names of AWS, no more.
"""

import base64
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from cryptography.hazmat.primitives.asymmetric import ec

from components.control_plane import api
from components.control_plane.bundle import bundle
from components.control_plane.machines import cluster_spec
from components.control_plane.pki import break_glass
from components.control_plane.profiles import PROFILES
from components.control_plane.units import command
from components.pools import admission, joining
from fleet.world import current
from local.providers.host import free_port
from tests.components.pools.joining_bed import (
    CLIENT,
    CLUSTER,
    ROOT,
    SETTINGS,
    TABLE,
    USES,
    WEST,
    key,
    key_pem,
    request,
)
from tests.components.pools.joining_client import Client, apply, eventually
from tests.support import pki
from tests.support.scripts import FOLDERS

import attest_aws  # isort: skip
import api_aws  # isort: skip

BIN = ROOT / ".landbridge/bin"
# Where the API server listens: another one where machines with networks of their own join.
BIND = "127.0.0.1"
TOKEN_SECRET = "0123456789abcdef"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
# The service on a machine finds these by itself.
RUNNER = """
import json, socket, sys
told = json.load(open(sys.argv[1]))
sys.path[:0] = told["scripts"]
import api_aws, join_service, join_webhook
program = {"service": join_service, "webhook": join_webhook}[sys.argv[2]]
plain = socket.create_connection
def connect(address, *rest, **given):
    host, port = address
    if host.endswith(".amazonaws.com"):
        address = ("127.0.0.1", told["aws"])
    return plain(address, *rest, **given)
socket.create_connection = connect
api_aws.metadata = lambda path: json.load(open(told["metadata"]))[path]
program.settings = lambda name: json.load(open(told["settings"]))
join_service.PKI, join_service.PORT = told["pki"], told["api"]
join_webhook.AUTHORITY, join_webhook.CERTIFICATE = told["pki"] + "/ca.crt", told["pki"] + "/joining"
join_webhook.PORT, join_webhook.API_PORT = told["webhook"], told["api"]
program.main()
"""


@dataclass
class Cluster:
    folder: Path
    settings: dict[str, Any]
    ports: dict[str, int]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    # Program → flags of its own here.
    flags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def pki(self) -> Path:
        return self.folder / "etc/kubernetes/pki"

    def start(self, name: str, words: list[str], **environment: str) -> None:
        log = (self.folder / f"{name}.log").open("ab")
        given = {**os.environ, **environment}
        self.running[name] = subprocess.Popen(
            words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=given, cwd=ROOT
        )

    def stop(self) -> None:
        for process in reversed(self.running.values()):
            process.kill()
            process.wait()

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def serve(self) -> None:
        """Returns once it leads."""
        log = self.folder / "service.log"
        before = self.log("service").count(" leads\n") if log.exists() else 0
        self.run("service")
        eventually(lambda: self.log("service").count(" leads\n") > before)

    def there(self, text: str) -> str:
        """What names a machine's paths and ports names those of here."""
        paths = text.replace("/etc/kubernetes", f"{self.folder}/etc/kubernetes")
        return paths.replace("127.0.0.1:6443", f"127.0.0.1:{self.ports['api']}")

    def control(self, name: str, program: str, flags: Any) -> None:
        """One of the control plane's programs, as its unit starts it."""
        text = self.there(command(program, {**flags, **self.flags.get(name, {})}))
        words = text.replace(f"/usr/local/bin/{program}", str(BIN / program)).split("\\\n")
        self.start(name, [word.strip() for word in words])

    def schedule(self) -> None:
        self.control("scheduler", "kube-scheduler", {**api.scheduler_flags(), "secure-port": str(free_port())})

    def run(self, program: str) -> None:
        self.start(program, [sys.executable, "-c", RUNNER, str(self.folder / "runner.json"), program], **self.trust)

    @property
    def trust(self) -> dict[str, str]:
        return {"SSL_CERT_FILE": str(self.folder / "aws/authority/ca.crt")}

    def client(self, **who: Any) -> Client:
        return Client(self.ports["api"], self.pki / "ca.crt", **who)

    @property
    def admin(self) -> Client:
        return self.client(certificate=(self.folder / "admin.crt", self.folder / "admin.key"))

    def boto(self, service: str, region: str = WEST) -> Any:
        return boto3.client(
            service,
            region_name=region,
            endpoint_url=f"http://127.0.0.1:{self.ports['moto']}",
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=Config(retries={"total_max_attempts": 1}, read_timeout=600),
        )

    def own(self, name: str, body: Any) -> Any:
        line = http.client.HTTPConnection("127.0.0.1", self.ports["moto"], timeout=30)
        line.request("POST", f"/landbridge-api/{name}", json.dumps(body))
        answer = line.getresponse()
        told = json.loads(answer.read())
        assert answer.status == 200, told
        return told

    # What machines do.

    def token(self, instance: str, cluster: str = CLUSTER, region: str = WEST) -> str:
        one = api_aws.Aws(region)
        one.role = self.own("credentials", instance)
        return attest_aws.token(one, cluster)

    def enrolment(self, number: str, host: str, site: str = "lab") -> str:
        """A token for a host of a site, of six letters and its secret."""
        ends = f"{datetime.now(UTC) + timedelta(hours=3):%Y-%m-%dT%H:%M:%SZ}"
        data = {
            "token-id": number,
            "token-secret": TOKEN_SECRET,
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": f"system:bootstrappers:landbridge:{site}:{host}",
            "expiration": ends,
        }
        head = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"bootstrap-token-{number}"}}
        kind = {"type": "bootstrap.kubernetes.io/token", "stringData": data}
        self.admin("POST", "/api/v1/namespaces/kube-system/secrets", {**head, **kind})
        return f"{number}.{TOKEN_SECRET}"

    def ask(self, client: Client, name: str, pem: str, signer: str = CLIENT) -> str:
        """Makes a request; its name."""
        spec = {
            "request": base64.b64encode(pem.encode()).decode(),
            "signerName": signer,
            "usages": USES[signer],
        }
        thing = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
        made = client("POST", REQUESTS, {**thing, "metadata": {"generateName": f"{name}-"}, "spec": spec})
        return str(made["metadata"]["name"])

    def verdict(self, name: str, seconds: float = 60) -> tuple[str, str]:
        """Type and message."""
        one = eventually(lambda: self.admin("GET", f"{REQUESTS}/{name}")["status"].get("conditions"), seconds)[0]
        return one["type"], one["message"]

    def certificate(self, name: str, made: ec.EllipticCurvePrivateKey) -> Client:
        """That of an approved request, once it is signed."""
        told = eventually(lambda: self.admin("GET", f"{REQUESTS}/{name}")["status"].get("certificate"))
        files = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        files[0].write_bytes(base64.b64decode(told))
        files[1].write_text(key_pem(made))
        return self.client(certificate=files)

    def join(self, instance: str) -> Client:
        """As a kubelet does: its first certificate, then its Node."""
        made = key()
        name = self.ask(self.client(token=self.token(instance)), instance, request(instance, made=made))
        assert self.verdict(name)[0] == "Approved"
        return self.certificate(name, made)

    def grow(self, group: str, to: int, region: str = WEST) -> list[str]:
        scaling = self.boto("autoscaling", region)
        scaling.set_desired_capacity(AutoScalingGroupName=group, DesiredCapacity=to)
        told = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[group])["AutoScalingGroups"][0]
        return sorted(one["InstanceId"] for one in told["Instances"])


def node(name: str, gpus: int = 0, pool: str = "west-gpu") -> dict[str, Any]:
    taints = [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "startup-taint.cluster-autoscaler.kubernetes.io/gpu", "value": "starting", "effect": "NoSchedule"},
    ]
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"landbridge.dev/pool": pool, "landbridge.dev/place": WEST}},
        "spec": {"taints": taints if pool.endswith("gpu") else []},
        "status": {"capacity": capacity, "allocatable": capacity, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def groups(cluster: Cluster) -> None:
    """The pools' scaling groups in the local AWS, with their roles; and an API machine with its own."""
    iam = cluster.boto("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    for role in (*TABLE["roles"], "stranger", "api"):
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        iam.create_role(RoleName=role, AssumeRolePolicyDocument=document)
        iam.create_instance_profile(InstanceProfileName=role)
        iam.add_role_to_instance_profile(InstanceProfileName=role, RoleName=role)
    policy = {"Version": "2012-10-17", "Statement": joining.permissions(current(ROOT / "fleet.yaml").fleet, "main")}
    iam.put_role_policy(RoleName="api", PolicyName="machine", PolicyDocument=json.dumps(policy))
    for role, pool in TABLE["roles"].items():
        told = TABLE["pools"][pool]
        ec2 = cluster.boto("ec2", told["place"])
        data = {"ImageId": image(ec2), "InstanceType": "t3.micro", "IamInstanceProfile": {"Name": role}}
        ec2.create_launch_template(LaunchTemplateName=pool, LaunchTemplateData=data)
        cluster.boto("autoscaling", told["place"]).create_auto_scaling_group(
            AutoScalingGroupName=told["groups"][0],
            MinSize=0,
            MaxSize=3000,
            DesiredCapacity=0,
            VPCZoneIdentifier=ec2.describe_subnets()["Subnets"][0]["SubnetId"],
            LaunchTemplate={"LaunchTemplateName": pool},
        )


def table(told: Any) -> dict[str, Any]:
    """The manifest of a table of pools."""
    return {**admission.pools(()), "data": {admission.POOLS_KEY: json.dumps(told)}}


def image(ec2: Any) -> str:
    return str(ec2.describe_images()["Images"][0]["ImageId"])


def alone(cluster: Cluster, role: str) -> str:
    """An instance that somebody has started by hand, with a role."""
    ec2 = cluster.boto("ec2")
    made = ec2.run_instances(ImageId=image(ec2), MinCount=1, MaxCount=1, IamInstanceProfile={"Name": role})
    return str(made["Instances"][0]["InstanceId"])


def make(
    folder: Path,
    flags: Mapping[str, Mapping[str, str]] | None = None,
    pools: Any = TABLE,
    size: str = "",
    **seconds: float,
) -> Iterator[Cluster]:
    """Ends with the generator. `seconds` are the service's, `flags` change those of `api` and `controllers`; `size` is
    the cluster's, if not that of the example.
    """
    world = current(ROOT / "fleet.yaml")
    spec = cluster_spec(world.fleet, world.plan, "main")
    spec = spec._replace(profile=PROFILES[size]) if size else spec
    machine, made = spec.api[0], pki.material(spec)
    ports = {name: free_port() for name in ("api", "webhook", "etcd", "peer", "moto", "front", "controllers")}
    settings = {**SETTINGS, "seconds": {**SETTINGS["seconds"], **seconds}}
    cluster = Cluster(folder, settings, ports, flags=flags or {})
    admin = break_glass(spec).name
    one = bundle(spec, machine, made)
    laid = {
        **one.files,
        **one.keys,
        joining.WEBHOOK_CONFIG: json.dumps(joining.webhook()).replace(":6445/", f":{ports['webhook']}/"),
        "/admin.crt": made.certificates[admin],
        "/admin.key": made.keys[admin],
    }

    for path, text in laid.items():
        file = folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(cluster.there(text))
    try:
        _start(cluster, spec, machine, pools)
        yield cluster
    finally:
        cluster.stop()


def _start(cluster: Cluster, spec: Any, machine: Any, pools: Any) -> None:
    folder, ports = cluster.folder, cluster.ports
    urls = f"http://127.0.0.1:{ports['etcd']}", f"http://127.0.0.1:{ports['peer']}"
    cluster.start(
        "etcd",
        [
            str(BIN / "etcd"),
            f"--data-dir={folder}/data",
            f"--listen-client-urls={urls[0]}",
            f"--advertise-client-urls={urls[0]}",
            f"--listen-peer-urls={urls[1]}",
            f"--initial-advertise-peer-urls={urls[1]}",
            f"--initial-cluster=default={urls[1]}",
            "--unsafe-no-fsync",
        ],
    )
    cluster.start(
        "aws",
        [
            sys.executable,
            "-m",
            "local.aws.server",
            "--port",
            str(ports["moto"]),
            "--home",
            str(folder / "aws"),
            "--tls",
            f"127.0.0.1:{ports['front']}",
        ],
    )
    eventually(lambda: cluster.own("clock", {"advance": 0}) is not None, 180)
    here = {
        "secure-port": str(ports["api"]),
        "bind-address": BIND,
        "advertise-address": "10.128.0.5",
        "etcd-servers": urls[0],
        "audit-log-path": f"{folder}/audit.log",
        "shutdown-delay-duration": "0s",
    }
    flags = {**api.api_flags(spec, machine), **here}
    for name in ("etcd-servers-overrides", "etcd-cafile", "etcd-certfile", "etcd-keyfile"):
        del flags[name]
    cluster.control("api", "kube-apiserver", flags)
    controllers = {**api.controller_flags(spec), "secure-port": str(ports["controllers"])}
    cluster.control("controllers", "kube-controller-manager", controllers)
    (folder / "settings.json").write_text(json.dumps(cluster.settings))
    runner = {
        "scripts": FOLDERS,
        "aws": ports["front"],
        "metadata": str(folder / "metadata.json"),
        "settings": str(folder / "settings.json"),
        "pki": str(cluster.pki),
        "api": ports["api"],
        "webhook": ports["webhook"],
    }
    (folder / "runner.json").write_text(json.dumps(runner))
    groups(cluster)
    told = cluster.own("credentials", alone(cluster, "api"))
    place = "iam/security-credentials/"
    (folder / "metadata.json").write_text(json.dumps({place: "api", f"{place}api": json.dumps(told)}))
    eventually(lambda: cluster.admin("GET", "/api/v1/namespaces/kube-system"), 120)
    cluster.run("webhook")
    # The table once and whole: an empty one before it would pass for it.
    for manifest in [*admission.service_config_maps(), *admission.rights(), *admission.policy(), table(pools)]:
        eventually(lambda manifest=manifest: apply(cluster.admin, manifest))
    cluster.serve()
    eventually(lambda: "knows the machines of" in cluster.log("webhook"))
