"""What a machine finds out about itself, and that it goes on asking until it knows."""

import json
from pathlib import Path

import pytest

from services.autoscaler.provider_ids import azure
from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)

import api_aws  # isort: skip
import api_azure  # isort: skip
import node_facts  # isort: skip

CLOUD = {"instance-id": "i-0123", "placement/availability-zone": "us-west-2a", "local-ipv4": "10.132.0.7\n"}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, path in (("HOST", "host.json"), ("FACTS", "run/node.env"), ("KUBECONFIG", "kubeconfig")):
        monkeypatch.setattr(node_facts, name, tmp_path / path)
    monkeypatch.setattr(node_facts, "RESOLVERS", (tmp_path / "resolved.conf", Path("/etc/resolv.conf")))
    return tmp_path


def says(monkeypatch: pytest.MonkeyPatch, **told: object) -> None:
    monkeypatch.setattr(node_facts, "named", lambda: "aws")
    monkeypatch.setattr(node_facts, "settings", lambda _: {"place": "lab", "jitter_seconds": 0, **told})


def test_a_cloud_s_machine_is_what_its_metadata_say(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, site=False)
    monkeypatch.setattr(api_aws, "metadata", CLOUD.__getitem__)
    node_facts.main()
    assert (machine / "run/node.env").read_text().splitlines() == [
        "NODE_NAME=i-0123",
        "NODE_ADDRESS=10.132.0.7",
        "NODE_PROVIDER_ID=aws:///us-west-2a/i-0123",
        "NODE_ZONE_LABEL=topology.kubernetes.io/zone=us-west-2a",
        "NODE_RESOLV_CONF=/etc/resolv.conf",
    ]


def test_a_machine_of_azure_is_named_as_its_computer_and_as_the_autoscaler_names_it(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Azure's metadata may write places in capitals, which labels of nodes never have."""
    says(monkeypatch, site=False)
    monkeypatch.setattr(node_facts, "named", lambda: "azure")
    place = "/subscriptions/sub/resourceGroups/TEST-SOUTHCENTRALUS/providers/Microsoft.Compute"
    compute = {
        "location": "SouthCentralUS",
        "osProfile": {"computerName": "test-south-gpu-1-00000A"},
        "resourceGroupName": "TEST-SOUTHCENTRALUS",
        "resourceId": f"{place}/virtualMachineScaleSets/test-south-gpu-1/virtualMachines/10",
        "subscriptionId": "sub",
        "vmScaleSetName": "test-south-gpu-1",
        "zone": "1",
    }
    card = {"ipv4": {"ipAddress": [{"privateIpAddress": "10.130.0.7", "publicIpAddress": ""}]}}
    told = {"compute": compute, "network": {"interface": [card]}}
    monkeypatch.setattr(api_azure, "instance", lambda: told)
    node_facts.main()
    facts = dict(line.split("=", 1) for line in (machine / "run/node.env").read_text().splitlines())
    assert facts["NODE_NAME"] == "test-south-gpu-1-00000a"
    assert facts["NODE_ADDRESS"] == "10.130.0.7"
    assert facts["NODE_ZONE_LABEL"] == "topology.kubernetes.io/zone=southcentralus-1"
    assert facts["NODE_PROVIDER_ID"] == azure("sub", "test-southcentralus", "test-south-gpu-1", "10")


def test_a_host_is_what_its_enrolment_says_however_late_that_comes(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = iter(["{", "{}", json.dumps({"host": "host-1", "address": "10.129.0.11"})])
    monkeypatch.setattr(node_facts.time, "sleep", lambda _: (machine / "host.json").write_text(next(texts)))
    (machine / "kubeconfig").touch()
    says(monkeypatch, site=True)
    node_facts.main()
    assert (machine / "run/node.env").read_text().splitlines() == [
        "NODE_NAME=host-1.lab",
        "NODE_ADDRESS=10.129.0.11",
        "NODE_PROVIDER_ID=onprem:///lab/host-1",
        "NODE_RESOLV_CONF=/etc/resolv.conf",
    ]
    said = capsys.readouterr().err
    assert [name in said for name in ("FileNotFoundError", "JSONDecodeError", "KeyError")] == [True] * 3


def test_pods_get_the_servers_behind_systemd_s_resolver_where_there_is_one(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_aws, "metadata", CLOUD.__getitem__)
    says(monkeypatch, site=False)
    (machine / "resolved.conf").touch()
    node_facts.main()
    assert f"NODE_RESOLV_CONF={machine}/resolved.conf" in (machine / "run/node.env").read_text().splitlines()


def test_a_machine_that_never_joined_waits_by_chance(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(node_facts.time, "sleep", waited.append)
    monkeypatch.setattr(api_aws, "metadata", CLOUD.__getitem__)
    says(monkeypatch, site=False, jitter_seconds=60)
    for _ in range(20):
        node_facts.main()
    assert len({round(one, 3) for one in waited}) > 10
    assert all(0 <= one <= 60 for one in waited)
    (machine / "kubeconfig").touch()
    node_facts.main()
    assert len(waited) == 20, "one that has joined before comes back at once"


def test_a_host_without_a_planned_address_takes_that_by_which_it_reaches_the_api(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "host.json").write_text(json.dumps({"host": "host-1"}))
    (machine / "kubeconfig").touch()
    told = {"clusters": [{"name": "main", "cluster": {"server": "https://127.0.0.53:6443"}}]}
    (machine / "discovery").write_text(json.dumps(told))
    monkeypatch.setattr(node_facts, "DISCOVERY", machine / "discovery")
    says(monkeypatch, site=True)
    node_facts.main()
    assert "NODE_ADDRESS=127.0.0.1" in (machine / "run/node.env").read_text().splitlines()
