"""Channels and garbage collection in the local AWS: each kind of use protects, and what nobody uses goes for good."""

import datetime
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from images import channels, collecting
from images.baked import Baked
from images.errors import ImageError
from images.stores.aws.store import Aws
from images.stores.store import PointerKey, Published, Record
from tests.local.aws.conftest import asker

from ..store_bed import KUBERNETES, bake, told
from . import bed

REGION = "us-west-2"
NAMES = ("first", "second", "third")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("baked")


@pytest.fixture(scope="module")
def store(endpoint: str, home: Path) -> Aws:
    return bed.store(endpoint, home / "journals", "collected", (REGION,))


@pytest.fixture(scope="module")
def published(store: Aws, home: Path) -> dict[str, Baked]:
    """Three images, one after the other; each has been the candidate."""
    found = {}
    for name in NAMES:
        # EC2 tells when an image was made in whole seconds, and the newest stays.
        time.sleep(1.0 if found else 0)
        folder, found[name] = bake(home, name)
        channels.publish(store, folder, found[name], "alice", told)
    return found


def promoted(store: Aws, image: Baked, *, force: bool = False) -> None:
    moves = channels.promotion(channels.look(store), image.name, "stable", force=force)
    channels.do(store, moves, "bob", "promote")


def said(store: Aws) -> dict[str, str]:
    there = channels.look(store)[REGION]
    return {slot.channel: there.name(one.image) for slot, one in there.pointers.items()}


def test_candidate_stable_retired_and_back(store: Aws, published: dict[str, Baked]) -> None:
    first, second, third = (published[name] for name in NAMES)
    promoted(store, first, force=True)
    with pytest.raises(ImageError, match="is not the candidate"):
        promoted(store, second)
    promoted(store, third)
    assert said(store) == {"candidate": third.name, "stable": third.name, "retired": first.name}
    channels.do(store, channels.rollback(channels.look(store), None, None)[0], "carol", "rollback")
    assert said(store) == {"candidate": third.name, "stable": first.name, "retired": third.name}
    stable = next(one for one in store.pointers(REGION) if one.key.channel == "stable")
    assert stable.record[0] == "carol"
    assert (stable.record.why, stable.record.before) == ("rollback", third.name)
    history = store.of(REGION)("ssm").get_parameter_history(Name="/collected/images/cpu/1.36.2/stable")["Parameters"]
    assert [one["Version"] for one in history] == [1, 2, 3], "who moved it when stays to be read"


def actions(store: Aws) -> dict[str, str]:
    now = datetime.datetime.now(datetime.UTC)
    return {one.image.name: f"{one.action}: {one.why}" for one in collecting.plan(store, 1, now)}


def run(store: Aws, ahead_days: float = 0) -> list[tuple[str, str]]:
    """One run of garbage collection, so many days from now."""
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=ahead_days)
    due = [one for one in collecting.plan(store, 1, now) if one.action in collecting.ACTS]
    return [(one.image.name, one.action) for one in collecting.do(store, due, 1, now)]


def test_each_use_protects_and_the_rest_goes(store: Aws, published: dict[str, Baked]) -> None:
    second = published["second"].name
    ec2, scaling, ssm = (store.of(REGION)(name) for name in ("ec2", "autoscaling", "ssm"))
    id_ = next(one.id for one in store.published(REGION) if one.name == second)
    assert actions(store)[second] == "deprecate: nobody uses it"
    for use, undo, what in uses(ec2, scaling, ssm, id_):
        use()
        assert actions(store)[second].startswith(f"keep: used by {what}"), what
        undo()
        assert actions(store)[second] == "deprecate: nobody uses it", what
    assert run(store) == [(second, "deprecate")]
    assert run(store) == [], "one step a time"
    assert run(store, 15) == [(second, "disable")]
    (one,) = [one for one in store.published(REGION) if one.name == second]
    assert one.state == "disabled"
    snapshot = ec2.describe_images(ImageIds=[id_], IncludeDisabled=True)["Images"][0]["BlockDeviceMappings"][0]["Ebs"]
    # Whoever promotes it now gets it back, whole.
    promoted(store, published["second"], force=True)
    assert [one.state for one in store.published(REGION) if one.name == second] == ["available"]
    promoted(store, published["third"])
    promoted(store, published["first"], force=True)
    assert actions(store)[second] == "deprecate: nobody uses it"
    assert [run(store, days) for days in (0, 15, 30)] == [[(second, what)] for what in collecting.ACTS]
    assert second not in actions(store)
    with pytest.raises(ec2.exceptions.ClientError, match=r"InvalidSnapshot\.NotFound"):
        ec2.describe_snapshots(SnapshotIds=[snapshot["SnapshotId"]])


def uses(ec2: Any, scaling: Any, ssm: Any, image: str) -> Iterator[tuple[Any, Any, str]]:
    """How something begins to use an image, how it ends, and what it is called."""
    made: list[str] = []
    kind = {"InstanceType": "t3.micro"}
    yield (
        lambda: made.append(
            ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, **kind)["Instances"][0]["InstanceId"]
        ),
        lambda: ec2.terminate_instances(InstanceIds=made),
        "machine i-",
    )
    names = {"LaunchTemplateName": "some"}

    def template() -> None:
        # An older version is one that a group may go back to.
        ec2.create_launch_template(**names, LaunchTemplateData={"ImageId": image, **kind})
        ec2.create_launch_template_version(**names, LaunchTemplateData=kind)

    yield template, lambda: ec2.delete_launch_template(**names), "launch template some, version 1"
    parameter = "/elsewhere/image"

    def named() -> None:
        ssm.put_parameter(Name=parameter, Value=image, Type="String")
        ec2.create_launch_template(**names, LaunchTemplateData={"ImageId": f"resolve:ssm:{parameter}", **kind})

    yield named, lambda: ec2.delete_launch_template(**names), "launch template some, version 1"
    old = {"LaunchConfigurationName": "old"}
    yield (
        lambda: scaling.create_launch_configuration(**old, ImageId=image, **kind),
        lambda: scaling.delete_launch_configuration(**old),
        "launch configuration old",
    )


def test_what_is_used_between_the_plan_and_its_doing_stays(store: Aws, published: dict[str, Baked]) -> None:
    third = published["third"].name
    now = datetime.datetime.now(datetime.UTC)
    gone = [one._replace(action="deprecate") for one in collecting.plan(store, 1, now) if one.image.name == third]
    assert collecting.do(store, gone, 1, now) == []
    assert [one.state for one in store.published(REGION) if one.name == third] == ["available"]


def test_each_region_is_planned_again_just_before_its_steps(endpoint: str, home: Path) -> None:
    places = bed.REGIONS[:2]
    store, now = bed.store(endpoint, home / "journals", "twice", places), datetime.datetime.now(datetime.UTC)
    old = {place: bed.registered(store, place, "old") for place in places}
    plan = collecting.plan(store, 0, now)
    assert [(one.image.place, one.action) for one in plan] == [(place, "deprecate") for place in places]
    deprecate = store.deprecate

    def meanwhile(image: Published) -> None:
        """Somebody starts to use it in the other region, while this one is worked on."""
        deprecate(image)
        slot = PointerKey("cpu", KUBERNETES, "candidate")
        store.point(places[1], slot, old[places[1]], Record("dave", now, "by hand", ""))

    store.deprecate = meanwhile  # type: ignore[method-assign]
    assert [one.image.place for one in collecting.do(store, plan, 0, now)] == [places[0]]
    assert [one.state for one in store.published(places[1])] == ["available"]


def test_a_throttled_region_is_one_clear_error(endpoint: str, store: Aws) -> None:
    asker(endpoint)("faults", [{"kind": "throttling", "calls": 1, "operation": "DescribeImages"}])
    with pytest.raises(ImageError, match=r"^us-west-2: DescribeImages was refused \(RequestLimitExceeded\)"):
        store.published(REGION)
