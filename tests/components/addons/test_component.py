"""The component on the real engine, with the local cloud's provider, against a real API server: a life of all add-ons."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.addons.component import resource_name
from components.addons.spec import AddOnsSpec
from fleet.world import current
from landbridge.access import rbac
from tests.components.addons import bed
from tests.components.pools.joining_client import eventually
from tests.local.providers.kubernetes.bed import Project
from tests.support.apiserver import Server, pods_ready, server

pytestmark = pytest.mark.cloud

# A program of its own finds no tests.
MONITORING = bed.measured(current(bed.ROOT / "fleet.yaml").fleet).monitoring.model_dump_json(exclude_unset=True)  # type: ignore[union-attr]
# EFS's handles as a region's stack publishes them: outputs, not known before.
PROGRAM = f"""\
from pathlib import Path
from components.addons.component import AddOns
from components.addons.spec import addons_spec
from components.storage.mounts import FileSystem
from fleet.monitoring_model import Monitoring
from fleet.world import current
world = current(Path("{bed.ROOT}/fleet.yaml"))
def point(region, kind, name):
    return pulumi.Output.concat("fs-", region, "::fsap-", kind, name)
systems = {{
    region: FileSystem(
        region,
        {{share: point(region, "", share) for share in world.fleet.storage.shares}},
        {{person: point(region, "home-", person) for person in world.fleet.people}},
        world.plan.region(region).zones["a"].addresses["shares"],
    )
    for region in {bed.REGIONS}
}}
monitoring = Monitoring.model_validate_json({MONITORING!r})
spec = addons_spec(world.fleet.model_copy(update={{"monitoring": monitoring}}), world.plan, "main", systems)
AddOns("add-ons", {{"spec": spec}}, ResourceOptions(providers=[cluster]))
"""
# Another range of pods stands in the configuration of flannel's two kinds and of kube-proxy, and on their pods.
CHANGED = PROGRAM.replace(
    "\nAddOns(", "\nspec = spec._replace(cluster=spec.cluster._replace(pods_cidr='10.9.0.0/16'))\nAddOns(", 1
)
SETTINGS = "enable_config_map_mutable=True, enable_secret_mutable=True"


@pytest.fixture(scope="module")
def example() -> AddOnsSpec:
    """Without queues, whose definitions are large: tests/e2e/test_queues.py has their life."""
    return bed.spec()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, example: AddOnsSpec) -> Iterator[Server]:
    """A cluster as `landbridge up` leaves it, before its add-ons: with teams' namespaces."""
    volumes = [f"persistentvolume{what}-controller" for what in ("-binder", "-protection", "claim-protection")]
    with server(
        tmp_path_factory.mktemp("component"), also=",".join(volumes), services_cidr=example.cluster.services_cidr
    ) as made:
        for one in rbac.teams(example.fleet):
            if one["kind"] == "Namespace":
                made.apply(f"/api/v1/namespaces/{one['metadata']['name']}", one, "kubectl")
        yield made


def test_a_life_of_all_add_ons(tmp_path: Path, empty: Server, provider_host: int, example: AddOnsSpec) -> None:
    project = Project(tmp_path / "project", empty.kubeconfig(), provider_host)
    project.program(PROGRAM, SETTINGS)
    made = bed.every(example)
    apply = bed.Applying(empty)

    said = project.preview()
    assert f"+ {len(made) + 3} to create" in said  # the stack, the provider and the component besides
    assert empty.find(apply.path(bed.named(made, "RuntimeClass", "nvidia"))) is None

    with pods_ready(empty):
        project.up()
        for one in made:
            assert empty.find(apply.path(one)) is not None, resource_name(one)
        space = empty.find("/api/v1/namespaces/team-research")
        assert space is not None
        assert space["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "baseline"
        volume = empty.find("/api/v1/persistentvolumes/main.team-research.data-us-west-2")
        assert volume is not None
        assert volume["spec"]["csi"]["volumeHandle"] == "fs-us-west-2::fsap-data"

        project.up("--expect-no-changes")
        project.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes")

        # Configuration is changed in place, and the pods that read it follow.
        project.program(CHANGED, SETTINGS)
        said = project.up()
        assert "~ 6 updated" in said
        assert "replaced" not in said

        project.destroy()

    def left() -> list[str]:
        return [resource_name(one) for one in made if empty.find(apply.path(one)) is not None]

    # Nobody waits for the end of what nobody waited for (pulumi.com/skipAwait).
    spaces = ["Namespace/team-platform", "Namespace/team-research"]
    eventually(lambda: left() == spaces)
    space = empty.find("/api/v1/namespaces/team-research")
    assert space is not None
    assert space["metadata"]["labels"][rbac.TEAM] == "research"
    assert "pod-security.kubernetes.io/enforce" not in space["metadata"]["labels"]
