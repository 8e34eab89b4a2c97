"""Alarms, and the topics that they tell."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..kinds import ID, TAG_KEYS, TAGS, Arn, Call, Change, Kind, P, Tagging, props, replaces, same_paths

_SETTINGS = (
    "namespace",
    "metricName",
    "statistic",
    "comparisonOperator",
    "threshold",
    "evaluationPeriods",
    "datapointsToAlarm",
    "period",
    "treatMissingData",
    "alarmDescription",
    "actionsEnabled",
)
_ACTIONS = {"alarmActions": "AlarmActions", "okActions": "OKActions"}
_ARN = Arn("arn:aws:cloudwatch:{region}:{account}:alarm:{id}")
_PUT = Call(
    "put_metric_alarm",
    {
        **props(*_SETTINGS),
        **{parameter: P(name) for name, parameter in _ACTIONS.items()},
        "AlarmName": P("name"),
        "Dimensions": P("dimensions", convert=lambda of: [{"Name": name, "Value": of[name]} for name in sorted(of)]),
    },
)

ALARM = Kind(
    service="cloudwatch",
    create=_PUT,
    make_id=lambda _, inputs: str(inputs["name"]),
    read=Call("describe_alarms", {"AlarmNames": [ID]}, "MetricAlarms[0]"),
    delete=(Call("delete_alarms", {"AlarmNames": [ID]}),),
    outputs={
        **same_paths(*_SETTINGS),
        **{name: f"{parameter} || `[]`" for name, parameter in _ACTIONS.items()},
        "name": "AlarmName",
        "dimensions": lambda found: {one["Name"]: one["Value"] for one in found.answer["Dimensions"]},
        "arn": "AlarmArn",
    },
    replace=replaces("name"),
    changes=(Change((*_SETTINGS, *_ACTIONS, "dimensions"), (_PUT,)),),
    tagging=Tagging(
        add=Call("tag_resource", {"ResourceARN": _ARN, "Tags": TAGS}),
        remove=Call("untag_resource", {"ResourceARN": _ARN, "TagKeys": TAG_KEYS}),
        read=Call("list_tags_for_resource", {"ResourceARN": _ARN}, "Tags"),
    ),
    autoname="name",
)


def _set(attribute: str, value: P, topic: Any = ID) -> Call:
    return Call("set_topic_attributes", {"TopicArn": topic, "AttributeName": attribute, "AttributeValue": value})


TOPIC = Kind(
    service="sns",
    create=Call(
        "create_topic",
        {
            "Name": P("name"),
            "Attributes": P("kmsMasterKeyId", convert=lambda key: {"KmsMasterKeyId": key}),
            # With the creation, as the real provider does it.
            "Tags": P("tags", convert=lambda tags: [{"Key": k, "Value": v} for k, v in tags.items()]),
        },
        "TopicArn",
    ),
    read=Call("get_topic_attributes", {"TopicArn": ID}, "Attributes"),
    delete=(Call("delete_topic", {"TopicArn": ID}),),
    outputs={
        "name": lambda found: found.id.rpartition(":")[2],
        "arn": "TopicArn",
        "kmsMasterKeyId": "KmsMasterKeyId",
        "owner": "Owner",
    },
    replace=replaces("name"),
    changes=(Change(("kmsMasterKeyId",), (_set("KmsMasterKeyId", P("kmsMasterKeyId", "")),)),),
    tagging=Tagging(
        add=Call("tag_resource", {"ResourceArn": ID, "Tags": TAGS}),
        remove=Call("untag_resource", {"ResourceArn": ID, "TagKeys": TAG_KEYS}),
        read=Call("list_tags_for_resource", {"ResourceArn": ID}, "Tags"),
    ),
    autoname="name",
)


def _default_policy(client: Any, id_: str, state: Mapping[str, Any]) -> None:  # noqa: ARG001
    """A topic is never without one: the account's own people may use it."""
    account = id_.split(":")[4]
    allowed = {
        "Effect": "Allow",
        "Principal": {"AWS": "*"},
        "Action": ["SNS:Publish", "SNS:Subscribe", "SNS:SetTopicAttributes", "SNS:DeleteTopic"],
        "Resource": id_,
        "Condition": {"StringEquals": {"AWS:SourceOwner": account}},
    }
    policy = json.dumps({"Version": "2008-10-17", "Id": "__default_policy_ID", "Statement": [allowed]})
    with suppress(client.exceptions.NotFoundException):
        client.set_topic_attributes(TopicArn=id_, AttributeName="Policy", AttributeValue=policy)


TOPIC_POLICY = Kind(
    service="sns",
    create=_set("Policy", P("policy"), P("arn")),
    make_id=lambda _, inputs: str(inputs["arn"]),
    read=Call("get_topic_attributes", {"TopicArn": ID}, "Attributes"),
    delete=(),
    clear=_default_policy,
    outputs={"arn": "TopicArn", "policy": "Policy", "owner": "Owner"},
    replace=replaces("arn"),
    changes=(Change(("policy",), (_set("Policy", P("policy")),)),),
)

SUBSCRIPTION = Kind(
    service="sns",
    create=Call(
        "subscribe",
        {
            "TopicArn": P("topic"),
            **props("protocol", "endpoint"),
            # Else there is none until the address' owner has agreed.
            "ReturnSubscriptionArn": True,
        },
        "SubscriptionArn",
    ),
    read=Call("get_subscription_attributes", {"SubscriptionArn": ID}, "Attributes"),
    delete=(Call("unsubscribe", {"SubscriptionArn": ID}),),
    outputs={
        **same_paths("protocol", "endpoint"),
        "topic": "TopicArn",
        "arn": "SubscriptionArn",
        "ownerId": "Owner",
        "pendingConfirmation": lambda found: found.answer["PendingConfirmation"] == "true",
    },
    replace=replaces("topic", "protocol", "endpoint"),
)

KINDS = {
    "aws:cloudwatch/metricAlarm:MetricAlarm": ALARM,
    "aws:sns/topic:Topic": TOPIC,
    "aws:sns/topicPolicy:TopicPolicy": TOPIC_POLICY,
    "aws:sns/topicSubscription:TopicSubscription": SUBSCRIPTION,
}
