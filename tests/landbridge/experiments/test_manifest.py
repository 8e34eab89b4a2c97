"""Runs as JobSets: two whole ones in golden files, and what must hold for all."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.experiments.launching import made_up
from landbridge.experiments.manifest import manifest
from landbridge.experiments.spec import LONGEST_NAME, Run
from tests.support import golden

from . import bed

HERE = Path(__file__).parent
WHOLE: dict[str, Any] = {
    "restarts": 3,
    "max_hours": 2.5,
    "hang_minutes": 30.0,
    "tensorboard": True,
    "checkpoints": "data",
    "redis": True,
    "cpus": 32,
    "memory_gib": 256,
    "priority": "high",
    "environment": {"PRICE": "$5"},
}


@pytest.mark.golden
@pytest.mark.parametrize(("name", "form", "fields"), [("plain", "plain", WHOLE), ("servers", "parameter-servers", {})])
def test_the_whole_of_a_run(name: str, form: str, fields: dict[str, Any]) -> None:
    golden.compare(HERE / f"{name}.yaml", manifest(bed.launched(form=form, **fields)))


def parts(form: str, **fields: Any) -> dict[str, Any]:
    made = manifest(bed.launched(form=form, **fields))["spec"]["replicatedJobs"]
    return {one["name"]: one["template"]["spec"] for one in made}


def container(form: str, part: str, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = parts(form, **fields)[part]["template"]["spec"]["containers"][0]
    return found


def test_a_shell_s_own_dollars_reach_it() -> None:
    """Kubernetes makes one of two, and looks for variables in $(…)."""
    one = bed.launched()
    one = one._replace(run=Run(command=["sh", "-c", "echo $$ $(date) $HOME"], gpus=16))
    words = manifest(one)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    assert words["command"] == ["sh", "-c", "echo $$$$ $$(date) $$HOME"]


def test_hosts_with_gpus_are_asked_for_their_heartbeat() -> None:
    """Nobody is without the words for it, and a look is never rarer than a minute nor than four in the time meant."""
    made = {name: container("mpi", name, hang_minutes=2.0) for name in ("launcher", "worker")}
    probe = made["worker"]["livenessProbe"]
    assert "livenessProbe" not in made["launcher"]
    assert {"name": "HEARTBEAT_FILE", "value": "/heartbeat/beat"} in made["launcher"]["env"]
    assert (probe["periodSeconds"], probe["failureThreshold"]) == (30, 1)
    assert '"$age" -le 120 ]' in probe["exec"]["command"][-1]
    assert "livenessProbe" not in container("mpi", "worker")


def board(form: str, part: str, **fields: Any) -> Any:
    pod = parts(form, tensorboard=True, **fields)[part]["template"]["spec"]
    return next((one for one in pod["initContainers"] if one["name"] == "tensorboard"), None)


def test_tensorboard_stands_beside_hosts_with_gpus_and_sees_what_they_write() -> None:
    assert board("mpi", "launcher") is None
    for fields, mount, folder in (
        ({}, {"name": "tensorboard", "mountPath": "/tensorboard"}, "/tensorboard"),
        (
            {"checkpoints": "data", "hang_minutes": 5.0},
            {"name": "checkpoints", "mountPath": "/checkpoints"},
            "/checkpoints/runs/train-1/tensorboard",
        ),
    ):
        made = board("mpi", "worker", **fields)
        assert (made["volumeMounts"], made["restartPolicy"], made["image"]) == (
            [mount],
            "Always",
            "example.com/train:1",
        )
        told = {"name": "TENSORBOARD_DIR", "value": folder}
        assert told in made["env"]
        assert told in container("mpi", "worker", tensorboard=True, **fields)["env"]


def test_a_launcher_stands_before_the_command() -> None:
    words = container("torchrun", "worker")["command"]
    assert (words[0], words[-2:]) == ("torchrun", ["python", "train.py"])


def test_who_is_who_is_told_in_tensorflow_s_form() -> None:
    told = {one["name"]: one.get("value") for one in container("parameter-servers", "ps")["env"]}
    config = json.loads(told["TF_CONFIG"].replace("$(RUN_PART)", "ps").replace("$(RUN_RANK)", "0"))
    assert config["cluster"]["worker"] == [f"train-1-worker-0-{n}.train-1:29400" for n in (0, 1)]
    assert config["task"] == {"type": "ps", "index": 0}


def test_what_has_no_gpus_stands_where_the_others_are_and_buys_nothing_of_its_own() -> None:
    pod = parts("parameter-servers")["ps"]["template"]["spec"]
    (near,) = pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert near["topologyKey"] == "landbridge.dev/place"
    assert not pod["containers"][0]["resources"]


def test_the_run_ends_with_those_parts_whose_end_it_is() -> None:
    def ends(form: str, **fields: Any) -> Any:
        return manifest(bed.launched(form=form, **fields))["spec"]["successPolicy"]["targetReplicatedJobs"]

    assert ends("parameter-servers") == ["worker"]
    assert ends("plain", redis=True) == ["worker"]


def test_names_are_no_longer_than_kubernetes_takes() -> None:
    for folder in ("a", "2026_results", "x" * 80, "Ünïcode", "---"):
        name = made_up(folder)
        Run(command=["true"], gpus=1, name=name)
        assert len(name) <= LONGEST_NAME
    assert made_up("a") != made_up("a")
