"""What keeps an upgrade sound: no program may ever ask a server that is older than itself ("Version Skew Policy")."""

import json

import pytest

from components.control_plane import api
from components.control_plane.machines import ClusterSpec, cluster_spec
from fleet.image_names import parameter
from fleet.world import current
from tests.support.cloud import ROOT


@pytest.fixture(scope="module")
def spec() -> ClusterSpec:
    world = current(ROOT / "fleet.yaml")
    return cluster_spec(world.fleet, world.plan, "main")


def test_controllers_and_scheduler_know_no_server_but_that_of_their_own_machine_and_image(spec: ClusterSpec) -> None:
    for machine in spec.api:
        files = api.files(spec, machine)
        for program in ("controller-manager", "scheduler"):
            clusters = json.loads(files[f"/etc/kubernetes/{program}.kubeconfig"])["clusters"]
            assert [one["cluster"]["server"] for one in clusters] == ["https://127.0.0.1:6443"]
            unit = files[f"/etc/systemd/system/kube-{program}.service"]
            assert f"/usr/local/bin/kube-{program}" in unit
            assert "--master" not in unit
            assert spec.endpoint not in unit
        config = json.loads(files["/etc/kubernetes/scheduler.json"])
        assert config["clientConnection"]["kubeconfig"] == "/etc/kubernetes/scheduler.kubeconfig"


def test_an_image_is_found_by_the_version_in_it_and_its_channel() -> None:
    assert parameter("example", "1.36.2") == "/example/images/cpu/1.36.2/stable"
    assert parameter("example", "1.36.2", variant="gpu") == "/example/images/gpu/1.36.2/stable"
    assert parameter("example", "1.36.2", "candidate") == "/example/images/cpu/1.36.2/candidate"
