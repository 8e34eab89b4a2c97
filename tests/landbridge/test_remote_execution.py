"""Running commands on machines: what goes out, what is understood of the answer, and what is told when there is none."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from landbridge import remote_execution
from landbridge.errors import LandbridgeError
from landbridge.remote_execution import Instance, Local, RemoteExecutionError, Ssh, Ssm
from local.client import LocalCloudError

MACHINES = {"main-etcd-1": Instance("i-1", "10.0.0.1", "ami-1")}


class Systems:
    """Systems Manager, answering from a script."""

    def __init__(self, *answers: dict[str, Any] | str) -> None:
        self.answers, self.sent = list(answers), dict[str, Any]()

    def send_command(self, **given: Any) -> dict[str, Any]:
        self.sent = given
        return {"Command": {"CommandId": "c-1"}}

    def get_command_invocation(self, **_given: Any) -> dict[str, Any]:
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            raise ClientError({"Error": {"Code": answer, "Message": "said AWS"}}, "GetCommandInvocation")
        return {"StandardOutputContent": "", "StandardErrorContent": "", "ResponseCode": 0, **answer}


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_execution.time, "sleep", lambda _seconds: None)


def ssm(*answers: dict[str, Any] | str) -> tuple[Ssm, Systems]:
    systems = Systems(*answers)
    return Ssm(systems, lambda: MACHINES), systems


def test_systems_manager_is_asked_until_the_command_has_ended() -> None:
    done = {"Status": "Failed", "ResponseCode": 3, "StandardOutputContent": "out", "StandardErrorContent": "err"}
    way, systems = ssm("InvocationDoesNotExist", {"Status": "Pending"}, {"Status": "InProgress"}, done)
    assert way.run("main-etcd-1", ["echo", "it's"], timeout_seconds=5) == remote_execution.CommandResult(
        3, "out", "err"
    )
    assert systems.sent["InstanceIds"] == ["i-1"]
    assert systems.sent["Parameters"]["commands"] == ["echo 'it'\"'\"'s' </dev/null"]
    assert int(systems.sent["Parameters"]["executionTimeout"][0]) >= 30, "AWS takes no less"


@pytest.mark.parametrize("text", ["", "plain", 'quo\'te "and" $HOME\n', "\x00\xff"])
def test_a_script_hands_its_input_on_byte_by_byte(text: str) -> None:
    data = text.encode("latin-1")
    command = remote_execution.script([sys.executable, "-c", "import sys; print(sys.stdin.buffer.read().hex())"], data)
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert bytes.fromhex(done.stdout.strip()) == data


def test_too_much_input_is_refused_before_anything_is_sent() -> None:
    way, systems = ssm()
    with pytest.raises(RemoteExecutionError, match="too much input"):
        way.run("main-etcd-1", ["cat"], b"x" * 50_000)
    assert systems.sent == {}


def test_cut_output_is_an_error_and_no_half_answer() -> None:
    way, _ = ssm({"Status": "Success", "StandardOutputContent": "x" * 24_000})
    with pytest.raises(RemoteExecutionError, match="24000 characters"):
        way.run("main-etcd-1", ["cat", "/etc/all"])


@pytest.mark.parametrize("status", ["TimedOut", "Undeliverable", "Terminated", "Cancelled"])
@pytest.mark.parametrize("code", [-1, 137])
def test_a_command_that_never_ran_or_was_killed_is_no_answer(status: str, code: int) -> None:
    way, _ = ssm({"Status": status, "ResponseCode": code})
    with pytest.raises(RemoteExecutionError, match="did not answer"):
        way.run("main-etcd-1", ["true"])


def test_a_missing_right_is_named() -> None:
    way, _ = ssm("AccessDeniedException")
    with pytest.raises(RemoteExecutionError, match=r"main-etcd-1 \(i-1\).*ssm:SendCommand"):
        way.run("main-etcd-1", ["true"])


def test_a_machine_that_does_not_run_is_told_with_what_brings_it_back() -> None:
    way, _ = ssm()
    with pytest.raises(
        RemoteExecutionError, match=r"main-etcd-2 cannot be reached: no running instance.*cluster status"
    ):
        way.run("main-etcd-2", ["true"])


def test_ssh_goes_to_the_address_and_knows_hosts_by_instance() -> None:
    command = remote_execution.ssh(MACHINES["main-etcd-1"], ["cat", "a b"])
    assert "HostKeyAlias=i-1" in command
    assert "BatchMode=yes" in command
    assert command[-3:] == ["10.0.0.1", "--", "sudo -n -- cat 'a b'"]


def test_ssh_that_gets_nowhere_is_no_answer_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: Any) -> remote_execution.CommandResult:
        return remote_execution.CommandResult(255, "", "ssh: connect to host 10.0.0.1 port 22: No route to host")

    monkeypatch.setattr(remote_execution, "ran", broken)
    with pytest.raises(RemoteExecutionError, match=r"10\.0\.0\.1: .*No route to host.*VPN"):
        Ssh(lambda: MACHINES).run("main-etcd-1", ["true"])
    with pytest.raises(RemoteExecutionError, match=r"let in alice, carol, each with a key.*`User` for 10\.0\.0\.1"):
        Ssh(lambda: MACHINES, ["alice", "carol"]).run("main-etcd-1", ["true"])


def test_the_local_way_keeps_streams_and_code_apart() -> None:
    way = Local(lambda _machine, argv: list(argv))
    said = way.run("any", ["sh", "-c", "cat; echo wrong >&2; exit 7"], b"in")
    assert said == remote_execution.CommandResult(7, "in", "wrong\n")
    assert said.why == "wrong"


def test_the_local_way_tells_silence_and_absence() -> None:
    def nothing(_machine: str, _argv: object) -> list[str]:
        raise LocalCloudError("it has no machine x")

    with pytest.raises(RemoteExecutionError, match="x cannot be reached: it has no machine x"):
        Local(nothing).run("x", ["true"])
    with pytest.raises(RemoteExecutionError, match="did not answer within 0 s"):
        Local(lambda _machine, argv: list(argv)).run("x", ["sleep", "9"], timeout_seconds=0.1)
    with pytest.raises(LandbridgeError, match="nsenter-that-is-not-there is missing"):
        Local(lambda _machine, _argv: ["nsenter-that-is-not-there"]).run("x", ["true"])


class Ec2:
    def __init__(self, *instances: dict[str, Any]) -> None:
        self.instances, self.filters = instances, ""

    def get_paginator(self, _call: str) -> "Ec2":
        return self

    def paginate(self, **given: Any) -> list[dict[str, Any]]:
        self.filters = json.dumps(given)
        return [{"Reservations": [{"Instances": [one]} for one in self.instances]}]


def test_of_two_instances_of_a_machine_the_younger_counts() -> None:
    now = datetime.now(UTC)

    def instance(id_: str, age: int, *tags: tuple[str, str]) -> dict[str, Any]:
        told = [{"Key": key, "Value": value} for key, value in tags]
        return {"InstanceId": id_, "LaunchTime": now - timedelta(seconds=age), "Tags": told, "PrivateIpAddress": "a"}

    name = ("landbridge:machine", "main-etcd-1")
    version = ("landbridge:kubernetes", "1.36.2")
    ec2 = Ec2(instance("new", 1, name, version), instance("old", 99, name), instance("stray", 5))
    assert remote_execution.running(ec2, "main") == {"main-etcd-1": Instance("new", "a", "", "1.36.2")}
    assert "landbridge:cluster" in ec2.filters
