"""What add-ons write of roles for pods is what the policy takes, and a step further is refused."""

from typing import Any

import pytest

from components.addons.aws import autoscaler_role as aws_autoscaler_role
from components.addons.aws import fleet_metrics_role as aws_fleet_metrics_role
from components.addons.aws import joining_role as aws_joining_role
from components.addons.aws import recorder_role as aws_recorder_role
from components.addons.aws import team_roles as aws_team_roles
from fleet.model import Fleet, TeamBucket
from fleet.world import World
from policies.aws.roles import findings
from policies.reading import UNKNOWN, Finding, Item
from tests.components.addons import bed

from .judging import azure, example

KEY = "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000"
TEAM, ROLE = "research", "its-role"


def world(*buckets: TeamBucket) -> World:
    known = example()
    research = known.fleet.teams[TEAM].model_copy(update={"buckets": list(buckets)})
    fleet: Fleet = known.fleet.model_copy(update={"teams": {**known.fleet.teams, TEAM: research}})
    return World(fleet, known.plan, known.path)


def judged(found: World, may: Any, fleet: Fleet | None = None, trust: Any = None) -> list[Finding]:
    """`fleet` is the one whose role it is, when it is not the one that judges."""
    trust = trust or aws_team_roles.trust(fleet or found.fleet, "main", TEAM)
    role = Item("aws:iam/role:Role", "r", "urn:r", {"name": ROLE, "assumeRolePolicy": trust}, False, "p")
    policy = Item("aws:iam/rolePolicy:RolePolicy", "p", "urn:p", {"role": ROLE, "policy": may}, False, "p")
    return list(findings([role, policy], found))


ALL = (TeamBucket(name="corpus", key=KEY), TeamBucket(name="scratch", write=True, key=KEY), TeamBucket(name="plain"))


def test_it_takes_what_add_ons_write() -> None:
    for buckets in ((), ALL):
        found = world(*buckets)
        assert judged(found, aws_team_roles.permissions(found.fleet, TEAM)) == []


@pytest.mark.parametrize("left", range(len(ALL)))
def test_a_bucket_that_the_fleet_file_has_no_more_is_refused(left: int) -> None:
    may = aws_team_roles.permissions(world(*ALL).fleet, TEAM)
    found = judged(world(*(one for n, one in enumerate(ALL) if n != left)), may)
    assert {f"arn:aws:s3:::{ALL[left].name}/*"} <= {one.what.rpartition(" ")[2] for one in found}


def test_writing_where_it_may_read_is_refused() -> None:
    may = aws_team_roles.permissions(world(TeamBucket(name="corpus", write=True, key=KEY)).fleet, TEAM)
    found = judged(world(TeamBucket(name="corpus", key=KEY)), may)
    assert {one.what.split()[3] for one in found} == {
        *("s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"),
        "kms:GenerateDataKey",
    }


def test_another_team_s_documents_are_refused() -> None:
    found = world()
    assert judged(found, aws_team_roles.permissions(found.fleet, "platform"))


def test_the_issuer_of_another_fleet_is_refused() -> None:
    found = world()
    other = found.fleet.model_copy(update={"fleet": "other"})
    (one,) = judged(found, aws_team_roles.permissions(found.fleet, TEAM), other)
    assert "no team's storage: those of" in one.what


def test_a_role_whose_name_nobody_knows_is_not_taken_on_trust() -> None:
    found = world()
    trust = aws_team_roles.trust(found.fleet, "main", TEAM)
    role = Item("aws:iam/role:Role", "r", "urn:r", {"name": UNKNOWN, "assumeRolePolicy": trust}, False, "p")
    assert [one.path for one in findings([role], found)] == ["name"]


def sizing(found: World, may: Any, cluster: str = "main") -> list[Finding]:
    return judged(found, may, trust=aws_autoscaler_role.trust(found.fleet, cluster))


def test_it_takes_the_autoscaler_s_role_as_add_ons_write_it() -> None:
    found = world()
    assert sizing(found, aws_autoscaler_role.permissions(found.fleet, "main")) == []


STEPS: dict[str, Any] = {
    "groups of every name": lambda may: may["Statement"][1].update(Resource="*"),
    "another fleet's groups": lambda may: may["Statement"][1].update(
        Resource=may["Statement"][1]["Resource"][0].replace("/example-", "/other-")
    ),
    "groups in another region": lambda may: may["Statement"][1].update(
        Resource=may["Statement"][1]["Resource"][0].replace("us-west-2", "us-west-1")
    ),
    "a group's bounds": lambda may: may["Statement"][1]["Action"].append("autoscaling:UpdateAutoScalingGroup"),
    "a group's tags": lambda may: may["Statement"][1]["Action"].append("autoscaling:CreateOrUpdateTags"),
    "every machine": lambda may: may["Statement"][0]["Action"].append("ec2:TerminateInstances"),
    "a look at another region": lambda may: may["Statement"][0]["Condition"]["StringEquals"][
        "aws:RequestedRegion"
    ].append("ap-south-1"),
    "a look anywhere": lambda may: may["Statement"][0].pop("Condition"),
    "groups that say nothing of their cluster": lambda may: may["Statement"][1]["Condition"]["StringEquals"].pop(
        "aws:ResourceTag/landbridge:cluster"
    ),
    "groups of another cluster": lambda may: may["Statement"][1]["Condition"]["StringEquals"].update(
        {"aws:ResourceTag/landbridge:cluster": "other"}
    ),
    "all but something": lambda may: may["Statement"][1].update(NotAction=may["Statement"][1].pop("Action")),
    "what a team may": lambda may: may["Statement"].extend(
        aws_team_roles.permissions(example().fleet, TEAM)["Statement"]
    ),
}


@pytest.mark.parametrize("step", STEPS)
def test_the_autoscaler_s_role_goes_no_further(step: str) -> None:
    found = world()
    may = aws_autoscaler_role.permissions(found.fleet, "main")
    STEPS[step](may)
    findings = sizing(found, may)
    assert findings
    assert all("the autoscaler of main may" in one.what and "autoscaler_role.py" in one.remedy for one in findings)


def test_a_team_s_pods_size_no_groups() -> None:
    found = world()
    assert judged(found, aws_autoscaler_role.permissions(found.fleet, "main"))


def test_a_cluster_s_autoscaler_sizes_no_other_cluster_s_pools() -> None:
    known = world()
    main = known.fleet.clusters["main"]
    pools = {name: pool.model_copy(update={"cluster": "next"}) for name, pool in known.fleet.pools.items()}
    fleet = known.fleet.model_copy(
        update={"clusters": {"main": main, "next": main}, "pools": {**known.fleet.pools, "next-gpu": pools["east-gpu"]}}
    )
    found = World(fleet, known.plan, known.path)
    assert sizing(found, aws_autoscaler_role.permissions(fleet, "next"), "next") == []
    assert sizing(found, aws_autoscaler_role.permissions(fleet, "next"))
    # Both clusters vouch for a service account of this name: whose groups it may size nobody can tell.
    both = aws_autoscaler_role.trust(fleet, "main")
    both["Statement"] += aws_autoscaler_role.trust(fleet, "next")["Statement"]
    (one,) = judged(found, aws_autoscaler_role.permissions(fleet, "main"), trust=both)
    assert "not one cluster's cluster-autoscaler, recorder, fleet-metrics or landbridge-joining" in one.what


def recording(found: World, may: Any, cluster: str = "main") -> list[Finding]:
    return judged(found, may, trust=aws_recorder_role.trust(found.fleet, cluster))


def test_it_takes_the_recorder_s_role_as_add_ons_write_it() -> None:
    found = world()
    assert recording(found, aws_recorder_role.permissions(found.fleet, "main")) == []


def test_of_a_cluster_at_home_in_azure_it_looks_at_its_machines_and_keeps_nothing() -> None:
    found = bed.both()
    assert recording(found, aws_recorder_role.permissions(found.fleet, "south"), "south") == []
    assert recording(found, aws_recorder_role.permissions(found.fleet, "main"), "south")


def test_the_joining_service_of_a_cluster_at_home_in_azure_looks_at_instances_and_does_no_more() -> None:
    found = bed.both()
    trust = aws_joining_role.trust(found.fleet, "south")

    def looking(**change: Any) -> list[Finding]:
        may = aws_joining_role.permissions(found.fleet, "south")
        may["Statement"][0].update(change)
        return judged(found, may, trust=trust)

    assert looking() == []
    assert looking(Action=["ec2:TerminateInstances"])
    assert looking(Condition={})
    (one,) = looking(Condition={"StringEquals": {"aws:RequestedRegion": ["ap-south-1"]}})
    assert "the joining service of south may" in one.what
    assert "joining_role.py" in one.remedy


HOME = "arn:aws:s3:::example-us-west-2-123456789012"
ELSEWHERE = "arn:aws:s3:::example-eu-west-1-123456789012"
FURTHER: dict[str, Any] = {
    "the audit log to write": lambda records, audit, *_: audit["Action"].append("s3:PutObject"),
    "the audit log to delete": lambda records, *_: records["Resource"].append(f"{HOME}/audit/main/*"),
    "another cluster's records": lambda records, *_: records["Resource"].append(f"{HOME}/records/other/*"),
    "records of every cluster": lambda records, *_: records["Resource"].append(f"{HOME}/team-records/*"),
    "another cluster's audit log": lambda records, audit, *_: audit["Resource"].append(f"{HOME}/audit/other/*"),
    "what teams keep": lambda records, audit, *_: audit["Resource"].append(f"{HOME}/teams/research/*"),
    "another region's bucket": lambda records, *_: records.update(Resource=[f"{ELSEWHERE}/records/main/*"]),
    "versions": lambda records, *_: records["Action"].append("s3:DeleteObjectVersion"),
    "a list of everything": lambda records, audit, list_, _: list_.pop("Condition"),
    "a list of what teams keep": lambda records, audit, list_, _: list_["Condition"]["StringLike"]["s3:prefix"].append(
        "teams/*"
    ),
    "a key by itself": lambda records, audit, list_, keys: keys["Condition"].pop("StringEquals"),
    "every key of the region": lambda records, audit, list_, keys: keys["Condition"].pop("ForAnyValue:StringEquals"),
    "another region's key": lambda records, audit, list_, keys: keys.update(
        Resource=keys["Resource"][0].replace("us-west-2", "eu-west-1")
    ),
}


@pytest.mark.parametrize("step", FURTHER)
def test_the_recorder_s_role_goes_no_further(step: str) -> None:
    found = world()
    may = aws_recorder_role.permissions(found.fleet, "main")
    FURTHER[step](*may["Statement"][:4])
    findings = recording(found, may)
    assert findings
    assert all("the recorder of main may" in one.what and "recorder_role.py" in one.remedy for one in findings)


def test_it_looks_at_machines_of_the_cluster_s_regions_and_ends_none() -> None:
    found = world()
    for change in (
        {"Action": ["ec2:TerminateInstances"]},
        {"Condition": {"StringEquals": {"aws:RequestedRegion": ["ap-south-1"]}}},
        {"Condition": {}},
    ):
        may = aws_recorder_role.permissions(found.fleet, "main")
        (machines,) = [one for one in may["Statement"] if one["Sid"] == "Machines"]
        machines.update(change)
        assert recording(found, may), change


def test_nobody_else_writes_records_and_a_recorder_does_nobody_else_s_work() -> None:
    found = world()
    may = aws_recorder_role.permissions(found.fleet, "main")
    assert judged(found, may)
    assert sizing(found, may)
    assert recording(found, aws_autoscaler_role.permissions(found.fleet, "main"))
    assert recording(found, aws_team_roles.permissions(found.fleet, TEAM))


def test_a_recorder_of_a_cluster_at_home_elsewhere_has_no_role_here() -> None:
    known = azure()
    may = aws_recorder_role.permissions(example().fleet, "main")
    assert len(recording(known, may)) == len([one for part in may["Statement"] for one in _each(part)])


def _each(part: Any) -> list[tuple[str, str]]:
    return [(action, resource) for action in part["Action"] for resource in part["Resource"]]


def test_a_team_reads_what_was_recorded_of_it_and_writes_none_of_it() -> None:
    found = world()
    may = aws_team_roles.permissions(found.fleet, TEAM)
    (records,) = [one for one in may["Statement"] if one["Sid"] == "Records"]
    assert records["Action"] == ["s3:GetObject"]
    for change in ({"Action": ["s3:PutObject"]}, {"Resource": [f"{HOME}/team-records/platform/*"]}):
        wider = {**may, "Statement": [*may["Statement"], {**records, **change}]}
        assert judged(found, wider), change


def telling(found: World, may: Any, cluster: str = "main") -> list[Finding]:
    return judged(found, may, trust=aws_fleet_metrics_role.trust(found.fleet, cluster))


def test_it_takes_the_role_of_fleet_metrics_as_add_ons_write_it() -> None:
    for found, cluster in ((world(), "main"), (bed.both(), "main"), (bed.both(), "south")):
        assert telling(found, aws_fleet_metrics_role.permissions(found.fleet, cluster), cluster) == []


BEYOND: dict[str, Any] = {
    "a snapshot to read": lambda home, *_: home["Action"].append("s3:GetObject"),
    "a list of everything": lambda home, *_: home.pop("Condition"),
    "another cluster's list": lambda home, *_: home["Condition"]["StringLike"].update({"s3:prefix": "backups/other/*"}),
    "a list of all snapshots": lambda home, *_: home["Condition"]["StringLike"].update({"s3:prefix": "backups/*"}),
    "all clusters' restores": lambda *all_: all_[2]["Condition"]["StringLike"].update({"s3:prefix": "restores/*"}),
    "all clusters' drift": lambda *all_: all_[3]["Condition"]["StringLike"].update({"s3:prefix": "drift/*"}),
    "looks to read": lambda *all_: all_[3]["Action"].append("s3:GetObject"),
    "any channel": lambda *all_: all_[7].update(Resource=["*"]),
    "secrets of Parameter Store": lambda *all_: all_[7]["Action"].append("ssm:GetParametersByPath"),
    "instances": lambda *all_: all_[5]["Action"].append("ec2:DescribeInstances"),
    "quotas of another region": lambda *all_: all_[5]["Condition"]["StringEquals"]["aws:RequestedRegion"].append(
        "ap-south-1"
    ),
    "file systems themselves": lambda *all_: all_[6]["Action"].append("elasticfilesystem:DescribeFileSystems"),
    "file systems of another region": lambda *all_: all_[6]["Condition"]["StringEquals"]["aws:RequestedRegion"].append(
        "ap-south-1"
    ),
    "copies where there are none": lambda home, copy, *_: copy.update(Resource=home["Resource"]),
    "another region's bucket": lambda home, *_: home.update(Resource=[ELSEWHERE]),
    "keys of tunnels": lambda *all_: all_[4]["Action"].append("ec2:DescribeVpnConnections"),
    "a look anywhere": lambda *all_: all_[4].pop("Condition"),
    "a look at another region": lambda *all_: all_[4]["Condition"]["StringEquals"]["aws:RequestedRegion"].append(
        "ap-south-1"
    ),
}


@pytest.mark.parametrize("step", BEYOND)
def test_the_role_of_fleet_metrics_goes_no_further(step: str) -> None:
    found = world()
    may = aws_fleet_metrics_role.permissions(found.fleet, "main")
    BEYOND[step](*may["Statement"])
    findings = telling(found, may)
    assert findings
    assert all(
        "the fleet metrics of main may" in one.what and "fleet_metrics_role.py" in one.remedy for one in findings
    )


def test_fleet_metrics_do_nobody_else_s_work() -> None:
    found = world()
    assert telling(found, aws_recorder_role.permissions(found.fleet, "main"))
    assert recording(found, aws_fleet_metrics_role.permissions(found.fleet, "main"))
