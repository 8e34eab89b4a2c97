"""What lets alarms tell a topic: its policy, and a statement for the key that encrypts it. Pure."""

from typing import Any

from fleet.cloud_alarms import alarm_arns, topic_arn
from fleet.model import Fleet

ALARMS = {"Service": "cloudwatch.amazonaws.com"}


def topic_policy(fleet: Fleet, region: str) -> dict[str, Any]:
    """CloudWatch may publish, for alarms of this fleet. The account's own people come in by IAM, as everywhere."""
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Alarms",
                "Effect": "Allow",
                "Principal": ALARMS,
                "Action": "sns:Publish",
                "Resource": topic_arn(fleet, region),
                "Condition": _ours(fleet, region),
            }
        ],
    }


def key_statement(fleet: Fleet, region: str) -> dict[str, Any]:
    """SNS' own key lets no alarm in, and can't be made to ("Enable compatibility between event sources from AWS
    services and encrypted topics" lists these two).
    """
    return {
        "Sid": "Alarms",
        "Effect": "Allow",
        "Principal": ALARMS,
        "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
        "Resource": "*",
        "Condition": _ours(fleet, region),
    }


def _ours(fleet: Fleet, region: str) -> dict[str, Any]:
    assert fleet.aws is not None
    return {
        "StringEquals": {"aws:SourceAccount": fleet.aws.account_id},
        "ArnLike": {"aws:SourceArn": alarm_arns(fleet, region)},
    }
