"""A record is created once, deleted as it is, and a batch is made whole or not at all."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .support import refused

Client = Callable[..., Any]


@pytest.fixture
def zone(client: Client) -> Iterator[tuple[Any, str]]:
    r53 = client("route53")
    zone = r53.create_hosted_zone(Name="records.example.com", CallerReference="records")["HostedZone"]["Id"]
    yield r53, zone
    r53.delete_hosted_zone(Id=zone)


def record(name: str, ttl: int = 60, address: str = "10.0.0.1") -> dict[str, Any]:
    return {"Name": f"{name}.records.example.com", "Type": "A", "TTL": ttl, "ResourceRecords": [{"Value": address}]}


def change(zone: tuple[Any, str], *changes: tuple[str, dict[str, Any]]) -> None:
    r53, id_ = zone
    batch = [{"Action": action, "ResourceRecordSet": what} for action, what in changes]
    r53.change_resource_record_sets(HostedZoneId=id_, ChangeBatch={"Changes": batch})


def listed(zone: tuple[Any, str]) -> list[str]:
    sets = zone[0].list_resource_record_sets(HostedZoneId=zone[1])["ResourceRecordSets"]
    return [each["Name"].partition(".")[0] for each in sets if each["Type"] == "A"]


def test_a_record_can_be_made_again_after_it_was_deleted(zone: tuple[Any, str]) -> None:
    change(zone, ("CREATE", record("z")))
    for _ in range(2):
        change(zone, ("CREATE", record("a")))
        change(zone, ("DELETE", record("a")))
    assert listed(zone) == ["z"]
    change(zone, ("DELETE", record("z")))


@pytest.mark.parametrize(
    "wrong", [("CREATE", record("a", ttl=5)), ("DELETE", record("b")), ("DELETE", record("a", ttl=5))]
)
def test_a_wrong_change_spoils_its_whole_batch(zone: tuple[Any, str], wrong: tuple[str, dict[str, Any]]) -> None:
    change(zone, ("CREATE", record("a")))
    with pytest.raises(zone[0].exceptions.InvalidChangeBatch):
        change(zone, ("CREATE", record("c")), wrong)
    assert listed(zone) == ["a"]
    change(zone, ("DELETE", record("a")))


def test_an_upsert_replaces_and_a_zone_with_records_stays(zone: tuple[Any, str]) -> None:
    change(zone, ("UPSERT", record("a")))
    change(zone, ("UPSERT", record("a", address="10.0.0.2")))
    assert refused(zone[0].delete_hosted_zone, Id=zone[1]) == "HostedZoneNotEmpty"
    change(zone, ("DELETE", record("a", address="10.0.0.2")))
