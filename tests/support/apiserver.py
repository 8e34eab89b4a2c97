"""etcd and a Kubernetes API server on loopback, alone or with controllers: for what needs the real API and no cluster."""

import base64
import contextlib
import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from components.control_plane.api import ADMISSION
from local.providers.kubernetes.api import Api, ApiError
from local.providers.kubernetes.kubeconfig import parse
from tests.support.children import DYING_WITH_US

BIN = Path(__file__).parents[2] / ".landbridge/bin"
HERE = "127.0.0.1"
READY_SECONDS = 150
CONTROLLERS = (
    "deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller,"
    "namespace-controller,garbage-collector-controller,endpointslice-controller,serviceaccount-controller"
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return int(probe.getsockname()[1])


class Authority:
    """A certificate authority of the test's own."""

    def __init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
        self.crt = self._signed(self.name, self.key.public_key(), authority=True)

    @property
    def pem(self) -> str:
        return self.crt.public_bytes(serialization.Encoding.PEM).decode()

    def leaf(self, user: str, groups: Sequence[str] = (), address: str = HERE) -> tuple[str, str]:
        """Certificate and key; good as a server's on the address too."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*names, x509.NameAttribute(NameOID.COMMON_NAME, user)])
        made = self._signed(subject, key.public_key(), address)
        return made.public_bytes(serialization.Encoding.PEM).decode(), _pem(key)

    def _signed(
        self, subject: x509.Name, key: Any, address: str = HERE, *, authority: bool = False
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        names = x509.SubjectAlternativeName([x509.DNSName("planned.name"), x509.IPAddress(IPv4Address(address))])
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if not authority:
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256())


def _pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@dataclass
class Server:
    """`api` is that of system:masters. `issuer` is that of service accounts' tokens, `accounts_public` its key's PEM."""

    folder: Path
    authority: Authority = field(default_factory=Authority)
    port: int = field(default_factory=free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    services_cidr: str = "10.1.0.0/24"
    controllers: str = CONTROLLERS
    issuer: str = "https://test.example.com"
    accounts_public: str = ""
    # Of the controllers' calls, a second; their own default.
    rate: int = 20
    # Of the API server, besides.
    more: Sequence[str] = ()

    @property
    def url(self) -> str:
        return f"https://{HERE}:{self.port}"

    def kubeconfig(self, user: str = "admin", groups: Sequence[str] = ("system:masters",), **cluster: str) -> str:
        crt, key = self.authority.leaf(user, groups)
        encoded = [base64.b64encode(text.encode()).decode() for text in (self.authority.pem, crt, key)]
        where = {"server": self.url, "certificate-authority-data": encoded[0], **cluster}
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": where}],
                "users": [
                    {"name": "u", "user": {"client-certificate-data": encoded[1], "client-key-data": encoded[2]}}
                ],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "c",
            }
        )

    @property
    def api(self) -> Api:
        return Api(parse(self.kubeconfig()), threading.Event())

    def find(self, path: str) -> dict[str, Any] | None:
        try:
            return self.api.call("GET", path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def patch(self, path: str, body: Mapping[str, Any], query: Mapping[str, str] | None = None) -> dict[str, Any]:
        return self.api.call("PATCH", path, query, body, "application/merge-patch+json")

    def apply(self, path: str, body: Mapping[str, Any], manager: str, *, force: bool = True) -> dict[str, Any]:
        query = {"fieldManager": manager, "force": str(force).lower()}
        return self.api.call("PATCH", path, query, body, "application/apply-patch+yaml")

    def start(self, name: str, *words: str, before: Sequence[str] = ()) -> None:
        """In the main thread. `before` are words that end by becoming the program of the words after them."""
        log = (self.folder / f"{name}.log").open("ab")
        self.processes[name] = subprocess.Popen(
            [*DYING_WITH_US, *before, str(BIN / name), *words],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
        )

    def up(self, *, controllers: bool = True) -> None:
        client, peer = free_port(), free_port()
        etcd = f"http://{HERE}:{client}"
        self.start(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls=http://{HERE}:{peer}",
            f"--initial-advertise-peer-urls=http://{HERE}:{peer}",
            f"--initial-cluster=default=http://{HERE}:{peer}",
            "--unsafe-no-fsync",
        )
        crt, key = self.authority.leaf("server")
        # RSA, as a cluster's own.
        accounts = rsa.generate_private_key(65537, 2048)
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        self.accounts_public = accounts.public_key().public_bytes(serialization.Encoding.PEM, form).decode()
        files = {"ca.crt": self.authority.pem, "server.crt": crt, "server.key": key}
        files |= {"accounts.key": _pem(accounts), "accounts.pub": self.accounts_public}
        for name, text in files.items():
            (self.folder / name).write_text(text)
        self.flags: list[str] = [
            f"--etcd-servers={etcd}",
            f"--bind-address={HERE}",
            f"--advertise-address={HERE}",
            f"--secure-port={self.port}",
            "--tls-cert-file=server.crt",
            "--tls-private-key-file=server.key",
            "--client-ca-file=ca.crt",
            f"--service-account-issuer={self.issuer}",
            "--service-account-key-file=accounts.pub",
            "--service-account-signing-key-file=accounts.key",
            f"--service-cluster-ip-range={self.services_cidr}",
            "--authorization-mode=RBAC",
            f"--enable-admission-plugins={','.join(ADMISSION)}",
            "--disable-admission-plugins=ServiceAccount",
            "--allow-privileged=true",
            *self.more,
        ]
        self.start("kube-apiserver", *self.flags)
        self.until_ready()
        if controllers:
            (self.folder / "kubeconfig").write_text(self.kubeconfig())
            self.start(
                "kube-controller-manager",
                "--kubeconfig=kubeconfig",
                f"--controllers={self.controllers}",
                "--leader-elect=false",
                "--secure-port=0",
                "--concurrent-gc-syncs=2",
                f"--kube-api-qps={self.rate}",
                f"--kube-api-burst={self.rate * 3 // 2}",
            )

    def until_ready(self) -> None:
        deadline, api = time.monotonic() + READY_SECONDS, self.api
        while True:
            with contextlib.suppress(Exception):
                api.call("GET", "/readyz", patience=0)  # "ok" is no JSON, and fine
                api.call("GET", "/api/v1/namespaces/default", patience=0)
                return
            assert time.monotonic() < deadline, (self.folder / "kube-apiserver.log").read_text()[-2000:]
            time.sleep(0.2)

    def end(self, name: str) -> None:
        process = self.processes.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def down(self) -> None:
        for name in reversed(list(self.processes)):
            self.end(name)


@contextlib.contextmanager
def server(folder: Path, *, controllers: bool = True, also: str = "", **given: Any) -> Iterator[Server]:
    """Runs until the end of the block; `also` names controllers beside the usual ones."""
    made = Server(folder, controllers=",".join([CONTROLLERS, *([also] if also else [])]), **given)
    try:
        made.up(controllers=controllers)
        yield made
    finally:
        made.down()


@contextlib.contextmanager
def pods_ready(server: Server, *, ready: bool = True) -> Iterator[None]:
    """In the block, pods become ready (or stay as they are) without a kubelet."""
    over = threading.Event()

    def play() -> None:
        api = server.api
        while not over.wait(0.3):
            for pod in api.call("GET", "/api/v1/pods")["items"]:
                metadata = pod["metadata"]
                if pod["status"].get("phase") == "Pending" and ready:
                    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
                    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                    condition = {"type": "Ready", "status": "True", "lastTransitionTime": now}
                    with contextlib.suppress(ApiError):
                        server.patch(path, {"status": {"phase": "Running", "podIP": HERE, "conditions": [condition]}})

    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
