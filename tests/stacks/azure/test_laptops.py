"""The stack of servers for laptops in Azure: its resources against a golden file, what a server finds, and may read."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from components.links.laptops import authority
from fleet.world import World, current
from tests.local.azure.support import LocalAzure, served
from tests.local.providers.azure.project import plugins
from tests.stacks.azure.bed import CLUSTER, FLEET, HOME, Stacks
from tests.stacks.azure.machines import as_machine, blobs, machine, refused, vault
from tests.support import golden

pytestmark = pytest.mark.cloud
HERE = Path(__file__).parent
STACK, SERVERS = f"{HOME}-laptops", ("vpn-1", "vpn-2")
WITH = FLEET.replace('zones: ["1", "2", "3"]}', 'zones: ["1", "2", "3"], laptops: true}')
# The cluster has tests of its own: here it publishes whom its nodes trust, and nothing stands.
IN_ITS_PLACE = """\
import pulumi
from stacks import cluster, outputs
def program(world, stack):
    for name in outputs.ClusterOutputs.__annotations__:
        pulumi.export(name, "whom nodes trust" if name == "authority" else "x")
cluster.program = program
"""


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAzure]:
    yield from served(tmp_path_factory.mktemp("azure"))


@pytest.fixture(scope="module")
def stacks(azure: LocalAzure, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stacks]:
    """Region and servers, up."""
    for made in plugins(azure):
        found = Stacks(tmp_path_factory.mktemp("fleet") / "p", made, WITH)
        found.new(HOME)
        found.pulumi(CLUSTER, "stack", "init")
        found.up(CLUSTER, change=IN_ITS_PLACE)
        found.image("laptop")
        found.new(STACK)
        yield found


@pytest.fixture(scope="module")
def world(stacks: Stacks) -> World:
    return current(stacks.fleet)


def outputs(stacks: Stacks) -> Any:
    found = stacks.state(STACK)["checkpoint"]["latest"]["resources"]
    return next(one["outputs"] for one in found if one["type"] == "pulumi:pulumi:Stack")


@pytest.mark.golden
def test_its_resources_are_those_of_the_golden_file(stacks: Stacks) -> None:
    beside = {HOME: stacks.state(HOME)}
    golden.compare(HERE / "golden/laptops.yaml", golden.resources(stacks.state(STACK), beside))


def test_nothing_is_left_to_do_however_late_it_is(stacks: Stacks) -> None:
    stacks.pulumi(STACK, "preview", "--refresh", "--expect-no-changes")


def test_the_state_holds_no_key_in_the_open(stacks: Stacks) -> None:
    shown = stacks.pulumi(STACK, "stack", "export", "--show-secrets")
    secrets = set(re.findall(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|\\\\n)([A-Za-z0-9+/]{40})", shown))
    text = json.dumps(stacks.state(STACK))
    assert len(secrets) >= 4
    assert not [secret for secret in secrets if secret in text]


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_finds_a_bundle_that_its_custom_data_s_key_vouches_for(
    azure: LocalAzure, stacks: Stacks, world: World, server: str
) -> None:
    resources = stacks.state(STACK)["checkpoint"]["latest"]["resources"]
    of = [one for one in resources if one["type"].endswith(":VirtualMachine")]
    made = next(one for one in of if one["urn"].rpartition("::")[2] == server)
    script = base64.b64decode(made["inputs"]["osProfile"]["customData"]).decode()
    pointer = json.loads(re.search(r"^\w+={(\".*)}$", script, re.MULTILINE)[0].partition("=")[2])  # type: ignore[index]
    assert pointer["prefix"] == f"example/laptops/{server}"
    container = blobs(azure, world, as_machine(azure, world, f"{STACK}-{server}", "storage.azure.com"))
    sealed = json.loads(container.download_blob(f"{pointer['prefix']}/manifest.json").readall())
    key = load_der_public_key(base64.b64decode(pointer["key"]))
    assert isinstance(key, Ed25519PublicKey)
    key.verify(base64.b64decode(sealed["signature"]), sealed["manifest"].encode())
    told = json.loads(sealed["manifest"])
    files = json.loads(container.download_blob(f"{pointer['prefix']}/{told['version']}.json").readall())
    secret = (pointer["prefix"] + pointer["life"]).replace("/", "--")
    mine = vault(azure, world, as_machine(azure, world, f"{STACK}-{server}", "vault.azure.net"))
    keys = json.loads(mine.get_secret(secret, told["secret_version"]).value or "")
    assert set(keys) == {"/etc/landbridge/laptops/server.key", "/etc/landbridge/laptops/wrapping.key"}
    assert "whom nodes trust" in files["/etc/kubernetes/ca.crt"]
    assert json.loads(files["/etc/landbridge/cloud.json"]) == {"cloud": "azure"}


def test_a_server_reads_its_own_and_the_list_and_nothing_else(azure: LocalAzure, stacks: Stacks, world: World) -> None:
    deployer = blobs(azure, world, azure.credential())
    for name in ("laptops/revoked.pem", "laptops/issued.json"):
        deployer.upload_blob(name, b"x", overwrite=True)
    container = blobs(azure, world, as_machine(azure, world, f"{STACK}-vpn-1", "storage.azure.com"))
    assert container.download_blob("laptops/revoked.pem").readall() == b"x"
    for name in ("laptops/issued.json", "example/laptops/vpn-2/manifest.json"):
        assert refused(lambda name=name: container.download_blob(name).readall()), name
    assert refused(lambda: list(container.list_blobs()))
    assert refused(lambda: container.upload_blob("laptops/revoked.pem", b"y", overwrite=True))
    place_ = outputs(stacks)["authority_secret"].replace("/", "--")
    keys = vault(azure, world, as_machine(azure, world, f"{STACK}-vpn-1", "vault.azure.net"))
    assert refused(lambda: keys.get_secret(place_))
    kept = authority.read(vault(azure, world, azure.credential()).get_secret(place_).value or "")
    assert kept.certificate == outputs(stacks)["authority"]


def test_what_comes_after_a_server_that_is_gone_has_its_addresses_and_another_name(
    azure: LocalAzure, stacks: Stacks, world: World
) -> None:
    before, told = machine(azure, world, f"{STACK}-vpn-1"), outputs(stacks)["servers"]
    (nic,) = before["properties"]["networkProfile"]["networkInterfaces"]
    card = azure.ask("GET", nic["id"]).json()["properties"]["ipConfigurations"][0]["properties"]
    public = azure.ask("GET", card["publicIPAddress"]["id"]).json()["properties"]
    assert (public["ipAddress"], public["publicIPAllocationMethod"]) == (told["vpn-1"]["address"], "Static")
    assert card["subnet"]["id"].endswith("/public-1")
    gone = azure.ask("DELETE", before["id"], version="2024-11-01")
    assert gone.status_code in (200, 202, 204)
    stacks.up(STACK, "--refresh")
    after = machine(azure, world, f"{STACK}-vpn-1")
    assert after["properties"]["vmId"] != before["properties"]["vmId"]
    assert after["properties"]["networkProfile"]["networkInterfaces"][0]["id"] == nic["id"]
    names = [one["properties"]["osProfile"]["computerName"] for one in (before, after)]
    assert names[0] != names[1]
    assert all(re.fullmatch(rf"example-{STACK}-vpn-1-[0-9a-z]{{6}}", name) for name in names)
    assert outputs(stacks)["servers"] == told
    stacks.up(STACK, "--expect-no-changes")
