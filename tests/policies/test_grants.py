"""Which conditions narrow down a statement that allows everybody."""

import json
from typing import Any

import pytest

from policies.aws import grants as aws_grants
from policies.reading import Item

ACCOUNT, ROLE = "123456789012", "arn:aws:iam::123456789012:role/ci"
# Every narrowing key → a value that names somebody, as AWS writes it.
SAMPLES = {
    "aws:SourceAccount": ACCOUNT,
    "aws:SourceArn": "arn:aws:s3:::b",
    "aws:PrincipalOrgID": "o-abcdefghij",
    "aws:PrincipalAccount": ACCOUNT,
    "aws:PrincipalArn": ROLE,
    "aws:SourceVpce": "vpce-1",
    "aws:SourceVpc": "vpc-1",
    "elasticfilesystem:AccessedViaMountTarget": "true",
}
ACCEPTED = [(operator, key) for key in SAMPLES for operator in sorted(aws_grants.NARROWING[key.lower()])]


def refused(condition: Any) -> bool:
    statement = {"Sid": "X", "Effect": "Allow", "Principal": "*", "Action": "kms:*", "Condition": condition}
    policy = json.dumps({"Statement": [statement]})
    item = Item("aws:kms/key:Key", "k", "urn", {"policy": policy}, protect=True, provider="p")
    return [found.what for found in aws_grants.findings([item])] == ["statement X allows kms:* to everybody"]


def test_every_narrowing_key_has_a_sample() -> None:
    assert {key.lower() for key in SAMPLES} == set(aws_grants.NARROWING)


@pytest.mark.parametrize(("operator", "key"), ACCEPTED)
def test_a_condition_that_names_somebody_narrows(operator: str, key: str) -> None:
    assert not refused({operator: {key: SAMPLES[key]}})
    assert not refused({"NumericLessThan": {"s3:max-keys": "9"}, operator: {key.lower(): [SAMPLES[key]]}})


@pytest.mark.parametrize(("operator", "key"), ACCEPTED)
def test_an_operator_that_holds_without_the_key_does_not(operator: str, key: str) -> None:
    for form in (f"{operator}IfExists", f"ForAllValues:{operator}", "Null"):
        assert refused({form: {key: SAMPLES[key]}}), form


@pytest.mark.parametrize("key", SAMPLES)
def test_a_negation_names_everybody_but_one(key: str) -> None:
    for operator in ("StringNotEquals", "StringNotEqualsIgnoreCase", "StringNotLike", "ArnNotEquals", "ArnNotLike"):
        assert refused({operator: {key: SAMPLES[key]}}), operator


@pytest.mark.parametrize(("operator", "key"), ACCEPTED)
def test_a_value_that_fits_everybody_does_not(operator: str, key: str) -> None:
    wide = ("*", "", "o-*", "arn:aws:iam::*:role/ci", "arn:aws:s3:::*", "${aws:PrincipalArn}")
    for value in (*wide, *(["false"] if operator == "Bool" else [])):
        assert refused({operator: {key: value}}), value
        assert refused({operator: {key: [SAMPLES[key], value]}}), value
    assert refused({operator: {key: []}})


@pytest.mark.parametrize(
    "condition",
    [
        {},
        {"Bool": {"aws:SecureTransport": "true"}},
        {"StringEquals": {"sts:ExternalId": "x"}},
        {"IpAddress": {"aws:SourceIp": "0.0.0.0/0"}},
        {"StringEquals": {"aws:UserAgent": "curl"}},
        {"StringEquals": "aws:SourceAccount"},
    ],
)
def test_a_condition_about_something_else_does_not(condition: Any) -> None:
    assert refused(condition)


def test_a_wildcard_within_one_account_narrows() -> None:
    assert not refused({"ArnLike": {"aws:SourceArn": f"arn:aws:logs:us-west-2:{ACCOUNT}:*"}})
