"""People's certificates for SSH on the local cloud: given, listed, taken back; and the machines' bundles. In order."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from components.boot import people
from components.boot.certificates import listed, public_line, read
from fleet.logins import ISSUED, REVOKED
from fleet.world import current
from tests.support.cloud import Cloud, make
from tests.support.waiting import eventually

from ..certificates_bed import empty, refused, secret, stored

pytestmark = pytest.mark.cloud
WEST, EU = "us-west-2", "eu-west-1"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINOk5puLA41q4RMG4uMfUR+liE8kq7tWNAwN46qfVTGA alice@laptop"
FLEET = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
access: ssh
ssh: certificates
aws: {{account_id: "123456789012"}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b], laptops: true}}
  eu-west-1: {{cloud: aws, zones: [a]}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
pools:
  shell: {{kind: ssh, cluster: main, region: us-west-2, owner: lab, instance_type: g5.xlarge, gpus: 1, max: 2}}
  desk: {{kind: ssh, cluster: main, region: us-west-2, zones: [b], owner: lab, instance_type: g5.xlarge, gpus: 1, max: 2}}
teams:
  ops: {{gid: 2000}}
  lab: {{gid: 2001}}
people:
  alice: {{uid: 3001, team: ops, keys: ["{KEY}"]}}
  bob: {{uid: 3002, team: ops}}
  carol: {{uid: 3003, team: lab}}
"""


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = make(tmp_path_factory.mktemp("ssh"), FLEET)
    try:
        made.run("up", "--local", "--yes", WEST, EU, "main", f"{WEST}-laptops", "shell")
        yield made
    finally:
        made.stop()


@pytest.fixture
def folder(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands run, and certificates come to lie."""
    found = empty(cloud.fleet)
    monkeypatch.chdir(found)
    return found


def authority(cloud: Cloud, region: str = WEST) -> str:
    """Its public line, from the key in the secret."""
    return public_line(read(secret(cloud, region, "ssh/authority")))


def states(cloud: Cloud, person: str, region: str = WEST) -> list[str]:
    told = cloud.report("ssh", "list", "--local")["certificates"]
    return [one["state"] for one in told if (one["person"], one["region"]) == (person, region)]


def bundle(cloud: Cloud, name: str = "laptops/vpn-1") -> dict[str, str]:
    """Files that were published for a machine or a pool."""
    manifest = stored(cloud, WEST, f"test/{name}/manifest.json")
    version = json.loads(json.loads(manifest)["manifest"])["version"]
    return dict(json.loads(stored(cloud, WEST, f"test/{name}/{version}.json")))


def revoked_by(revoked: Path, certificate: Path) -> bool:
    words = ["ssh-keygen", "-Q", "-f", revoked, certificate]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "REVOKED" in done.stdout, done.stderr
    return done.returncode != 0


def told_of(file: Path) -> str:
    return subprocess.run(["ssh-keygen", "-L", "-f", file], capture_output=True, text=True, check=True).stdout


def mark(file: Path) -> str:
    """Of a public key."""
    words = ["ssh-keygen", "-l", "-f", file]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[1]


def test_mistakes_are_told_and_change_nothing(cloud: Cloud, folder: Path) -> None:
    assert "mallory is nobody of the fleet: fleet.yaml has alice, bob, carol" in refused(cloud, "ssh", "add", "mallory")
    assert "bob has no key in fleet.yaml. Name the .pub file that is meant with --key" in refused(
        cloud, "ssh", "add", "bob"
    )
    assert "has no region us-east-1. Its regions: us-west-2, eu-west-1" in refused(
        cloud, "ssh", "add", "alice", "--region", "us-east-1"
    )
    (folder / "private").write_text("-----BEGIN OPENSSH PRIVATE KEY-----")
    assert "is a PRIVATE key" in refused(cloud, "ssh", "add", "bob", "--key", "private")
    assert "is there already, and no certificate" in refused(
        cloud, "ssh", "add", "alice", "--region", WEST, "--output", "private"
    )
    assert "mallory had no certificate" in refused(cloud, "ssh", "revoke", "mallory", "--yes")
    assert cloud.report("ssh", "list", "--local") == {"certificates": []}


def test_a_person_gets_a_certificate_for_each_region(cloud: Cloud, folder: Path) -> None:
    given = cloud.report("ssh", "add", "alice", "--local")["certificates"]
    assert [one["region"] for one in given] == [WEST, EU]
    for one in given:
        file = Path(one["file"])
        assert file == folder / f"alice-{one['region']}-cert.pub"
        told = told_of(file)
        assert f'Key ID: "alice.{one["serial"]}"' in told
        assert f"Serial: {int(one['serial'], 16)}" in told
        assert [line.strip() for line in told.partition("Principals:")[2].splitlines()[1:2]] == ["alice"]
        assert "Critical Options: (none)" in told
        assert [line.strip() for line in told.partition("Extensions:")[2].splitlines()[1:]] == ["permit-pty"]
        left = datetime.fromisoformat(one["until"]) - datetime.now(UTC)
        assert timedelta(hours=9.9) < left <= timedelta(hours=10)
    assert states(cloud, "alice") == ["holds"]


def test_servers_trust_the_region_s_own_authority(cloud: Cloud, folder: Path) -> None:
    lines = {region: authority(cloud, region) for region in (WEST, EU)}
    assert lines[WEST] != lines[EU]
    files = bundle(cloud)
    assert files[people.AUTHORITY].split()[:2] == lines[WEST].split()[:2]
    assert f"TrustedUserCAKeys {people.AUTHORITY}\n" in files[people.SSHD]
    assert "AllowUsers alice bob\n" in files[people.SSHD], "also who has no key in the fleet file"
    assert not [path for path in files if path.startswith(people.KEYS)]
    assert not [text for text in files.values() if "PRIVATE KEY" in text]
    (folder / "signed.pub").write_text(told_of(folder / f"alice-{WEST}-cert.pub"))
    (folder / "authority.pub").write_text(files[people.AUTHORITY])
    assert mark(folder / "authority.pub") in (folder / "signed.pub").read_text(), "what signed is what is trusted"


def test_a_key_that_is_not_in_the_fleet_file(cloud: Cloud, folder: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", folder / "bob"], check=True)
    words = ("ssh", "add", "bob", "--key", "bob.pub", "--region", WEST, "--hours", "1", "--output", "bob-cert.pub")
    assert "Log in with: ssh -o CertificateFile=" in cloud.run(*words, "--local").stdout
    assert "ecdsa-sha2-nistp256-cert-v01@openssh.com" in told_of(folder / "bob-cert.pub")
    cloud.run(*words, "--local")
    assert states(cloud, "bob") == ["holds", "holds"], "the next day's lies where yesterday's lay"


def test_who_is_revoked_is_on_the_signed_list_and_others_are_not(cloud: Cloud, folder: Path) -> None:
    gone = cloud.report("ssh", "revoke", "bob", "--yes", "--local")["revoked"]
    assert (len(gone[WEST]), gone[EU]) == (2, [])
    files, text = bundle(cloud), stored(cloud, WEST, REVOKED)
    assert listed(text, files[people.AUTHORITY]).serials == set(gone[WEST])
    assert (states(cloud, "bob"), states(cloud, "alice")) == (["revoked", "revoked"], ["holds"])
    lists = cloud.home / f"local/machines/{WEST}"
    # All who let people in took it, by their rights and with OpenSSH's own tool.
    served = len(list(lists.glob(f"*/disk{people.AUTHORITY}")))
    assert served >= 2, "the servers for laptops, and machines of the control plane"
    eventually(lambda: len(list(lists.glob(f"*/disk{people.REVOKED}.json"))) == served)
    for file in lists.glob(f"*/disk{people.REVOKED}"):
        assert revoked_by(file, folder / "bob-cert.pub")
        assert not revoked_by(file, folder / f"alice-{WEST}-cert.pub")
    ledger: Any = json.loads(stored(cloud, WEST, ISSUED))
    assert "PRIVATE" not in json.dumps(ledger)


def test_vpn_revoke_ends_ssh_everywhere(cloud: Cloud, folder: Path) -> None:
    told = cloud.report("vpn", "revoke", "alice", "--yes", "--local")
    assert [len(told["ssh"][region]) for region in (WEST, EU)] == [1, 1]
    assert (states(cloud, "alice"), states(cloud, "alice", EU)) == (["revoked"], ["revoked"])


def test_control_planes_and_pools_trust_their_region_s_authority(cloud: Cloud) -> None:
    for name, who in (("main/main-etcd-1", "alice bob"), ("main/main-api-1", "alice bob"), ("main/shell", "carol")):
        files = bundle(cloud, name)
        assert files[people.AUTHORITY].strip() == authority(cloud)
        assert f"AllowUsers {who}\n" in files[people.SSHD]
        assert f"{people.UNITS}/{people.REVOKED_UNIT}" in files
        assert not [path for path in files if path.startswith(people.KEYS)]


def known(cloud: Cloud) -> dict[str, str]:
    return dict(cloud.report("ssh", "hosts", "--local")["known_hosts"])


def test_clients_know_every_machine_that_people_log_in_to(cloud: Cloud, folder: Path) -> None:
    lines = known(cloud)
    assert set(lines) == {"main", f"{WEST}-laptops", "shell"}
    assert len({line.split()[3] for line in lines.values()}) == 3, "each stack vouches for its own"
    assert "".join(lines.values()) == cloud.run("ssh", "hosts", "--local").stdout
    (folder / "known").write_text("".join(lines.values()))
    address = current(cloud.fleet).plan.region(WEST).zones["a"].addresses["main/etcd-1"]
    for name in (f"main-etcd-1.{WEST}.test.example.com", address, f"vpn-1.{WEST}.test.example.com"):
        found = subprocess.run(["ssh-keygen", "-F", name, "-f", folder / "known"], capture_output=True, text=True)
        assert "CA" in found.stdout, name


def test_machines_of_a_pool_are_known_by_their_addresses(cloud: Cloud, folder: Path) -> None:
    (folder / "config").write_text(cloud.run("ssh", "hosts", "--config", "--local").stdout)
    assert cloud.report("ssh", "hosts", "--local")["config"] == (folder / "config").read_text()
    zones = current(cloud.fleet).plan.region(WEST).zones
    network, pools = ip_network(zones["b"].private), f"pools.{WEST}.test.example.com"
    # Pools share subnets with each other and with control planes: of two entries for one address ssh takes the first.
    inside, outside, etcd = str(network[-2]), str(network[-1] + 1), zones["a"].addresses["main/etcd-1"]
    for address, host in ((inside, pools), (outside, outside), (etcd, etcd)):
        words = ["ssh", "-G", "-F", folder / "config", address]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
        found = dict(line.split(" ", 1) for line in told if " " in line)
        assert found.get("hostkeyalias", address) == host
    assert known(cloud)["shell"].split()[1] == pools


SIGNED = [("main/main-api-1", "main"), ("laptops/vpn-1", f"{WEST}-laptops"), ("main/shell", "shell")]


@pytest.mark.parametrize(("name", "stack"), SIGNED)
def test_what_a_machine_shows_was_signed_by_its_stack(cloud: Cloud, folder: Path, name: str, stack: str) -> None:
    (folder / "shown-cert.pub").write_text(bundle(cloud, name)[people.HOST_CERTIFICATE])
    told = told_of(folder / "shown-cert.pub")
    assert "host certificate" in told
    assert "Valid: forever" in told
    (folder / "authority.pub").write_text(" ".join(known(cloud)[stack].split()[2:]))
    assert mark(folder / "authority.pub") in told
    principals = told.partition("Principals:")[2].partition("Critical")[0].split()
    assert ",".join(principals) in known(cloud)[stack].split()[1]
    assert "PRIVATE KEY" in json.loads(secret(cloud, WEST, name))[people.HOST_KEY]


def test_machines_have_the_key_of_what_they_show(cloud: Cloud) -> None:
    """By the files that they have written themselves."""
    found = list((cloud.home / f"local/machines/{WEST}").glob(f"*/disk{people.HOST_KEY}"))
    assert len(found) >= 2
    for key in found:
        assert key.stat().st_mode & 0o777 == 0o600
        words = ["ssh-keygen", "-y", "-f", key]
        public = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[1]
        (key.parent / "own.pub").write_text(f"ssh-ed25519 {public}\n")
        shown = f"Public key: ED25519-CERT {mark(key.parent / 'own.pub')}"
        assert shown in told_of(key.parent / Path(people.HOST_CERTIFICATE).name)


def test_no_state_has_a_key_in_plain(cloud: Cloud) -> None:
    states = list(cloud.home.glob("**/.pulumi/stacks/landbridge/*.json"))
    assert {"main.json", "shell.json"} <= {file.name for file in states}
    for file in states:
        text = file.read_text()
        assert "PRIVATE KEY" not in text, file
