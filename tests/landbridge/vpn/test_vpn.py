"""People's profiles on the local cloud: given, listed, taken back; and the servers there hear of it. In order."""

import json
import stat
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from components.links.laptops.authority import listed
from landbridge.certificates import ledger as ledgers
from landbridge.certificates.ledger import Issued, Ledger
from tests.support.cloud import Cloud, make
from tests.support.waiting import eventually

from ..certificates_bed import empty, refused, secret, stored

pytestmark = pytest.mark.cloud
WEST, EU = "us-west-2", "eu-west-1"
FLEET = """\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b], laptops: true}
  eu-west-1: {cloud: aws, zones: [a], laptops: true}
  us-east-1: {cloud: aws, zones: [a]}
clusters:
  main: {region: us-west-2, kubernetes: 1.36.2}
teams:
  ops: {gid: 2000}
people:
  alice: {uid: 3001, team: ops}
  bob: {uid: 3002, team: ops}
  carol: {uid: 3003, team: ops}
  dave: {uid: 3004, team: ops}
"""
PUT = 'client("s3", "us-west-2").put_object(Bucket="test-us-west-2-123456789012", Key="laptops/revoked.pem", Body=open("{file}").read())'
WAITS = "waits: /dev/net/tun is missing: this machine can't have tunnels"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = make(tmp_path_factory.mktemp("vpn"), FLEET)
    try:
        made.run("up", "--local", "--yes", WEST, EU, "main", f"{WEST}-laptops", f"{EU}-laptops")
        yield made
    finally:
        made.stop()


@pytest.fixture
def folder(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands run, and profiles come to lie."""
    found = empty(cloud.fleet)
    monkeypatch.chdir(found)
    return found


def certificates(cloud: Cloud, person: str, region: str = WEST) -> dict[str, str]:
    """Serials by what they are."""
    told = cloud.report("vpn", "list", "--local")["certificates"]
    return {one["serial"]: one["state"] for one in told if (one["person"], one["region"]) == (person, region)}


def authority(cloud: Cloud, region: str = WEST) -> dict[str, str]:
    return dict(json.loads(secret(cloud, region, "laptops/authority")))


def published(cloud: Cloud, region: str = WEST) -> Any:
    text = stored(cloud, region, "laptops/revoked.pem")
    return listed(text, authority(cloud, region)["crt"])


def on_machines(cloud: Cloud, path: str, region: str = WEST) -> list[str]:
    files = sorted((cloud.home / f"local/machines/{region}").glob(f"*/disk/{path}"))
    return [file.read_text() for file in files]


def test_nobody_has_one_at_first(cloud: Cloud) -> None:
    assert "Nobody has a profile yet" in cloud.run("vpn", "list", "--local").stdout
    assert "Nothing ends within 30 days" in cloud.run("vpn", "expiring", "--local").stdout


def test_mistakes_are_told_and_change_nothing(cloud: Cloud, folder: Path) -> None:
    assert "mallory is nobody of the fleet: fleet.yaml has alice, bob, carol, dave" in refused(
        cloud, "vpn", "add", "mallory"
    )
    assert "Those that have: us-west-2, eu-west-1" in refused(cloud, "vpn", "add", "alice", "--region", "us-east-1")
    (folder / "taken.ovpn").write_text("mine")
    said = refused(cloud, "vpn", "add", "alice", "--region", WEST, "--output", "taken.ovpn")
    assert "taken.ovpn is there already" in said
    assert "mallory never had a certificate" in refused(cloud, "vpn", "revoke", "mallory", "--yes")
    assert (folder / "taken.ovpn").read_text() == "mine"
    assert [file.name for file in folder.iterdir()] == ["taken.ovpn"]
    assert cloud.report("vpn", "list", "--local") == {"certificates": []}


def test_servers_wait_for_the_first_list_and_say_so(cloud: Cloud) -> None:
    """They booted their bundles; a local machine has no TUN device, which is told beside it."""
    log = "var/log/units/landbridge-laptops.service.log"
    eventually(lambda: len(on_machines(cloud, log)) == 2 and all(WAITS in text for text in on_machines(cloud, log)))
    for text in on_machines(cloud, log):
        assert "there is no list of revoked certificates yet: the first `landbridge vpn add` makes it" in text
        assert text.count(WAITS) == 1, "once, however long it takes"


def test_a_person_gets_a_profile_for_each_region_for_their_eyes_alone(cloud: Cloud, folder: Path) -> None:
    told = cloud.report("vpn", "add", "alice", "--local")["profiles"]
    assert [one["region"] for one in told] == [WEST, EU]
    for one in told:
        file = Path(one["file"])
        assert file == folder / f"alice-{one['region']}.ovpn"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        parts = {name: part(file.read_text(), name) for name in ("ca", "cert", "key", "tls-crypt-v2")}
        assert parts["ca"].strip() == authority(cloud, one["region"])["crt"].strip()
        for name in ("ca", "cert"):
            (folder / name).write_text(parts[name])
        done = subprocess.run(
            ["openssl", "verify", "-purpose", "sslclient", "-CAfile", "ca", "cert"], cwd=folder, check=False
        )
        assert done.returncode == 0
        left = datetime.fromisoformat(one["until"]) - datetime.now(UTC)
        assert timedelta(days=89.9) < left <= timedelta(days=90)
        public = [line.split()[1] for line in file.read_text().splitlines() if line.startswith("remote ")]
        assert public == addresses(cloud, one["region"])


def part(text: str, name: str) -> str:
    return text.partition(f"<{name}>\n")[2].partition(f"</{name}>")[0]


def addresses(cloud: Cloud, region: str) -> list[str]:
    """Public ones of the servers' interfaces, as the cloud has them."""
    code = (
        f'found = client("ec2", "{region}").describe_network_interfaces()["NetworkInterfaces"]\n'
        'told = {n["Description"]: n["Association"]["PublicIp"] for n in found if n["Description"].startswith("Laptops")}\n'
        'assert not [n for n in found if n["Description"].startswith("Laptops") and n["SourceDestCheck"]]\n'
        "print(*(told[name] for name in sorted(told)))"
    )
    return cloud.python(code).split()


def test_keys_stand_in_the_secret_and_the_profile_and_nowhere_else(cloud: Cloud, folder: Path) -> None:
    kept, profile = authority(cloud), (folder / f"alice-{WEST}.ovpn").read_text()
    state = (cloud.home / f"local/test/state/.pulumi/stacks/landbridge/{WEST}-laptops.json").read_text()
    ledger = stored(cloud, WEST, "laptops/issued.json")
    assert kept["crt"].splitlines()[1] in state, "what is public can be found there"
    for text in (kept["key"].splitlines()[1], kept["wrapping"]):
        assert text not in state
        assert text not in ledger
        assert text not in profile
    for name in ("key", "tls-crypt-v2"):
        assert part(profile, name).splitlines()[1] not in state + ledger
    assert [one["person"] for one in json.loads(ledger)["issued"]] == ["alice"]


def test_who_has_one_gets_another_only_when_told(cloud: Cloud, folder: Path) -> None:
    said = refused(cloud, "vpn", "add", "alice", "--region", WEST, "--output", "again.ovpn")
    assert "alice has certificate" in said
    assert "--renew" in said
    assert not (folder / "again.ovpn").exists()
    cloud.run("vpn", "add", "alice", "--renew", "--days", "10", "--region", WEST, "--output", "again.ovpn", "--local")
    assert list(certificates(cloud, "alice").values()) == ["holds", "holds"]


def test_a_revoked_one_is_on_the_servers_within_a_minute(cloud: Cloud) -> None:
    first, second = certificates(cloud, "alice")
    assert "no certificate 42 that counts" in refused(cloud, "vpn", "revoke", "alice", "--serial", "42", "--yes")
    assert "To agree: --yes" in refused(cloud, "vpn", "revoke", "alice", code=4)
    cloud.run("vpn", "revoke", "alice", "--serial", first, "--yes", "--local")
    assert certificates(cloud, "alice") == {first: "revoked", second: "holds"}
    assert published(cloud).serials == {first}
    place, crt = "var/lib/landbridge/laptops/revoked.pem", authority(cloud)["crt"]
    eventually(lambda: [listed(text, crt).serials for text in on_machines(cloud, place)] == [{first}] * 2)
    assert published(cloud, EU).serials == set()


def test_what_ends_soon_is_an_error(cloud: Cloud) -> None:
    found = cloud.report("vpn", "expiring", "--local", code=1)["expiring"]
    assert [one["what"].split()[-1] for one in found] == ["alice"], "ten days"
    within_year = cloud.run("vpn", "expiring", "--within", "366", "--local", code=1).stdout
    for words in ("list of revoked certificates ends", "certificate of server vpn-2 ends", "alice ends"):
        assert words in within_year
    assert cloud.run("vpn", "expiring", "--within", "5", "--local").returncode == 0


def test_many_at_once_lose_nothing(cloud: Cloud, folder: Path) -> None:
    words = ("vpn", "add", "--local", "--region", WEST)
    running = [cloud.start(*words, person) for person in ("bob", "carol", "dave")]
    running.append(cloud.start("vpn", "revoke", "alice", "--yes", "--local", "--region", WEST))
    for one in running:
        _, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
    assert [list(certificates(cloud, name).values()) for name in ("bob", "carol", "dave")] == [["holds"]] * 3
    gone = certificates(cloud, "alice")
    assert set(gone.values()) == {"revoked"}
    told = json.loads(stored(cloud, WEST, "laptops/issued.json"))
    assert (published(cloud).number, published(cloud).serials) == (told["number"], set(gone))


def test_an_old_list_in_the_bucket_is_told_and_mended(cloud: Cloud, folder: Path) -> None:
    old = stored(cloud, WEST, "laptops/revoked.pem")
    (serial,) = certificates(cloud, "dave")
    cloud.run("vpn", "revoke", "dave", "--yes", "--local", "--region", WEST)
    (folder / "old.pem").write_text(old)
    cloud.python(PUT.format(file=folder / "old.pem"))
    said = cloud.run("vpn", "expiring", "--within", "1", "--local", code=1).stdout
    assert "1 revoked certificates are not on the list WRONG" in said
    cloud.run("vpn", "sign", "--local")
    assert serial in published(cloud).serials
    assert cloud.run("vpn", "expiring", "--within", "1", "--local").returncode == 0


def test_who_has_left_the_fleet_file_is_shown_and_can_be_revoked(cloud: Cloud) -> None:
    cloud.fleet.write_text(FLEET.replace("  carol: {uid: 3003, team: ops}\n", ""))
    try:
        assert "not in the fleet file any more" in cloud.run("vpn", "list", "--local").stdout
        assert "carol is nobody of the fleet" in refused(cloud, "vpn", "add", "carol", "--renew")
        cloud.run("vpn", "revoke", "carol", "--yes", "--local")
        assert set(certificates(cloud, "carol").values()) == {"revoked"}
    finally:
        cloud.fleet.write_text(FLEET)


def test_a_region_that_is_not_up_is_named_and_nothing_is_given(cloud: Cloud, folder: Path) -> None:
    cloud.fleet.write_text(
        FLEET.replace("us-east-1: {cloud: aws, zones: [a]}", "us-east-1: {cloud: aws, zones: [a], laptops: true}")
    )
    cloud.plan()
    try:
        before = cloud.report("vpn", "list", "--region", WEST, "--local")
        said = refused(cloud, "vpn", "add", "bob", "--renew", code=1)
        run = "landbridge up us-east-1-laptops --local"
        assert f"Region us-east-1 has no servers for laptops yet. Run `{run}`." in said
        assert cloud.report("vpn", "list", "--region", WEST, "--local") == before
    finally:
        cloud.fleet.write_text(FLEET)
        cloud.plan()


def test_servers_go_only_when_it_is_meant(cloud: Cloud) -> None:
    """Last: no profile of the region is worth anything then."""
    stack = f"{EU}-laptops"
    cloud.run("destroy", "--local", "--yes", stack)
    cloud.fleet.write_text(FLEET.replace("zones: [a], laptops: true", "zones: [a]"))
    cloud.plan()
    assert [one["region"] for one in cloud.report("vpn", "list", "--local")["certificates"]].count(EU) == 0
    assert "region eu-west-1 has no servers for laptops" in refused(cloud, "vpn", "list", "--region", EU)


NOW = datetime(2026, 1, 1, tzinfo=UTC)
ONE = Issued("4a00000000000001", "alice", NOW, NOW + timedelta(days=90))


def test_a_ledger_is_read_as_it_was_written() -> None:
    ledger = Ledger(3, "a", (ONE, ONE._replace(serial="4a00000000000002", revoked=NOW)))
    assert ledgers.read(ledgers.written(ledger), "a") == ledger
    assert ledgers.read(ledgers.written(ledger), "b") == Ledger(3, "b"), "of another authority nothing counts"
    with pytest.raises(ValueError, match="version 2"):
        ledgers.read(ledgers.written(ledger).replace('"version": 1', '"version": 2'), "a")


def test_what_is_revoked_stays_so_since_the_first_time() -> None:
    later = NOW + timedelta(days=1)
    once = Ledger(1, "a", (ONE,)).without([ONE.serial], NOW)
    assert once.without([ONE.serial], later) == once
    assert [one.state(later) for one in once.issued] == ["revoked"]
    assert [ONE.state(ONE.until), ONE.holds(later)] == ["ended", True]
