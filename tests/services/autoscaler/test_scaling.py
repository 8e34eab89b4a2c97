"""All regions together: what may go in a pass, what limits count of a region that is silent, and what ends a watch."""

import json
import threading
import time
from collections.abc import Collection
from typing import Any

import pytest

from services.autoscaler import provider_ids
from services.autoscaler import scaling as module
from services.autoscaler.cloud import CloudError
from services.autoscaler.group import Machine, NotPossibleError, Observation
from services.autoscaler.scaling import Scaling
from services.autoscaler.settings import Settings

REGIONS = ("us-west-2", "eu-west-1")


def settings(**limits: Any) -> Settings:
    def group(region: str) -> dict[str, Any]:
        told = {"name": region, "pool": region, "owner": "research", "region": region, "least": 0, "most": 100}
        return {**told, "gpus": 8, "price_usd": None, "template": {}}

    told = {"cluster": "main", "region_clouds": dict.fromkeys(REGIONS, "aws"), "limits": limits}
    return Settings.model_validate({**told, "groups": [group(region) for region in REGIONS]})


class Cloud:
    busy_seconds = 0.01

    def __init__(self, _: Settings, region: str) -> None:
        self.region, self.machines, self.desired = region, list[str](), 0
        self.fail: Exception | None = None
        self.spoilt: tuple[str, ...] = ()
        self.looked = threading.Event()
        self.at = 1.0

    def groups(self) -> Any:
        self.looked.set()
        if self.fail:
            raise self.fail
        self.at += 1e12
        live = tuple(Machine(id_, provider_ids.aws(f"{self.region}a", id_), "running") for id_ in self.machines)
        return {self.region: Observation(self.at, self.desired, live, spoilt=self.spoilt)}, {}

    def failures(self, _: str) -> Any:
        return ()

    def resize(self, _: str, machines: int) -> None:
        self.desired = machines

    def end(self, _: str, ids: Collection[str]) -> dict[str, CloudError]:
        self.spoilt = tuple(one for one in self.spoilt if one not in ids)
        for id_ in {*ids} & {*self.machines}:
            self.machines.remove(id_)
            self.desired -= 1
        return {}


def clouds(made: Scaling) -> dict[str, Any]:
    return {name: region.cloud for name, region in made.regions.items()}


def grown(made: Scaling, count: int, region: str = "us-west-2") -> list[str]:
    cloud = clouds(made)[region]
    cloud.machines, cloud.desired = [f"i-{number}" for number in range(count)], count
    made.refresh()
    made.refresh()
    return list(cloud.machines)


def test_of_many_that_may_go_a_tenth_goes_and_the_rest_is_told_to_wait() -> None:
    """The autoscaler hands over all machines of a group that have never joined, in one request, and again each pass."""
    made = Scaling(settings(), cloud=Cloud)  # type: ignore[arg-type]
    known = grown(made, 30)
    for left in (27, 24):
        with pytest.raises(NotPossibleError, match="too-many-at-once: there were 30 machines lately, and at most 3"):
            made.delete("us-west-2", known)
        assert len(clouds(made)["us-west-2"].machines) == left
        made.refresh()


def test_a_stranger_takes_no_part_of_the_tenth() -> None:
    made = Scaling(settings(), cloud=Cloud)  # type: ignore[arg-type]
    known = grown(made, 10)
    with pytest.raises(NotPossibleError, match="i-none: not in us-west-2"):
        made.delete("us-west-2", ["i-none"])
    made.delete("us-west-2", known[:1])


@pytest.mark.parametrize("stopper", ["frozen", "stopped"])
def test_what_seems_spoilt_stays_while_no_machine_may_end_and_that_is_told_once(
    stopper: str, capsys: pytest.CaptureFixture[str]
) -> None:
    why = {stopper: "region-not-ready: 3 of 4 are NotReady"}
    made = Scaling(
        settings(), lambda: why.get("frozen", ""), Cloud, stopped=lambda region, _: region and why.get("stopped", "")
    )
    region = made.regions["us-west-2"]
    cloud: Any = region.cloud
    cloud.spoilt, cloud.desired = ("i-1", "i-2"), 2
    region.look()
    region.look()
    assert cloud.spoilt == ("i-1", "i-2")
    (said,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (said["decision"], said["ids"]) == ("no-end", ["i-1", "i-2"])
    assert "region-not-ready" in said["why"]
    why.clear()
    region.look()
    assert cloud.spoilt == ()
    assert '"cleared"' in capsys.readouterr().out


def test_a_region_that_has_never_answered_counts_as_full_in_limits_that_are_shared() -> None:
    made = Scaling(settings(owners={"research": {"gpus": 1000}}), cloud=Cloud)  # type: ignore[arg-type]
    clouds(made)["eu-west-1"].fail = CloudError("out")
    grown(made, 1)
    with pytest.raises(NotPossibleError, match="owner-gpus"):
        made.grow("us-west-2", 30)
    made.grow("us-west-2", 24)  # 1,000 less the eu's 800 and one machine
    clouds(made)["eu-west-1"].fail = None
    made.regions["eu-west-1"].look()
    made.grow("us-west-2", 6)


def test_a_pause_is_noticed_by_a_clock_that_nobody_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STANDBY_SECONDS", 0.01)
    made = Scaling(settings(), cloud=Cloud)  # type: ignore[arg-type]
    made.refresh()
    cloud = clouds(made)["us-west-2"]
    cloud.looked.clear()
    monkeypatch.setattr("time.time", float)
    time.sleep(0.02)
    made.refresh()
    assert cloud.looked.is_set(), "another replica may have led meanwhile"


def test_a_mistake_of_ours_ends_no_watch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(module, "REST_SECONDS", 0.01)
    made = Scaling(settings(), cloud=Cloud)  # type: ignore[arg-type]
    cloud = clouds(made)["us-west-2"]
    made.refresh()
    cloud.fail = ValueError("no XML")
    made.start()
    for _ in range(3):
        cloud.looked.clear()
        assert cloud.looked.wait(30)
    cloud.fail = None
    cloud.looked.clear()
    assert cloud.looked.wait(30)
    assert "no XML" in capsys.readouterr().out
