"""Virtual machines of the local Azure are machines: they boot their bundles with their identities, and keep disks."""

import json
import os
import signal
from pathlib import Path

import pytest

from ..inside import Inside, eventually
from .inside import INSTANCE, SCRIPT, STORAGE, TOKEN, encoded, meta, running

LUN = "/dev/disk/azure/scsi1/lun"


def test_a_machine_boots_its_bundle_with_its_identity(azure: Inside) -> None:
    eventually(lambda: azure.sh("one", "systemctl is-active web").strip() == "active")
    assert azure.sh("one", "cat /srv/name /srv/seen") == "one\nof one"
    told = azure.machine("one")
    assert (told["address"], told["zone"], told["region"], told["state"]) == (
        "10.1.1.10",
        "1",
        "southcentralus",
        "running",
    )
    assert "boot: done" in Path(told["folder"], "disk/var/log/landbridge-boot.log").read_text()


def test_metadata_tells_what_the_machine_is(azure: Inside) -> None:
    eventually(lambda: running(azure, "one"))
    status, told = meta(azure, "one", INSTANCE)
    assert status == 200
    compute, network = told["compute"], told["network"]
    resource = azure("result = arm('GET', f'{PLACE}/providers/Microsoft.Compute/virtualMachines/one')")
    expected = {
        "azEnvironment": "AzurePublicCloud",
        "location": "southcentralus",
        "name": "one",
        "resourceGroupName": "azurelet",
        "resourceId": resource["id"],
        "subscriptionId": resource["id"].split("/")[2],
        "vmId": resource["properties"]["vmId"],
        "vmScaleSetName": "",
        "vmSize": "Standard_D2s_v5",
        "zone": "1",
        "tags": "a:b;landbridge:fleet:test",
        "priority": "Regular",
        "publisher": "Canonical",
    }
    assert {name: compute[name] for name in expected} == expected
    assert {"name": "a", "value": "b"} in compute["tagsList"]
    (data,) = compute["storageProfile"]["dataDisks"]
    assert (data["lun"], data["name"], data["diskSizeGB"]) == ("7", "data", "4")
    assert data["managedDisk"]["id"].endswith("/disks/data")
    (card,) = network["interface"]
    assert card["ipv4"]["ipAddress"] == [{"privateIpAddress": "10.1.1.10", "publicIpAddress": ""}]
    assert card["ipv4"]["subnet"] == [{"address": "10.1.1.0", "prefix": "24"}]
    hardware = azure.sh("one", "ip -br link show eth0").split()[2]
    assert card["macAddress"] == hardware.replace(":", "").upper()
    leaf = "instance/compute/storageProfile/dataDisks/0/lun?api-version=2021-02-01"
    assert meta(azure, "one", f"{leaf}&format=text") == (200, "7")
    assert meta(azure, "one", leaf)[0] == 400, "a leaf is given as text only"
    # No custom data: whatever runs on the machine may ask.
    assert compute["customData"] == ""


@pytest.mark.parametrize("path", [INSTANCE, f"{TOKEN}{STORAGE}"])
def test_metadata_is_for_programs_of_the_machine_alone(azure: Inside, path: str) -> None:
    eventually(lambda: running(azure, "one"))
    assert meta(azure, "one", path)[0] == 200
    status, told = meta(azure, "one", path, Metadata="")
    assert (status, "Required metadata header not specified" in json.dumps(told)) == (400, True)
    assert meta(azure, "one", path, X_Forwarded_For="10.1.1.10")[0] == 400


def test_metadata_refuses_what_it_has_not(azure: Inside) -> None:
    eventually(lambda: running(azure, "one"))
    for version in ("instance", "instance?api-version=2015-01-01"):
        status, told = meta(azure, "one", version)
        assert (status, bool(told["newest-versions"])) == (400, True)
    assert meta(azure, "one", "instance/compute/nothing?api-version=2021-02-01")[0] == 404
    assert meta(azure, "one", "nothing?api-version=2021-02-01")[0] == 404
    assert azure.sh("one", "curl -s -o /dev/null -w '%{http_code}' http://169.254.169.254/latest/meta-data/") == "404"


def test_a_token_opens_what_its_identity_s_roles_say(azure: Inside) -> None:
    eventually(lambda: running(azure, "one"))
    status, told = meta(azure, "one", f"{TOKEN}{STORAGE}")
    assert (status, told["token_type"], told["resource"]) == (200, "Bearer", STORAGE)
    assert told["client_id"] == azure("result = one_id['properties']['clientId']")
    url = "https://azureletfleet.blob.core.windows.net/fleet/azurelet/one/1.json"
    sent = f"-H 'Authorization: Bearer {told['access_token']}' -H 'x-ms-version: 2023-11-03'"
    code = "curl -s -o /dev/null -w '%{http_code}\\n'"
    assert azure.sh("one", f"{code} {sent} {url}") == "200\n"
    written = f"{code} {sent} -X PUT -H 'x-ms-blob-type: BlockBlob' -d x {url}"
    assert azure.sh("one", written) == "403\n"
    assert azure.sh("one", f"{code} -H 'x-ms-version: 2023-11-03' {url}") != "200\n"
    # It's for storage alone, and the machine has no way to our own API.
    arm = "https://management.azure.com/subscriptions?api-version=2022-12-01"
    assert azure.sh("one", f"{code} {sent} {arm}") == "401\n"
    assert azure.sh("one", f"{code} https://management.azure.com/landbridge-api/inventory") == "401\n"
    assert "Failed to connect" in azure.sh("one", "curl -sS http://127.0.0.1:5003/landbridge-api/inventory")


def test_which_identity_a_token_is_for(azure: Inside) -> None:
    azure("ids = [made('Microsoft.ManagedIdentity/userAssignedIdentities', f'id-{n}') for n in (1, 2)]")
    azure("bare_nic, both_nic, own_nic = [nic(f'nic-{n}', subnets['a'], f'10.1.1.2{n}') for n in (0, 1, 2)]")
    azure("machine('bare', [bare_nic], script)", script=encoded(SCRIPT))
    azure("machine('both', [both_nic], script, ids)", script=encoded(SCRIPT))
    azure("machine('own', [own_nic], script, [*ids, 'system'])", script=encoded(SCRIPT))
    for name in ("bare", "both", "own"):
        eventually(lambda name=name: running(azure, name))
    told = azure("result = [{'id': one['id'], **one['properties']} for one in ids]")
    asked = f"{TOKEN}{STORAGE}"
    assert meta(azure, "bare", asked) == (
        400,
        {"error": "invalid_request", "error_description": "Identity not found"},
    )
    status, said = meta(azure, "both", asked)
    assert (status, "Multiple user assigned identities exist" in said["error_description"]) == (400, True)
    for choice in (
        f"client_id={told[1]['clientId']}",
        f"object_id={told[1]['principalId']}",
        f"msi_res_id={told[1]['id']}",
        f"mi_res_id={told[1]['id'].upper().replace('/SUBSCRIPTIONS', '/subscriptions')}",
    ):
        status, said = meta(azure, "both", f"{asked}&{choice}")
        assert (status, said["client_id"]) == (200, told[1]["clientId"]), choice
    assert meta(azure, "both", f"{asked}&client_id={'0' * 8}")[0] == 400
    twice = f"{asked}&client_id={told[1]['clientId']}&object_id={told[1]['principalId']}"
    assert meta(azure, "both", twice)[0] == 400
    assert meta(azure, "both", asked.replace(STORAGE, "https://example.com"))[0] == 400
    # Its own, where nobody says which.
    own = azure("result = arm('GET', f'{PLACE}/providers/Microsoft.Compute/virtualMachines/own')")
    status, said = meta(azure, "own", asked)
    assert (status, said["client_id"]) == (200, own["identity"]["principalId"])
    assert meta(azure, "own", f"{asked}&client_id={told[0]['clientId']}")[1]["client_id"] == told[0]["clientId"]


def test_a_disk_is_at_its_lun_and_outlives_the_machine(azure: Inside) -> None:
    azure("kept = disk('kept'); box_nic = nic('box', subnets['b'], '10.1.2.10')")
    put_up = "machine('box', [box_nic], script, disks=[attached(kept, 3)])"
    azure(put_up, script=encoded(SCRIPT))
    eventually(lambda: azure.sh("box", f"ls -d {LUN}3").strip() == f"{LUN}3")
    first = azure.machine("box")["instance"]
    said = azure.sh(
        "box",
        f"blkid -o value -s TYPE {LUN}3; mkfs.ext4 -q {LUN}3 && echo 0 > {LUN}3/data/value; blkid -o value -s TYPE {LUN}3",
    )
    assert said == "ext4\n"
    # Another LUN, while it runs.
    moved = "machine('box', [box_nic], script, disks=[])"
    azure(moved, script=encoded(SCRIPT))
    eventually(lambda: "No such file" in azure.sh("box", f"ls {LUN}3"))
    azure("machine('box', [box_nic], script, disks=[attached(kept, 5)])", script=encoded(SCRIPT))
    eventually(lambda: azure.sh("box", f"cat {LUN}5/data/value") == "0\n")
    azure("delete('Microsoft.Compute/virtualMachines', 'box')")
    azure(put_up, script=encoded(SCRIPT))
    eventually(lambda: azure.machine("box")["instance"] != first and running(azure, "box"))
    eventually(lambda: azure.sh("box", f"cat {LUN}3/data/value") == "0\n")
    assert azure.sh("box", "cat /var/lib/starts") == "box was here\n", "a new machine has a new disk of its own"
    # One that is deleted and made again is another one.
    azure("delete('Microsoft.Compute/virtualMachines', 'box'); delete('Microsoft.Compute/disks', 'kept')")
    azure("kept = disk('kept')")
    azure(put_up, script=encoded(SCRIPT))
    eventually(lambda: running(azure, "box") and azure.sh("box", f"ls {LUN}3/data; echo there") == "there\n")


def test_power_is_the_machine_s(azure: Inside) -> None:
    azure("p_nic = nic('power', subnets['b'], '10.1.2.20'); machine('power', [p_nic], script)", script=encoded(SCRIPT))
    eventually(lambda: azure.sh("power", "cat /var/lib/starts") == "power was here\n")
    told = azure.machine("power")
    azure.sh("power", "echo kept > /var/lib/kept; touch /run/gone")
    azure("act('power', 'restart')")
    eventually(lambda: azure.machine("power")["pid"] not in (None, told["pid"]) and running(azure, "power"))
    assert azure.sh("power", "cat /var/lib/kept; ls /run/gone 2>&1 | grep -c 'No such'") == "kept\n1\n"
    for action in ("powerOff", "deallocate"):
        azure(f"act('power', '{action}')")
        eventually(lambda: azure.machine("power")["state"] == "stopped")
        azure("act('power', 'start')")
        eventually(lambda: running(azure, "power"))
        assert azure.sh("power", "cat /var/lib/starts") == "power was here\n", "custom data runs once"
    azure("delete('Microsoft.Compute/virtualMachines', 'power')")
    eventually(lambda: "power" not in [one["machine"] for one in azure.machines()])


def test_a_machine_whose_first_process_dies_is_stopped(azure: Inside) -> None:
    azure("d_nic = nic('dead', subnets['b'], '10.1.2.30'); machine('dead', [d_nic], script)", script=encoded(SCRIPT))
    eventually(lambda: running(azure, "dead"))
    os.kill(azure.machine("dead")["pid"], signal.SIGKILL)
    view = "result = arm('GET', f'{PLACE}/providers/Microsoft.Compute/virtualMachines/dead/instanceView')['statuses']"
    eventually(lambda: azure(view)[-1]["code"] == "PowerState/stopped")
    azure("act('dead', 'start')")
    eventually(lambda: running(azure, "dead"))


def test_every_interface_is_a_card(azure: Inside) -> None:
    azure("cards = [nic('first', subnets['a'], '10.1.1.40'), nic('second', subnets['b'], '10.1.2.40')]")
    azure("machine('two-cards', cards, script)", script=encoded(SCRIPT))
    eventually(lambda: running(azure, "two-cards"))
    for address in ("10.1.1.40", "10.1.2.40"):
        asked = f"python3 -c 'import socket; socket.create_connection((\"{address}\", 8080), 5)'"
        azure.sh("two-cards", "cd /srv; nohup python3 -m http.server 8080 >/dev/null 2>&1 &")
        eventually(lambda asked=asked: azure.run("one", "sh", "-c", asked).returncode == 0)
    interfaces = meta(azure, "two-cards", INSTANCE)[1]["network"]["interface"]
    assert [one["ipv4"]["ipAddress"][0]["privateIpAddress"] for one in interfaces] == ["10.1.1.40", "10.1.2.40"]


def test_names_are_those_of_the_network_s_private_zones_and_of_the_clouds(azure: Inside) -> None:
    azure("""
        zone = f"{PLACE}/providers/Microsoft.Network/privateDnsZones/fleet.example.com"
        arm("PUT", zone, {"location": "global"})
        net = {"id": f"{PLACE}/providers/Microsoft.Network/virtualNetworks/net"}
        arm("PUT", f"{zone}/virtualNetworkLinks/net", {"location": "global", "properties": {"virtualNetwork": net}})
        arm("PUT", f"{zone}/A/one", {"properties": {"ttl": 60, "aRecords": [{"ipv4Address": "10.1.1.10"}]}})
    """)
    eventually(lambda: azure.sh("one", "getent hosts one.fleet.example.com").split()[:1] == ["10.1.1.10"])
    assert azure.sh("one", "getent hosts azurelet-vault.vault.azure.net").split()[:1] == ["168.63.129.16"]
    assert azure.sh("one", "getent hosts example.com") == ""


def test_a_record_without_a_script_is_left_alone(azure: Inside) -> None:
    azure(
        "r_nic = nic('record', subnets['b'], '10.1.2.50'); machine('record', [r_nic], script)", script=encoded("#cloud")
    )
    azure(
        "p2_nic = nic('beside', subnets['b'], '10.1.2.51'); machine('beside', [p2_nic], script)", script=encoded(SCRIPT)
    )
    eventually(lambda: running(azure, "beside"))
    assert "record" not in [one["machine"] for one in azure.machines()]
