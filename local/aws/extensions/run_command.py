"""Systems Manager's Run Command on the machines of the local cloud: AWS-RunShellScript, and no other document.

Systems Manager API reference: SendCommand, GetCommandInvocation, ListCommands, CancelCommand,
DescribeInstanceInformation. An instance is managed when its agent can register: a machine stands behind it, and its
role has what AmazonSSMManagedInstanceCore grants.
"""

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends
from moto.ssm.exceptions import SSMException
from moto.ssm.responses import SimpleSystemManagerResponse

from .. import clock, commands, machine_reports
from ..access.policy import Request, verdict
from ..commands import Command, Invocation
from . import machines
from .access import of_role
from .patching import add, override

DOCUMENT = "AWS-RunShellScript"
# "Valid Range: Minimum value of 30. Maximum value of 2592000"; without it an hour.
DELIVERY, DELIVERIES = 3600, (30, 2_592_000)
# The document's own parameters, with the form that it allows.
EXECUTION, EXECUTIONS = "3600", (1, 172_800)
PARAMETERS = ("commands", "workingDirectory", "executionTimeout")
MOST_INSTANCES = 50
# Calls of the agent without which it neither registers nor gets commands.
AGENT = ("ssm:UpdateInstanceInformation", "ssmmessages:CreateControlChannel", "ssmmessages:OpenControlChannel")
VALID = ("pending", "running", "stopping", "stopped")
# What else SendCommand takes, and the local cloud would not do.
LACKING = (
    "AlarmConfiguration",
    "CloudWatchOutputConfig",
    "DocumentHash",
    "MaxConcurrency",
    "MaxErrors",
    "NotificationConfig",
    "OutputS3BucketName",
    "OutputS3KeyPrefix",
    "ServiceRoleArn",
    "Targets",
)


def install() -> None:
    """In place of moto's own, which runs nothing and calls every command a success."""
    for name, answer in (
        ("send_command", _send),
        ("get_command_invocation", _get),
        ("list_commands", _list),
    ):

        @override(SimpleSystemManagerResponse, name)
        def instead(self: Any, original: Any, answer: Callable[[Any], Any] = answer) -> Any:  # noqa: ARG001
            return answer(self)

    @add(SimpleSystemManagerResponse)
    def cancel_command(self: Any) -> Any:
        return _cancel(self)

    @add(SimpleSystemManagerResponse)
    def describe_instance_information(self: Any) -> Any:
        return _describe(self)


def _send(response: Any) -> Any:
    command = _read(response)
    commands.send(command)
    return ActionResult({"Command": _shown(command)})


def _get(response: Any) -> Any:
    if (plugin := response._get_param("PluginName")) not in (None, "aws:runShellScript"):
        raise SSMException("InvalidPluginName", f"The plugin name {plugin} isn't valid.")
    command = next((c for c in _sent(response) if c.id == response._get_param("CommandId")), None)
    one = commands.invocation_of(command, response._get_param("InstanceId")) if command else None
    if command is None or one is None:
        raise SSMException("InvocationDoesNotExist", "")
    return ActionResult(_invocation(command, one))


def _list(response: Any) -> Any:
    _lacks(response, "Filters")
    wanted, instance = response._get_param("CommandId"), response._get_param("InstanceId")
    found = [c for c in _sent(response) if wanted in (None, c.id) and (not instance or instance in c.invocations)]
    if wanted and not found:
        raise SSMException("InvalidCommandId", "")
    return _page(response, "Commands", [_shown(command) for command in found])


def _cancel(response: Any) -> Any:
    command = next((c for c in _sent(response) if c.id == response._get_param("CommandId")), None)
    if command is None:
        raise SSMException("InvalidCommandId", "")
    chosen = response._get_param("InstanceIds") or list(command.invocations)
    if strange := [name for name in chosen if name not in command.invocations]:
        raise SSMException("InvalidInstanceId", f"The command was not sent to {', '.join(strange)}")
    commands.cancel(command, chosen)
    return ActionResult({})


def _describe(response: Any) -> Any:
    chosen: set[str] | None = None
    for one in [*response._get_param("Filters", []), *response._get_param("InstanceInformationFilterList", [])]:
        if one.get("Key", one.get("key")) != "InstanceIds":
            raise SSMException("InvalidInstanceInformationFilterValue", "The local cloud has only InstanceIds")
        given = set(one.get("Values", one.get("valueSet")))
        chosen = given if chosen is None else chosen & given
    ec2 = ec2_backends[response.current_account][response.region]
    known = [i for i in ec2.all_instances() if managed(i) and (chosen is None or i.id in chosen)]
    return _page(response, "InstanceInformationList", [_information(one) for one in known])


def managed(instance: Any) -> bool:
    """Whether Systems Manager knows the instance's agent."""
    if not machine_reports.kept or instance.state not in VALID or not machines.is_machine(instance):
        return False
    association = instance.ec2_backend.iam_instance_profile_associations.get(instance.id)
    role = next(iter(association.iam_instance_profile.roles), None) if association else None
    if role is None:
        return False
    verdicts = [verdict(of_role(role), Request(action, "*", {})) for action in AGENT]
    return all(one.allowed and not one.denied for one in verdicts)


def _read(response: Any) -> Command:
    """What is asked for. Raises SSMException in AWS's words, and for what the local cloud would not do."""
    _lacks(response, *LACKING)
    if (name := response._get_param("DocumentName")) != DOCUMENT:
        raise SSMException("InvalidDocument", f"The local cloud has no document {name}, only {DOCUMENT}")
    if response._get_param("DocumentVersion", "$DEFAULT") not in ("1", "$DEFAULT", "$LATEST"):
        raise SSMException("InvalidDocumentVersion", f"{DOCUMENT} has version 1 alone")
    delivery = _number("TimeoutSeconds", response._get_param("TimeoutSeconds", DELIVERY), DELIVERIES)
    given: dict[str, list[str]] = response._get_param("Parameters", {})
    if strange := sorted(set(given) - set(PARAMETERS)):
        raise SSMException("InvalidParameters", f"{DOCUMENT} has no parameter {', '.join(strange)}")
    if not given.get("commands"):
        raise SSMException("InvalidParameters", "commands is required")
    execution = _number("executionTimeout", next(iter(given.get("executionTimeout", [])), EXECUTION), EXECUTIONS)
    chosen = list(dict.fromkeys(response._get_param("InstanceIds", [])))
    if not 0 < len(chosen) <= MOST_INSTANCES:
        raise SSMException("ValidationException", f"InstanceIds must name 1 to {MOST_INSTANCES} instances")
    account, region = response.current_account, response.region
    known = {i.id for i in ec2_backends[account][region].all_instances() if managed(i)}
    if unknown := [name for name in chosen if name not in known]:
        raise SSMException(
            "InvalidInstanceId", f"Instances [[{', '.join(unknown)}]] not in a valid state for account {account}"
        )
    return Command(
        account=account,
        region=region,
        script="\n".join(given["commands"]),
        folder=next(iter(given.get("workingDirectory", [])), ""),
        delivery=delivery,
        execution=execution,
        parameters=given,
        comment=response._get_param("Comment", ""),
        invocations={name: Invocation(name) for name in chosen},
    )


def _lacks(response: Any, *names: str) -> None:
    if given := [name for name in names if response._get_param(name)]:
        raise SSMException("ValidationException", f"The local cloud does not honour {', '.join(given)}")


def _number(name: str, given: Any, bounds: tuple[int, int]) -> int:
    low, high = bounds
    if not re.fullmatch(r"[1-9]\d{0,6}", str(given)) or not low <= int(given) <= high:
        raise SSMException("InvalidParameters", f"{name} is {shlex.quote(str(given))}, not from {low} to {high}")
    return int(given)


def _sent(response: Any) -> list[Command]:
    return commands.sent(response.current_account, response.region)


def _moment(seconds: float | None) -> Any:
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None


def _shown(command: Command) -> dict[str, Any]:
    over = [one for one in command.invocations.values() if one.status in commands.OVER]
    return {
        "CommandId": command.id,
        "DocumentName": DOCUMENT,
        "DocumentVersion": "$DEFAULT",
        "Comment": command.comment,
        "ExpiresAfter": _moment(command.expires),
        "Parameters": command.parameters,
        "InstanceIds": list(command.invocations),
        "Targets": [],
        "RequestedDateTime": _moment(command.sent),
        "Status": command.status,
        "StatusDetails": command.status,
        "MaxConcurrency": "50",
        "MaxErrors": "0",
        "TargetCount": len(command.invocations),
        "CompletedCount": len(over),
        "ErrorCount": len([one for one in over if one.status == "Failed"]),
        "DeliveryTimedOutCount": len([one for one in over if one.details == "DeliveryTimedOut"]),
        "TimeoutSeconds": command.delivery,
    }


def _invocation(command: Command, one: Invocation) -> dict[str, Any]:
    stamp: Callable[[float | None], str] = lambda at: _moment(at).isoformat() if at is not None else ""  # noqa: E731
    took = f"PT{one.ended - one.started:.3f}S" if one.started is not None and one.ended is not None else ""
    return {
        "CommandId": command.id,
        "InstanceId": one.instance,
        "Comment": command.comment,
        "DocumentName": DOCUMENT,
        "DocumentVersion": "$DEFAULT",
        "PluginName": "aws:runShellScript",
        "ResponseCode": one.code,
        "ExecutionStartDateTime": stamp(one.started),
        "ExecutionElapsedTime": took,
        "ExecutionEndDateTime": stamp(one.ended) if one.started is not None else "",
        "Status": one.status,
        "StatusDetails": one.details,
        "StandardOutputContent": one.out,
        "StandardOutputUrl": "",
        "StandardErrorContent": one.err,
        "StandardErrorUrl": "",
    }


def _information(instance: Any) -> dict[str, Any]:
    online = instance.state == "running" and instance.id not in machine_reports.impaired
    return {
        "InstanceId": instance.id,
        "PingStatus": "Online" if online else "ConnectionLost",
        "LastPingDateTime": _moment(clock.now()),
        "PlatformType": "Linux",
        "ResourceType": "EC2Instance",
        "IPAddress": instance.private_ip,
    }


def _page(response: Any, name: str, found: list[dict[str, Any]]) -> Any:
    most, token = int(response._get_param("MaxResults", MOST_INSTANCES)), response._get_param("NextToken", "0")
    if not str(token).isdecimal():
        raise SSMException("InvalidNextToken", "The specified token isn't valid.")
    first = int(token)
    more = {"NextToken": str(first + most)} if first + most < len(found) else {}
    return ActionResult({name: found[first : first + most], **more})
