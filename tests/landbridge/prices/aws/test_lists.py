"""AWS's lists: the plain machine out of all that is sold, in bounded memory, whole or not at all."""

import csv
import datetime
import io
import tracemalloc

import pytest

from landbridge.prices import aws, web
from tests.landbridge.prices.bed import HEAD, Answer, Web, csv_list, csv_row
from tests.support import s3

# In how many ways one type is sold, and what none of them may change.
OTHERS = (
    {"TermType": "Reserved"},
    {"MarketOption": "CapacityBlock"},
    {"Operating System": "Windows"},
    {"Tenancy": "Dedicated"},
    {"Pre Installed S/W": "SQL Web"},
    {"CapacityStatus": "UnusedCapacityReservation"},
    {"Unit": "Quantity"},
    {"Currency": "CNY"},
)
DAY = datetime.date(2026, 11, 27)
NOTHING = lambda *_: None  # noqa: E731


@pytest.mark.parametrize("other", OTHERS, ids=lambda one: next(iter(one)))
def test_only_the_plain_machine_counts(other: dict[str, str]) -> None:
    dear = csv_row("p5.48xlarge", "99.0000000000", **other)
    text = csv_list(dear, csv_row("p5.48xlarge", "55.0400000000"), dear, csv_row("m7i.large", "0.1008"))
    assert aws.listed(io.StringIO(text), ["p5.48xlarge"]) == (DAY, {"p5.48xlarge": 55.04})


def test_what_is_free_is_no_price_and_of_two_the_dearer_counts() -> None:
    text = csv_list(*(csv_row("m7i.large", usd) for usd in ("0", "0.2", "0.3", "0.1", "NaN", "inf")))
    assert aws.listed(io.StringIO(text), ["m7i.large"])[1] == {"m7i.large": 0.3}
    assert aws.listed(io.StringIO(csv_list(csv_row("m7i.large", "0"))), ["m7i.large"])[1] == {}


BROKEN = (
    csv_list() + "too,short\n",
    csv_list().replace("2026-11-27", "yesterday"),
    csv_list() + f'"{"x" * 200_000}"\n',
    csv_list(csv_row("m7i.large", "cheap")),
)


@pytest.mark.parametrize(
    "text", ["", "<html>\n<p>Sign in</p>\n", csv_list().replace('"CapacityStatus"', '"Else"'), *BROKEN]
)
def test_what_is_no_such_list_is_told(text: str, lists: Web) -> None:
    lists.aws("us-east-1", text)
    with pytest.raises(web.AwayError, match=r"us-east-1/index\.csv is no price list: "):
        aws.on_demand(lists.url, "us-east-1", ["m7i.large"], NOTHING)


def test_a_list_that_breaks_off_is_read_again_and_never_taken_by_half(lists: Web) -> None:
    text = csv_list(
        csv_row("m7i.large", 0.1), *(csv_row("c7i.large", 0.2) for _ in range(3000)), csv_row("t3.small", 0.3)
    )
    half = Answer(200, text.encode(), len(text) // 2)
    lists.aws("us-east-1", half, Answer(503, b""), text)
    found = aws.on_demand(lists.url, "us-east-1", ["m7i.large", "t3.small"], NOTHING)
    assert found["on_demand"][1] == {"m7i.large": 0.1, "t3.small": 0.3}
    assert len(lists.asked) == 3
    lists.aws("us-east-1", half)
    with pytest.raises(web.AwayError, match="breaks off in the middle"):
        aws.on_demand(lists.url, "us-east-1", ["m7i.large", "t3.small"], NOTHING)


def test_a_long_list_is_never_held(lists: Web) -> None:
    body = csv_list(*(csv_row("c7i.large", 0.2, SKU=f"{n:016}") for n in range(40_000))).encode()
    assert len(body) > 10_000_000
    lists.aws("us-east-1", Answer(200, body))
    told = list[int]()
    tracemalloc.start()
    try:
        found = aws.on_demand(lists.url, "us-east-1", ["c7i.large"], lambda done, of: told.append(done))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found["on_demand"][1] == {"c7i.large": 0.2}
    assert peak < 3_000_000
    assert told == sorted(told)
    assert len(told) > 2


def test_a_host_that_is_not_there_and_one_that_says_no_are_told_in_words(lists: Web) -> None:
    with pytest.raises(web.AwayError, match=r"^127\.0\.0\.1:9 does not answer \(Connection refused\)$"):
        aws.on_demand("http://127.0.0.1:9", "us-east-1", [], NOTHING)
    with pytest.raises(web.AwayError, match=r"answers 404 to http://127.*/us-east-9/index\.csv$"):
        aws.on_demand(lists.url, "us-east-9", [], NOTHING)
    lists.aws("us-east-1", Answer(503, b""))
    with pytest.raises(web.AwayError, match=r"does not answer \(too many 503 error responses\)"):
        aws.on_demand(lists.url, "us-east-1", [], NOTHING)


def moment(hour: int) -> datetime.datetime:
    return datetime.datetime(2026, 11, 30, hour, tzinfo=datetime.UTC)


def test_of_spot_prices_the_newest_of_each_zone_and_of_these_the_dearest_counts() -> None:
    history = [
        {"InstanceType": kind, "AvailabilityZone": zone, "Timestamp": moment(hour), "SpotPrice": usd}
        for kind, zone, hour, usd in (
            ("p5.48xlarge", "us-east-1a", 3, "20.10"),
            ("p5.48xlarge", "us-east-1a", 1, "90.00"),
            ("p5.48xlarge", "us-east-1b", 2, "25.40"),
            ("c7i.large", "us-east-1b", 2, "0.031"),
        )
    ]
    assert aws.dearest(history) == {"p5.48xlarge": 25.4, "c7i.large": 0.031}


def test_ec2_is_asked_for_spot_prices_of_the_fleet_s_zones(monkeypatch: pytest.MonkeyPatch) -> None:
    import boto3

    with s3.serving() as url:
        ec2 = boto3.client(
            "ec2", region_name="us-west-2", endpoint_url=url, aws_access_key_id="x", aws_secret_access_key="x"
        )
        source, found = aws.spot(ec2, "us-west-2", ["us-west-2a"], ["m5.large", "m5.xlarge"], moment(1))["spot"]
        assert found == {"m5.large": 0.00001, "m5.xlarge": 0.00001}
        assert "us-west-2" in source
        assert aws.spot(ec2, "us-west-2", ["us-west-2z"], ["m5.large"], moment(1))["spot"][1] == {}


def test_without_a_sign_in_there_are_no_spot_prices_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import boto3

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    ec2 = boto3.session.Session().client("ec2", region_name="us-west-2")
    with pytest.raises(web.AwayError, match="nobody is signed in to AWS"):
        aws.spot(ec2, "us-west-2", ["us-west-2a"], ["m5.large"], moment(1))


def test_the_bed_s_list_is_as_aws_writes_it() -> None:
    rows = [*csv.reader(io.StringIO(csv_list(csv_row("m7i.large", 1))))]
    assert [tuple(row) for row in rows[:5]] == [*HEAD]
    assert rows[5][0] == "SKU"
