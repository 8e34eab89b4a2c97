"""Bundles of the example fleet's pools: golden files, and what must hold for every pool in every place."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from components.control_plane.bundle import Bundle
from components.pools import containerd, journal, kubelet, labels
from components.pools.bundle import bundle
from components.pools.spec import PoolSpec, pool_spec
from fleet.aws import sizes as aws_sizes
from fleet.monitoring_model import Logs, Monitoring
from fleet.world import World, current
from tests.support import golden

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
AUTHORITY = "-----BEGIN CERTIFICATE-----\nof the cluster\n-----END CERTIFICATE-----\n"
NODES = ("site-gpu", "west-gpu", "east-gpu", "eu-gpu", "cpu", "system")


@pytest.fixture(scope="module")
def world() -> World:
    return current(ROOT / "fleet.yaml")


def specs(world: World) -> dict[str, PoolSpec]:
    return {name: pool_spec(world.fleet, world.plan, name) for name in NODES}


@pytest.mark.golden
@pytest.mark.parametrize("name", ["site-gpu", "west-gpu", "cpu", "system"])
def test_the_bundle_of_a_pool(world: World, name: str) -> None:
    made = bundle(pool_spec(world.fleet, world.plan, name), AUTHORITY)
    # Scripts are read as what they are, not in a golden file.
    shown = {path: text.splitlines() for path, text in made.files.items() if not path.endswith((".py", ".crt"))}
    assert not made.keys
    golden.compare(HERE / f"golden/{name}.yaml", shown)


def test_one_gpu_job_fits_on_every_gpu_pool(world: World) -> None:
    """Where a node stands shows in labels of places alone, and of their network: all others are the same everywhere."""
    places = {labels.POOL, labels.PLACE, labels.REGION, labels.ZONE, labels.SHAPE, labels.RDMA}
    made = [spec for spec in specs(world).values() if spec.kind == "gpu"]
    assert len(made) == 4
    assert len({labels.taints(spec) for spec in made}) == 1
    rest = [{key: value for key, value in labels.labels(spec).items() if key not in places} for spec in made]
    assert all(one == rest[0] for one in rest)
    assert rest[0][labels.GPU_PRESENT] == "true"
    assert rest[0][labels.GPU] == "h100"


def test_cpu_work_stays_off_gpu_machines_and_system_work_is_alone(world: World) -> None:
    kinds = {spec.kind: {taint.key for taint in labels.taints(spec)} for spec in specs(world).values()}
    assert kinds == {
        "gpu": {"nvidia.com/gpu", "startup-taint.cluster-autoscaler.kubernetes.io/gpu"},
        "cpu": set(),
        "system": {"landbridge.dev/system"},
    }
    cpu = labels.labels(specs(world)["cpu"])
    assert labels.GPU_PRESENT not in cpu
    assert labels.GPU not in cpu


def test_a_kubelet_may_set_all_its_labels(world: World) -> None:
    """NodeRestriction lets kubelets set none of Kubernetes' own domains but these (KEP 279, "Proposed Change")."""
    may = ("topology.kubernetes.io/", "node.kubernetes.io/", "kubelet.kubernetes.io/", "kubernetes.io/hostname")
    for spec in specs(world).values():
        for key in labels.labels(spec):
            domain = key.partition("/")[0]
            kubernetes = domain.endswith(("kubernetes.io", "k8s.io"))
            assert not kubernetes or key.startswith(may), key


def test_a_site_s_node_has_its_zone_and_a_cloud_s_finds_it(world: World) -> None:
    made = specs(world)
    assert labels.labels(made["site-gpu"])[labels.ZONE] == "lab"
    assert labels.ZONE not in labels.labels(made["west-gpu"])
    unit = bundle(made["west-gpu"], AUTHORITY).files["/etc/systemd/system/kubelet.service"]
    assert ",${NODE_ZONE_LABEL}" in unit
    site = bundle(made["site-gpu"], AUTHORITY).files["/etc/systemd/system/kubelet.service"]
    assert "NODE_ZONE_LABEL" not in site


def test_no_node_has_a_label_by_which_a_cloud_knows_its_gpus(world: World) -> None:
    """An autoscaler that finds one, on a node of a site above all, waits for GPUs there and buys none elsewhere."""
    marks = ("k8s.amazonaws.com/accelerator", "kubernetes.azure.com/accelerator", "accelerator")
    for spec in specs(world).values():
        assert not set(marks) & labels.labels(spec).keys()
        unit = bundle(spec, AUTHORITY).files["/etc/systemd/system/kubelet.service"]
        assert "/accelerator=" not in unit


def test_no_bundle_holds_a_secret(world: World) -> None:
    for spec in specs(world).values():
        made = bundle(spec, AUTHORITY)
        assert not made.keys
        text = json.dumps({path: text for path, text in made.files.items() if not path.endswith(".py")})
        assert "PRIVATE KEY" not in text
        user = json.loads(made.files["/etc/kubernetes/bootstrap.kubeconfig"])["users"][0]["user"]
        assert user.keys() == ({"tokenFile"} if spec.site else {"exec"})


def test_nodes_lay_down_their_journal_where_the_fleet_keeps_logs(world: World) -> None:
    keeps = world.fleet.model_copy(update={"monitoring": Monitoring(logs=Logs())})
    for name, spec in specs(world).items():
        more = bundle(pool_spec(keeps, world.plan, name), AUTHORITY).files
        before = bundle(spec, AUTHORITY).files
        assert set(more) - set(before) == set(journal.files())
        assert journal.SERVICE in more["/etc/systemd/system/landbridge.target"]
        assert more[f"/etc/systemd/system/{journal.SERVICE}"].count(f"node_journal.py {journal.FOLDER}\n") == 1


def test_a_mass_start_is_spread(world: World) -> None:
    assert [kubelet.jitter_seconds(most) for most in (1, 40, 200, 5000)] == [0, 4, 20, 60]
    told = json.loads(bundle(specs(world)["eu-gpu"], AUTHORITY).files["/etc/landbridge/node.json"])
    assert told["jitter_seconds"] == 20


def test_containerd_s_file_is_toml_and_runc_stays_the_default(world: World) -> None:
    made = {name: tomllib.loads(containerd.config(spec)) for name, spec in specs(world).items()}
    for name, told in made.items():
        runtime = told["plugins"]["io.containerd.cri.v1.runtime"]
        assert told["version"] == 3
        assert runtime["enable_cdi"] is True
        assert runtime["containerd"]["default_runtime_name"] == "runc"
        assert ("nvidia" in runtime["containerd"]["runtimes"]) == (specs(world)[name].kind == "gpu")


def test_models_of_gpus_are_those_the_cloud_tells() -> None:
    """Against the instance types as AWS describes them, which moto holds: `a100-80g` is an A100 of 80 GiB."""
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    for family, model in aws_sizes.GPUS.items():
        types = [told for name, told in INSTANCE_TYPES.items() if name.startswith(f"{family}.")]
        assert types, f"no instance type of {family}"
        for told in types:
            gpu = told["GpuInfo"]["Gpus"][0]
            name, _, memory = model.partition("-")
            assert gpu["Name"].lower() == name
            assert not memory or round(gpu["MemoryInfo"]["SizeInMiB"] / 1024) == int(memory.removesuffix("g"))


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_agrees_with_every_unit(world: World, tmp_path: Path) -> None:
    for name, spec in specs(world).items():
        folder = tmp_path / name
        folder.mkdir()
        _write_units(folder, bundle(spec, AUTHORITY))
        command = ["systemd-analyze", "verify", "--man=no", *map(str, sorted(folder.iterdir()))]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        wrong = [line for line in told.splitlines() if str(folder) in line]
        assert not [line for line in wrong if "is not executable" not in line], told


def _write_units(folder: Path, made: Bundle) -> None:
    for path, text in made.files.items():
        if path.startswith("/etc/systemd/system/"):
            (folder / Path(path).name).write_text(text)
