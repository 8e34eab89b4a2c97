"""Running a command on a machine: through the local cloud, through AWS Systems Manager, or through SSH.

Nothing else of ours opens a way to a machine, so this is the whole list of what an operator's rights must cover.
"""

import base64
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from components.tags import KUBERNETES
from local.client import LocalCloudError
from local.environment import scrubbed

from .errors import LandbridgeError

# Systems Manager hands no more of a command's output back, and its commands have a size.
SSM_OUTPUT, SSM_STDIN = 24_000, 40_000
SSM_WAITS = ("Pending", "InProgress", "Delayed", "Cancelling")
SSM_ANSWERS = ("Success", "Failed")
# Of a machine that is not there, on AWS.
REPLACED_BY_GROUP = "its scaling group starts one by itself"
NO_SHELL = 255  # ssh's own exit code: it never got there


class CommandResult(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def why(self) -> str:
        """The last line of its complaint."""
        lines = (self.err.strip() or self.out.strip()).splitlines()
        return lines[-1].strip() if lines else f"exit code {self.code}"


class RemoteExecutionError(LandbridgeError):
    """A machine could not be reached, or did not answer in time. That the command failed there is no such error."""


class RemoteExecution(Protocol):
    """The way to the machines of one cluster."""

    def run(self, machine: str, argv: Sequence[str], stdin: bytes = b"", timeout_seconds: float = 60) -> CommandResult:
        """Runs a command as root. Raises RemoteExecutionError."""


class Local:
    """Through the local cloud; `command` turns a machine's name and an argv into what to run on this side."""

    def __init__(self, command: Callable[[str, Sequence[str]], list[str]]) -> None:
        self.command = command

    def run(self, machine: str, argv: Sequence[str], stdin: bytes = b"", timeout_seconds: float = 60) -> CommandResult:
        try:
            command = self.command(machine, argv)
            return ran(command, stdin, timeout_seconds, scrubbed(os.environ))
        except LocalCloudError as error:
            raise RemoteExecutionError(f"{machine} cannot be reached: {error}") from None
        except subprocess.TimeoutExpired:
            raise RemoteExecutionError(late(machine, argv, timeout_seconds)) from None


class Instance(NamedTuple):
    """What stands behind a machine's name just now."""

    id: str
    address: str
    image: str
    kubernetes: str = ""  # the version in its image


Instances = Callable[[], Mapping[str, Instance]]


class Ssm:
    """Through AWS Systems Manager: no port is open and no key is kept; who may is decided by IAM and logged."""

    def __init__(self, client: Any, instances: Instances) -> None:
        self.client, self.instances = client, instances

    def run(self, machine: str, argv: Sequence[str], stdin: bytes = b"", timeout_seconds: float = 60) -> CommandResult:
        instance = standing(self.instances, machine)
        try:
            sent = self.client.send_command(
                InstanceIds=[instance.id],
                DocumentName="AWS-RunShellScript",
                TimeoutSeconds=max(30, int(timeout_seconds)),
                Parameters={
                    "commands": [script(argv, stdin)],
                    "executionTimeout": [str(max(30, int(timeout_seconds)))],
                },
            )
            invocation = self.awaited(sent["Command"]["CommandId"], instance.id, timeout_seconds)
        except (ClientError, BotoCoreError) as error:
            raise RemoteExecutionError(
                f"{machine} ({instance.id}) cannot be reached through Systems Manager: {error}. It needs "
                "ssm:SendCommand and ssm:GetCommandInvocation, and the machine's agent must be connected "
                "(`aws ssm describe-instance-information`)."
            ) from None
        if invocation is None:
            raise RemoteExecutionError(late(f"{machine} ({instance.id})", argv, timeout_seconds))
        out = invocation.get("StandardOutputContent", "")
        if len(out) >= SSM_OUTPUT:
            raise RemoteExecutionError(
                f"{machine}: `{argv[0]}` said more than the {SSM_OUTPUT} characters that AWS hands back."
            )
        return CommandResult(int(invocation["ResponseCode"]), out, invocation.get("StandardErrorContent", ""))

    def awaited(self, command: str, instance: str, seconds: float) -> Mapping[str, Any] | None:
        """The ended command; None if it has not begun or ended in time."""
        deadline, pause = time.monotonic() + seconds + 10, 0.3
        while time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(pause * 1.5, 3.0)
            try:
                invocation: Mapping[str, Any] = self.client.get_command_invocation(
                    CommandId=command, InstanceId=instance
                )
            except ClientError as error:
                if error.response["Error"]["Code"] == "InvocationDoesNotExist":  # it was sent a moment ago
                    continue
                raise
            # Ended by others, or never run: then its code is none of its own (137 for one that the agent killed).
            if invocation["Status"] not in SSM_WAITS:
                return invocation if invocation["Status"] in SSM_ANSWERS and invocation["ResponseCode"] >= 0 else None
        return None


class Ssh:
    """Through SSH as the user's own settings say (name, key, jump hosts), to the planned address.

    Without a `User` there, ssh takes the local user's name. `people` are those whom the machines let in.
    """

    def __init__(
        self,
        instances: Instances,
        people: Sequence[str] = (),
        *,
        certificates: bool = False,
        successor: str = REPLACED_BY_GROUP,
    ) -> None:
        self.instances, self.people, self.successor = instances, people, successor
        self.proof = "a certificate (`landbridge ssh add`)" if certificates else "a key in fleet.yaml"

    def run(self, machine: str, argv: Sequence[str], stdin: bytes = b"", timeout_seconds: float = 60) -> CommandResult:
        instance = standing(self.instances, machine, self.successor)
        remedy = (
            f"Is the VPN up? Machines let in {', '.join(self.people) or 'nobody'}, each with {self.proof}; if "
            f"your name is another here, set `User` for {instance.address} in your ssh settings."
        )
        return through_ssh(machine, instance, argv, stdin, timeout_seconds, remedy)


class Hosts:
    """Hosts of sites, through SSH as the user's own settings say; `addresses` tells where each is, if known."""

    def __init__(self, addresses: Callable[[], Mapping[str, str]]) -> None:
        self.addresses = addresses

    def run(self, machine: str, argv: Sequence[str], stdin: bytes = b"", timeout_seconds: float = 60) -> CommandResult:
        address = self.addresses().get(machine)
        if not address:
            raise RemoteExecutionError(
                f"{machine} cannot be reached: neither the fleet file nor its node tells its address."
            )
        remedy = (
            "It needs the site's VPN or network, your key on the host, and `sudo -n` there; settings for "
            f"{address} belong into your ssh settings."
        )
        return through_ssh(machine, Instance(machine, address, ""), argv, stdin, timeout_seconds, remedy)


def through_ssh(
    machine: str, instance: Instance, argv: Sequence[str], stdin: bytes, timeout_seconds: float, remedy: str
) -> CommandResult:
    """Raises RemoteExecutionError, which ends with `remedy` when nobody was let in."""
    try:
        result = ran(ssh(instance, argv), stdin, timeout_seconds, os.environ)
    except subprocess.TimeoutExpired:
        raise RemoteExecutionError(late(machine, argv, timeout_seconds)) from None
    if result.code == NO_SHELL:
        raise RemoteExecutionError(f"{machine} cannot be reached by ssh {instance.address}: {result.why}. {remedy}")
    return result


def ssh(instance: Instance, argv: Sequence[str]) -> list[str]:
    """A replaced machine keeps its address and has a new host key: it is remembered under the instance's id."""
    options = ["BatchMode=yes", "ConnectTimeout=10", "StrictHostKeyChecking=accept-new", f"HostKeyAlias={instance.id}"]
    # The address was another instance's before: only the id counts (on by default before OpenSSH 8.5). And ssh's own
    # warnings, such as that of a new host, would stand among what the command says.
    options += ["CheckHostIP=no", "LogLevel=ERROR"]
    flags = [word for option in options for word in ("-o", option)]
    return ["ssh", *flags, instance.address, "--", f"sudo -n -- {shlex.join(argv)}"]


def script(argv: Sequence[str], stdin: bytes) -> str:
    """One shell command, with its input in it."""
    if len(stdin) > SSM_STDIN:
        raise RemoteExecutionError(
            f"{len(stdin)} bytes are too much input for a command through Systems Manager: {argv[0]}."
        )
    line = shlex.join(argv)
    return f"printf %s {base64.b64encode(stdin).decode()} | base64 -d | {line}" if stdin else f"{line} </dev/null"


def standing(instances: Instances, machine: str, successor: str = REPLACED_BY_GROUP) -> Instance:
    found = instances().get(machine)
    if found is None:
        raise RemoteExecutionError(
            f"{machine} cannot be reached: no running instance bears its name; {successor}. "
            "`landbridge cluster status` shows what stands."
        )
    return found


def ran(
    command: Sequence[str], stdin: bytes, seconds: float, environment: Mapping[str, str], files: Sequence[int] = ()
) -> CommandResult:
    """Runs a command here. `files` are files that it inherits. Raises TimeoutExpired and RemoteExecutionError."""
    try:
        done = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=seconds,
            env=dict(environment),
            pass_fds=tuple(files),
            check=False,
        )
    except FileNotFoundError as error:
        raise RemoteExecutionError(f"The command {error.filename} is missing: install it.") from None
    return CommandResult(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def late(machine: str, argv: Sequence[str], seconds: float) -> str:
    return f"{machine} did not answer within {seconds:.0f} s to `{shlex.join(argv)[:80]}`."


def running(ec2: Any, cluster: str) -> dict[str, Instance]:
    """The instances of a cluster's machines by the machine's name."""
    filters = [
        {"Name": "tag:landbridge:cluster", "Values": [cluster]},
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
    ]
    found: dict[str, Instance] = {}
    pages = ec2.get_paginator("describe_instances").paginate(Filters=filters)
    listed = [i for page in pages for reservation in page["Reservations"] for i in reservation["Instances"]]
    for one in sorted(listed, key=lambda one: one["LaunchTime"]):  # of two of a name the younger stays
        tags = {tag["Key"]: tag["Value"] for tag in one.get("Tags", ())}
        if name := tags.get("landbridge:machine"):
            version = tags.get(KUBERNETES, "")
            found[name] = Instance(one["InstanceId"], one.get("PrivateIpAddress", ""), one.get("ImageId", ""), version)
    return found
