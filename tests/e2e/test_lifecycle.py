"""A fleet's life on the real engine: up, up again, grow, drift, fail, resume, go. One story, told in order."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local import processes
from tests.support import cloud as clouds
from tests.support.cloud import Cloud

pytestmark = pytest.mark.cloud
STACKS = {"us-west-2", "eu-west-1"}


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[Cloud]:
    made = clouds.make(tmp_path)
    yield made
    made.stop()


def changes(report: dict[str, Any]) -> dict[str, dict[str, int]]:
    return {stack["stack"]: {k: v for k, v in stack["changes"].items() if v} for stack in report["stacks"]}


def drift(cloud: Cloud, stack: str) -> set[str]:
    """How the cloud differs from a stack, in the words of `status --drift`."""
    (status,) = cloud.report("status", "--local", "--drift", stack)["stacks"]
    return set(status["drift"])


def test_a_fleet_comes_up_stays_unchanged_grows_and_goes(cloud: Cloud) -> None:
    cloud.run("preview", "--local")
    # A region's default network appears with the first call to it.
    cloud.python("for region in ('us-west-2', 'eu-west-1'): client('ec2', region).describe_vpcs()")
    before = cloud.inventory()

    created = changes(cloud.report("up", "--local", "--yes"))
    assert created.keys() == {*STACKS, "links"}
    assert all(set(counts) == {"created"} for counts in created.values()), created
    assert all(created[region]["created"] > 40 for region in STACKS), created

    unchanged = cloud.report("up", "--local", "--yes", "--full", "--expect-no-changes")
    assert all(set(counts) == {"same"} for counts in changes(unchanged).values())

    cloud.fleet.write_text(
        cloud.fleet.read_text().replace("eu-west-1: {cloud: aws, zones: [a]}", "eu-west-1: {cloud: aws, zones: [a, b]}")
    )
    cloud.run("up", "--local", "--yes", code=2)  # the ledger is stale: nothing is built
    cloud.plan()
    grown = changes(cloud.report("up", "--local", "--yes"))
    assert set(grown["us-west-2"]) == set(grown["links"]) == {"same"}
    # What already stands takes the new zone's subnet in; nothing is replaced or deleted.
    assert set(grown["eu-west-1"]) <= {"created", "updated", "same"}
    assert grown["eu-west-1"]["created"] >= 5

    refused = cloud.run("destroy", "--local", code=None)
    assert refused.returncode != 0, "destroying must ask, and there is nobody to answer"
    cloud.python(
        "for body in (b'old', b'new'): client('s3', 'us-west-2')"
        ".put_object(Bucket='test-us-west-2-123456789012', Key='flow-logs/one', Body=body)"
    )
    gone = cloud.run("destroy", "--local", "--yes", "--ignore-protect")
    assert (
        "us-west-2: test-us-west-2-123456789012 is emptied of objects and old versions: 2" in gone.stdout + gone.stderr
    )
    assert cloud.inventory() == before

    # Names rest for a while after a deletion on AWS: coming up again must work all the same.
    again = changes(cloud.report("up", "--local", "--yes", "eu-west-1"))
    assert set(again["eu-west-1"]) == {"created"}


def test_a_region_that_was_taken_out_of_the_file_is_named_and_goes_by_its_name(cloud: Cloud) -> None:
    cloud.run("preview", "--local")
    cloud.python("for region in ('us-west-2', 'eu-west-1'): client('ec2', region).describe_vpcs()")
    before = cloud.inventory()
    cloud.run("up", "--local", "--yes")
    text = cloud.fleet.read_text()
    cloud.fleet.write_text(text.replace("  eu-west-1: {cloud: aws, zones: [a]}\n", ""))
    cloud.plan()
    refused = cloud.run("destroy", "--local", "--yes", "--ignore-protect", "eu-west-1", code=1)
    assert "Nothing was destroyed.\nlinks still holds what leads to eu-west-1" in refused.stderr
    # What is refused names the up that comes first, and that up names the destroy.
    (first,) = re.findall(r"`landbridge ([^`]+)`", refused.stderr)
    cloud.run(*first.split(), "--local", "--yes", "--allow-destroy", "9")
    named = [note for note in cloud.report("up", "--local", "--yes")["notes"] if "eu-west-1 stands" in note]
    (then,) = re.findall(r"`landbridge ([^`]+)`", "".join(named))
    status = cloud.report("status", "--local")
    assert [one["stack"] for one in status["stacks"]][-1] == "eu-west-1"
    assert named[0] in status["notes"]
    cloud.run(*then.replace(f" --fleet {cloud.fleet}", "").split(), "--yes", "--ignore-protect")
    assert "eu-west-1" not in cloud.run("up", "--local", "--yes", "--full", "--expect-no-changes").stdout
    cloud.fleet.write_text(text.replace("  us-west-2: {cloud: aws, zones: [a, b]}\n", ""))
    cloud.plan()
    # The whole fleet, and what its file has forgotten.
    cloud.run("destroy", "--local", "--yes", "--ignore-protect")
    assert cloud.inventory() == before


def test_drift_is_seen_and_repaired(cloud: Cloud) -> None:
    cloud.run("up", "--local", "--yes", "eu-west-1")
    cloud.python(
        """
ec2 = client("ec2", "eu-west-1")
(own,) = [v["CidrBlock"] for v in ec2.describe_vpcs()["Vpcs"] if not v["IsDefault"]]
rules = ec2.describe_security_group_rules()["SecurityGroupRules"]
rule = next(r for r in rules if r.get("FromPort") == 2049 and r["CidrIpv4"] == own)
ec2.revoke_security_group_ingress(GroupId=rule["GroupId"], SecurityGroupRuleIds=[rule["SecurityGroupRuleId"]])
tables = ec2.describe_route_tables(Filters=[{"Name": "tag:Name", "Values": ["test-eu-west-1-private"]}])["RouteTables"]
association = tables[0]["Associations"][0]
ec2.disassociate_route_table(AssociationId=association["RouteTableAssociationId"])
files = client("efs", "eu-west-1")
point = files.describe_access_points()["AccessPoints"][0]
files.delete_access_point(AccessPointId=point["AccessPointId"])
subnet = association["SubnetId"]
ec2.create_tags(Resources=[subnet], Tags=[{"Key": "landbridge:owner", "Value": "somebody"}])
"""
    )
    assert drift(cloud, "eu-west-1") == {
        "vpc.SecurityGroupIngressRule shares-region-eu-west-1-2049 is gone",
        "ec2.RouteTableAssociation private-a is gone",
        "efs.AccessPoint share-homes is gone",
        "ec2.Subnet private-a differs in tags",
    }
    repaired = changes(cloud.report("up", "--local", "--yes", "--refresh", "eu-west-1"))["eu-west-1"]
    assert repaired["created"] == 3
    assert repaired["updated"] == 1
    assert drift(cloud, "eu-west-1") == set()


def test_a_subnet_removed_behind_our_back_comes_back(cloud: Cloud) -> None:
    cloud.run("up", "--local", "--yes", "us-west-2")
    cloud.python(
        """
ec2 = client("ec2", "us-west-2")
subnet = ec2.describe_subnets(Filters=[{"Name": "tag:Name", "Values": ["test-us-west-2-public-b"]}])["Subnets"][0]
table = ec2.describe_route_tables(Filters=[{"Name": "association.subnet-id", "Values": [subnet["SubnetId"]]}])["RouteTables"][0]
for association in table["Associations"]:
    if association.get("SubnetId") == subnet["SubnetId"]:
        ec2.disassociate_route_table(AssociationId=association["RouteTableAssociationId"])
ec2.delete_subnet(SubnetId=subnet["SubnetId"])
"""
    )
    gone = drift(cloud, "us-west-2")
    assert "ec2.Subnet public-b is gone" in gone, gone
    repaired = changes(cloud.report("up", "--local", "--yes", "--refresh", "us-west-2"))["us-west-2"]
    assert repaired["created"] == 2, "the subnet and its place in the route table"
    cloud.run("up", "--local", "--yes", "--full", "--expect-no-changes", "us-west-2")


def state_file(cloud: Cloud, stack: str) -> Path:
    return cloud.home / "local/test/state/.pulumi/stacks/landbridge" / f"{stack}.json"


def wait_for(condition: Any, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def resources(cloud: Cloud, stack: str) -> int:
    try:
        return len(json.loads(state_file(cloud, stack).read_text())["checkpoint"]["latest"].get("resources", []))
    except (OSError, ValueError, KeyError):
        return 0


def family(pid: int) -> list[int]:
    """The process and all that it started, youngest last."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for each in found:
        found += parents.get(each, [])
    return found


def tell(pid: int, sign: signal.Signals) -> None:
    for each in family(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, sign)


def stop(cloud: Cloud) -> None:
    subprocess.run([clouds.COMMAND, "local", "stop"], env=cloud._environment(), check=True, capture_output=True)


@contextlib.contextmanager
def halfway(cloud: Cloud, stack: str) -> Iterator[subprocess.Popen[str]]:
    """An `up` that stands still in its middle; it goes on when the context ends."""
    cloud.run("preview", "--local", stack)
    running = cloud.start("up", "--local", "--yes", stack)
    wait_for(lambda: resources(cloud, stack) > 5)
    tell(running.pid, signal.SIGSTOP)
    try:
        yield running
    finally:
        tell(running.pid, signal.SIGCONT)


def test_a_killed_up_is_followed_by_one_that_completes(cloud: Cloud) -> None:
    with halfway(cloud, "us-west-2") as running:
        tell(running.pid, signal.SIGKILL)
    running.communicate()
    done = cloud.report("up", "--local", "--yes", "us-west-2")
    assert done["stacks"][0]["result"] == "done"
    cloud.run("up", "--local", "--yes", "--full", "--expect-no-changes", "us-west-2")


def test_an_interrupted_up_leaves_no_lock(cloud: Cloud) -> None:
    with halfway(cloud, "us-west-2") as running:
        os.kill(running.pid, signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130
    assert not list((cloud.home / "local/test/state/.pulumi/locks").rglob("*.json"))
    (status,) = cloud.report("status", "--local", "us-west-2")["stacks"]
    assert status["result"] == "interrupted"
    assert "update interrupted" in cloud.run("status", "--local", "us-west-2").stdout
    cloud.run("up", "--local", "--yes", "us-west-2")


def test_a_local_cloud_that_ends_during_an_up_is_named_once_with_the_reason(cloud: Cloud) -> None:
    with halfway(cloud, "us-west-2") as running:
        stop(cloud)
    said, errors = running.communicate(timeout=120)
    assert running.returncode == 1, errors
    assert said.count("us-west-2: the local cloud is gone meanwhile") == 1, said
    assert "it ended by SIGTERM" in said
    assert "`landbridge up --local`" in said
    assert "EOF" not in said
    assert "refused" not in said
    assert "It keeps what stands in it" in said
    up = cloud.report("up", "--local", "--yes", "us-west-2")
    assert not any("starts clean" in note for note in up["notes"]), up["notes"]
    cloud.run("up", "--local", "--yes", "us-west-2", "--expect-no-changes")


def test_an_up_goes_on_when_the_provider_host_dies_under_it(cloud: Cloud) -> None:
    running = cloud.start("up", "--local", "--yes", "--json", "us-west-2")
    wait_for(lambda: resources(cloud, "us-west-2") > 5)
    os.kill(processes.recorded(cloud.home / "local")["provider host"]["pid"], signal.SIGKILL)
    out, errors = running.communicate(timeout=300)
    assert running.returncode == 0, out + errors
    assert any("provider host of the local cloud died meanwhile" in note for note in json.loads(out)["notes"]), out
    cloud.run("up", "--local", "--yes", "--expect-no-changes", "us-west-2")


def test_two_ups_at_once_do_not_mix(cloud: Cloud) -> None:
    with halfway(cloud, "us-west-2") as first:
        second = cloud.run("up", "--local", "--yes", "us-west-2", code=1)
        # Pulumi holds the lock, on behalf of the first.
        held = re.search(
            r"us-west-2: is being updated by another run: \S+ on \S+ \(process (\d+)\) since ", second.stdout
        )
        assert held, second.stdout
        assert int(held[1]) in family(first.pid)
    _, errors = first.communicate(timeout=120)
    assert first.returncode == 0, errors
    cloud.run("up", "--local", "--yes", "--full", "--expect-no-changes", "us-west-2")


def test_what_stood_in_a_cloud_is_there_after_a_stop_and_built_anew_once_it_is_forgotten(cloud: Cloud) -> None:
    (made,) = changes(cloud.report("up", "--local", "--yes", "eu-west-1")).values()
    stop(cloud)
    cloud.run("up", "--local", "--yes", "eu-west-1", "--full", "--expect-no-changes")
    forgotten = [clouds.COMMAND, "local", "forget", "--yes"]
    subprocess.run(forgotten, env=cloud._environment(), check=True, capture_output=True)
    again = cloud.report("up", "--local", "--yes", "eu-west-1")
    assert (changes(again), again["notes"]) == ({"eu-west-1": made}, [])
