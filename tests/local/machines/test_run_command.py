"""Systems Manager on machines of the local cloud: landbridge's own way, unchanged, with the real boto3."""

import time
from pathlib import Path
from typing import Any

import pytest

from .inside import Inside, eventually, up

ATTACH = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
# What a command does that works on machines; `told` is how each ended.
WAY = """
import time
from landbridge.remote_execution import Instance, RemoteExecutionError, Ssm
def way(name):
    return Ssm(ssm, lambda: {name: Instance(instance(name), "", "", "")})
def ran(name, argv, stdin="", seconds=30):
    try:
        return list(way(name).run(name, argv, stdin.encode(), seconds))
    except RemoteExecutionError as error:
        return str(error)
def sent(name, *lines, seconds=600, execution=60):
    told = {"commands": list(lines), "executionTimeout": [str(execution)]}
    id_ = instance(name)
    command = ssm.send_command(InstanceIds=[id_], DocumentName="AWS-RunShellScript", TimeoutSeconds=seconds, Parameters=told)
    return command["Command"]["CommandId"], id_
def got(command, id_):
    for _ in range(2):
        try:
            found = ssm.get_command_invocation(CommandId=command, InstanceId=id_)
            return {k: found[k] for k in ("Status", "StatusDetails", "ResponseCode", "StandardOutputContent")}
        except ClientError as error:
            assert error.response["Error"]["Code"] == "InvocationDoesNotExist"
"""


@pytest.fixture(scope="module")
def ssm(cloud: Inside) -> Inside:
    """Machine `one` lets Systems Manager in, `two` does not."""
    cloud(WAY)
    cloud("iam.attach_role_policy(RoleName='one', PolicyArn=arn)", arn=ATTACH)
    for name in ("one", "two"):
        eventually(lambda name=name: up(cloud, name), 60)
    return cloud


def ran(cloud: Inside, *argv: str, name: str = "one", stdin: str = "", seconds: float = 30) -> Any:
    return cloud("result = ran(name, argv, stdin, seconds)", name=name, argv=argv, stdin=stdin, seconds=seconds)


def sent(cloud: Inside, *lines: str, **given: int) -> Any:
    return cloud("result = sent('one', *lines, **given)", lines=lines, given=given)


def got(cloud: Inside, command: list[str]) -> dict[str, Any]:
    return dict(cloud("result = got(*command)", command=command))


def test_a_command_runs_as_root_on_its_machine(ssm: Inside) -> None:
    assert ran(ssm, "sh", "-c", "hostname; id -u; pwd; echo wrong >&2; exit 7") == [7, "one\n0\n/\n", "wrong\n"]
    text = 'quo\'te "and" $HOME \\n\n'
    assert ran(ssm, "cat", stdin=text) == [0, text, ""]


def test_a_machine_whose_role_does_not_let_systems_manager_in_is_not_reached(ssm: Inside) -> None:
    told = ran(ssm, "true", name="two")
    assert "InvalidInstanceId" in told
    assert "describe-instance-information" in told
    listed = "[one['InstanceId'] for one in ssm.describe_instance_information()['InstanceInformationList']]"
    assert ssm(f"result = {listed} == [instance('one')]")


def test_the_script_and_its_output_are_for_root_alone(ssm: Inside) -> None:
    ran(ssm, "echo", "said")
    assert ssm.sh("one", "stat -c %a /var/lib/amazon/ssm").strip() == "700"
    assert "echo said" in ssm.sh("one", "cat /var/lib/amazon/ssm/*/*/_script.sh")


def test_a_script_may_name_its_own_interpreter(ssm: Inside) -> None:
    command = sent(ssm, "#!/usr/bin/python3", "print(6 * 7)")
    assert eventually(lambda: got(ssm, command)["Status"] == "Success")
    assert got(ssm, command)["StandardOutputContent"] == "42\n"


def test_only_the_first_characters_come_back(ssm: Inside) -> None:
    assert "more than the 24000 characters" in ran(ssm, "sh", "-c", "yes 0123456789 | head -c 5000000")


def test_what_runs_too_long_is_killed_with_all_that_it_started(ssm: Inside) -> None:
    command = sent(ssm, "sleep 4321 & sleep 4321", execution=1)
    assert eventually(lambda: got(ssm, command)["Status"] == "TimedOut")
    assert got(ssm, command) == {
        "Status": "TimedOut",
        "StatusDetails": "ExecutionTimedOut",
        "ResponseCode": 137,
        "StandardOutputContent": "",
    }
    assert not running(ssm, "sleep 4321")


def running(cloud: Inside, words: str) -> bool:
    folder = Path("/proc") / str(cloud.machine("one")["pid"]) / "root" / "proc"
    lines = [file.read_bytes() for file in folder.glob("[0-9]*/cmdline")]
    return any(words.encode() == line.rstrip(b"\0").replace(b"\0", b" ") for line in lines)


def test_a_cancelled_command_ends(ssm: Inside) -> None:
    command = sent(ssm, "sleep 5432")
    eventually(lambda: running(ssm, "sleep 5432"))
    ssm("ssm.cancel_command(CommandId=command[0])", command=command)
    assert eventually(lambda: got(ssm, command)["Status"] == "Cancelled")
    assert not running(ssm, "sleep 5432")


def test_a_stopped_machine_s_command_waits_and_runs_when_it_is_back(ssm: Inside) -> None:
    ssm("scaling.suspend_processes(AutoScalingGroupName='one'); ec2.stop_instances(InstanceIds=[instance('one')])")
    eventually(lambda: ssm.machine("one")["state"] == "stopped", 60)
    command = sent(ssm, "echo back")
    assert got(ssm, command)["Status"] == "Pending"
    time.sleep(1)
    assert got(ssm, command)["ResponseCode"] == -1
    ssm("ec2.start_instances(InstanceIds=[instance('one')]); scaling.resume_processes(AutoScalingGroupName='one')")
    assert eventually(lambda: got(ssm, command)["Status"] == "Success", 60)
    assert got(ssm, command)["StandardOutputContent"] == "back\n"


def test_a_command_whose_machine_dies_has_no_answer(ssm: Inside) -> None:
    told = ssm("result = sent('one', 'kill -9 -1; sleep 60')")
    eventually(lambda: got(ssm, told)["Status"] != "Pending")
    ssm(
        "scaling.terminate_instance_in_auto_scaling_group(InstanceId=id_, ShouldDecrementDesiredCapacity=False)",
        id_=told[1],
    )
    eventually(lambda: ssm.machine("one")["instance"] != told[1], 60)
    assert got(ssm, told)["Status"] == "InProgress"
    eventually(lambda: up(ssm, "one"), 60)
