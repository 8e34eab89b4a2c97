"""A kubelet's certificates: keys and requests by openssl, files named as the real one names them, renewal in time."""

import base64
import hashlib
import random
import re
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from kube_http import Answer, Json, Kube

from .unit import say

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
WAIT_SECONDS = 900.0
# The real one renews at a moment by chance in this part of a certificate's life (client-go, "jitteryDuration").
EARLIEST, LATEST = 0.7, 0.9
CONFIG = "[req]\ndistinguished_name = dn\nstring_mask = utf8only\n[dn]\n"


class Denied(Exception):
    """The cluster does not give this certificate."""


class Kind(NamedTuple):
    """Of certificate: how its files begin, who signs it, what for, and which names it has besides."""

    prefix: str
    signer: str
    use: str
    names: tuple[str, ...] = ()


CLIENT = Kind("kubelet-client", "kubernetes.io/kube-apiserver-client-kubelet", "client auth")


def serving(name: str, address: str) -> Kind:
    return Kind("kubelet-server", "kubernetes.io/kubelet-serving", "server auth", (f"DNS:{name}", f"IP:{address}"))


def openssl(*words: str, given: str = "") -> str:
    """Raises OSError."""
    done = subprocess.run(["openssl", *words], input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"openssl {words[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def private(file: Path, text: str) -> None:
    """Writes a file for root alone, in one step."""
    draft = file.with_name(f".{file.name}.new")
    draft.unlink(missing_ok=True)
    draft.touch(0o600)
    draft.write_text(text)
    draft.replace(file)


def new_key() -> str:
    return openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")


def request(key: str, node: str, kind: Kind) -> str:
    """In PEM."""
    with tempfile.TemporaryDirectory() as folder:
        config, file = Path(folder, "config"), Path(folder, "key")
        config.write_text(CONFIG)
        private(file, key)
        names = ["-addext", f"subjectAltName={','.join(kind.names)}"] if kind.names else []
        subject = f"/O=system:nodes/CN=system:node:{node}"
        return openssl("req", "-new", "-config", str(config), "-key", str(file), "-subj", subject, *names)


def life(pair: Path) -> tuple[float, float]:
    """From when to when it is good, in seconds since 1970. Raises OSError."""
    output = openssl("x509", "-noout", "-startdate", "-enddate", "-in", str(pair))
    found = [datetime.strptime(text, "%b %d %H:%M:%S %Y GMT") for text in re.findall(r"=(.*)", output)]
    begin, end = (one.replace(tzinfo=UTC).timestamp() for one in found)
    return begin, end


class Store:
    """One kind's files in the folder of certificates."""

    def __init__(self, folder: Path, node: str, kind: Kind) -> None:
        self.folder, self.node, self.kind = folder, node, kind
        self.current = folder / f"{kind.prefix}-current.pem"
        self.draft = folder / f"{kind.prefix}.key.tmp"

    def good(self) -> bool:
        try:
            begin, end = life(self.current)
        except OSError:
            return False
        return begin <= time.time() < end

    def renewal(self) -> float:
        """When the next one is asked for."""
        begin, end = life(self.current)
        return begin + (end - begin) * random.uniform(EARLIEST, LATEST)  # noqa: S311  (no secret)

    def keep(self, certificate: str, key: str) -> None:
        """In one step, beside those before."""
        # The real one's names end with the second, and two of one second would be one file.
        file = self.folder / f"{self.kind.prefix}-{datetime.now(UTC):%Y-%m-%d-%H-%M-%S-%f}.pem"
        private(file, certificate + key)
        link = self.folder / f"{self.kind.prefix}.new"
        link.unlink(missing_ok=True)
        link.symlink_to(file.name)
        link.replace(self.current)

    def first(self, api: Kube) -> None:
        """By a key that is kept meanwhile: whoever is started anew finds its own request. Raises Denied, OSError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.draft.exists():
            private(self.draft, new_key())
        key = self.draft.read_text()
        public = openssl("pkey", "-pubout", given=key)
        digest = hashlib.sha256(f"{public}{self.node}{self.kind.signer}".encode()).digest()
        name = f"node-csr-{base64.b32encode(digest).decode().rstrip('=').lower()}"
        try:
            self.obtain(api, key, {"name": name})
        except Denied:
            self.draft.unlink()
            raise
        self.draft.unlink()

    def renew(self, api: Kube) -> None:
        """Raises Denied, Answer, OSError."""
        self.obtain(api, new_key(), {"generateName": "csr-"})

    def obtain(self, api: Kube, key: str, meta: Json) -> None:
        spec = {
            "request": base64.b64encode(request(key, self.node, self.kind).encode()).decode(),
            "signerName": self.kind.signer,
            "usages": ["digital signature", self.kind.use],
        }
        thing = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
        try:
            made = api.ask("POST", REQUESTS, {**thing, "metadata": meta, "spec": spec})
        except Answer as answer:
            if answer.status != 409 or "name" not in meta:
                raise
            made = api.ask("GET", f"{REQUESTS}/{meta['name']}")
        name = made["metadata"]["name"]
        say(f"asks for a certificate of {self.kind.signer}: {name}")
        self.keep(awaited(api, made), key)
        say(f"has the certificate of {name}")


def awaited(api: Kube, made: Json) -> str:
    """The certificate in PEM, once it is signed. Raises Denied, Answer, OSError."""
    name, deadline = made["metadata"]["name"], time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        if certificate := _signed(made):
            return certificate
        for _, thing in api.watch(
            REQUESTS, made["metadata"]["resourceVersion"], {"fieldSelector": f"metadata.name={name}"}
        ):
            if certificate := _signed(thing):
                return certificate
        made = api.ask("GET", f"{REQUESTS}/{name}")
    raise Denied(f"{name}: nobody decided within {WAIT_SECONDS:.0f} s")


def _signed(thing: Json) -> str | None:
    status = thing.get("status") or {}
    for one in status.get("conditions") or []:
        if one["type"] in ("Denied", "Failed"):
            raise Denied(f"{thing['metadata']['name']} is {one['type'].lower()}: {one.get('message', '')}")
    encoded = status.get("certificate")
    return base64.b64decode(encoded).decode() if encoded else None
