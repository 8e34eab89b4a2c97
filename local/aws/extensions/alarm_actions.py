"""An alarm whose state changes tells its topics, where topic and key let alarms in; and mail waits for consent.

"Using Amazon CloudWatch alarms", on actions: they are taken as a state is entered, by SetAlarmState as well. moto takes
none. What is refused stands in the alarm's history, as in AWS.
"""

import json
from typing import Any

from moto.cloudwatch.models import CloudWatchBackend
from moto.sns.models import SNSBackend

from ..access.policy import Caller, Request, verdict
from .patching import override

SERVICE = "cloudwatch.amazonaws.com"
# State → the alarm's actions that are taken as it is entered.
ACTIONS = {"ALARM": "alarm_actions", "OK": "ok_actions", "INSUFFICIENT_DATA": "insufficient_data_actions"}
KEY_ACTIONS = ("kms:Decrypt", "kms:GenerateDataKey")


def install() -> None:
    @override(CloudWatchBackend, "set_alarm_state")
    def set_alarm_state(
        self: Any, original: Any, alarm_name: str, reason: str, reason_data: str, state_value: str
    ) -> None:
        before = self.alarms[alarm_name].state_value if alarm_name in self.alarms else None
        original(alarm_name, reason, reason_data, state_value)
        alarm = self.alarms[alarm_name]
        if before != state_value and alarm.actions_enabled:
            for topic in getattr(alarm, ACTIONS[state_value]) or ():
                _tell(alarm, topic, before)

    @override(SNSBackend, "subscribe")
    def subscribe(self: Any, original: Any, topic_arn: str, endpoint: str, protocol: str) -> Any:
        known = self._find_subscription(topic_arn, endpoint, protocol)
        made = original(topic_arn, endpoint, protocol)
        if known is None and protocol.startswith("email"):
            made.attributes["PendingConfirmation"] = True
        return made


def _tell(alarm: Any, arn: str, before: str | None) -> None:
    from moto.backends import get_backend

    region, account = arn.split(":")[3:5]
    backend: Any = get_backend("sns")[account][region]
    topic = backend.topics.get(arn)
    if topic is None or region != alarm.region_name:
        _failed(alarm, f"Failed to execute action {arn}: no such topic")
    elif not _allowed(alarm, [topic.policy], "sns:Publish", arn):
        _failed(alarm, f"{alarm.alarm_arn} is not authorized to perform: SNS:Publish on resource: {arn}")
    elif not _key_opens(alarm, topic, account, region):
        what = "CloudWatch Alarms does not have authorization to access the SNS topic encryption key."
        _failed(alarm, f"Failed to execute action {arn}. Received error: {what}")
    else:
        told = {"AlarmName": alarm.name, "AlarmDescription": alarm.description, "NewStateValue": alarm.state_value}
        told |= {"OldStateValue": before, "NewStateReason": alarm.state_reason, "AlarmArn": alarm.alarm_arn}
        subject = f'{alarm.state_value}: "{alarm.name}" in {region}'[:100]
        backend.publish(json.dumps(told), arn, subject=subject)


def _allowed(alarm: Any, policies: list[str], action: str, resource: str) -> bool:
    account = alarm.alarm_arn.split(":")[4]
    context = {"aws:sourcearn": [alarm.alarm_arn], "aws:sourceaccount": [account]}
    said = verdict(policies, Request(action, resource, context), Caller(account, service=SERVICE))
    return said.allowed and not said.denied


def _key_opens(alarm: Any, topic: Any, account: str, region: str) -> bool:
    """AWS' own key of SNS opens for no alarm."""
    from moto.backends import get_backend

    if not topic.kms_master_key_id:
        return True
    keys: Any = get_backend("kms")[account][region]
    key = keys.keys.get(topic.kms_master_key_id.rpartition("/")[2])
    return key is not None and all(_allowed(alarm, [key.policy], action, key.arn) for action in KEY_ACTIONS)


def _failed(alarm: Any, why: str) -> None:
    alarm.history.append(("Action", why, None, alarm.state_value, alarm.state_updated_timestamp))
