"""A pool's stack in AWS: what only its resources have, sizes that are not its own, machines that boot, a site's pool."""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_der_public_key

from local import client
from local.environment import scrubbed
from tests.local.machines.inside import eventually
from tests.stacks.pool_bed import AUTHORITY, BOOT_SECONDS, STACKS, Pools, brought_up
from tests.stacks.pool_cases import *  # noqa: F403
from tests.stacks.pool_cases import destroying_asks_and_leaves_nothing, for_each_pool
from tests.stacks.pool_fleet import FLEET
from tests.support.cloud import ROOT

# Four pools one after the other: minutes where others work on the machine, too.
pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1200)]
REGION = "us-west-2"
HIGHER = """\
from components.pools import names
scaling = names.Names.scaling
names.Names.scaling = lambda self, pool: tuple(one._replace(most=51) for one in scaling(self, pool))
"""


class AwsPools(Pools):
    region, imageless = REGION, "cpu"
    pools = ("west-gpu", "cpu", "system", "shell", "room-gpu")
    judged = ("west-gpu", "shell", "room-gpu")

    def publish_images(self) -> None:
        for variant, image in (("cpu", "ami-0c00000000000c001"), ("gpu", "ami-0c00000000000c002")):
            name = f"/test/images/{variant}/1.36.2/stable"
            self.asks(f"ssm.put_parameter(Name={name!r}, Value={image!r}, Type='String')")

    def standing(self) -> dict[str, Any]:
        """What the region and the whole account hold, but for keys: the account's own for disks comes with the first."""
        (account,) = self.cloud.inventory().values()
        found = {**account["aws"], **account[REGION]}
        return {kind: names for kind, names in found.items() if not kind.startswith("kms")}

    def asks(self, expression: str) -> Any:
        """Of the local AWS, by boto3: `scaling`, `ec2` and `s3` are its clients."""
        clients = "".join(
            f"{name} = client({service!r}, {REGION!r})\n"
            for name, service in (("scaling", "autoscaling"), ("ec2", "ec2"), ("s3", "s3"), ("ssm", "ssm"))
        )
        return json.loads(self.cloud.python(f"import json\n{clients}print(json.dumps({expression}, default=str))"))

    def group(self, name: str) -> dict[str, Any]:
        (found,) = self.asks(f"scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[{name!r}])")[
            "AutoScalingGroups"
        ]
        return dict(found)

    def cluster_of(self, group: str) -> str:
        return {tag["Key"]: str(tag["Value"]) for tag in self.group(group)["Tags"]}["landbridge:cluster"]


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pools]:
    yield from brought_up(AwsPools, tmp_path_factory, FLEET)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for_each_pool(metafunc, AwsPools.pools, golden=("west-gpu", "cpu", "room-gpu"))


def test_policies_see_what_a_pool_lacks(pools: AwsPools) -> None:
    """A maximum that only the stack's program knows, not the fleet file."""
    pools.program(STACKS.format(root=str(ROOT)).replace("runpy.run", HIGHER + "runpy.run"))
    said = " ".join(pools.preview("cpu", code=None).split())
    pools.program(STACKS.format(root=str(ROOT)))
    assert "maxSize of pool cpu is 51, above the fleet file's 50" in said


def test_the_refusal_without_an_image_names_the_parameter(pools: AwsPools) -> None:
    assert "there is no image: /test/images/cpu/1.36.2/stable is not set" in " ".join(pools.without_image.split())


def test_a_pool_whose_image_has_another_minor_or_no_driver_is_refused_at_preview(pools: AwsPools) -> None:
    def point(image: str) -> None:
        name = "/test/images/cpu/1.36.2/stable"
        pools.asks(f"ssm.put_parameter(Name={name!r}, Value={image!r}, Type='String', Overwrite=True)")

    point("ami-0c00000000000c004")
    said = " ".join(pools.preview("cpu", code=None).split())
    point("ami-0c0000000000fffff")
    gone = " ".join(pools.preview("cpu", code=None).split())
    # What the region has for machines without GPUs.
    pools.asks(
        "ssm.put_parameter(Name='/test/images/gpu/1.36.2/stable', Value='ami-0c00000000000c001', Overwrite=True)"
    )
    driverless = " ".join(pools.preview("west-gpu", code=None).split())
    pools.asks(
        "ssm.put_parameter(Name='/test/images/gpu/1.36.2/stable', Value='ami-0c00000000000c002', Overwrite=True)"
    )
    point("ami-0c00000000000c001")
    assert "ami-0c00000000000c004 (/test/images/cpu/1.36.2/stable) holds Kubernetes 1.35.8, and the cluster" in said
    assert "its image ami-0c0000000000fffff (/test/images/cpu/1.36.2/stable) is gone" in gone
    assert "pool west-gpu in us-west-2: its image ami-0c00000000000c001 (/test/images/gpu/1.36.2/stable)" in driverless
    assert "does not say (landbridge:driver) which driver, and the machines have 8 GPUs" in driverless


MACHINES = "[i for r in ec2.describe_instances()['Reservations'] for i in r['Instances']]"


def running(pools: AwsPools, pool: str) -> list[dict[str, Any]]:
    found = [(one, {tag["Key"]: tag["Value"] for tag in one["Tags"]}) for one in pools.asks(MACHINES)]
    return [
        {**one, "tags": tags}
        for one, tags in found
        if tags.get("landbridge:pool") == pool and one["State"]["Name"] == "running"
    ]


def test_system_machines_stand_in_two_zones_and_boot_a_bundle_without_a_secret(pools: AwsPools) -> None:
    """Their role may read no secret: the boot ends because it asks for none."""
    machines = running(pools, "system")
    assert sorted(one["Placement"]["AvailabilityZone"] for one in machines) == [f"{REGION}a", f"{REGION}b"]
    for one in machines:
        assert (one["MetadataOptions"]["HttpTokens"], one["MetadataOptions"]["HttpPutResponseHopLimit"]) == (
            "required",
            1,
        )
        assert (one["tags"]["landbridge:cluster"], one["tags"]["landbridge:owner"]) == ("main", "ops")
        assert one["tags"]["landbridge:kubernetes"] == "1.36.2"
        log = eventually(lambda one=one: pools.booted(one["InstanceId"]), BOOT_SECONDS)
        assert "waits" not in log
    (disk, *_) = pools.asks("ec2.describe_volumes(Filters=[{'Name': 'tag:landbridge:pool', 'Values': ['system']}])")[
        "Volumes"
    ]
    assert disk["Encrypted"] is True


def test_a_machine_to_log_in_to_comes_up_with_its_mounts_and_says_that_none_is_there(pools: AwsPools) -> None:
    """A local machine has no autofs and mounts no server: systemd's own conditions hold there, and nothing fails."""
    pools.asks("scaling.set_desired_capacity(AutoScalingGroupName='test-shell-all', DesiredCapacity=1)")
    (machine,) = eventually(lambda: running(pools, "shell"))
    name = machine["InstanceId"]

    def on_machine(*command: str) -> str:
        cloud = client.status(pools.cloud.home / "local")
        assert cloud is not None
        run = client.machine_command(cloud, name, command)
        done = subprocess.run(run, capture_output=True, text=True, env=scrubbed(os.environ), check=False, timeout=60)
        return done.stdout + done.stderr

    eventually(lambda: pools.booted(name), BOOT_SECONDS)
    targets = ("landbridge.target", "landbridge-mounts.target", "landbridge-mounts.timer", "landbridge-people.service")
    eventually(lambda: set(on_machine("systemctl", "is-active", *targets).split()) == {"active"}, BOOT_SECONDS)
    user = next(line for line in on_machine("cat", "/etc/passwd").splitlines() if line.startswith("ann:"))
    assert user == "ann:x:3001:2001:ann of lab:/homes/ann:/bin/bash"
    # The cluster's pods have theirs from the site, so these have them from there, too.
    assert "What=host-1.room.test.example.com:/homes\n" in on_machine("cat", "/etc/systemd/system/homes.mount")
    assert r"Where=/data-sets" in on_machine("cat", r"/etc/systemd/system/data\x2dsets.automount")
    for unit in ("homes", r"data\x2dsets"):
        assert on_machine("systemctl", "is-active", f"{unit}.automount").strip() == "inactive"
        said = pools.local("logs", name, "--unit", f"{unit}.automount")
        assert "skipped: ConditionPathExists=/dev/autofs is not met" in said
    told = json.loads(pools.local("machines", "--json"))["machines"]
    assert [(one["failed"], one["why"]) for one in told if one["instance"] == name] == [([], "")]
    on_machine("systemctl", "start", "homes.mount")
    assert "local machines mount no nfs" in pools.local("logs", name, "--unit", "homes.mount")
    told = json.loads(pools.local("machines", "--json"))["machines"]
    assert [one["failed"] for one in told if one["instance"] == name] == [["homes.mount"]]


def test_the_bundle_bears_the_signature_of_the_key_in_the_user_data(pools: AwsPools) -> None:
    place, bucket = "test/main/cpu", "test-us-west-2-123456789012"
    get = f"json.loads(s3.get_object(Bucket={bucket!r}, Key={place!r} + '/' + {{}})['Body'].read())".format
    signed = pools.asks(get("'manifest.json'"))
    newest = "ec2.describe_launch_template_versions(LaunchTemplateName='test-cpu-node', Versions=['$Latest'])"
    script = base64.b64decode(
        pools.asks(newest)["LaunchTemplateVersions"][0]["LaunchTemplateData"]["UserData"]
    ).decode()
    assert len(script) <= 4096
    pointer = json.loads(re.search(r"^\w+={(\".*)}$", script, re.MULTILINE)[0].partition("=")[2])  # type: ignore[index]
    key: Any = load_der_public_key(base64.b64decode(pointer["key"]))
    key.verify(base64.b64decode(signed["signature"]), signed["manifest"].encode())
    told = json.loads(signed["manifest"])
    assert (told["prefix"], told["keys"]) == (pointer["prefix"], {})
    files = pools.asks(get(repr(f"{told['version']}.json")))
    assert files["/etc/kubernetes/ca.crt"] == AUTHORITY
    assert files.keys() == told["files"].keys()


POINTER = """
import json, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from fleet.world import current
from landbridge import places
from landbridge.cluster.session import Session
from landbridge.site import store
from local import client
world = current(Path({fleet!r}))
session = Session(world, places.local_place(world, client.status(Path({home!r}))), None)
both = store.read(session, "room-gpu", ["host-1", "host-2"])
told = {{host: [store.pointer(session, one, 600)._asdict(), one.manifest["prefix"], sorted(one.files)] for host, one in both.items()}}
print(json.dumps(told))
"""


def test_a_bare_host_reads_the_bundle_of_its_site_by_the_addresses_of_an_enrolment(pools: AwsPools) -> None:
    """And by no others: without their signature the bucket gives nothing."""
    assert "host-1.room is running" in pools.local("host", "start", "room", "host-1", "--fleet", str(pools.cloud.fleet))
    paths = {"root": str(ROOT), "fleet": str(pools.cloud.fleet), "home": str(pools.cloud.home / "local")}
    told = json.loads(pools.cloud.inside(sys.executable, "-c", POINTER.format(**paths)))
    pointer, prefix, files = told["host-1"]
    assert (prefix, pointer["prefix"]) == ("test/main/room-gpu/host-1", prefix)
    others, others_files = told["host-2"][1:]
    assert others == "test/main/room-gpu"
    more = set(files) - set(others_files)
    assert "/etc/systemd/system/landbridge-nfs.target" in more, "what it serves"
    assert set(others_files) < set(files), "and all that its pool's machines have"

    def fetch(address: str) -> Any:
        said = pools.local("host", "run", "room", "host-1", "--", "curl", "--silent", address)
        return json.loads(said) if said.startswith("{") else said

    sealed = fetch(pointer["manifest_url"])
    key: Any = load_der_public_key(base64.b64decode(pointer["verify_key"]))
    key.verify(base64.b64decode(sealed["signature"]), sealed["manifest"].encode())
    assert json.loads(sealed["manifest"])["version"] == pointer["version"]
    assert sorted(fetch(pointer["files_url"])) == files
    assert "manifest" not in fetch(pointer["manifest_url"].partition("?")[0])
    assert "No instance has the address" in fetch("http://169.254.169.254/latest/meta-data/")
    pools.local("host", "stop", "room", "host-1")
    assert "host-1.room" not in pools.local("machines")


def test_a_size_set_by_hand_stays_whatever_else_an_up_changes(pools: AwsPools) -> None:
    pools.asks("scaling.set_desired_capacity(AutoScalingGroupName='test-west-gpu-a', DesiredCapacity=1)")
    (machine,) = eventually(lambda: running(pools, "west-gpu"))
    assert (machine["Placement"]["GroupName"], len(machine["NetworkInterfaces"])) == ("test-west-gpu-a", 1)
    pools.up("west-gpu", "--expect-no-changes")
    pools.up("west-gpu", "--refresh", "--expect-no-changes")
    text = pools.cloud.fleet.read_text()
    pools.cloud.fleet.write_text(text.replace("gpus: 8, max: 4}", "gpus: 8, max: 5}"))
    said = pools.up("west-gpu")
    pools.cloud.fleet.write_text(text)
    assert "~ 2 updated" in said, "the groups of both zones"
    group = pools.group("test-west-gpu-a")
    assert (group["MaxSize"], group["DesiredCapacity"]) == (5, 1)
    assert [one["InstanceId"] for one in group["Instances"]] == [machine["InstanceId"]]
    assert group["Instances"][0]["ProtectedFromScaleIn"] is True
    assert pools.group("test-west-gpu-b")["DesiredCapacity"] == 0


def test_a_machine_that_goes_waits_for_whoever_puts_its_node_away(pools: AwsPools) -> None:
    """After the one above, whose machine it takes: removal is by terminate with decrement alone."""
    (one,) = pools.group("test-west-gpu-a")["Instances"]
    go = "scaling.terminate_instance_in_auto_scaling_group(InstanceId={!r}, ShouldDecrementDesiredCapacity=True)"
    pools.asks(go.format(one["InstanceId"]))
    group = pools.group("test-west-gpu-a")
    assert (group["DesiredCapacity"], group["Instances"][0]["LifecycleState"]) == (0, "Terminating:Wait")
    (hook,) = pools.asks("scaling.describe_lifecycle_hooks(AutoScalingGroupName='test-west-gpu-a')")["LifecycleHooks"]
    assert json.loads(hook["NotificationMetadata"])["completer"] == pools.outputs("west-gpu")["completer"]


def test_destroying_asks_and_leaves_nothing(pools: AwsPools) -> None:
    """The last of all."""
    assert len(running(pools, "system")) == 2
    destroying_asks_and_leaves_nothing(pools, "system")
