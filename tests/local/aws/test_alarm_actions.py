"""An alarm reaches a topic that lets it in, under a key that does; by what the region's stack makes, and not by less."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from components.alarms.aws.access import topic_policy
from components.storage.aws.bucket import key_policy
from fleet.model import Fleet
from fleet.world import current
from local.providers.aws.engine import Engine
from local.providers.aws.tables import KINDS
from tests.support.cloud import ROOT

Client = Callable[..., Any]
REGION, ACCOUNT = "us-west-2", "123456789012"
TOPIC, POLICY, SUBSCRIPTION, ALARM = (
    *("aws:sns/topic:Topic", "aws:sns/topicPolicy:TopicPolicy", "aws:sns/topicSubscription:TopicSubscription"),
    "aws:cloudwatch/metricAlarm:MetricAlarm",
)
SETTINGS = {"comparisonOperator": "LessThanThreshold", "threshold": 1, "evaluationPeriods": 1, "period": 300}
SETTINGS |= {"namespace": "AWS/VPN", "metricName": "TunnelState", "statistic": "Minimum", "dimensions": {"VpnId": "v"}}


@pytest.fixture(scope="module")
def fleet() -> Fleet:
    return current(ROOT / "fleet.yaml").fleet.model_copy(update={"cloud_alarms": ["ops@example.com"]})


class Bed:
    """A topic as the stack has it, with a queue that hears what it says, and an alarm that tells it."""

    def __init__(self, client: Client, fleet: Fleet, name: str) -> None:
        self.client, self.name = client, name
        key = client("kms").create_key(Policy=json.dumps(key_policy(fleet, REGION)))["KeyMetadata"]
        self.key: str = key["Arn"]
        self.topic, self.state = self.engine(TOPIC).create(
            {"name": name, "kmsMasterKeyId": self.key, "tags": {"a": "b"}}
        )
        document = json.dumps(topic_policy(fleet, REGION)).replace("example-alarms", name)
        self.engine(POLICY).create({"arn": self.topic, "policy": document})
        queue = client("sqs").create_queue(QueueName=name)["QueueUrl"]
        self.queue: str = queue
        client("sns").subscribe(TopicArn=self.topic, Protocol="sqs", Endpoint=f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")

    def engine(self, token: str) -> Engine:
        kind = KINDS[token]
        return Engine(kind, self.client(kind.service), REGION, ACCOUNT)

    def alarm(self, name: str, *topics: str) -> dict[str, Any]:
        inputs = {**SETTINGS, "name": name, "alarmActions": list(topics), "okActions": list(topics)}
        return self.engine(ALARM).create(inputs)[1]

    def heard(self, name: str, state: str) -> list[str]:
        """Subjects of what comes out as the alarm enters a state."""
        self.client("cloudwatch").set_alarm_state(AlarmName=name, StateValue=state, StateReason="a test")
        found = self.client("sqs").receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10).get("Messages", [])
        for one in found:
            self.client("sqs").delete_message(QueueUrl=self.queue, ReceiptHandle=one["ReceiptHandle"])
        return [json.loads(one["Body"])["Subject"] for one in found]


@pytest.fixture
def bed(client: Client, fleet: Fleet, request: pytest.FixtureRequest) -> Bed:
    return Bed(client, fleet, request.node.name[:60])


def test_an_alarm_of_the_fleet_tells_that_it_is_on_and_that_it_is_off_again(bed: Bed) -> None:
    made = bed.alarm("example-links-down", bed.topic)
    assert made["alarmActions"] == made["okActions"] == [bed.topic]
    assert bed.heard("example-links-down", "ALARM") == [f'ALARM: "example-links-down" in {REGION}']
    assert bed.heard("example-links-down", "ALARM") == [], "it was on already"
    assert bed.heard("example-links-down", "OK") == [f'OK: "example-links-down" in {REGION}']


def test_it_tells_nobody_by_another_s_alarm_nor_by_a_key_or_a_policy_that_lets_none_in(bed: Bed, fleet: Fleet) -> None:
    bed.alarm("stranger-links-down", bed.topic)
    assert bed.heard("stranger-links-down", "ALARM") == []
    bed.alarm("example-links-down", bed.topic)
    without = fleet.model_copy(update={"cloud_alarms": []})
    keys = {"KeyId": bed.key, "PolicyName": "default"}
    bed.client("kms").put_key_policy(**keys, Policy=json.dumps(key_policy(without, REGION)))
    assert bed.heard("example-links-down", "ALARM") == []
    bed.client("kms").put_key_policy(**keys, Policy=json.dumps(key_policy(fleet, REGION)))
    assert len(bed.heard("example-links-down", "OK")) == 1
    policy = bed.engine(POLICY)
    policy.delete(bed.topic, {"arn": bed.topic})
    assert bed.heard("example-links-down", "ALARM") == [], "a topic's own policy lets its account in, and no service"


def test_what_the_stack_makes_is_kept_changed_and_gone(bed: Bed) -> None:
    topic, subscription = bed.engine(TOPIC), bed.engine(SUBSCRIPTION)
    assert (bed.state["kmsMasterKeyId"], bed.state["name"], bed.state["tags"]) == (bed.key, bed.name, {"a": "b"})
    inputs = {"name": bed.name, "kmsMasterKeyId": bed.key, "tags": {"a": "b"}}
    found = topic.read(bed.topic, inputs, bed.state)
    assert found
    assert found[0] == inputs
    assert topic.update(bed.topic, inputs, {**inputs, "tags": {"a": "c"}}, bed.state)["tags"] == {"a": "c"}
    mail = {"topic": bed.topic, "protocol": "email", "endpoint": "ops@example.com"}
    id_, state = subscription.create(mail)
    assert (state["pendingConfirmation"], state["endpoint"], state["arn"]) == (True, "ops@example.com", id_)
    assert subscription.create(mail)[0] == id_, "an address is subscribed once"
    read = subscription.read(id_, mail, state)
    assert read
    assert read[0] == mail
    subscription.delete(id_, state)
    assert subscription.read(id_, mail, state) is None
    topic.delete(bed.topic, bed.state)
    assert topic.read(bed.topic, inputs, bed.state) is None
    bed.engine(POLICY).delete(bed.topic, {"arn": bed.topic})
