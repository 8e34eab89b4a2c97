"""What EC2 announces of an instance: in the API, in instance metadata, and what comes of it at its time."""

import json
import time
import urllib.error
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from local.supervisor.aws.metadata import announced

from .support import image

Client = Callable[..., Any]
REGION = "eu-central-1"


@pytest.fixture(scope="module")
def ec2(client: Client) -> Any:
    return client("ec2", REGION)


@pytest.fixture
def launch(ec2: Any) -> Iterator[Callable[..., str]]:
    made: list[str] = []

    def launch(**more: Any) -> str:
        told = ec2.run_instances(ImageId=image(ec2), InstanceType="t3.micro", MinCount=1, MaxCount=1, **more)
        made.append(told["Instances"][0]["InstanceId"])
        return made[-1]

    yield launch
    ec2.terminate_instances(InstanceIds=made)


def events(ec2: Any, instance: str) -> list[dict[str, Any]]:
    (found,) = ec2.describe_instance_status(InstanceIds=[instance], IncludeAllInstances=True)["InstanceStatuses"]
    told: list[dict[str, Any]] = found.get("Events", [])
    return told


def state(ec2: Any, instance: str) -> tuple[str, str]:
    (found,) = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"]
    return found["State"]["Name"], (found.get("StateReason") or {}).get("Code", "")


def test_a_scheduled_event_stands_in_the_status_until_it_is_taken_back(
    ec2: Any, launch: Callable[..., str], own: Client
) -> None:
    one = launch()
    assert events(ec2, one) == []
    made = own("events", {"instance": one, "code": "system-reboot", "in_seconds": 7200, "lasts_seconds": 600})
    (told,) = events(ec2, one)
    assert (told["Code"], told["InstanceEventId"]) == ("system-reboot", made["id"])
    left = (told["NotBefore"] - datetime.now(UTC)).total_seconds()
    assert 7100 < left <= 7200
    assert (told["NotAfter"] - told["NotBefore"]).total_seconds() == pytest.approx(600, abs=1)
    own("withdraw", {"event": made["id"]})
    (told,) = events(ec2, one)
    assert told["Description"].startswith("[Canceled] ")
    with pytest.raises(urllib.error.HTTPError):
        own("withdraw", {"event": made["id"]})


def test_at_its_time_it_happens(ec2: Any, launch: Callable[..., str], own: Client) -> None:
    reboots, retires = launch(), launch()
    own("events", {"instance": reboots, "code": "instance-reboot", "in_seconds": 0})
    own("events", {"instance": retires, "code": "instance-retirement", "in_seconds": 0})
    own("world")
    assert state(ec2, reboots)[0] == "running"
    assert events(ec2, reboots)[0]["Description"].startswith("[Completed] ")
    assert state(ec2, retires) == ("terminated", "Server.ScheduledStop")


def test_a_spot_instance_has_two_minutes_and_its_end_says_why(
    ec2: Any, launch: Callable[..., str], own: Client
) -> None:
    spot = launch(InstanceMarketOptions={"MarketType": "spot"})
    made = own("events", {"instance": spot, "code": "spot"})
    assert made["at"] - time.time() == pytest.approx(120, abs=5)
    assert events(ec2, spot) == [], "it stands in metadata alone"
    own("world")
    assert state(ec2, spot)[0] == "running"
    other = launch(InstanceMarketOptions={"MarketType": "spot"})
    own("events", {"instance": other, "code": "spot", "in_seconds": 0})
    own("world")
    assert state(ec2, other) == ("terminated", "Server.SpotInstanceTermination")


@pytest.mark.parametrize("code", ["spot", "rebalance", "flood"])
def test_what_ec2_would_not_announce_of_it_is_refused(code: str, launch: Callable[..., str], own: Client) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        own("events", {"instance": launch(), "code": code})
    assert error.value.code == 400


def test_instance_metadata_has_each_in_its_own_form() -> None:
    """EC2 user guide: the examples of the three pages."""
    about = {"told": 1548064800.0, "at": 1548064951.0, "until": 1548068551.0, "state": "active"}
    found = announced([{"id": "instance-event-0d59937288b749b32", "code": "system-reboot", **about}])
    assert json.loads(str(found["meta-data/events/maintenance/scheduled"])) == [
        {
            "NotBefore": "21 Jan 2019 10:02:31 GMT",
            "Code": "system-reboot",
            "Description": "system-reboot",
            "EventId": "instance-event-0d59937288b749b32",
            "NotAfter": "21 Jan 2019 11:02:31 GMT",
            "State": "active",
        }
    ]
    assert "meta-data/spot/instance-action" not in found
    spot = announced([{"id": "x", "code": "spot", **about}, {"id": "y", "code": "rebalance", **about}])
    assert json.loads(str(spot["meta-data/spot/instance-action"])) == {
        "action": "terminate",
        "time": "2019-01-21T10:02:31Z",
    }
    assert json.loads(str(spot["meta-data/events/recommendations/rebalance"])) == {"noticeTime": "2019-01-21T10:00:00Z"}
    assert json.loads(str(spot["meta-data/events/maintenance/scheduled"])) == []
