"""A machine's proof of who it is: only exactly what a machine signs is ever sent to AWS, and only a pool's role joins."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.components.pools.joining_bed import ACCOUNT, CLUSTER, ROLES, WEST

import attest  # isort: skip
import attest_aws  # isort: skip
import api_aws  # isort: skip
import join_token  # isort: skip

ROLE = {
    "AccessKeyId": "ASIA0123456789ABCDEF",
    "SecretAccessKey": "s",
    "Token": "t/+=",
    "Expiration": "2099-01-01T00:00:00Z",
}
REGIONS = [WEST, "us-east-1"]


def made(cluster: str = CLUSTER, region: str = WEST) -> str:
    one = api_aws.Aws(region)
    one.role = dict(ROLE)
    return attest_aws.token(one, cluster)


def opened(token: str) -> dict[str, Any]:
    text = token.removeprefix(attest_aws.PREFIX)
    return dict(json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))))


def closed(told: Any) -> str:
    text = told if isinstance(told, str) else json.dumps(told)
    return attest_aws.PREFIX + base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read(token: str, now: datetime | None = None) -> join_token.IdentityRequest:
    return join_token.read(token, CLUSTER, REGIONS, now or datetime.now(UTC))


def test_what_attest_makes_is_taken_as_it_is() -> None:
    token = made()
    asked = read(token)
    assert asked.host == "sts.us-west-2.amazonaws.com"
    assert asked.headers == opened(token)["headers"]
    assert timedelta(minutes=4) < asked.ends - datetime.now(UTC) <= timedelta(minutes=5)


def test_a_token_is_renewed_before_it_ends() -> None:
    assert timedelta(minutes=attest.MINUTES) < join_token.MAX_AGE


def test_a_region_without_pools_is_refused_though_all_fits() -> None:
    with pytest.raises(join_token.BadToken, match="its region 'eu-north-1' is none"):
        read(made(region="eu-north-1"))


def header(name: str, value: str | None) -> Any:
    def change(told: dict[str, Any]) -> None:
        if value is None:
            del told["headers"][name]
        else:
            told["headers"][name] = value

    return change


def part(old: str, new: str) -> Any:
    def change(told: dict[str, Any]) -> None:
        before = told["headers"]["authorization"]
        told["headers"]["authorization"] = before.replace(old, new)
        assert told["headers"]["authorization"] != before

    return change


BAD = {
    "another host": header("host", "sts.us-west-2.amazonaws.com.evil.example"),
    "another region's host": header("host", "sts.us-east-1.amazonaws.com"),
    "the global host": header("host", "sts.amazonaws.com"),
    "a host with a port": header("host", "sts.us-west-2.amazonaws.com:443"),
    "another cluster": header("x-landbridge-cluster", "example/other"),
    "no cluster": header("x-landbridge-cluster", None),
    "another body": header("x-amz-content-sha256", "0" * 64),
    "an unsigned body": header("x-amz-content-sha256", "UNSIGNED-PAYLOAD"),
    "another type of body": header("content-type", "application/json"),
    "a header more": header("x-forwarded-host", "x"),
    "the cluster in another case": header("X-Landbridge-Cluster", CLUSTER),
    "a length": header("content-length", "0"),
    "a line end": header("x-amz-security-token", "t\r\nx-amz-target: evil"),
    "a line end at the end": header("x-amz-security-token", "t\n"),
    "no ASCII": header("x-amz-security-token", "\u212a"),
    "an empty header": header("x-amz-security-token", ""),
    "a strange date": header("x-amz-date", "yesterday"),
    "no day": header("x-amz-date", "20261399T000000Z"),
    "digits of another script": header("x-amz-date", "٢0260101T000000Z"),
    "the cluster not signed": part(";x-landbridge-cluster", ""),
    "the host not signed": part("host;", ""),
    "another service": part("/sts/", "/iam/"),
    "another region in the signature": part("us-west-2", "us-east-1"),
    "another day": part(f"/{datetime.now(UTC):%Y%m%d}/", "/20200101/"),
    "another kind of signature": part("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"),
    "two signatures": part("Signature=", "Signature=0, Signature="),
    "a region nobody has": lambda told: told.update(region="eu-north-1"),
    "a region that is none": lambda told: told.update(region=["us-west-2"]),
    "a word more": lambda told: told.update(path="/?Action=AssumeRole"),
    "a header that is no text": lambda told: told["headers"].update({"x-amz-date": 7}),
    "headers that are no table": lambda told: told.update(headers=[]),
}


@pytest.mark.parametrize("what", BAD)
def test_whatever_else_stands_in_it_is_refused(what: str) -> None:
    told = opened(made())
    BAD[what](told)
    with pytest.raises(join_token.BadToken):
        read(closed(told))


@pytest.mark.parametrize("minutes", [-5.1, 5.1, 60])
def test_an_old_one_and_one_from_the_future_are_refused(minutes: float) -> None:
    token = made()
    with pytest.raises(join_token.BadToken, match="not within"):
        read(token, datetime.now(UTC) + timedelta(minutes=minutes))


def test_a_name_twice_is_refused() -> None:
    text = json.dumps(opened(made()))
    twice = text.replace('"host": ', '"host": "evil.example", "host": ')
    with pytest.raises(join_token.BadToken, match="twice"):
        read(closed(twice))


@pytest.mark.parametrize("token", ["", "!", "e30", "e30=", "W10", "bnVsbA", "a" * 20_000, "[" * 30, "eyJ\n"])
def test_what_is_no_token_at_all_is_refused(token: str) -> None:
    with pytest.raises(join_token.BadToken):
        read(attest_aws.PREFIX + token)


def test_deep_nesting_is_no_way_out() -> None:
    with pytest.raises(join_token.BadToken):
        read(closed("[" * 11_000))


@given(st.text() | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_nothing_makes_it_fail_otherwise(text: str) -> None:
    with pytest.raises(join_token.BadToken):
        read(attest_aws.PREFIX + text)


@given(st.sampled_from([*join_token.SIGNED, "authorization"]), st.text(max_size=80))
def test_no_value_of_a_header_makes_it_fail_otherwise(name: str, value: str) -> None:
    told = opened(made())
    told["headers"][name] = value
    try:
        asked = read(closed(told))
    except join_token.BadToken:
        return
    assert name == "x-amz-security-token", "only that one may be anything"
    assert value.isascii()
    assert value.isprintable()
    assert asked.headers[name] == value


def answer(arn: str, space: str = "https://sts.amazonaws.com/doc/2011-06-15/") -> bytes:
    inside = f"<GetCallerIdentityResult><Arn>{arn}</Arn></GetCallerIdentityResult>"
    return f'<GetCallerIdentityResponse xmlns="{space}">{inside}</GetCallerIdentityResponse>'.encode()


GOOD = f"arn:aws:sts::{ACCOUNT}:assumed-role/example-west-gpu-node/i-0123456789abcdef0"


def test_the_role_tells_the_pool_and_the_session_the_instance() -> None:
    found = join_token.who(answer(GOOD), ACCOUNT, ROLES)
    assert found == join_token.Machine("west-gpu", "i-0123456789abcdef0")
    assert join_token.user(found) == {
        "username": "system:bootstrappers:landbridge:west-gpu:i-0123456789abcdef0",
        "groups": ["system:bootstrappers", "landbridge:joining"],
        "extra": {"landbridge.dev/pool": ["west-gpu"], "landbridge.dev/instance": ["i-0123456789abcdef0"]},
    }


@pytest.mark.parametrize(
    "arn",
    [
        GOOD.replace(ACCOUNT, "210987654321"),
        GOOD.replace("example-west-gpu-node", "example-main-api-1"),
        GOOD.replace("example-west-gpu-node", "x/example-west-gpu-node"),
        GOOD.replace("/i-0123456789abcdef0", "/somebody"),
        GOOD.replace("/i-0123456789abcdef0", "/i-0123456789abcdef0:system"),
        GOOD.replace("/i-0123456789abcdef0", "/i-0123456789ABCDEF0"),
        GOOD + "\n",
        GOOD.replace("assumed-role", "federated-user"),
        GOOD.replace("arn:aws:", "arn:aws-cn:"),
        f"arn:aws:iam::{ACCOUNT}:user/example-west-gpu-node/i-0123456789abcdef0",
        f"arn:aws:iam::{ACCOUNT}:root",
        "",
    ],
)
def test_nobody_else_is_a_machine(arn: str) -> None:
    with pytest.raises(join_token.BadToken):
        join_token.who(answer(arn), ACCOUNT, ROLES)
    with pytest.raises(join_token.BadToken):
        join_token.who(arn.encode(), ACCOUNT, ROLES)
