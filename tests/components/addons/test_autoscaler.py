"""The autoscaler's pod, its settings and the order of groups: what the service and upstream's program rest on."""

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from components.addons import autoscaler, autoscaler_settings, kube_proxy
from components.addons.autoscaler_flags import DRY_RUN, FLAGS, arguments
from components.addons.autoscaler_settings import priorities, settings
from components.addons.aws import autoscaler_role as aws_autoscaler_role
from components.addons.aws import team_pods as aws_team_pods
from components.addons.priorities import BUYS_FROM
from components.addons.spec import AddOnsSpec
from components.pools import labels
from components.pools.aws import hooks as aws_hooks
from components.pools.names import Names
from fleet.address import sizes
from fleet.model import AzureSubscription, Fleet, Pool
from services.autoscaler import settings as service_settings
from services.autoscaler.backoffs import seconds
from tests.components.addons import bed
from tests.test_docs import tables

KNOWN = bed.HERE / "known_flags.txt"
GUIDE = bed.ROOT / "docs/guide/autoscaler.md"


def changed(example: AddOnsSpec, **pools: dict[str, Any]) -> AddOnsSpec:
    """The example with pools of the fleet file changed, by name with `_` for `-`."""
    named = {name.replace("_", "-"): update for name, update in pools.items()}
    made = {name: pool.model_copy(update=named.get(name, {})) for name, pool in example.fleet.pools.items()}
    return example._replace(fleet=example.fleet.model_copy(update={"pools": made}))


def test_every_group_of_the_cluster_is_known_with_its_bounds(example: AddOnsSpec) -> None:
    found = settings(example)
    groups = {group["name"]: group for group in found["groups"]}
    assert [*groups] == [
        "example-cpu-all",
        "example-east-gpu-a",
        "example-east-gpu-b",
        "example-eu-gpu-a",
        "example-eu-gpu-b",
        "example-south-gpu-1",
        "example-south-gpu-2",
        "example-system-a",
        "example-system-b",
        "example-west-gpu-a",
        "example-west-gpu-b",
        "example-west-gpu-c",
    ]
    assert not [name for name in groups if "site" in name], "hosts are there already"
    system = groups["example-system-a"]
    assert (system["least"], system["most"], system["gpus"]) == (1, 4, 0)
    west = groups["example-west-gpu-c"]
    assert (west["pool"], west["owner"], west["region"]) == ("west-gpu", "research", "us-west-2")
    assert (west["least"], west["most"], west["gpus"], west["price_usd"]) == (0, 40, 8, None)
    assert groups["example-east-gpu-a"]["price_usd"] == 55.04
    assert west["template"]["metadata"]["labels"][labels.ZONE] == "us-west-2c"
    assert west["template"]["status"]["allocatable"][labels.GPU_RESOURCE] == "8"
    assert found["region_clouds"] == {
        **dict.fromkeys(("eu-west-1", "us-east-1", "us-west-2"), "aws"),
        "southcentralus": "azure",
    }
    assert found["cluster"] == "main"


def test_limits_are_those_of_the_fleet_file(example: AddOnsSpec) -> None:
    none = {"gpus": None, "price_usd": None}
    machines = {"cpu": 50, "east-gpu": 60, "eu-gpu": 200, "south-gpu": 100, "system": 4, "west-gpu": 40}
    assert settings(example)["limits"] == {
        "pools": {name: {"machines": most} for name, most in machines.items()},
        "owners": {"platform": none, "research": none},
        "fleet": none,
    }
    research = example.fleet.teams["research"].model_copy(update={"max_gpus": 2000, "max_usd_per_hour": 9000.0})
    fleet: Fleet = example.fleet.model_copy(
        update={"teams": {**example.fleet.teams, "research": research}, "max_gpus": 2400, "max_usd_per_hour": 9500.5}
    )
    limits = settings(example._replace(fleet=fleet))["limits"]
    assert limits["owners"] == {"platform": none, "research": {"gpus": 2000, "price_usd": 9000.0}}
    assert limits["fleet"] == {"gpus": 2400, "price_usd": 9500.5}


def test_settings_that_no_config_map_holds_are_an_error(example: AddOnsSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(autoscaler.compact(settings(example)).encode())
    assert size < autoscaler_settings.LARGEST_BYTES / 25, "16 pools in five regions find room"
    monkeypatch.setattr(autoscaler_settings, "LARGEST_BYTES", size - 1)
    with pytest.raises(ValueError, match=r"cluster main: the autoscaler's settings have .* for 12 scaling groups"):
        autoscaler.manifests(example)


def _order(of: AddOnsSpec) -> list[list[str]]:
    """Groups in the order in which the expander takes them, as upstream reads it: patterns by number."""
    read = YAML(typ="safe").load(autoscaler.order(of))
    assert all(isinstance(number, int) and number > 0 for number in read), "the expander takes none below 0"
    return [[name.strip("^$") for name in read[number]] for number in sorted(read, reverse=True)]


def test_pools_are_filled_in_the_order_of_the_fleet_file_zone_after_zone(example: AddOnsSpec) -> None:
    found = _order(example)
    assert found[:5] == [[f"example-west-gpu-{z}"] for z in "abc"] + [[f"example-east-gpu-{z}"] for z in "ab"]
    # Of one priority, as the file leaves it: no pod fits two of the three.
    assert found[5] == ["example-cpu-all", "example-eu-gpu-a", "example-system-a"]
    names = Names(example.fleet)
    every = {group for pool in example.pools if not pool.site for group in names.groups(pool.name)}
    assert {name for names in found for name in names} == every == {one["name"] for one in settings(example)["groups"]}
    assert all(
        pattern.startswith("^") and pattern.endswith("$") for ones in priorities(example).values() for pattern in ones
    )


def test_a_pool_of_priority_0_has_an_order_too(example: AddOnsSpec) -> None:
    last = _order(changed(example, west_gpu={"priority": 0}))[-3:]
    assert last == [["example-west-gpu-a"], ["example-west-gpu-b"], ["example-west-gpu-c"]]


def test_a_cluster_without_scaling_groups_for_work_has_no_autoscaler(example: AddOnsSpec) -> None:
    left = {name: pool for name, pool in example.fleet.pools.items() if pool.kind == "system" or pool.site}
    alone = example._replace(fleet=example.fleet.model_copy(update={"pools": left}))
    assert autoscaler.wanted(example)
    assert not autoscaler.wanted(alone)


def pod(of: AddOnsSpec) -> dict[str, Any]:
    found = bed.named(autoscaler.manifests(of), "Deployment", "cluster-autoscaler")["spec"]["template"]
    return dict(found)


def test_it_is_replaced_when_its_settings_change_and_not_for_another_order(example: AddOnsSpec) -> None:
    def noted(of: AddOnsSpec) -> str:
        return str(pod(of)["metadata"]["annotations"]["landbridge.dev/config"])

    assert noted(changed(example, west_gpu={"min": 1})) != noted(example)
    assert noted(changed(example, west_gpu={"priority": 25})) == noted(example)


def test_two_replicas_stand_on_two_system_machines(example: AddOnsSpec) -> None:
    made = autoscaler.manifests(example)
    deployment = bed.named(made, "Deployment", "cluster-autoscaler")["spec"]
    spec = deployment["template"]["spec"]
    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert spec["nodeSelector"] == {labels.KIND: "system"}
    assert [one["key"] for one in spec["tolerations"]] == [labels.SYSTEM.key]
    (apart,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["labelSelector"]["matchLabels"].items() <= deployment["template"]["metadata"]["labels"].items()
    budget = bed.named(made, "PodDisruptionBudget", "cluster-autoscaler")["spec"]
    assert budget == {"maxUnavailable": 1, "selector": deployment["selector"]}


def test_no_container_can_do_more_than_its_work(example: AddOnsSpec) -> None:
    spec = pod(example)["spec"]
    assert "hostNetwork" not in spec
    assert spec["securityContext"]["runAsNonRoot"] is True
    for container in (*spec["initContainers"], *spec["containers"]):
        assert container["securityContext"] == autoscaler.NARROW
        # An image that is part of the machine's is never asked for.
        assert (container.get("imagePullPolicy") == "Never") == container["image"].startswith("localhost/")
    writes = {
        container["name"]: [mount["name"] for mount in container["volumeMounts"] if not mount.get("readOnly")]
        for container in (*spec["initContainers"], *spec["containers"])
    }
    assert writes == {"certificates": ["pair"], "cloud": ["decisions"], "notes": [], "cluster-autoscaler": []}


def given(container: dict[str, Any]) -> dict[str, str]:
    """Options of its program; those without a value have none."""
    parts = (word.partition("=") for word in container["command"][3:])
    return {name: value for name, _, value in parts}


def test_bookings_are_ended_where_teams_have_queues(example: AddOnsSpec) -> None:
    cloud = pod(example)["spec"]["initContainers"][1]
    assert "--bookings" in given(cloud)
    teams = {name: team.model_copy(update={"queues": {}}) for name, team in example.fleet.teams.items()}
    without = example._replace(fleet=example.fleet.model_copy(update={"teams": teams}))
    assert "--bookings" not in given(pod(without)["spec"]["initContainers"][1])


def test_the_two_programs_speak_of_the_same_files_and_ports(example: AddOnsSpec) -> None:
    made = autoscaler.manifests(example)
    spec = pod(example)["spec"]
    config = bed.named(made, "ConfigMap", autoscaler.SETTINGS)["data"]
    told = json.loads(config["cloud-config.yaml"])
    certificates, cloud, notes = spec["initContainers"]
    (program,) = spec["containers"]
    options = given(cloud)
    assert told["address"] == options["--listen"] == "127.0.0.1:8086"
    pair = certificates["command"][-1]
    assert {Path(told[name]).parent for name in ("cacert", "cert", "key")} == {Path(options["--pair"])} == {Path(pair)}
    for container, file in ((cloud, options["--settings"]), (program, FLAGS["cloud-config"].value)):
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        assert mounts[str(Path(file).parent)] == "settings"
        assert mounts[pair] == "pair"
        assert Path(file).name in config
    assert cloud["restartPolicy"] == notes["restartPolicy"] == "Always"
    assert cloud["livenessProbe"]["httpGet"]["port"] == int(options["--metrics"].removeprefix(":"))
    assert program["livenessProbe"]["httpGet"]["port"] == int(FLAGS["address"].value.removeprefix(":"))
    assert options["--account"] == kube_proxy.TOKEN, "where Kubernetes lays it"
    env = {one["name"]: one.get("value") for one in cloud["env"]}
    (token,) = [volume for volume in spec["volumes"] if volume["name"] == "aws"]
    assert env["AWS_ROLE_ARN"] == "arn:aws:iam::123456789012:role/example-main-addons-autoscaler"
    assert env["AWS_WEB_IDENTITY_TOKEN_FILE"] == f"{aws_team_pods.FOLDER}/token"
    source = token["projected"]["sources"][0]["serviceAccountToken"]
    assert source == {"audience": "sts.amazonaws.com", "expirationSeconds": 3600, "path": "token"}


def test_what_is_decided_and_why_pods_wait_is_kept_by_names_that_a_right_is_for(example: AddOnsSpec) -> None:
    """And the command line of the program is one that the program takes."""
    made = autoscaler.manifests(example)
    _, cloud, notes = pod(example)["spec"]["initContainers"]
    options = given(notes)
    assert given(cloud)["--decisions"] == options["--decisions"]
    mounts = [{one["name"]: one for one in container["volumeMounts"]} for container in (cloud, notes)]
    assert mounts[0]["decisions"]["mountPath"] == mounts[1]["decisions"]["mountPath"]
    assert Path(options["--decisions"]).parent == Path(mounts[0]["decisions"]["mountPath"])
    backoffs = [seconds(part) for part in options["--backoff"].split(",")]
    assert backoffs == [60, 900, 3600]
    assert (options["--lease"], options["--buys-from"]) == ("cluster-autoscaler", str(BUYS_FROM))
    rules = bed.named(made, "Role", "landbridge:cluster-autoscaler")["rules"]
    named = [name for rule in rules if "configmaps" in rule["resources"] for name in rule.get("resourceNames", ())]
    assert named == [options["--status"], *(f"{options['--history']}-{place:02}" for place in range(26))]


def test_both_releases_know_every_flag() -> None:
    """Names that config/flags/flags.go of 1.33.0 and 1.36.1 both have, and two of libraries that both bind."""
    known = KNOWN.read_text().split()
    assert len(known) > 100
    assert {*FLAGS, *DRY_RUN} - set(known) == set()
    assert {word.partition("=")[0] for word in arguments()} == {f"--{name}" for name in FLAGS}


def test_flags_are_those_of_the_rest_of_the_house() -> None:
    assert FLAGS["max-graceful-termination-sec"].value == str(aws_hooks.TERMINATION["heartbeat_timeout"])
    assert int(FLAGS["expendable-pods-priority-cutoff"].value) == BUYS_FROM
    assert FLAGS["status-taint"].value == labels.GPU_FAILED.key
    assert labels.GPU_STARTING.key.startswith("startup-taint.cluster-autoscaler.kubernetes.io/"), "known without a flag"
    assert FLAGS["ok-total-unready-count"].value == str(sizes.CLUSTERS["large"].nodes)


def test_in_a_dry_run_neither_program_changes_anything(example: AddOnsSpec) -> None:
    main = example.fleet.clusters["main"].model_copy(update={"autoscaler_dry_run": True})
    fleet = example.fleet.model_copy(update={"clusters": {"main": main}})

    def words(spec: AddOnsSpec) -> set[str]:
        pod = autoscaler.pod(spec)
        return {word for one in (*pod["initContainers"], *pod["containers"]) for word in one["command"]}

    more = words(example._replace(fleet=fleet)) - words(example)
    assert more == {"--dry-run", *(f"--{name}={flag.value}" for name, flag in DRY_RUN.items())}


def test_whoever_holds_one_gpu_keeps_its_machine() -> None:
    """A machine is removed below the share, and an empty one has none: 0 would keep empty machines for ever."""
    share = float(FLAGS["scale-down-gpu-utilization-threshold"].value)
    (most,) = [bound.le for bound in Pool.model_fields["gpus"].metadata if hasattr(bound, "le")]
    assert 0 < share < 1 / most


def test_the_guide_has_every_flag() -> None:
    (found,) = tables(GUIDE)["Flags"]
    assert [tuple(row) for row in found[1:]] == [(name, flag.value, flag.why) for name, flag in FLAGS.items()]


SUBSCRIPTION, TENANT = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"


@pytest.fixture
def both(example: AddOnsSpec) -> AddOnsSpec:
    """The example with a pool in a region of Azure."""
    update = {
        "region": "southcentralus",
        "zones": None,
        "instance_type": "Standard_ND96isr_H100_v5",
        "max": 20,
    }
    pools = {**example.fleet.pools, "south-gpu": example.fleet.pools["east-gpu"].model_copy(update=update)}
    region = example.fleet.regions["us-east-1"].model_copy(update={"cloud": "azure", "zones": ["1", "2"]})
    fleet = example.fleet.model_copy(
        update={
            "pools": pools,
            "regions": {**example.fleet.regions, "southcentralus": region},
            "azure": AzureSubscription(subscription_id=SUBSCRIPTION, tenant_id=TENANT),
        }
    )
    east = next(pool for pool in example.pools if pool.name == "east-gpu")
    hardware = east.hardware._replace(shape="Standard_ND96isr_H100_v5")
    south = east._replace(name="south-gpu", place="southcentralus", zones=("1", "2"), hardware=hardware)
    return example._replace(fleet=fleet, pools=(*example.pools, south))


def test_scale_sets_of_azure_are_known_beside_aws_s(both: AddOnsSpec) -> None:
    found = settings(both)
    assert found["region_clouds"]["southcentralus"] == "azure"
    groups = {"southcentralus": "example-southcentralus"}
    assert found["azure"] == {"subscription_id": SUBSCRIPTION, "resource_groups": groups}
    south = {group["name"]: group for group in found["groups"] if group["region"] == "southcentralus"}
    assert [*south] == ["example-south-gpu-1", "example-south-gpu-2"]
    template = south["example-south-gpu-2"]["template"]
    assert template["metadata"]["labels"][labels.ZONE] == "southcentralus-2", "as cloud-provider-azure labels nodes"
    assert template["status"]["allocatable"][labels.GPU_RESOURCE] == "8"
    assert service_settings.Settings.model_validate(found).azure is not None


def _cloud(of: AddOnsSpec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The service's container and its pod's volumes, by name."""
    spec = pod(of)["spec"]
    (container,) = [one for one in spec["initContainers"] if one["name"] == "cloud"]
    return container, {volume["name"]: volume for volume in spec["volumes"]}


def test_the_pod_has_a_token_for_each_cloud_and_for_no_other(example: AddOnsSpec, both: AddOnsSpec) -> None:
    container, volumes = _cloud(both)
    env = {one["name"]: one.get("value") for one in container["env"]}
    mounted = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    source, named = volumes["azure"]["projected"]["sources"]
    (item,) = named["configMap"]["items"]
    assert f"--identity={mounted['azure']}/{item['path']}" in container["command"]
    (client,) = [one["valueFrom"]["configMapKeyRef"] for one in container["env"] if one["name"] == "AZURE_CLIENT_ID"]
    assert (client["name"], client["key"]) == (named["configMap"]["name"], item["key"])
    assert source["serviceAccountToken"]["audience"] == "api://AzureADTokenExchange"
    assert env["AZURE_FEDERATED_TOKEN_FILE"] == f"{mounted['azure']}/{source['serviceAccountToken']['path']}"
    assert env["AZURE_TENANT_ID"] == TENANT
    assert {"AWS_ROLE_ARN", "AZURE_CLIENT_ID", "AZURE_AUTHORITY_HOST"} <= env.keys()
    alone, without = _cloud(bed.in_aws(example))
    assert "azure" not in without
    assert not [one["name"] for one in alone["env"] if one["name"].startswith("AZURE")]


def test_aws_s_role_is_of_aws_s_regions_alone(both: AddOnsSpec, example: AddOnsSpec) -> None:
    assert aws_autoscaler_role.permissions(both.fleet, "main") == aws_autoscaler_role.permissions(example.fleet, "main")
