"""The cluster stack: its resources against a golden file, what machines find, and what a change touches."""

import base64
import hashlib
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from fleet import issuers
from fleet.world import current
from tests.local.providers.test_engine import Project
from tests.support import golden
from tests.support.cloud import ROOT, Cloud

pytestmark = pytest.mark.cloud
HERE = Path(__file__).parent
MACHINES = ("main-api-1", "main-api-2", "main-etcd-1", "main-etcd-2", "main-etcd-3")
# The program of every stack, with something in it changed.
CHANGED = """\
import runpy, sys
sys.path.insert(0, {root!r})
{change}
runpy.run_path({root!r} + "/stacks", run_name="__main__")
"""
ONE_FLAG = """\
from components.control_plane import api
flags = api.api_flags
api.api_flags = lambda spec, machine: {**flags(spec, machine), "goaway-chance": "0.002"}
"""
OLDER = """\
import stacks.cluster
async def ran(stack, name):
    return "1.34.9" if name == "kubernetes" else None
stacks.cluster.last_published = ran
"""


def state(cloud: Cloud, stack: str = "main") -> dict[str, Any]:
    return dict(json.loads((cloud.home / f"local/example/state/.pulumi/stacks/landbridge/{stack}.json").read_text()))


def run(project: Project, change: str, *arguments: str, code: int | None = 0) -> str:
    """The stacks' program for `main`, with a change in it."""
    shutil.copy(project.cloud.home / "local/example/Pulumi.main.yaml", project.folder)
    (project.folder / "__main__.py").write_text(CHANGED.format(root=str(ROOT), change=change))
    fleet = [f"LANDBRIDGE_FLEET={project.cloud.fleet}"]
    return project.pulumi(*arguments, "-s", "main", code=code, before=fleet)


@pytest.mark.golden
def test_the_cluster_s_resources_are_those_of_the_golden_file(cloud: Cloud) -> None:
    beside = {name: state(cloud, name) for name in ("us-west-2", "us-east-1")}
    golden.compare(HERE / "golden/main.yaml", golden.resources(state(cloud), beside))


def test_nothing_is_left_to_do(cloud: Cloud) -> None:
    found = cloud.report("preview", "--local", "main", "us-west-2", "--refresh", "--expect-no-changes")
    assert {stack["result"] for stack in found["stacks"]} == {"unchanged"}


def test_the_state_holds_no_key_in_the_open(cloud: Cloud, project: Project) -> None:
    shown = run(project, "", "stack", "export", "--show-secrets")
    secrets = set(re.findall(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|\\\\n)([A-Za-z0-9+/]{40})", shown))
    secrets |= {found["outputs"]["base64"]["plaintext"].strip('"') for found in _of(shown, "RandomBytes")}
    assert len(secrets) >= 30
    text = json.dumps(state(cloud))
    assert not [secret for secret in secrets if secret in text]
    assert "PRIVATE KEY" not in text


def _of(shown: str, type_: str) -> list[dict[str, Any]]:
    return [r for r in json.loads(shown)["deployment"]["resources"] if r["type"].endswith(f":{type_}")]


FETCH = """\
import json
place = {place!r}
s3, secrets, ec2 = client("s3", "us-west-2"), client("secretsmanager", "us-west-2"), client("ec2", "us-west-2")
def get(name):
    return s3.get_object(Bucket="example-us-west-2-123456789012", Key=place + "/" + name)
signed = json.loads(get("manifest.json")["Body"].read())
told = json.loads(signed["manifest"])
body = get(told["version"] + ".json")
secret = secrets.get_secret_value(SecretId=place, VersionId=told["secret_version"])["SecretString"]
template = ec2.describe_launch_template_versions(LaunchTemplateName={template!r}, Versions=["$Latest"])
data = template["LaunchTemplateVersions"][0]["LaunchTemplateData"]
print(json.dumps([signed, json.loads(body["Body"].read()), body["ServerSideEncryption"], json.loads(secret), data]))
"""


@pytest.mark.parametrize("machine", MACHINES)
def test_a_machine_finds_a_bundle_that_its_user_data_s_key_vouches_for(cloud: Cloud, machine: str) -> None:
    code = FETCH.format(place=f"example/main/{machine}", template=f"example-{machine}")
    signed, files, encryption, keys, data = json.loads(cloud.python(code))
    script = base64.b64decode(data["UserData"]).decode()
    pointer = json.loads(re.search(r"^\w+={(\".*)}$", script, re.MULTILINE)[0].partition("=")[2])  # type: ignore[index]
    key = load_der_public_key(base64.b64decode(pointer["key"]))
    assert isinstance(key, Ed25519PublicKey)
    key.verify(base64.b64decode(signed["signature"]), signed["manifest"].encode())
    told = json.loads(signed["manifest"])
    assert told["prefix"] == pointer["prefix"] == f"example/main/{machine}"
    for name, given in (("files", files), ("keys", keys)):
        assert {path: entry["sha256"] for path, entry in told[name].items()} == {
            path: hashlib.sha256(text.encode()).hexdigest() for path, text in given.items()
        }
    assert encryption == "aws:kms"
    assert "PRIVATE KEY" not in json.dumps(files)
    (nic,) = data["NetworkInterfaces"]
    assert (nic["DeviceIndex"], nic["DeleteOnTermination"]) == (0, False)
    assert data["MetadataOptions"]["HttpTokens"] == "required"


def test_each_machine_runs_under_its_planned_address(cloud: Cloud) -> None:
    code = "import json\nfound = client('ec2', 'us-west-2').describe_instances()['Reservations']\n"
    code += "print(json.dumps([[i['PrivateIpAddress'], i['Tags'], i['State']['Name']] for r in found for i in r['Instances']]))"
    listed = json.loads(cloud.python(code))
    found = {
        next(tag["Value"] for tag in tags if tag["Key"] == "landbridge:machine"): address
        for address, tags, state in listed
        if state == "running"
    }
    plan = current(cloud.fleet).plan.region("us-west-2").zones.values()
    planned = {name: address for zone in plan for name, address in zone.addresses.items()}
    mine = {name: address for name, address in found.items() if name.startswith("main-")}
    assert mine == {machine: planned[machine.replace("main-", "main/", 1)] for machine in MACHINES}


def test_one_flag_changes_bundles_and_manifests_alone(project: Project) -> None:
    said = run(project, ONE_FLAG, "preview", "--json")
    steps = [step for step in json.loads(said[said.index("{") :])["steps"] if step["op"] not in ("same", "read")]
    changed = Counter((step["urn"].split("$")[-1].split("::")[0], step["urn"].rpartition("::")[2]) for step in steps)
    objects = {name for type_, name in changed if type_ == "aws:s3/bucketObjectv2:BucketObjectv2"}
    assert {type_ for type_, _ in changed} == {"aws:s3/bucketObjectv2:BucketObjectv2"}
    assert objects == {"api-1-files", "api-1-manifest", "api-2-files", "api-2-manifest"}


def test_a_skipped_minor_of_kubernetes_is_refused_before_anything_else(project: Project) -> None:
    said = " ".join(run(project, OLDER, "preview", code=None).split())
    assert "cluster main: kubernetes 1.36.2 skips a minor version after 1.34.9, which runs: go to 1.35 first" in said
    assert "Traceback" not in said


def test_a_stack_knows_what_it_published_before(project: Project) -> None:
    head = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom stacks.outputs import cluster_outputs, last_published\n"
    )
    body = """\
async def main():
    pulumi.export('before', await last_published('dev', 'now'))
    pulumi.export('now', {now!r})
    main = await cluster_outputs('main')
    pulumi.export('main', [main['endpoint'], main['machines']['main-etcd-1']['group'], main['admin_secret']])
pulumi.run(main)
"""
    contract = ["https://main.us-west-2.fleet.example.com:6443", "example-main-etcd-1", "example/main/admin"]
    for before, now in ((None, "1"), ("1", "2")):
        project.program(head + body.format(now=now))
        project.up()
        found = json.loads(project.pulumi("stack", "output", "--json"))
        assert found == {"now": now, "main": contract, **({"before": before} if before else {})}


ANONYMOUS = """\
import urllib.error, urllib.request
def get(path):
    host = {bucket!r} + ".s3.us-west-2.amazonaws.com"
    asked = urllib.request.Request("http://127.0.0.1:5000/" + path, headers={{"Host": host}})
    try:
        return urllib.request.urlopen(asked).read().decode()
    except urllib.error.HTTPError as error:
        return str(error.code)
import json
print(json.dumps([get(path) for path in {paths!r}]))
"""


def test_everybody_reads_the_issuer_s_two_documents_and_no_others(cloud: Cloud) -> None:
    bucket = issuers.bucket(current(cloud.fleet).fleet, "main")
    put = f"client('s3', 'us-west-2').put_object(Bucket={bucket!r}, Key='other', Body=b'x')\n"
    paths = [*issuers.DOCUMENTS, "other"]
    configuration, keys, other = json.loads(cloud.python(put + ANONYMOUS.format(bucket=bucket, paths=paths)))
    cloud.python(f"client('s3', 'us-west-2').delete_object(Bucket={bucket!r}, Key='other')\n")
    told = json.loads(configuration)
    assert told["jwks_uri"] == f"{told['issuer']}/{issuers.KEYS}"
    assert {key["kty"] for key in json.loads(keys)["keys"]} == {"RSA"}
    assert other == "403"


def test_a_region_is_not_destroyed_below_its_cluster(cloud: Cloud) -> None:
    def resources() -> dict[str, int]:
        return {one["stack"]: one["resources"] for one in cloud.report("status", "--local")["stacks"]}

    before = resources()
    done = cloud.run("destroy", "--local", "--yes", "--ignore-protect", "us-west-2", "main", code=1)
    assert (
        "Nothing was destroyed.\nlinks, us-west-2-laptops stand on us-west-2, main and would lose them" in done.stderr
    )
    assert before["main"] > 0
    assert resources() == before


def test_a_stack_does_not_come_up_without_what_it_reads_from(cloud: Cloud) -> None:
    done = cloud.run("up", "--local", "--yes", "main-addons", code=1)
    assert "main-addons stands on south-gpu, which is not up" in done.stdout + done.stderr
    (remedy,) = re.findall(r"`landbridge (up [^`]+)`", done.stdout + done.stderr)
    assert remedy.split() == ["up", "--local", "--fleet", str(cloud.fleet), "south-gpu", "main-addons"]


VOLUMES = """\
import json
found = client("ec2", "us-west-2").describe_volumes(Filters=[{"Name": "tag:landbridge:cluster", "Values": ["main"]}])
tags = [{tag["Key"]: tag["Value"] for tag in volume["Tags"]} for volume in found["Volumes"]]
print(json.dumps(sorted([t["landbridge:machine"], t.get("landbridge:disk", ""), t.get("landbridge:kept", "")] for t in tags)))
"""


def test_a_destroyed_cluster_leaves_its_data_and_comes_up_again(cloud: Cloud) -> None:
    """The last of all: it takes the cluster away for a while, and before it what stands on it."""
    cloud.run("destroy", "--local", "--yes", "us-west-2-laptops")
    done = cloud.run("destroy", "--local", "--yes", "main", code=4)
    assert "--ignore-protect" in done.stderr
    gone = cloud.report("destroy", "--local", "--yes", "--ignore-protect", "main")
    assert gone["blast_radius"]["destroy"] == {"machine": 5, "volume": 1, "tunnel": 0}, "the issuer's bucket alone"
    assert len([note for note in gone["notes"] if "kept, with its data" in note]) == 6
    kept = json.loads(cloud.python(VOLUMES))
    assert len(kept) == 6
    assert all(not disk and why.startswith("etcd-") for _, disk, why in kept)
    secrets = "print([s['Name'] for r in ('us-west-2', 'us-east-1') for s in client('secretsmanager', r).list_secrets()['SecretList'] if s['Name'].startswith('example/main/')])"
    assert re.fullmatch(r"\[('example/main/recovery-[0-9a-f]{8}'), \1\]", cloud.python(secrets).strip()), "both stay"
    cloud.run("up", "--local", "--yes", "main")
    fresh = [volume for volume in json.loads(cloud.python(VOLUMES)) if volume[1]]
    assert len(fresh) == 6, "machines find one volume each under their tags"
    cloud.run("destroy", "--local", "--yes", "--ignore-protect", "--with-volumes", "main")
    assert json.loads(cloud.python(VOLUMES)) == kept
    cloud.run("up", "--local", "--yes", "main", "us-west-2-laptops")
