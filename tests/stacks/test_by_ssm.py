"""The etcd commands through Systems Manager, as on real AWS, on the whole control plane of the local cloud.

The command line is the real one; only the way to the machines is the one that it takes where there is no local cloud.
"""

import json
import sys
from typing import Any

import pytest

from tests.support.cloud import Cloud

pytestmark = pytest.mark.cloud
BY_SSM = """\
import sys
from landbridge import remote_execution as remote
from landbridge.cluster.session import Session
Session.remote = property(lambda self: remote.Ssm(self.of("ssm"), lambda: remote.running(self.of("ec2"), self.info.name)))
from landbridge.cli import main
sys.argv = ["landbridge", *sys.argv[1:]]
sys.exit(main())
"""
SENT = """\
import json
ssm, ec2 = client("ssm", "us-west-2"), client("ec2", "us-west-2")
commands = ssm.list_commands()["Commands"]
print(json.dumps({"sent": len(commands), "statuses": sorted({one["Status"] for one in commands})}))
"""


def by_ssm(cloud: Cloud, *words: str) -> dict[str, Any]:
    said = cloud.inside(sys.executable, "-c", BY_SSM, "etcd", *words, "--local", "--json", "--fleet", str(cloud.fleet))
    return dict(json.loads(said))


def test_members_are_the_same_by_both_ways(cloud: Cloud) -> None:
    def known(told: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [(ring["ring"], one["name"], one["id"]) for ring in told["rings"] for one in ring["members"]]

    ours = by_ssm(cloud, "members")
    assert known(ours) == known(cloud.report("etcd", "members", "--local"))
    assert len(known(ours)) == 6
    assert [ring["ails"] for ring in ours["rings"]] == [[], []]
    assert json.loads(cloud.python(SENT))["sent"] > 0


def test_a_snapshot_taken_by_systems_manager_is_restored_by_it(cloud: Cloud) -> None:
    (made,) = by_ssm(cloud, "backup", "--ring", "events")["backups"]
    keys = json.dumps(cloud.report("etcd", "snapshots", "--ring", "events", "--local"))
    assert made["key"] in keys
    by_ssm(cloud, "restore", "--ring", "events", "--from", made["key"], "--yes")
    assert [ring["ails"] for ring in by_ssm(cloud, "members", "--ring", "events")["rings"]] == [[]]


def test_defragmentation_goes_through_all_members(cloud: Cloud) -> None:
    by_ssm(cloud, "defrag", "--ring", "events")
    told = json.loads(cloud.python(SENT))
    assert set(told["statuses"]) <= {"Success", "Failed"}, "none was lost or ran out of time"
