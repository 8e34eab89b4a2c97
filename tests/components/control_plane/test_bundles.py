"""Bundles of the example cluster: golden files, and what must hold for every machine of every size."""

import datetime
import ipaddress
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from components.control_plane import etcd
from components.control_plane.bundle import Bundle, Material, bundle, digests, manifest, version
from components.control_plane.machines import ClusterSpec, cluster_spec
from components.control_plane.profiles import PROFILES
from components.control_plane.rotation import SUBJECTS, all_generations
from components.control_plane.units import SCRIPTS
from fleet.address.plan import draft
from fleet.model import Fleet
from fleet.rotations import Standing
from fleet.world import current
from tests.support import golden
from tests.support.pki import Vault, material

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
DAY = datetime.date(2026, 1, 1)


def varied(fleet: Fleet, **changes: object) -> ClusterSpec:
    main = fleet.clusters["main"].model_copy(update=changes)
    changed = fleet.model_copy(update={"clusters": {"main": main}})
    plan = draft(changed, None, DAY)
    assert not plan.refusals
    return cluster_spec(changed, plan.plan, "main")


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return current(ROOT / "fleet.yaml").fleet


@pytest.fixture(scope="module")
def spec() -> ClusterSpec:
    world = current(ROOT / "fleet.yaml")
    return cluster_spec(world.fleet, world.plan, "main")


@pytest.fixture(scope="module")
def made(spec: ClusterSpec) -> Material:
    return material(spec)


def bundles(spec: ClusterSpec, made: Material) -> dict[str, Bundle]:
    return {machine.name: bundle(spec, machine, made) for machine in (*spec.etcd, *spec.api)}


def masked(one: Bundle) -> dict[str, object]:
    """Files as lines for a person to read; certificates, keys and scripts by their place alone."""
    files: dict[str, object] = {path: lines(path, text) for path, text in one.files.items()}
    return {"files": files, "keys": sorted(one.keys)}


def lines(path: str, text: str) -> object:
    if text.startswith("-----BEGIN"):
        return "<certificate>"
    if path.startswith(SCRIPTS):
        return "<script>"
    return text.splitlines()


@pytest.mark.golden
@pytest.mark.parametrize("name", ["main-etcd-1", "main-api-1"])
def test_a_machine_s_bundle(spec: ClusterSpec, made: Material, name: str) -> None:
    golden.compare(HERE / f"golden/{name}.yaml", masked(bundles(spec, made)[name]))


@pytest.mark.golden
def test_a_bundle_of_the_largest_profile_with_five_members(fleet: Fleet) -> None:
    large = varied(fleet, size="large", etcd_members=5, api_servers=5)
    found = bundles(large, material(large))
    assert len(found) == 10
    golden.compare(HERE / "golden/large.api-5.yaml", masked(found["main-api-5"]))
    golden.compare(HERE / "golden/large.etcd-5.yaml", masked(found["main-etcd-5"]))


def test_no_file_outside_the_keys_holds_a_private_key(spec: ClusterSpec, made: Material) -> None:
    secrets = [
        *made.keys.values(),
        *made.authority_keys.values(),
        made.service_accounts[1],
        *made.encryption_keys.values(),
    ]
    for one in bundles(spec, made).values():
        assert one.files.keys().isdisjoint(one.keys)
        for text in one.files.values():
            assert not any(secret in text for secret in secrets)
            assert "PRIVATE KEY" not in text


def test_a_machine_gets_its_own_keys_alone(spec: ClusterSpec, made: Material) -> None:
    shared = {
        "/etc/kubernetes/pki/ca.key",
        "/etc/kubernetes/pki/service-accounts.key",
        "/etc/kubernetes/encryption.json",
    }
    seen: dict[str, str] = {}
    for name, one in bundles(spec, made).items():
        for path, text in one.keys.items():
            if path not in shared:
                assert seen.setdefault(text, name) == name
        if "etcd" in name:
            assert not shared & one.keys.keys(), "etcd machines can't speak for Kubernetes"


def test_keys_fit_the_secrets_stores_of_both_clouds(spec: ClusterSpec, made: Material) -> None:
    for one in bundles(spec, made).values():
        assert sum(map(len, one.keys.values())) < 25_000


def test_the_manifest_vouches_for_every_file(spec: ClusterSpec, made: Material) -> None:
    one = bundles(spec, made)["main-etcd-1"]
    told = json.loads(manifest("example/main/main-etcd-1", digests(one), "v-1"))
    assert told["files"].keys() == one.files.keys()
    assert {entry["mode"] for entry in told["keys"].values()} == {"0600"}
    assert (told["prefix"], told["secret_version"]) == ("example/main/main-etcd-1", "v-1")
    assert told["version"] == version(digests(one)), "the same bundle has the same version"
    changed = one._replace(files={**one.files, "/etc/etcd/main.json": "{}"})
    assert version(digests(changed)) != told["version"]


@pytest.mark.parametrize("size", PROFILES)
def test_members_know_each_other_and_nobody_else(fleet: Fleet, size: str) -> None:
    spec = varied(fleet, size=size, etcd_members=5)
    ports = {port for ring in etcd.RINGS for port in (ring.client_port, ring.peer_port, ring.metrics_port)}
    assert len(ports) == 6
    for machine in spec.etcd:
        for ring in etcd.RINGS:
            told = etcd.config(spec, machine, ring)
            members = str(told["initial-cluster"]).split(",")
            assert len(members) == 5
            assert f"{machine.name}={told['initial-advertise-peer-urls']}" in members


def test_every_defragmentation_has_an_hour_of_its_own(fleet: Fleet) -> None:
    spec = varied(fleet, etcd_members=5)
    timers = [
        text
        for m in spec.etcd
        for path, text in etcd.files(spec, m).items()
        if "defrag" in path and path.endswith(".timer")
    ]
    assert len(set(timers)) == len(timers) == 10


def test_certificates_carry_exact_names_and_one_use(spec: ClusterSpec, made: Material) -> None:
    serving = x509.load_pem_x509_certificate(made.certificates["main-api-1-apiserver"].encode())
    names = serving.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "main.us-west-2.fleet.example.com" in names.get_values_for_type(x509.DNSName)
    assert ipaddress.ip_address("10.129.0.1") in names.get_values_for_type(x509.IPAddress)
    assert all(ipaddress.ip_address(a) in names.get_values_for_type(x509.IPAddress) for a in spec.balancer.values())
    used = serving.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(used) == [ExtendedKeyUsageOID.SERVER_AUTH]
    peer = x509.load_pem_x509_certificate(made.certificates["main-etcd-1-main-peer"].encode())
    events_peers = x509.load_pem_x509_certificate(made.authorities["etcd-events-peers"].encode())
    with pytest.raises(Exception, match=r"."):
        peer.verify_directly_issued_by(events_peers)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_agrees_with_every_unit(spec: ClusterSpec, made: Material, tmp_path: Path) -> None:
    """Only programs may be missing: they come with the image."""
    for name, one in bundles(spec, made).items():
        folder = tmp_path / name
        folder.mkdir()
        units = []
        for path, text in one.files.items():
            if path.startswith("/etc/systemd/system/"):
                units.append(folder / Path(path).name)
                units[-1].write_text(text)
        command = ["systemd-analyze", "verify", "--man=no", *map(str, units)]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        wrong = [line for line in told.splitlines() if str(folder) in line or folder.name in line]
        assert not [line for line in wrong if "is not executable" not in line], told


def test_in_a_rotation_all_are_trusted_and_one_signs(spec: ClusterSpec) -> None:
    vault, machine = Vault(spec), spec.api[0]
    issue = dict.fromkeys(SUBJECTS, Standing(phase="issue"))
    one = bundle(spec, machine, vault.material(all_generations(issue)))
    pki = "/etc/kubernetes/pki"
    first, second = (vault.authority("kubernetes", number) for number in (1, 2))
    assert one.files[f"{pki}/ca.crt"] == second[0] + first[0]
    # kube-controller-manager ends with "expected 1 certificate, found 2" where the file of its key has two.
    assert one.files[f"{pki}/ca-signing.crt"] == second[0]
    assert one.keys[f"{pki}/ca.key"] == second[1]
    accounts = [vault.service_accounts(number) for number in (2, 1)]
    assert one.files[f"{pki}/service-accounts.pub"] == accounts[0][0] + accounts[1][0]
    assert one.keys[f"{pki}/service-accounts.key"] == accounts[0][1]
    secretbox = json.loads(one.keys["/etc/kubernetes/encryption.json"])["resources"][0]["providers"][0]["secretbox"]
    assert secretbox["keys"] == [{"name": f"key-{n}", "secret": vault.encryption(n)} for n in (2, 1)]
    flags = one.files["/etc/systemd/system/kube-controller-manager.service"]
    assert f"--cluster-signing-cert-file={pki}/ca-signing.crt" in flags
    assert f"--root-ca-file={pki}/ca.crt" in flags
