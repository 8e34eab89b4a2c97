"""A whole rotation of every key on the real control plane, and one taken back: under steady calls, none fails."""

import base64
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography import x509

from components.control_plane.bundle import bundle
from components.control_plane.machines import ClusterSpec, Machine, cluster_spec
from components.control_plane.pki import CLIENT, Certificate, Generations
from components.control_plane.rotation import BACK, ON, SUBJECTS, Way, all_generations, following, refusals, settled
from fleet.rotations import Standing
from fleet.world import current
from local.providers import tls
from tests.components.control_plane.bed import ROOT, Bed, eventually, make
from tests.support.pki import Vault

pytestmark = pytest.mark.timeout(1500)
RATE = 50
# etcd's members, the follower first that the roll would take first, then API machines.
API_UNITS = ("kube-scheduler.service", "kube-controller-manager.service", "kube-apiserver.service")
ETCD_UNITS = ("etcd-main.service", "etcd-events.service")
# The balancer asks every 10 s and a server therefore goes on for 25 s; the stand-in asks twice a second.
DELAY = {"--shutdown-delay-duration=25s": "--shutdown-delay-duration=2s"}
ASK = "curl --silent --output /dev/null --write-out '%{http_code}' --cacert /etc/kubernetes/pki/ca.crt"


def hurried(files: dict[str, str]) -> dict[str, str]:
    return {path: replaced(text) for path, text in files.items()}


def replaced(text: str) -> str:
    for old, new in DELAY.items():
        text = text.replace(old, new)
    return text


class Client(NamedTuple):
    """Steady calls, in a process inside the bed's namespace."""

    bed: Bed
    folder: Path

    def credential(self, authorities: str, pair: tuple[str, str]) -> None:
        """What a kubeconfig that is written anew brings."""
        for name, text in (("ca.crt", authorities), ("client.crt", pair[0]), ("client.key", pair[1])):
            (self.folder / name).write_text(text)
        (self.folder / "changed").write_text(str(time.monotonic()))

    def start(self) -> None:
        spec = self.bed.spec
        for name in ("stop", "report.json"):
            (self.folder / name).unlink(missing_ok=True)
        told = {"servers": [machine.address for machine in spec.api], "host": spec.endpoint, "rate": RATE}
        (self.folder / "steady.json").write_text(json.dumps(told))
        argv = [sys.executable, "-m", "tests.support.steady", str(self.folder)]
        # Its own output goes nowhere: the host answers tests on the same pipe.
        code = "import subprocess; result = subprocess.Popen(argv, stdout=subprocess.DEVNULL).pid"
        self.bed.host(code, argv=argv)

    def stop(self) -> dict[str, Any]:
        (self.folder / "stop").touch()
        report = self.folder / "report.json"
        eventually(report.exists, 40)
        return dict(json.loads(report.read_text()))


class Rotation:
    """The cluster, its keys, and where these are."""

    def __init__(self, bed: Bed, vault: Vault, client: Client) -> None:
        self.bed, self.vault, self.client = bed, vault, client
        self.standings = dict.fromkeys(SUBJECTS, Standing())
        self.seconds: dict[str, float] = {}

    @property
    def at(self) -> dict[str, Generations]:
        return all_generations(self.standings)

    @contextmanager
    def steady(self) -> Iterator[dict[str, Any]]:
        """Calls all the while, of which none may fail; where anything else goes wrong meanwhile, both are told."""
        found: dict[str, Any] = {}
        self.seconds = {}
        self.new_client()
        self.client.start()
        try:
            yield found
        except AssertionError as error:
            failed = self.client.stop()["failures"]
            raise AssertionError(f"{len(failed)} calls failed: {failed[:3]}; {self.seconds}: {error}") from error
        found |= self.client.stop()
        assert found["failures"] == []
        assert found["calls"] > 0.9 * RATE * found["seconds"]
        lost = {name: number for name, number in found["written"].items() if number > kept(self, name)}
        assert lost == {}

    def step(self, name: str, way: Way = ON) -> None:
        """Every key into its next phase, and every machine, one at a time."""
        before = self.at
        self.standings = {key: settled(following(at, way), datetime.now(UTC)) for key, at in self.standings.items()}
        assert refusals(before, self.at) == []  # as the stack would
        begun, made = time.monotonic(), self.vault.material(self.at)
        for machine in self.bed.spec.machines:
            one = bundle(self.bed.spec, machine, made)
            self.replace(machine, hurried({**one.files, **one.keys}))
        self.seconds[name] = round(time.monotonic() - begun, 1)

    def replace(self, machine: Machine, files: dict[str, str]) -> None:
        """What a successor differs in: it stops, has another bundle, starts, and is healthy before the next."""
        box, units = self.bed[machine.name], ETCD_UNITS if machine.role == "etcd" else API_UNITS
        if machine.role == "etcd":
            self.hand_over(machine)
        assert box.ctl("stop", *units).code == 0
        for path, text in files.items():
            (box.disk / path.lstrip("/")).write_text(text)
        assert box.ctl("start", *units).code == 0, box.log(units[-1])[-3000:]
        if machine.role == "etcd":
            for ring in ("main", "events"):
                eventually(lambda ring=ring: self.healthy(machine, ring), 30)
        else:
            eventually(lambda: box.sh(f"{ASK} https://127.0.0.1:6443/readyz").out == "200", 60)
            time.sleep(1)  # the balancer has to see it

    def healthy(self, machine: Machine, ring: str) -> bool:
        told = self.bed.etcdctl(ring, "endpoint health --cluster --write-out=json || true", by=machine.name)
        return [one["health"] for one in json.loads(told or "[]")] == [True] * 3

    def hand_over(self, machine: Machine) -> None:
        for ring in ("main", "events"):
            told = json.loads(self.bed.etcdctl(ring, "endpoint status --cluster --write-out=json", by=machine.name))
            members = {str(one["Endpoint"]).removeprefix("https://").partition(".")[0]: one["Status"] for one in told}
            lead = members[machine.name]["leader"]
            if members[machine.name]["header"]["member_id"] == lead:
                other = next(s["header"]["member_id"] for name, s in members.items() if name != machine.name)
                self.bed.etcdctl(ring, f"move-leader {other:x}", by=machine.name)

    def new_client(self) -> None:
        at = self.at["kubernetes"]
        trusted = "".join(self.vault.authority("kubernetes", number)[0] for number in at.ordered)
        self.client.credential(trusted, self.vault.leaf(CALLER, at.signing))

    def answer(self, by: str, *words: str) -> str:
        """The status that the API gives somebody."""
        return self.bed[by].sh(f"{ASK} {' '.join(words)} https://127.0.0.1:6443/api").out


CALLER = Certificate("caller", "kubernetes", "caller", CLIENT, "", organization="system:masters")


@pytest.fixture(scope="module")
def spec() -> ClusterSpec:
    world = current(ROOT / "fleet.yaml")
    return cluster_spec(world.fleet, world.plan, "main")


@pytest.fixture(scope="module")
def rotation(tmp_path_factory: pytest.TempPathFactory, spec: ClusterSpec) -> Iterator[Rotation]:
    folder, vault = tmp_path_factory.mktemp("rotation"), Vault(spec)
    bed = make(folder, made=vault.material(all_generations({})), patched=hurried)
    try:
        bed.ready()
        (folder / "client").mkdir()
        yield Rotation(bed, vault, Client(bed, folder / "client"))
    finally:
        bed.host.close()


def laid(rotation: Rotation, name: str, pair: tuple[str, str]) -> str:
    for machine in rotation.bed.spec.api:
        for suffix, text in zip((".crt", ".key"), pair, strict=True):
            (rotation.bed[machine.name].disk / f"srv/{name}{suffix}").write_text(text)
    return f"--cert /srv/{name}.crt --key /srv/{name}.key"


def bearer(token: str) -> str:
    return f"--header 'Authorization: Bearer {token}'"


def written_with(rotation: Rotation, generation: int) -> set[str]:
    """Which Secrets in etcd lie under a key."""
    keys = rotation.bed.etcdctl("main", "get /registry/secrets/ --prefix --keys-only").split()
    head = f"k8s:enc:secretbox:v1:key-{generation}:".encode()
    return {
        key
        for key in keys
        if bytes.fromhex(
            rotation.bed.etcdctl("main", f"get {key} --print-value-only --hex").replace("\\x", "").strip()
        ).startswith(head)
    }


def told(what: str, rotation: Rotation, found: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    figures = {key: found[key] for key in ("calls", "reads", "writes", "retries", "slowest", "reasons")}
    whole = {"failures": len(found["failures"]), "rolls": rotation.seconds, "seconds": found["seconds"]}
    with capsys.disabled():
        sys.stdout.write(f"\n{what}: {json.dumps({**figures, **whole})}\n")


def test_a_rotation_of_every_key_fails_no_call_and_ends_what_the_old_keys_opened(
    rotation: Rotation, capsys: pytest.CaptureFixture[str]
) -> None:
    bed = rotation.bed
    maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"steady-{n}"}} for n in range(24)]
    bed.kube("create", "-f", bed.lay("maps.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": maps})))
    bed.kube("create", "secret", "generic", "probe", "--from-literal=word=open-sesame")
    eventually(lambda: bed.kubectl("get", "serviceaccount", "default").code == 0)
    old_token = bed.kube("create", "token", "default").strip()
    old = laid(rotation, "old", rotation.vault.leaf(CALLER, 1))
    with rotation.steady() as found:
        goes_round(rotation, old, old_token)
    told("a rotation of every key", rotation, found, capsys)


def goes_round(rotation: Rotation, old: str, old_token: str) -> None:
    bed, api = rotation.bed, [machine.name for machine in rotation.bed.spec.api]
    rotation.step("trust")
    assert {rotation.answer(name, bearer(old_token)) for name in api} == {"200"}
    rotation.new_client()

    rotation.step("issue")
    new = laid(rotation, "new", rotation.vault.leaf(CALLER, 2))
    laid(rotation, "admin", rotation.vault.leaf(CALLER, 2))  # the tests' own
    assert {rotation.answer(name, who) for name in api for who in (old, new, bearer(old_token))} == {"200"}
    rotation.new_client()
    new_token = bed.kube("create", "token", "default").strip()
    assert {rotation.answer(name, bearer(new_token)) for name in api} == {"200"}
    ask_to_be_signed(rotation, "probe")
    assert "/registry/secrets/default/probe" in written_with(rotation, 1)
    rewrite(rotation)
    assert not written_with(rotation, 1)
    eventually(lambda: issuer_of_what_was_signed(rotation, "probe") == "main-kubernetes-2", 40)

    before = renewed(rotation)
    rotation.step("drop")
    assert all(serial(rotation, name) != number for name, number in before.items())
    for name in api:
        assert rotation.answer(name, old) == "401"
        assert rotation.answer(name, bearer(old_token)) == "401"
        assert rotation.answer(name, new) == "200"
        assert rotation.answer(name, bearer(new_token)) == "200"
        assert bed.kube("get", "secret", "probe", "-o", "jsonpath={.data.word}", by=name) == "b3Blbi1zZXNhbWU="
    refused_by_etcd(rotation)


def test_a_rotation_taken_back_fails_no_call_and_keeps_what_was_written_meanwhile(
    rotation: Rotation, capsys: pytest.CaptureFixture[str]
) -> None:
    old_token = rotation.bed.kube("create", "token", "default").strip()
    with rotation.steady() as found:
        goes_back(rotation, old_token)
    told("every key taken back", rotation, found, capsys)


def goes_back(rotation: Rotation, old_token: str) -> None:
    """From generation 2 to 3 and, after 3 has signed, back to 2."""
    bed, api = rotation.bed, [machine.name for machine in rotation.bed.spec.api]
    old = laid(rotation, "old", rotation.vault.leaf(CALLER, 2))
    for phase in ("trust", "issue"):
        rotation.step(phase)
        rotation.new_client()
    new = laid(rotation, "new", rotation.vault.leaf(CALLER, 3))
    new_token = bed.kube("create", "token", "default").strip()
    bed.kube("create", "secret", "generic", "late", "--from-literal=word=open-sesame")
    assert "/registry/secrets/default/late" in written_with(rotation, 3)

    rotation.step("back", BACK)
    rotation.new_client()
    everybody = (old, new, bearer(old_token), bearer(new_token))
    assert {rotation.answer(name, who) for name in api for who in everybody} == {"200"}
    ask_to_be_signed(rotation, "late")
    rewrite(rotation)
    assert not written_with(rotation, 3)
    eventually(lambda: issuer_of_what_was_signed(rotation, "late") == "main-kubernetes-2", 40)

    rotation.step("given up", BACK)
    assert {standing.phase for standing in rotation.standings.values()} == {"steady"}
    for name in api:
        assert {rotation.answer(name, who) for who in (old, bearer(old_token))} == {"200"}
        assert {rotation.answer(name, who) for who in (new, bearer(new_token))} == {"401"}
        for secret in ("probe", "late"):
            read = bed.kube("get", "secret", secret, "-o", "jsonpath={.data.word}", by=name)
            assert read == "b3Blbi1zZXNhbWU="


def rewrite(rotation: Rotation) -> None:
    bed = rotation.bed
    bed.kube("replace", "-f", bed.lay("secrets.json", bed.kube("get", "secrets", "-A", "-o", "json")))


def kept(rotation: Rotation, name: str) -> int:
    return int(rotation.bed.kube("get", "configmap", name, "-o", "jsonpath={.data.number}"))


REQUEST = "certificates.k8s.io/v1"


def ask_to_be_signed(rotation: Rotation, name: str) -> None:
    """A certificate from the controllers, as kubelets ask for theirs."""
    key = tls._private_key({"algorithm": "ECDSA", "ecdsaCurve": "P256"})[1]["privateKeyPem"]
    asked = tls._request({"privateKeyPem": key, "subject": {"commonName": "somebody"}})[1]["certRequestPem"]
    request = {
        "apiVersion": REQUEST,
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {
            "request": base64.b64encode(asked.encode()).decode(),
            "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth"],
        },
    }
    rotation.bed.kube("create", "-f", rotation.bed.lay("request.json", json.dumps(request)))
    rotation.bed.kube("certificate", "approve", name)


def issuer_of_what_was_signed(rotation: Rotation, name: str) -> str:
    told = rotation.bed.kube("get", "csr", name, "-o", "jsonpath={.status.certificate}")
    if not told:
        return ""
    certificate = x509.load_pem_x509_certificate(base64.b64decode(told))
    return str(certificate.issuer.rfc4514_string().removeprefix("CN="))


def refused_by_etcd(rotation: Rotation) -> None:
    """The old authority's operators, at both rings."""
    bed, machine = rotation.bed, rotation.bed.spec.etcd[0]
    wish = Certificate("old-operator", "etcd-clients", "old-operator", CLIENT, "")
    for suffix, text in zip((".crt", ".key"), rotation.vault.leaf(wish, 1), strict=True):
        (bed[machine.name].disk / f"srv/old{suffix}").write_text(text)
    for port in (2379, 2381):
        flags = "--cacert=/etc/etcd/pki/clients-ca.crt --cert=/srv/old.crt --key=/srv/old.key --command-timeout=3s"
        said = bed[machine.name].sh(f"etcdctl {flags} --endpoints=https://127.0.0.1:{port} get x")
        assert said.code != 0


def renewed(rotation: Rotation) -> dict[str, str]:
    """Two machines' certificates and the caller's are made anew by the authority that signed those they have.

    As before their end: these are still good. Gives what the machines show as yet; their next bundle has the new ones.
    """
    machines = (rotation.bed.spec.etcd[0].name, rotation.bed.spec.api[0].name)
    for name, number in list(rotation.vault.leaves):
        if name.startswith((*machines, CALLER.name)):
            del rotation.vault.leaves[name, number]
    rotation.new_client()
    return {name: serial(rotation, name) for name in machines}


def serial(rotation: Rotation, name: str) -> str:
    """Of the certificate that a machine shows whoever connects."""
    port, ca = ("2379", "/etc/etcd/pki/clients-ca.crt") if "etcd" in name else ("6443", "/etc/kubernetes/pki/ca.crt")
    machine = next(machine for machine in rotation.bed.spec.machines if machine.name == name)
    code = f"""
    import socket, ssl
    context = ssl.create_default_context(cafile={str(rotation.bed[name].disk) + ca!r})
    raw = socket.create_connection(({machine.address!r}, {port}), 5)
    line = context.wrap_socket(raw, server_hostname={machine.host!r})
    result = line.getpeercert()["serialNumber"]
    line.close()
    """
    return str(rotation.bed.host(code))
