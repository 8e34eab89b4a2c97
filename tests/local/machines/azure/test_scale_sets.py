"""Instances of the local Azure's scale sets are machines, and prove by signed documents which they are."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ..inside import Inside, eventually
from .inside import INSTANCE, SCRIPT, STORAGE, TOKEN, encoded, meta, running

FIRST, SECOND = "pool-000000", "pool-000001"
LUN = "/dev/disk/azure/scsi1/lun"
POOL = "f'{PLACE}/providers/Microsoft.Compute/virtualMachineScaleSets/pool'"
DOCUMENT = "attested/document?api-version=2020-09-01"


@pytest.fixture(scope="module")
def pool(azure: Inside) -> Iterator[Inside]:
    """Two machines with an identity and a disk of their own each."""
    azure("""
        pool_id = made('Microsoft.ManagedIdentity/userAssignedIdentities', 'pool')
        empty = [{"lun": 1, "createOption": "Empty", "diskSizeGB": 4}]
    """)
    told = "scale_set('pool', subnets['a'], 2, script, [pool_id], empty, {'landbridge:pool': 'gpu'})"
    azure(told, script=encoded(SCRIPT))
    eventually(lambda: running(azure, FIRST) and running(azure, SECOND))
    yield azure
    azure("delete('Microsoft.Compute/virtualMachineScaleSets', 'pool')")
    eventually(lambda: not any(name.startswith("pool-") for name in names(azure)))


def names(azure: Inside) -> set[str]:
    return {one["machine"] for one in azure.machines()}


def test_instances_run_and_know_what_they_are(pool: Inside) -> None:
    eventually(lambda: pool.sh(FIRST, "cat /srv/name") == f"{FIRST}\n")
    told = {name: meta(pool, name, INSTANCE)[1]["compute"] for name in (FIRST, SECOND)}
    listed = pool(f"result = arm('GET', {POOL} + '/virtualMachines')['value']")
    assert {one["vmId"] for one in told.values()} == {one["properties"]["vmId"] for one in listed}
    first = told[FIRST]
    assert (first["vmScaleSetName"], first["name"], first["osProfile"]["computerName"]) == ("pool", "pool_0", FIRST)
    assert first["resourceId"].endswith("/virtualMachineScaleSets/pool/virtualMachines/0")
    assert first["virtualMachineScaleSet"]["id"].endswith("/virtualMachineScaleSets/pool")
    assert first["tagsList"] == [{"name": "landbridge:pool", "value": "gpu"}]
    (address,) = meta(pool, FIRST, INSTANCE)[1]["network"]["interface"][0]["ipv4"]["ipAddress"]
    assert address["privateIpAddress"] == pool.machine(FIRST)["address"]
    status, said = meta(pool, FIRST, f"{TOKEN}{STORAGE}")
    assert (status, said["client_id"]) == (200, pool("result = pool_id['properties']['clientId']"))


def test_a_new_image_means_an_empty_disk_and_a_first_start(pool: Inside) -> None:
    pool.sh(FIRST, "echo old > /var/lib/old")
    before = pool.machine(FIRST)["pid"]
    pool("of_set('pool', 'reimage', '0')")
    eventually(lambda: pool.machine(FIRST)["pid"] not in (None, before) and running(pool, FIRST))
    eventually(lambda: pool.sh(FIRST, "cat /var/lib/starts") == f"{FIRST} was here\n")
    assert "No such file" in pool.sh(FIRST, "cat /var/lib/old")


def test_instances_have_disks_of_their_own(pool: Inside) -> None:
    pool.sh(FIRST, f"mkfs.ext4 -q {LUN}1; echo first > {LUN}1/data/value")
    assert "No such file" in pool.sh(SECOND, f"ls {LUN}1/data/value")
    assert pool.sh(FIRST, f"cat {LUN}1/data/value") == "first\n"


def test_a_smaller_set_ends_machines_and_a_larger_one_starts_them(pool: Inside) -> None:
    gone = pool.machine(SECOND)["instance"]
    pool("of_set('pool', 'delete', '1')")
    eventually(lambda: SECOND not in names(pool))
    pool("resize('pool', 2)")
    eventually(lambda: running(pool, "pool-000002"))
    assert gone not in [one["instance"] for one in pool.machines()]
    pool("of_set('pool', 'deallocate', '2')")
    eventually(lambda: pool.machine("pool-000002")["state"] == "stopped")
    pool("of_set('pool', 'delete', '2'); resize('pool', 2)")
    eventually(lambda: running(pool, "pool-000003"))


VERIFY = """
cd /tmp; base64 -d > document; openssl pkcs7 -inform DER -in document -print_certs > signer
url=$(openssl x509 -noout -in signer -ext authorityInfoAccess | sed -n 's/.*CA Issuers - URI://p')
curl -sSf -o issuer $url && openssl x509 -inform DER -in issuer -out issuer.pem
openssl verify ISSUERS signer >/dev/null 2>&1 && openssl smime -verify -inform DER -in document -noverify 2>/dev/null || echo refused
"""


def verified(pool: Inside, document: str, issuers: str = "-untrusted issuer.pem") -> Any:
    """What is in a document, as Azure's documentation has machines verify it, by whom they trust."""
    script = VERIFY.replace("ISSUERS", issuers)
    said = pool.run(FIRST, "sh", "-c", f"echo {document} | ({script})").stdout
    return "refused" if said.endswith("refused\n") else json.loads(said)


def test_a_document_says_who_asked_and_when(pool: Inside) -> None:
    status, told = meta(pool, FIRST, f"{DOCUMENT}&nonce=1234567890")
    assert (status, told["encoding"]) == (200, "pkcs7")
    said = verified(pool, told["signature"])
    compute = meta(pool, FIRST, INSTANCE)[1]["compute"]
    assert {name: said[name] for name in ("vmId", "subscriptionId", "sku", "nonce")} == {
        "vmId": compute["vmId"],
        "subscriptionId": compute["subscriptionId"],
        "sku": "server",
        "nonce": "1234567890",
    }
    made, over = (
        datetime.strptime(said["timeStamp"][name], "%m/%d/%y %H:%M:%S %z") for name in ("createdOn", "expiresOn")
    )
    assert over - made == timedelta(hours=6)
    assert abs(datetime.now(UTC) - made) < timedelta(minutes=5)
    other = verified(pool, meta(pool, FIRST, DOCUMENT)[1]["signature"])
    assert other["nonce"].count("-") == 1, "without a number of the caller's, the time stands for it"


def test_a_document_is_signed_by_azure_s_host_alone(pool: Inside) -> None:
    signature = meta(pool, FIRST, f"{DOCUMENT}&nonce=1234567890")[1]["signature"]
    assert verified(pool, signature, "") == "refused", "the signer's issuer is not in it"
    for name, matches in (
        ("metadata.azure.com", True),
        ("any.metadata.azure.com", True),
        ("management.azure.com", False),
    ):
        said = pool.sh(FIRST, f"openssl x509 -noout -in /tmp/signer -checkhost {name}")
        assert ("does match" in said) == matches
    assert pool.sh(FIRST, "grep -c BEGIN /tmp/signer") == "1\n"
    changed = signature[:200] + ("A" if signature[200] != "A" else "B") + signature[201:]
    assert verified(pool, changed) == "refused"


def test_a_document_is_refused_as_azure_does(pool: Inside) -> None:
    assert meta(pool, FIRST, "attested/document")[0] == 400
    assert meta(pool, FIRST, f"{DOCUMENT}&nonce=12345678901")[0] == 400
    assert meta(pool, FIRST, f"{DOCUMENT}&nonce=x")[0] == 400
    assert meta(pool, FIRST, DOCUMENT, Metadata="")[0] == 400
