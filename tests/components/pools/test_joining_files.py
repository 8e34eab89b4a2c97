"""What the joining service brings to API machines and to the cluster: files, flags, rights, and nothing too much."""

import ast
import datetime
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from components.control_plane import pki
from components.control_plane.machines import cluster_spec
from components.control_plane.units import ON_MACHINE
from components.pools import admission, joining, kubelet
from fleet.address.plan import draft
from fleet.loader import load
from fleet.world import World, current
from tests.components.pools.joining_bed import ROOT, SETTINGS, TABLE

SCRIPTS = "/usr/local/lib/landbridge"


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


def files(world: World) -> dict[str, str]:
    spec = cluster_spec(world.fleet, world.plan, "main")
    return joining.files(spec, spec.api[0])


def known(world: World) -> tuple[joining.Joining, ...]:
    return joining.pools(world.fleet, world.plan, "main", "example-{}-node".format, lambda name: [f"example-{name}"])


def test_the_settings_name_the_cluster_and_no_pool(world: World) -> None:
    told = json.loads(files(world)["/etc/landbridge/joining.json"])
    assert told.keys() == SETTINGS.keys()
    assert told["machine"] == "main-api-1"
    assert told["cluster"] == "example/main"
    assert told["account"] == "123456789012"
    assert not [name for name in world.fleet.pools if name in json.dumps(told)], "a new pool changes no machine here"


def test_the_table_tells_every_pool(world: World) -> None:
    (made,) = (one for one in admission.manifests(known(world)) if one["metadata"]["name"] == admission.POOLS)
    told = json.loads(made["data"][admission.POOLS_KEY])
    assert told.keys() == TABLE.keys()
    for name, one in TABLE["pools"].items():
        assert told["pools"][name].keys() == one.keys()
    assert told["roles"]["example-west-gpu-node"] == "west-gpu"
    assert told["regions"] == {
        "eu-west-1": ["example-eu-gpu"],
        "southcentralus": ["example-south-gpu"],
        "us-east-1": ["example-east-gpu"],
        "us-west-2": ["example-cpu", "example-system", "example-west-gpu"],
    }
    assert told["lans"] == {"lab": world.plan.site("lab").lan}
    assert sorted(told["pools"]["site-gpu"]["hosts"]) == [f"host-{number}" for number in range(1, 9)]
    assert told["pools"]["west-gpu"]["gpus"] == 8


def test_a_cluster_with_a_pool_in_azure_says_where_that_is_and_may_ask_there(world: World) -> None:
    fleet = load(ROOT / "tests/fleet/good/azure.yaml")
    made = World(fleet, draft(fleet, None, datetime.date(2026, 1, 1)).plan, ROOT)
    found = joining.pools(made.fleet, made.plan, "main", "{}-node".format, lambda name: [f"set-{name}"])
    azure = joining.azure(fleet, found)
    told = joining.table(found, azure)
    place = f"/subscriptions/{azure['subscription']}/resourceGroups/azure-alone-southcentralus"
    assert azure["places"] == {"southcentralus": place}
    assert told["azure"] == azure
    assert told["roles"] == {}, "a machine of Azure joins by no role"
    assert {one["cloud"] for one in told["pools"].values()} == {"azure"}  # type: ignore[attr-defined]
    in_aws = [one for one in known(world) if one.name != "south-gpu"]
    assert joining.azure(world.fleet, in_aws) == {}
    assert "azure" not in joining.table(in_aws)
    assert joining.permissions(fleet, "main") == []
    rules = [rule for one in admission.cloud_rights(azure=True) if one["kind"] == "Role" for rule in one["rules"]]
    assert [(rule["resources"], rule["verbs"], rule["resourceNames"]) for rule in rules] == [
        (["configmaps"], ["get"], ["landbridge-joining-azure"]),
        (["serviceaccounts/token"], ["create"], ["landbridge-joining"]),
    ]
    assert "configmaps" not in str(admission.cloud_rights(azure=False))


def test_the_scripts_need_each_other_and_python_alone(world: World) -> None:
    laid = {Path(path).stem: text for path, text in files(world).items() if path.startswith(SCRIPTS)}
    needed = {"join_service", "join_webhook"}
    for name in laid:
        for node in ast.walk(ast.parse(laid[name])):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for found in names:
                assert found.partition(".")[0] in sys.stdlib_module_names | laid.keys(), f"{name} imports {found}"
            needed |= laid.keys() & set(names)
    assert needed == laid.keys(), "and none is laid in vain"
    assert not {path.stem for path in joining.OWN_SCRIPTS.rglob("*.py")} & {
        path.stem for path in ON_MACHINE.rglob("*.py")
    }


def test_the_scripts_run_under_the_machine_s_own_python(world: World, tmp_path: Path) -> None:
    for path, text in files(world).items():
        if path.startswith(SCRIPTS):
            (tmp_path / Path(path).name).write_text(text)
    done = subprocess.run(
        ["/usr/bin/python3", "-c", "import join_service, join_webhook"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_agrees_with_the_unit(world: World, tmp_path: Path) -> None:
    units = [tmp_path / name for name in (joining.SERVICE, joining.WEBHOOK_SERVICE)]
    for unit in units:
        unit.write_text(files(world)[f"/etc/systemd/system/{unit.name}"])
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    assert not [line for line in told.stderr.splitlines() if str(tmp_path) in line and "not executable" not in line]


def test_the_api_server_asks_the_service_here_and_knows_it(world: World) -> None:
    told = json.loads(files(world)[joining.flags()["authentication-token-webhook-config-file"]])
    assert told["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:6445/",
        "certificate-authority": "/etc/kubernetes/pki/ca.crt",
    }
    assert "insecure" not in json.dumps(told)


def test_machines_may_only_look_at_instances_where_pools_are(world: World) -> None:
    (statement,) = joining.permissions(world.fleet, "main")
    assert statement == {
        "Sid": "FindMachines",
        "Effect": "Allow",
        "Action": "ec2:DescribeInstances",
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:RequestedRegion": ["eu-west-1", "us-east-1", "us-west-2"]}},
    }
    assert joining.permissions(world.fleet, "another") == [], "a cluster without pools in clouds asks nobody"


def test_no_right_is_wider_than_its_use(world: World) -> None:
    made = admission.manifests(known(world))
    rules = [rule for one in made if one["kind"] in ("Role", "ClusterRole") for rule in one["rules"]]
    assert not [rule for rule in rules if "*" in (*rule["apiGroups"], *rule["resources"], *rule["verbs"])]
    assert not {"secrets", "pods", "nodes/status", "serviceaccounts"} & {
        name for rule in rules for name in rule["resources"]
    }
    for rule in rules:
        if {"update", "approve"} & set(rule["verbs"]) and rule["resources"] != ["certificatesigningrequests/approval"]:
            assert rule["resourceNames"], rule
    assert len({(one["kind"], one["metadata"]["name"], one["metadata"].get("namespace")) for one in made}) == len(made)


def test_kubelets_let_in_whom_they_see_in_an_api_server(world: World) -> None:
    spec = cluster_spec(world.fleet, world.plan, "main")
    shown = {one.common_name for one in pki.certificates(spec, spec.api[0]) if one.file.endswith("/kubelet-client")}
    let = [one for one in admission.rights() if one.get("roleRef", {}).get("name") == "system:kubelet-api-admin"]
    assert shown == {subject["name"] for one in let for subject in one["subjects"]}


def test_a_departed_machine_s_name_is_cut_from_its_user_as_long_as_it_is() -> None:
    policy = next(one for one in admission.policy() if one["kind"] == "ValidatingAdmissionPolicy")
    assert f"substring({len('system:node:')})" in policy["spec"]["validations"][0]["expression"]
    assert policy["spec"]["matchConstraints"]["resourceRules"][0]["resources"] == ["*/*"]


def test_a_mass_start_s_joins_are_fewer_than_the_service_does() -> None:
    """Measured by bench/joining.py."""
    assert kubelet.JOINS_A_SECOND <= 20
