"""Whom a region's alarms reach on AWS: a topic that mails to addresses, once their owners have agreed."""

import json
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.tags import Owner
from fleet.cloud_alarms import called
from fleet.model import Fleet

from .access import topic_policy


class ReceiversArgs(TypedDict):
    """`key_arn` is of the region's key, whose policy lets alarms use it."""

    fleet: Fleet
    region: str
    key_arn: pulumi.Input[str]
    owner: Owner


class Receivers(pulumi.ComponentResource):
    """Alarms name it by `fleet.cloud_alarms.told`."""

    def __init__(self, name: str, args: ReceiversArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:alarms:Receivers", name, None, opts)
        fleet, child = args["fleet"], pulumi.ResourceOptions(parent=self)
        topic = aws.sns.Topic(
            name, name=called(fleet), kms_master_key_id=args["key_arn"], tags=args["owner"].tags(name), opts=child
        )
        policy = json.dumps(topic_policy(fleet, args["region"]))
        aws.sns.TopicPolicy(name, arn=topic.arn, policy=policy, opts=child)
        for address in fleet.cloud_alarms:
            aws.sns.TopicSubscription(address, topic=topic.arn, protocol="email", endpoint=address, opts=child)
        self.register_outputs({})
