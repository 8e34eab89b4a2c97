"""A cluster whose home is in Azure, on the local cloud: its machines boot by themselves, and its API answers."""

import json
import subprocess
import time
from typing import Any

import pytest

from tests.support.cloud import COMMAND, Cloud

pytestmark = pytest.mark.cloud
HEALTH_SECONDS = 120.0


@pytest.fixture(scope="module")
def cloud(in_azure: Cloud) -> Cloud:
    return in_azure


def machines(cloud: Cloud) -> dict[str, Any]:
    done = cloud.run("cluster", "status", "main", "--local", "--json", code=None)
    return {one["name"]: one for one in json.loads(done.stdout).get("machines", ())}


def healthy(cloud: Cloud) -> dict[str, Any]:
    """All machines, as soon as none ails."""
    deadline = time.monotonic() + HEALTH_SECONDS
    while True:
        found = machines(cloud)
        if len(found) == 5 and all(one["healthy"] for one in found.values()):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(2)


def kubectl(cloud: Cloud, *words: str) -> str:
    """Options of landbridge stand before kubectl's words."""
    command = [COMMAND, "kubectl", "--local", "--fleet", str(cloud.fleet), *words]
    env = cloud._environment()
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_both_rings_of_etcd_and_all_api_servers_are_well(cloud: Cloud) -> None:
    found = healthy(cloud)
    assert sorted(found) == ["main-api-1", "main-api-2", "main-etcd-1", "main-etcd-2", "main-etcd-3"]
    assert sorted(ring for one in found.values() for ring in one["leads"]) == ["events", "main"]
    assert all(one["bundle"] == one["wanted_bundle"] for one in found.values())
    assert len({one["instance"] for one in found.values()}) == 5


def test_the_api_answers_at_its_name_behind_the_balancer(cloud: Cloud) -> None:
    assert kubectl(cloud, "get", "--raw", "/readyz").strip() == "ok"
    assert "main.southcentralus.test.example.com:6443" in kubectl(cloud, "config", "view")
    kubectl(cloud, "create", "configmap", "kept", "--from-literal=a=b")
    assert kubectl(cloud, "get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"


def test_nothing_is_left_to_do(cloud: Cloud) -> None:
    found = cloud.report("preview", "--local", "--refresh", "--expect-no-changes")
    assert {stack["result"] for stack in found["stacks"]} == {"unchanged"}


def test_a_roll_makes_one_machine_anew_and_it_has_its_data(cloud: Cloud) -> None:
    before = healthy(cloud)
    cloud.run("cluster", "roll", "main", "--machines", "main-etcd-2", "--force", "--local")
    after = healthy(cloud)
    changed = {name for name in after if after[name]["instance"] != before[name]["instance"]}
    assert changed == {"main-etcd-2"}
    assert kubectl(cloud, "get", "configmap", "kept", "-o", "jsonpath={.data.a}") == "b"
