"""Systems Manager's Run Command, with the test in the machines service's place: what waits for a machine, and how it ends."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from local.standins import PREFIX
from tests.local.aws.conftest import asker, clients, served
from tests.local.aws.support import refused

REGION, ACCOUNT = "us-west-2", "123456789012"
SSM_POLICY = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
ALLOW = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole"}]}


class Bed:
    """A server of its own: its instances are machines, which would be in the way of other tests."""

    def __init__(self, url: str) -> None:
        self.url, self.client, self.own = url, clients(url), asker(url)
        self.own("keep", [])
        self.ssm, self.ec2, self.iam = (self.client(name, REGION) for name in ("ssm", "ec2", "iam"))
        images = self.ec2.describe_images()["Images"]
        self.image = next(one["ImageId"] for one in images if one["Name"].startswith(PREFIX))
        network = self.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
        self.subnet = self.ec2.create_subnet(VpcId=network, CidrBlock="10.9.1.0/24")["Subnet"]["SubnetId"]
        self.role("managed", SSM_POLICY)
        self.role("plain")

    def role(self, name: str, *attached: str) -> None:
        trust = {**ALLOW["Statement"][0], "Principal": {"Service": "ec2.amazonaws.com"}}
        document = json.dumps({**ALLOW, "Statement": [trust]})
        self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=document)
        for arn in attached:
            self.iam.attach_role_policy(RoleName=name, PolicyArn=arn)
        self.iam.create_instance_profile(InstanceProfileName=name)
        self.iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)

    def machine(self, role: str | None = "managed", script: str = "#!/bin/sh\n", **tags: str) -> str:
        profile = {"IamInstanceProfile": {"Name": role}} if role else {}
        tagged = [{"ResourceType": "instance", "Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}]
        made = self.ec2.run_instances(
            ImageId=self.image,
            MinCount=1,
            MaxCount=1,
            UserData=script,
            SubnetId=self.subnet,
            **profile,
            **({"TagSpecifications": tagged} if tags else {}),
        )
        return str(made["Instances"][0]["InstanceId"])

    def send(self, instance: str, *lines: str, seconds: int = 60, execution: str = "30", by: Any = None) -> str:
        sent = (by or self.ssm).send_command(
            InstanceIds=[instance],
            DocumentName="AWS-RunShellScript",
            TimeoutSeconds=seconds,
            Parameters={"commands": list(lines) or ["true"], "executionTimeout": [execution]},
        )["Command"]
        assert (sent["Status"], sent["InstanceIds"]) == ("Pending", [instance])
        assert refused(self.ssm.get_command_invocation, CommandId=sent["CommandId"], InstanceId=instance) == UNKNOWN
        return str(sent["CommandId"])

    def get(self, command: str, instance: str) -> dict[str, Any]:
        return dict(self.ssm.get_command_invocation(CommandId=command, InstanceId=instance))

    def state(self, command: str, instance: str) -> tuple[str, str, int]:
        got = self.get(command, instance)
        return got["Status"], got["StatusDetails"], got["ResponseCode"]

    def waiting(self, instance: str) -> list[dict[str, Any]]:
        return next(list(one["commands"]) for one in self.own("world")["machines"] if one["id"] == instance)

    def tell(self, command: str, instance: str, state: str, code: int = 0, out: str = "", err: str = "") -> bool:
        told = {"id": command, "instance": instance, "state": state, "code": code, "out": out, "err": err}
        return bool(self.own("command", told))


UNKNOWN = "InvocationDoesNotExist"


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    server = served()
    yield Bed(next(server))
    server.close()


@pytest.fixture(scope="module")
def instance(bed: Bed) -> str:
    return bed.machine()


def test_a_command_goes_to_its_machine_and_comes_back(bed: Bed, instance: str) -> None:
    command = bed.send(instance, "echo one", "echo two >&2; exit 3")
    assert bed.state(command, instance) == ("Pending", "Pending", -1)
    script = {"script": "echo one\necho two >&2; exit 3", "folder": "", "seconds": 30, "stop": False}
    assert bed.waiting(instance) == [{"id": command, **script}]
    assert bed.tell(command, instance, "started")
    assert bed.waiting(instance) == [], "nobody starts it twice"
    assert bed.state(command, instance) == ("InProgress", "InProgress", -1)
    assert bed.get(command, instance)["ExecutionEndDateTime"] == ""
    assert bed.tell(command, instance, "ended", 3, "one\n", "two\n")
    assert bed.state(command, instance) == ("Failed", "Failed", 3)
    got = bed.get(command, instance)
    assert (got["StandardOutputContent"], got["StandardErrorContent"]) == ("one\n", "two\n")
    (listed,) = bed.ssm.list_commands(CommandId=command)["Commands"]
    assert (listed["Status"], listed["ErrorCount"]) == ("Failed", 1)


def test_no_more_is_kept_of_the_output_than_aws_keeps(bed: Bed, instance: str) -> None:
    command = bed.send(instance)
    bed.tell(command, instance, "started")
    bed.tell(command, instance, "ended", 0, "ü" * 30_000, "e" * 30_000)
    got = bed.get(command, instance)
    assert got["Status"] == "Success"
    assert got["StandardOutputContent"] == "ü" * 24_000
    assert len(got["StandardErrorContent"]) == 8_000


def test_a_stopped_machine_s_command_waits_until_its_delivery_s_time_is_over(bed: Bed) -> None:
    machine = bed.machine()
    bed.ec2.stop_instances(InstanceIds=[machine])
    command = bed.send(machine, seconds=600)
    bed.own("clock", {"advance": 500})
    assert bed.state(command, machine) == ("Pending", "Pending", -1)
    bed.own("clock", {"advance": 101})
    assert bed.state(command, machine) == ("TimedOut", "DeliveryTimedOut", -1)
    assert bed.waiting(machine) == []
    assert not bed.tell(command, machine, "started")
    assert bed.ssm.list_commands(CommandId=command)["Commands"][0]["DeliveryTimedOutCount"] == 1


def test_one_that_runs_too_long_was_killed(bed: Bed, instance: str) -> None:
    command = bed.send(instance, "sleep 99")
    bed.tell(command, instance, "started")
    bed.tell(command, instance, "late", 137)
    assert bed.state(command, instance) == ("TimedOut", "ExecutionTimedOut", 137)


def test_a_machine_that_ends_amid_a_command_leaves_it_until_it_expires(bed: Bed, instance: str) -> None:
    command = bed.send(instance, seconds=60, execution="100")
    bed.tell(command, instance, "started")
    bed.own("clock", {"advance": 150})
    assert bed.state(command, instance)[0] == "InProgress"
    bed.own("clock", {"advance": 15})
    assert bed.state(command, instance) == ("TimedOut", "DeliveryTimedOut", -1)


def test_a_command_is_cancelled_before_and_while_it_runs(bed: Bed, instance: str) -> None:
    before, amid = bed.send(instance), bed.send(instance)
    bed.tell(amid, instance, "started")
    for command in (before, amid):
        bed.ssm.cancel_command(CommandId=command)
    assert bed.state(before, instance) == ("Cancelled", "Cancelled", -1)
    assert bed.state(amid, instance)[0] == "Cancelling"
    assert [(one["id"], one["stop"]) for one in bed.waiting(instance)] == [(amid, True)]
    bed.tell(amid, instance, "stopped", 137)
    assert bed.state(amid, instance) == ("Cancelled", "Cancelled", 137)
    assert refused(bed.ssm.cancel_command, CommandId="0" * 36) == "InvalidCommandId"


def test_only_machines_with_an_agent_that_may_register_are_known(bed: Bed, instance: str) -> None:
    denying = {"Effect": "Deny", "Action": "ssm:UpdateInstanceInformation", "Resource": "*"}
    bed.role("muzzled", SSM_POLICY)
    bed.iam.put_role_policy(
        RoleName="muzzled", PolicyName="no", PolicyDocument=json.dumps({**ALLOW, "Statement": [denying]})
    )
    strangers = [bed.machine("plain"), bed.machine(None), bed.machine("muzzled"), bed.machine(script="no script")]
    gone = bed.machine()
    bed.ec2.terminate_instances(InstanceIds=[gone])
    for stranger in (*strangers, gone, "i-0123456789abcdef0"):
        told = {"DocumentName": "AWS-RunShellScript", "Parameters": {"commands": ["true"]}}
        assert refused(bed.ssm.send_command, InstanceIds=[instance, stranger], **told) == "InvalidInstanceId"
    listed = bed.ssm.describe_instance_information()["InstanceInformationList"]
    known = {one["InstanceId"]: one["PingStatus"] for one in listed}
    assert known[instance] == "Online"
    assert not known.keys() & {*strangers, gone}
    filters = [{"Key": "InstanceIds", "Values": [instance]}]
    assert len(bed.ssm.describe_instance_information(Filters=filters)["InstanceInformationList"]) == 1


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("InvalidDocument", {"DocumentName": "AWS-RunPatchBaseline"}),
        ("InvalidParameters", {"Parameters": {}}),
        ("InvalidParameters", {"Parameters": {"commands": ["true"], "colour": ["red"]}}),
        ("InvalidParameters", {"Parameters": {"commands": ["true"], "executionTimeout": ["0"]}}),
        ("InvalidParameters", {"Parameters": {"commands": ["true"], "executionTimeout": ["172801"]}}),
        ("ValidationException", {"InstanceIds": []}),
        ("ValidationException", {"OutputS3BucketName": "bucket"}),
        ("ValidationException", {"InstanceIds": [], "Targets": [{"Key": "tag:x", "Values": ["y"]}]}),
    ],
)
def test_what_is_not_honoured_is_refused(bed: Bed, instance: str, code: str, given: dict[str, Any]) -> None:
    whole = {"InstanceIds": [instance], "DocumentName": "AWS-RunShellScript", "Parameters": {"commands": ["true"]}}
    assert refused(bed.ssm.send_command, **{**whole, **given}) == code
    assert bed.waiting(instance) == []


def test_an_unknown_invocation_stays_unknown(bed: Bed, instance: str) -> None:
    command, other = bed.send(instance), bed.machine()
    for _ in range(2):
        assert refused(bed.ssm.get_command_invocation, CommandId=command, InstanceId=other) == UNKNOWN
        assert refused(bed.ssm.get_command_invocation, CommandId="0" * 36, InstanceId=instance) == UNKNOWN
    bed.tell(command, instance, "ended")


def test_a_caller_needs_the_document_and_the_instance(bed: Bed) -> None:
    mine, others = bed.machine(**{"landbridge:cluster": "main"}), bed.machine(**{"landbridge:cluster": "other"})
    own = {"StringEquals": {"ssm:resourceTag/landbridge:cluster": "main"}}
    document = {"Effect": "Allow", "Action": "ssm:SendCommand", "Resource": f"arn:aws:ssm:{REGION}::document/AWS-*"}
    instances = {
        "Effect": "Allow",
        "Action": "ssm:SendCommand",
        "Resource": f"arn:aws:ec2:{REGION}:{ACCOUNT}:instance/*",
        "Condition": own,
    }
    look = {"Effect": "Allow", "Action": "ssm:GetCommandInvocation", "Resource": "*"}
    may: Callable[..., Any] = lambda *statements: operator(bed, *statements)  # noqa: E731
    command = bed.send(mine, by=may(document, instances, look))
    bed.tell(command, mine, "ended", 0, "done")
    told = {"DocumentName": "AWS-RunShellScript", "Parameters": {"commands": ["true"]}}
    for statements, target in (
        ((document, instances, look), others),
        ((document, look), mine),
        ((instances, look), mine),
    ):
        assert refused(may(*statements).send_command, InstanceIds=[target], **told) == "AccessDeniedException"
    assert refused(may(document, instances).get_command_invocation, CommandId=command, InstanceId=mine).startswith(
        "AccessDenied"
    )


def operator(bed: Bed, *statements: dict[str, Any]) -> Any:
    """Somebody with these rights."""
    name = "operator"
    if name not in [role["RoleName"] for role in bed.iam.list_roles()["Roles"]]:
        bed.role(name)
    document = json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
    bed.iam.put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=document)
    arn = f"arn:aws:iam::{ACCOUNT}:role/{name}"
    given = bed.client("sts", REGION).assume_role(RoleArn=arn, RoleSessionName="somebody")["Credentials"]
    return boto3.client(
        "ssm",
        region_name=REGION,
        endpoint_url=bed.url,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
        config=Config(retries={"total_max_attempts": 1}),
    )
