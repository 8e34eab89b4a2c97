"""A hybrid cluster on the real engine: a site's hosts and machines of two regions at work, and gone without a trace."""

import json
import subprocess
import time
from typing import Any

import pytest

from components.pools import firewall
from components.pools.spec import pool_spec
from components.storage.site.nfs_server import ON_MACHINE as SCRIPTS
from fleet.world import current
from tests.components.pools.joining_client import eventually
from tests.support import packets, saved
from tests.support.cloud import COMMAND, Cloud
from tests.support.packets import Probe

from . import left_out, pool_rolled
from .pool_ways import CLOSED, EAST, OTHER, SYSTEM, UNTRIED, WAYS, WEST
from .standing import UP

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
GPUS = 8
POOLS = {"site-gpu", "west-gpu", "east-gpu", "cpu", "system"}
STACKS = {"us-west-2", "us-east-1", "links", "main", "main-addons", "us-west-2-laptops"} | POOLS


class Hybrid:
    """`up` is the report of the first up."""

    def __init__(self, cloud: Cloud, up: dict[str, Any]) -> None:
        self.cloud, self.up = cloud, up

    def kubectl(self, *words: str, stdin: str = "") -> str:
        """kubectl's output; `--fleet` comes before its own words."""
        command = [COMMAND, "kubectl", "--fleet", str(self.cloud.fleet), *words]
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            text=True,
            env=self.cloud._environment(),
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(self, *words: str) -> list[dict[str, Any]]:
        return list(json.loads(self.kubectl("get", *words, "-o", "json"))["items"])

    def nodes(self, pool: str) -> list[dict[str, Any]]:
        return self.get("nodes", "-l", f"landbridge.dev/pool={pool}")

    def job(
        self, name: str, place: str, pods: int = 1, runs_for: str = "1s", phase: str = "Succeeded"
    ) -> list[dict[str, Any]]:
        """Runs a Job of pods with all GPUs of a machine of a place each; gives them once they are in the phase."""
        pod = {
            "restartPolicy": "Never",
            "nodeSelector": {"landbridge.dev/place": place},
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/train:1",
                    "resources": {"limits": {"nvidia.com/gpu": GPUS}},
                }
            ],
        }
        template = {"metadata": {"annotations": {"local.landbridge.dev/runs-for": runs_for}}, "spec": pod}
        spec = {"parallelism": pods, "completions": pods, "template": template}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(job))
        deadline = time.monotonic() + 400
        while True:
            found = self.get("pods", "-l", f"batch.kubernetes.io/job-name={name}")
            if [one["status"]["phase"] for one in found] == pods * [phase]:
                return found
            assert time.monotonic() < deadline, found
            time.sleep(1)


@pytest.fixture(scope="module")
def hybrid(in_all: Cloud) -> Hybrid:
    return Hybrid(in_all, saved.noted(in_all, UP))


def test_every_stack_comes_up_and_nothing_is_left_out_but_what_is_named(hybrid: Hybrid) -> None:
    stacks = {one["stack"]: one for one in hybrid.up["stacks"]}
    assert stacks.keys() == STACKS
    assert {one["result"] for one in stacks.values()} == {"done"}
    assert stacks["main-addons"]["outputs"]["device_plugin"] == "kube-system/nvidia-device-plugin"
    assert stacks["main-addons"]["outputs"]["autoscaler"] == "kube-system/cluster-autoscaler"


def test_the_site_s_hosts_and_the_system_machines_are_ready_when_it_ends(hybrid: Hybrid) -> None:
    site = hybrid.nodes("site-gpu")
    assert sorted(node["metadata"]["name"] for node in site) == ["host-1.lab", "host-2.lab"]
    assert {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in site} == {"lab"}
    zones = {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in hybrid.nodes("system")}
    assert zones == {"us-west-2a", "us-west-2b"}


def test_servers_for_laptops_are_nodes_of_no_pool_with_flannel_on_each(hybrid: Hybrid) -> None:
    chosen = ("-l", "landbridge.dev/kind=laptops")
    eventually(lambda: len(hybrid.get("nodes", *chosen)) == 2)
    hybrid.kubectl("wait", "node", *chosen, "--for=condition=Ready", "--timeout=90s")
    for node in hybrid.get("nodes", *chosen):
        on = f"spec.nodeName={node['metadata']['name']}"
        names = {pod["metadata"]["name"] for pod in hybrid.get("pods", "-n", "kube-system", "--field-selector", on)}
        assert any(name.startswith("flannel-") for name in names)
        assert {"key": "landbridge.dev/laptops", "value": "true", "effect": "NoSchedule"} in node["spec"]["taints"]
        assert node["spec"]["podCIDR"]


def test_a_gpu_job_runs_at_the_site(hybrid: Hybrid) -> None:
    (pod,) = hybrid.job("at-the-site", "lab")
    assert pod["spec"]["nodeName"] in ("host-1.lab", "host-2.lab")
    assert {node["status"]["allocatable"]["nvidia.com/gpu"] for node in hybrid.nodes("site-gpu")} == {str(GPUS)}


@pytest.mark.parametrize(("pool", "region"), [("west-gpu", "us-west-2"), ("east-gpu", "us-east-1")])
def test_a_gpu_job_runs_in_a_region_whose_pool_is_sized_by_hand(hybrid: Hybrid, pool: str, region: str) -> None:
    hybrid.cloud.run("pool", "size", pool, "1", "--local", "--timeout", "400", seconds=500)
    (pod,) = hybrid.job(f"in-{region}", region)
    # Once, on a busy computer, there were two nodes, and why is not known.
    assert pod["spec"]["nodeName"] in [node["metadata"]["name"] for node in hybrid.nodes(pool)]


def test_the_autoscaler_buys_what_pods_wait_for_where_they_may_run(hybrid: Hybrid) -> None:
    """Upstream's own, from the deployment that the add-ons' stack made. The pods run until the end: none goes as idle."""
    hybrid.kubectl("rollout", "status", "deployment/cluster-autoscaler", "--namespace=kube-system", "--timeout=100s")
    pods = hybrid.job("bought", "us-west-2", 2, "2h", "Running") + hybrid.job("held", "us-east-1", 1, "2h", "Running")
    nodes = {node["metadata"]["name"] for pool in ("west-gpu", "east-gpu") for node in hybrid.nodes(pool)}
    assert {pod["spec"]["nodeName"] for pod in pods} <= nodes
    told = hybrid.cloud.report("autoscaler", "status", "--local")
    wanted = {one["group"]: one["target"] for one in told["groups"] if one["pool"].endswith("-gpu")}
    assert wanted == {"test-west-gpu-a": 2, "test-west-gpu-b": 0, "test-west-gpu-c": 0, "test-east-gpu-a": 1}
    assert (told["trouble"], told["frozen"]) == ([], None)


def test_each_rule_of_a_pool_lets_its_packets_through_and_nothing_else_passes(hybrid: Hybrid) -> None:
    world = current(hybrid.cloud.fleet)
    named = {rule.name for rule in firewall.rules(world.fleet, world.plan, pool_spec(world.fleet, world.plan, WEST))}
    assert named == {name for names in WAYS for name in names.split()} | UNTRIED
    (west, other), (east,), (system, *_) = (
        [n["metadata"]["name"] for n in hybrid.nodes(p)] for p in (WEST, EAST, SYSTEM)
    )
    home = world.plan.region("us-west-2").zones
    places = {WEST: west, OTHER: other, EAST: east, SYSTEM: system}
    places |= {f"main/balancer {zone}": told.addresses["main/balancer"] for zone, told in home.items()}
    places |= {
        f"shares of {r}": world.plan.region(r).zones["a"].addresses["shares"] for r in ("us-west-2", "us-east-1")
    }
    asked = {
        what: Probe(
            source=places.get(way.source, way.source),
            target=places.get(way.target, way.target),
            port=way.port,
            protocol=way.protocol,
        )
        for what, way in (WAYS | CLOSED).items()
    }
    found = dict(zip(asked, packets.passed(hybrid.cloud, *asked.values()), strict=True))
    assert found == dict.fromkeys(WAYS, True) | dict.fromkeys(CLOSED, False)


LINK = """
import json, urllib.request
(found,) = client("ec2", "us-west-2").describe_vpn_connections()["VpnConnections"]
told = {{one["OutsideIpAddress"]: {state} for one in found["VgwTelemetry"]}}
asked = urllib.request.Request("http://127.0.0.1:5000/landbridge-api/tunnels", json.dumps(told).encode(), method="POST")
print(urllib.request.urlopen(asked).read().decode())
"""


def test_a_site_s_hosts_are_ready_by_their_link_and_not_without_it(hybrid: Hybrid) -> None:
    def ready() -> set[str]:
        found = [condition for node in hybrid.nodes("site-gpu") for condition in node["status"]["conditions"]]
        return {condition["status"] for condition in found if condition["type"] == "Ready"}

    before = {node["metadata"]["uid"] for node in hybrid.nodes("site-gpu")}
    hybrid.cloud.python(LINK.format(state={"keys": False, "prefixes": None}))
    try:
        eventually(lambda: ready() == {"Unknown"}, 200)
    finally:
        hybrid.cloud.python(LINK.format(state=None))
    eventually(lambda: ready() == {"True"}, 200)
    assert {node["metadata"]["uid"] for node in hybrid.nodes("site-gpu")} == before


ON_HOST = "/usr/local/lib/landbridge"
BACKUP = f"""
mkdir -p /srv/landbridge/homes/ann /srv/landbridge/.snapshots/homes
echo thesis > /srv/landbridge/homes/ann/paper.tex
cp /etc/landbridge/nfs.json /run/nfs.json
sed -i 's/^{{/{{"plain_copies": true,/' /etc/landbridge/nfs.json  # a folder can't clone
python3 {ON_HOST}/nfs_snapshot.py && python3 {ON_HOST}/nfs_backup.py; echo "ended $?"
cp /run/nfs.json /etc/landbridge/nfs.json
"""
BEYOND = f"""
import json, sys
sys.path.insert(0, {ON_HOST!r})
from machine import Refused, Text
from site_identity import SiteAws
told = json.load(open("/etc/landbridge/nfs.json"))
here, bucket = SiteAws(told["backup"]["region"], told["identity"]), told["backup"]["bucket"]
mine = here.keys(bucket, "nfs/lab/homes/index/", "")[0]
for verb, key in (("DELETE", mine), ("GET", "test/main/site-gpu/manifest.json"), ("PUT", "nfs/other/x"), ("GET", mine)):
    try:
        here.ask(verb, "s3", f"/{{bucket}}/{{key}}", body=Text(b"x" if verb == "PUT" else b""))
        print(verb, "done")
    except Refused as error:
        print(verb, error.status)
"""


def on_host(hybrid: Hybrid, name: str, script: str, program: str = "sh") -> str:
    command = [COMMAND, "local", "host", "run", "lab", name, "--", program]
    given: dict[str, Any] = {"capture_output": True, "text": True, "check": False, "timeout": 180}
    done = subprocess.run(command, input=script, env=hybrid.cloud._environment(), **given)
    return done.stdout + done.stderr


def test_the_site_s_nfs_host_has_the_server_s_files_and_says_what_it_lacks(hybrid: Hybrid) -> None:
    hosts = {one["host"]: one for one in hybrid.cloud.report("site", "status", "lab", "--local", code=1)["hosts"]}
    assert all(one["enrolled"] and one["ready"] and one["current"] for one in hosts.values())
    assert "nfs-server.service" in hosts["host-1"]["failed"], "no machine of the local cloud has one"
    assert (hosts["host-1"]["healthy"], hosts["host-2"]["healthy"], hosts["host-2"]["failed"]) == (False, True, [])
    wanted = on_host(hybrid, "host-1", "grep -h ^Wants=landbridge-nfs /etc/systemd/system/landbridge.target\n")
    assert wanted.split() == ["Wants=landbridge-nfs.target"]
    assert "No such file" in on_host(hybrid, "host-2", "cat /etc/systemd/system/landbridge-nfs.target\n")


def test_its_backups_leave_by_its_node_s_certificate_and_by_no_other(hybrid: Hybrid) -> None:
    said = on_host(hybrid, "host-1", BACKUP)
    assert "ended 0" in said, said
    found = hybrid.cloud.python(
        "s3 = client('s3', 'us-west-2')\n"
        "listed = s3.list_objects_v2(Bucket='test-us-west-2-123456789012', Prefix='nfs/')['Contents']\n"
        "print(sorted(one['Key'].split('/')[3] for one in listed if one['Key'].startswith('nfs/lab/homes/')), len(listed))"
    )
    assert found.split() == ["['index',", "'packs']", "2"]
    said = on_host(hybrid, "host-1", BEYOND, "python3")
    assert said.split("\n")[:4] == ["DELETE 403", "GET 403", "PUT 403", "GET done"], said
    # Its neighbour, with all that the first one's bundle says, and a certificate of its own.
    told = on_host(hybrid, "host-1", "cat /etc/landbridge/nfs.json\n")
    other = "mkdir -p /run/lb; cat > /run/lb/nfs.json <<'END'\n" + told + "END\n"
    other += f"cat > /run/lb/site_identity.py <<'END'\n{(SCRIPTS / 'site_identity.py').read_text()}END\n"
    on_host(hybrid, "host-2", other)
    asks = BEYOND.replace("import json, sys\n", "import json, sys\nsys.path.insert(0, '/run/lb')\n")
    said = on_host(hybrid, "host-2", asks.replace("/etc/landbridge/", "/run/lb/"), "python3")
    assert "IAM Roles Anywhere: 403" in said
    assert "its trust policy does not allow sts:AssumeRole" in said


ROLE = """
import json, sys
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError
told = json.loads(%r)
sts = boto3.client("sts", region_name="us-west-2", endpoint_url="http://127.0.0.1:5000",
                   config=Config(signature_version=UNSIGNED))
def ask(call, **given):
    try:
        return call(**given) and "done"
    except ClientError as error:
        return error.response["Error"]["Code"]
taken = {}
for name, token in told["tokens"].items():
    given = {"RoleArn": told["role"], "RoleSessionName": "pod", "WebIdentityToken": token}
    taken[name] = ask(sts.assume_role_with_web_identity, **given)
keys = sts.assume_role_with_web_identity(
    RoleArn=told["role"], RoleSessionName="pod", WebIdentityToken=told["tokens"]["own"])["Credentials"]
s3 = boto3.client("s3", region_name="us-west-2", endpoint_url="http://127.0.0.1:5000",
                  aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretAccessKey"],
                  aws_session_token=keys["SessionToken"], config=Config(s3={"addressing_style": "path"}))
bucket = "test-us-west-2-123456789012"
taken["bucket"] = [
    ask(s3.put_object, Bucket=bucket, Key="teams/lab/a", Body=b"1"),
    ask(s3.get_object, Bucket=bucket, Key="teams/lab/a"),
    ask(s3.put_object, Bucket=bucket, Key="teams/ops/a", Body=b"1"),
    ask(s3.get_object, Bucket=bucket, Key="test/main/main-etcd-1/manifest.json"),
    ask(s3.delete_object, Bucket=bucket, Key="teams/lab/a"),
]
print(json.dumps(taken))
"""


def test_a_team_s_pod_has_its_team_s_folder_by_a_token_of_the_cluster(hybrid: Hybrid) -> None:
    """Its own role, by what admission gives it; the stacks made all that it takes."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "storing", "namespace": "team-lab"},
        "spec": {"serviceAccountName": "storage", "containers": [{"name": "main", "image": "example.com/train:1"}]},
    }
    made = json.loads(hybrid.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", stdin=json.dumps(pod)))
    (container,) = made["spec"]["containers"]
    (volume,) = made["spec"]["volumes"]  # without one for the API
    source = volume["projected"]["sources"][0]["serviceAccountToken"]
    environment = {one["name"]: one["value"] for one in container["env"]}

    def token(space: str, account: str = "storage", audience: str = source["audience"]) -> str:
        return hybrid.kubectl("create", "token", account, "-n", space, "--audience", audience).strip()

    tokens = {
        "own": token("team-lab"),
        "another team's": token("team-ops"),
        "another account's": token("team-lab", "default"),
        "the API's": token("team-lab", audience="https://kubernetes.default.svc"),
    }
    asked = json.dumps({"role": environment["AWS_ROLE_ARN"], "tokens": tokens})
    found = json.loads(hybrid.cloud.python(ROLE % asked))
    assert found == {
        "own": "done",
        "another team's": "AccessDenied",
        "another account's": "AccessDenied",
        "the API's": "InvalidIdentityToken",
        "bucket": ["done", "done", "AccessDenied", "AccessDenied", "done"],
    }


def test_a_site_s_hosts_have_rdma_where_its_plugin_runs(hybrid: Hybrid) -> None:
    assert {node["status"]["allocatable"]["rdma/hca"] for node in hybrid.nodes("site-gpu")} == {"110"}


SIZES = """
groups = client("autoscaling", "us-west-2").describe_auto_scaling_groups()["AutoScalingGroups"]
print(sorted((group["AutoScalingGroupName"], group["DesiredCapacity"]) for group in groups))
"""


def test_a_second_up_starts_no_engine_until_what_a_stack_reads_changes(hybrid: Hybrid) -> None:
    left_out.check(hybrid.cloud, STACKS)


def test_a_second_up_changes_nothing_and_leaves_sizes_alone(hybrid: Hybrid) -> None:
    before = hybrid.cloud.python(SIZES)
    again = hybrid.cloud.report("up", "--local", "--yes", "--full", "--expect-no-changes", seconds=900)
    assert {one["stack"] for one in again["stacks"]} == STACKS
    assert "test-west-gpu-" in before
    assert hybrid.cloud.python(SIZES) == before


def test_a_promoted_image_reaches_a_pool_when_its_work_has_ended_and_the_autoscaler_agrees(hybrid: Hybrid) -> None:
    """With the pod that was held."""
    pool_rolled.check(hybrid, "held")


def test_everything_but_the_home_region_goes_add_ons_before_their_pools(hybrid: Hybrid) -> None:
    """Its bucket has logs and backups, which are for people to delete."""
    gone = sorted(STACKS - {"us-west-2"})
    hybrid.cloud.run("destroy", *gone, "--local", "--yes", "--ignore-protect", "--with-volumes", seconds=1200)
    (account,) = hybrid.cloud.inventory().values()
    assert not [group for group in account["us-west-2"].get("autoscaling groups", ()) if group.startswith("test-")]
    assert not [kind for kind in account["us-west-2"] if kind.startswith("rolesanywhere")]
