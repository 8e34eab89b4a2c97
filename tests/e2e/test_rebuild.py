"""A cluster's region is lost: the cluster is rebuilt in the second one from what was copied there, and nothing else."""

import base64
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fleet import rebuilds
from fleet.world import current
from landbridge.local.enter import ROOT
from tests.e2e.worlds import IN_AWS
from tests.support import cloud as clouds
from tests.support.cloud import Cloud

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
MOVED = IN_AWS.replace(
    "region: us-west-2, kubernetes: 1.36.2, copies: us-east-1", "region: us-east-1, kubernetes: 1.36.2"
)
FAULTS = """\
import urllib.request
call = urllib.request.Request("http://127.0.0.1:5000/landbridge-api/faults", {body!r}.encode(), method="POST")
urllib.request.urlopen(call).read()
"""
OUTAGE = '[{"kind": "outage", "region": "us-west-2"}]'
# Its machines end for good, as their building burns.
GONE = """\
groups = client("autoscaling", "us-west-2")
ec2 = client("ec2", "us-west-2")
for group in groups.describe_auto_scaling_groups()["AutoScalingGroups"]:
    groups.update_auto_scaling_group(AutoScalingGroupName=group["AutoScalingGroupName"], MinSize=0, DesiredCapacity=0)
import time
while True:
    found = ec2.describe_instances(Filters=[{"Name": "instance-state-name", "Values": ["pending", "running", "shutting-down"]}])
    if not found["Reservations"]:
        break
    time.sleep(0.5)
"""
NAMES = """\
import json
iam = client("iam", "us-east-1")
roles = [role["RoleName"] for role in iam.list_roles()["Roles"]]
profiles = [profile["InstanceProfileName"] for profile in iam.list_instance_profiles()["InstanceProfiles"]]
print(json.dumps([sorted(roles), sorted(profiles)]))
"""
JWKS = """\
print(client("s3", "us-east-1").get_object(Bucket={bucket!r}, Key="openid/v1/jwks")["Body"].read().decode())
"""
KEYS = """\
print(client("secretsmanager", "us-east-1").get_secret_value(SecretId={secret!r})["SecretString"])
"""


@dataclass
class Story:
    """What was seen before the region was lost, and what the commands said."""

    cloud: Cloud
    folder: Path
    token: str
    nodes: Any
    refused: str
    refused_alive: str
    rebuilt: dict[str, Any]
    seconds: float

    def kubectl(self, *words: str) -> Any:
        return kubectl(self.cloud, *words)

    def raw(self, path: str) -> Any:
        return json.loads(self.kubectl("get", "--raw", path))

    def by(self, config: Path, *words: str) -> str:
        """kubectl with a kubeconfig of old, less its address: it knows only the former authority."""
        text = config.read_text().replace("us-west-2.test.example.com", "us-east-1.test.example.com")
        moved = config.with_name(f"moved-{config.name}")
        moved.write_text(text)
        return self.cloud.inside(str(ROOT / ".landbridge/bin/kubectl"), f"--kubeconfig={moved}", *words)


def kubectl(cloud: Cloud, *words: str) -> str:
    command = [clouds.COMMAND, "kubectl", "--local", "--fleet", str(cloud.fleet), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=cloud._environment(), check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def story(in_aws: Cloud) -> Story:
    return lived(in_aws, in_aws.fleet.parent)


def furnished(cloud: Cloud, folder: Path) -> str:
    """What every cloud's cluster has before; gives a token of `robot`, and alice's kubeconfig lies in the folder."""
    kubectl(cloud, "create", "configmap", "before", "--from-literal=written=before")
    kubectl(cloud, "create", "secret", "generic", "sealed", "--from-literal=word=opensesame")
    kubectl(cloud, "create", "serviceaccount", "robot")
    cloud.run("access", "grant", "alice", "--local", "--output", str(folder / "alice.kubeconfig"))
    return kubectl(cloud, "create", "token", "robot").strip()


def backed_up(cloud: Cloud) -> dict[str, Any]:
    """A snapshot, after which something is written that it lacks."""
    (made,) = cloud.report("etcd", "backup", "--ring", "main", "--local")["backups"]
    kubectl(cloud, "create", "configmap", "after", "--from-literal=written=after")
    return dict(made)


def lived(cloud: Cloud, folder: Path) -> Story:
    """All that happens, in order."""
    token = furnished(cloud, folder)
    kubectl(cloud, "create", "clusterrolebinding", "robot", "--clusterrole=view", "--serviceaccount=default:robot")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-1"}, "spec": {"providerID": "aws:///a/i-1"}}
    (folder / "node.json").write_text(json.dumps(node))
    kubectl(cloud, "create", f"--filename={folder}/node.json")
    nodes = json.loads(kubectl(cloud, "get", "node", "gpu-1", "--output=json"))["metadata"]["uid"]
    made = backed_up(cloud)

    cloud.fleet.write_text(MOVED)
    cloud.plan()
    alive = cloud.run("cluster", "rebuild", "main", "--local", "--yes", code=2).stderr
    cloud.python(GONE)
    cloud.python(FAULTS.format(body=OUTAGE))
    refused = cloud.run("up", "main", "--local", "--yes", code=1)
    begun = time.monotonic()
    rebuilt = cloud.report("cluster", "rebuild", "main", "--local", "--yes")
    seconds = time.monotonic() - begun
    # For whoever runs it with -s, and beside a failure.
    sys.stdout.write(f"rebuilt in {seconds:.1f} s, by its own clock {rebuilt['seconds']} s\n")
    assert made["revision"] == rebuilt["revision"]
    said = refused.stdout + refused.stderr
    return Story(cloud, folder, token, nodes, said, alive, rebuilt, seconds)


def test_an_up_would_have_moved_it_and_is_refused_with_the_command_to_use(story: Story) -> None:
    told = " ".join(story.refused.split())
    assert "its control plane stands in us-west-2 and would have to move to us-east-1" in told
    assert "`landbridge cluster rebuild main`" in told


def test_it_is_not_rebuilt_beside_itself(story: Story) -> None:
    assert "main in us-west-2 still answers" in story.refused_alive


def test_everything_up_to_the_snapshot_is_there_and_the_rest_was_announced(story: Story) -> None:
    names = story.kubectl("get", "configmaps", "--output=name")
    assert "configmap/before" in names
    assert "configmap/after" not in names
    assert story.rebuilt["origin"]["snapshot"].startswith("copies/us-west-2/main/main/")
    assert story.rebuilt["age_seconds"] < 600
    assert json.loads(story.kubectl("get", "node", "gpu-1", "--output=json"))["metadata"]["uid"] == story.nodes


def test_secrets_can_be_read(story: Story) -> None:
    found = json.loads(story.kubectl("get", "secret", "sealed", "--output=json"))
    assert found["data"] == {"word": "b3BlbnNlc2FtZQ=="}


def test_certificates_and_authorities_of_old_are_good(story: Story) -> None:
    said = json.loads(story.by(story.folder / "alice.kubeconfig", "auth", "whoami", "--output=json"))
    assert said["status"]["userInfo"]["username"] == "alice"
    assert "configmap/before" in story.by(story.folder / "alice.kubeconfig", "get", "configmaps", "--output=name")


def test_tokens_of_old_are_good_and_new_ones_are_signed_by_the_new_issuer(story: Story) -> None:
    config = json.loads((story.folder / "alice.kubeconfig").read_text())
    for name, token in (("old", story.token), ("new", story.kubectl("create", "token", "robot").strip())):
        config["users"][0]["user"] = {"token": token}
        file = story.folder / f"{name}.kubeconfig"
        file.write_text(json.dumps(config))
        said = json.loads(story.by(file, "auth", "whoami", "--output=json"))
        assert said["status"]["userInfo"]["username"] == "system:serviceaccount:default:robot"
        assert "configmap/before" in story.by(file, "get", "configmaps", "--output=name")
    issuers = [payload(token)["iss"] for token in (story.token, story.kubectl("create", "token", "robot"))]
    assert ["us-west-2" in issuers[0], "us-east-1" in issuers[1]] == [True, True]
    configuration = story.raw("/.well-known/openid-configuration")
    assert configuration["issuer"] == issuers[1]
    bucket = issuers[1].removeprefix("https://").partition(".")[0]
    published = story.cloud.python(JWKS.format(bucket=bucket))
    ids = [{key["kid"] for key in told["keys"]} for told in (story.raw("/openid/v1/jwks"), json.loads(published))]
    assert ids[0] == ids[1] == {header(story.token)["kid"]}


def decoded(part: str) -> dict[str, Any]:
    return dict(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))


def payload(token: str) -> dict[str, Any]:
    return decoded(token.split(".")[1])


def header(token: str) -> dict[str, Any]:
    return decoded(token.split(".")[0])


def test_scale_down_is_frozen(story: Story) -> None:
    found = json.loads(story.kubectl("-n", "kube-system", "get", "configmap", "landbridge-freeze", "--output=json"))
    assert "copies/us-west-2/main/main/" in found["data"]["why"]
    assert story.rebuilt["frozen"]


def test_nothing_is_left_to_do_and_the_keys_are_told(story: Story) -> None:
    (found,) = story.cloud.report("up", "main", "--local", "--yes", "--full", "--expect-no-changes")["stacks"]
    assert found["result"] == "unchanged"
    again = story.cloud.report("cluster", "rebuild", "main", "--local", "--yes")
    assert "seconds" not in again
    keys = {row["name"]: row for row in story.cloud.report("pki", "status", "--local")["clusters"]["main"]}
    assert keys["kubernetes-1"]["uses"] == ["authority"]
    assert keys["main-admin"]["authority"] == "kubernetes-1"


def test_the_file_says_what_it_was_rebuilt_from(story: Story) -> None:
    origin = rebuilds.load(rebuilds.rebuilds_path(story.cloud.fleet))["main"]
    assert (origin.lost, origin.region, origin.issuer) == (
        "us-west-2",
        "us-east-1",
        payload(story.token)["iss"],
    )
    assert origin.restored
    # A checkout that lacks it would make other keys.
    path = rebuilds.rebuilds_path(story.cloud.fleet)
    text = path.read_text()
    path.unlink()
    try:
        done = story.cloud.run("preview", "main", "--local", code=1)
        assert "fleet.rebuilt.yaml does not say so" in " ".join((done.stdout + done.stderr).split())
    finally:
        path.write_text(text)


def state(story: Story) -> str:
    return (story.cloud.home / "local/test/state/.pulumi/stacks/landbridge/main.json").read_text()


def test_the_state_holds_no_recovered_key_in_the_open(story: Story) -> None:
    kept = json.loads(story.cloud.python(KEYS.format(secret=story.rebuilt["origin"]["secret"])))
    pairs = [
        pair for numbered in (*kept["authorities"].values(), kept["service_accounts"]) for pair in numbered.values()
    ]
    secrets = [*kept["encryption"].values(), *(pair["key"].splitlines()[1] for pair in pairs)]
    assert len(secrets) == 7
    text = state(story)
    assert not [secret for secret in secrets if secret in text]
    assert "PRIVATE KEY" not in text
    assert pairs[0]["crt"].splitlines()[1] in text, "what is public can be read"


def test_prefixes_stayed_and_names_of_the_whole_account_are_others(story: Story) -> None:
    given = current(story.cloud.fleet).plan.cluster("main")
    resources = json.loads(state(story))["checkpoint"]["latest"]["resources"]
    outputs = next(r["outputs"] for r in resources if r["type"] == "pulumi:pulumi:Stack")
    assert (outputs["pods_cidr"], outputs["services_cidr"]) == (given.pods, given.services)
    for names in json.loads(story.cloud.python(NAMES)):
        for region in ("us-west-2", "us-east-1"):
            assert len([name for name in names if name.startswith(f"test-main-{region}-")]) == 5


def test_what_is_left_in_the_lost_region_is_destroyed_when_it_is_back_and_the_cluster_does_not_notice(
    story: Story,
) -> None:
    story.cloud.python(FAULTS.format(body="[]"))
    done = story.cloud.run("destroy", "us-west-2", "--local", "--yes", "--ignore-protect", code=1)
    assert "links, main-lost-us-west-2 stand on us-west-2" in done.stdout + done.stderr
    gone = story.cloud.report("destroy", "main-lost-us-west-2", "--local", "--yes", "--ignore-protect")
    assert [stack["result"] for stack in gone["stacks"]] == ["done"]
    assert len([note for note in gone["notes"] if "kept, with its data" in note]) == 6
    (found,) = story.cloud.report("preview", "main", "--local", "--refresh", "--expect-no-changes")["stacks"]
    assert found["result"] == "unchanged"
    assert "configmap/before" in story.kubectl("get", "configmaps", "--output=name")
    story.cloud.run("cluster", "status", "main", "--local")
