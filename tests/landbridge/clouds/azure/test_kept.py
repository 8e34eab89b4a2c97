"""Profiles in a region of Azure: the authority's key in its vault, ledger and list in its account, by Azure's clients."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from components.boot import certificates
from components.links.laptops.authority import issue, listed
from fleet.address.plan import draft
from fleet.world import World
from landbridge.certificates import people
from landbridge.certificates import store as certificate_store
from landbridge.certificates.ledger import Issued, Ledger
from landbridge.clouds.azure import blobs
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from landbridge.ssh import store as ssh_store
from landbridge.vpn.store import Store
from tests.components.links.laptops_bed import authority
from tests.landbridge.clouds.azure.bed import CONTRIBUTOR, OFFICER, REGION, Bed, make
from tests.local.azure.conftest import azure  # noqa: F401
from tests.local.azure.support import LocalAzure

SECRET, AUTHORITY = "both/laptops/authority/0a1b2c3d", authority()
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture(scope="module")
def bed(azure: LocalAzure, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:  # noqa: F811
    folder: Path = tmp_path_factory.mktemp("fleet")
    for made in make(azure, folder):
        made.account()
        made.vault()
        yield made


@pytest.fixture
def store(bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    world = World(bed.fleet, draft(bed.fleet, None, NOW.date()).plan, tmp_path / "fleet.yaml")
    told = {"authority": AUTHORITY.certificate, "authority_secret": SECRET, "servers": {}}
    monkeypatch.setattr(certificate_store, "cloud_in", lambda *_: bed.cloud)
    monkeypatch.setattr(certificate_store, "published", lambda *_: told)
    return Store(world, Place("local", tmp_path, "", "", tmp_path), REGION)  # type: ignore[arg-type]


def test_who_has_no_role_is_told_which(bed: Bed, store: Store) -> None:
    with pytest.raises(LandbridgeError, match=r"laptops/issued.json can't be read: .*Storage Blob Data Reader"):
        store.ledger()
    with pytest.raises(LandbridgeError, match=r"both--laptops--authority--0a1b2c3d .*Key Vault Secrets User"):
        store.authority  # noqa: B018
    bed.assign(CONTRIBUTOR)
    bed.assign(OFFICER)
    assert store.ledger().issued == ()


def test_a_certificate_is_noted_and_taken_back_on_a_list_that_bears_the_ledger_s_number(bed: Bed, store: Store) -> None:
    told = {"crt": AUTHORITY.certificate, "key": AUTHORITY.key, "wrapping": AUTHORITY.wrapping}
    bed.cloud._vault.set_secret(SECRET.replace("/", "--"), json.dumps(told))
    assert store.authority == AUTHORITY
    one = issue(store.authority, "ann", 1, NOW)
    noted = store.note(lambda ledger: ledger.with_one(Issued(one.serial, "ann", one.since, one.until)))
    store.lay(noted, NOW)
    found = store.listed()
    assert found is not None
    assert (found.number, found.serials) == (noted.number, frozenset())
    assert people.revoke([store], "ann") == {REGION: [one.serial]}
    text = store.objects.read("laptops/revoked.pem")
    assert text
    assert listed(text.decode(), AUTHORITY.certificate).serials == {one.serial}
    (blob,) = [it for it in store.objects.container.list_blobs() if it.name == "laptops/revoked.pem"]  # type: ignore[attr-defined]
    assert blob.content_settings.content_type == "application/x-pem-file"


def test_of_two_people_at_once_none_overwrites_the_other(store: Store) -> None:
    until, meddled = NOW + timedelta(days=1), list[bool]()

    def change(ledger: Ledger) -> Ledger:
        if not meddled:  # somebody else is quicker, once
            meddled.append(True)
            store.note(lambda now: now.with_one(Issued("b" * 16, "bob", NOW, until)))
        return ledger.with_one(Issued("c" * 16, "carol", NOW, until))

    assert [one.person for one in store.note(change).issued] == ["ann", "bob", "carol"]


def test_a_first_object_is_never_laid_over_another_s(store: Store) -> None:
    assert store.objects.put_over("laptops/new", b"mine", "", "text/plain")
    assert not store.objects.put_over("laptops/new", b"yours", "", "text/plain")
    data, etag = store.objects.read_with_etag("laptops/new")
    assert store.objects.put_over("laptops/new", b"next", etag, "text/plain")
    assert not store.objects.put_over("laptops/new", b"late", etag, "text/plain")
    assert (data, store.objects.read("laptops/new")) == (b"mine", b"next")
    assert store.objects.read_with_etag("laptops/none") == (b"", "")


def test_a_container_that_is_gone_is_no_empty_object(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    account = store.objects.account  # type: ignore[attr-defined]
    monkeypatch.setattr(blobs, "CONTAINER", "gone")
    there = blobs.Blobs(store.objects.clients, account)  # type: ignore[attr-defined]
    for ask in (there.read, there.delete):
        with pytest.raises(LandbridgeError, match="ContainerNotFound"):
            ask("laptops/none")


def test_people_s_certificates_by_ssh_are_kept_alike(
    bed: Bed, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = Ed25519PrivateKey.generate()
    line, secret = certificates.public_line(key), "both/ssh/authority/00112233"
    told = {"ssh": {"authority": line, "authority_secret": secret}}
    monkeypatch.setattr(ssh_store, "published", lambda *_: told)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    bed.cloud._vault.set_secret(secret.replace("/", "--"), json.dumps({"key": pem}))
    mine = ssh_store.Store(store.world, store.place, REGION)
    one = certificates.issue(mine.authority, "ann", line, 1, NOW)
    mine.note(lambda ledger: ledger.with_one(Issued(one.serial, "ann", one.since, one.until)))
    assert people.revoke([mine], "ann") == {REGION: [one.serial]}
    text = mine.objects.read("ssh/revoked")
    assert text
    assert certificates.listed(text.decode(), line).serials == {one.serial}
