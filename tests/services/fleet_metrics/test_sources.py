"""What sources tell becomes series, and what is not told any more goes; one that does not answer holds up no other."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from fleet.quota_share import Share
from services.fleet_metrics import settings, sources
from services.fleet_metrics.errors import CloudError, SettingsError
from services.fleet_metrics.metrics import Room
from services.fleet_metrics.settings import Backup, Connection, Drift, Image, Peer, Quota, Restores, Settings
from services.fleet_metrics.settings import Share as Held
from services.fleet_metrics.sources import KEPT_SECONDS, Opened, Sources, planned

AT = 1796000000.0  # 2026-11-30T00:53:20Z
KEY = "backups/main/main/2026-11-30T005000Z-7.db"
TAKEN = AT - 200
HOME = Backup("main", "home", "us-west-2", "s3://home", "backups/main/main/", 1620)
COPY = Backup("main", "copy", "us-east-1", "s3://away", "copies/us-west-2/main/main/", 1620)
TESTED = Restores("main", "us-west-2", "s3://home", "restores/main/main/", 7_776_000)
DRILL = "restores/main/main/2026-11-30T005100Z-7.json"
DRIFT = Drift("us-west-2", "s3://home", "drift/main/")
LOOK = "drift/main/eu-west-1/2026-11-30T005200Z-2.json"
LAB = Connection("lab/us-west-2", "lab", "us-west-2", "us-west-2-lab-1", "example-links-us-west-2-lab-1")
SECOND = LAB._replace(connection="us-west-2-lab-2", named="example-links-us-west-2-lab-2")
SOUTH = Connection("lab/southcentralus", "lab", "southcentralus", "southcentralus-lab-1", "/subscriptions/s/x")
TALK = Peer(
    "lab/southcentralus", "lab", "southcentralus", "southcentralus-lab-1", "169.254.21.1", "/subscriptions/s/hub"
)
P = Quota("us-west-2", "p", "L-417A185B", 1920)
WEST = Image("west", "us-west-2", "resolve:ssm:/example/images/gpu/1.36.2/stable", 7_776_000)
FILES = Held("us-west-2", "", "fs-0123456789abcdef0")
DATA = Held("southcentralus", "data", "/subscriptions/s/shares/data")
TOLD = Settings(
    [HOME, COPY],
    [TESTED],
    [DRIFT],
    [LAB, SECOND, SOUTH],
    [TALK],
    [P],
    [WEST],
    [FILES, DATA],
    {"": 512, "us-west-2a": 992},
)


class Clouds:
    """Both, as the service asks them. `away` are regions that do not answer."""

    def __init__(self) -> None:
        self.keys = {"s3://home": [KEY, DRILL, LOOK], "s3://away": list[str]()}
        self.states = {LAB.named: 1.0, SECOND.named: 0.5, SOUTH.named: 1.0}
        self.shares = {P.named: Share(960.0, 768.0)}
        self.made = {WEST.named: AT - 86_400}
        self.rooms = {FILES.named: Room(7.0, None), DATA.named: Room(80.0, 100.0)}
        self.spoken = {(TALK.named, TALK.peer): 0.5}
        self.away = set[str]()

    def bucket(self, into: str, region: str) -> Any:
        return Bed(self, region, into)

    def tunnels(self, region: str, named: str) -> Any:
        return Bed(self, region, named)

    def quotas(self, region: str, named: str) -> Any:
        return Bed(self, region, named)

    def images(self, region: str, named: str) -> Any:
        return Bed(self, region, named)

    def files(self, region: str, named: str) -> Any:
        return Bed(self, region, named)

    def peers(self, region: str, named: str) -> Any:
        return Bed(self, region, named)


class Bed:
    def __init__(self, clouds: Clouds, region: str, named: str) -> None:
        self.clouds, self.region, self.named = clouds, region, named

    def _there(self) -> None:
        if self.region in self.clouds.away:
            raise CloudError(f"{self.region} does not answer")

    def listed(self, prefix: str) -> list[str]:
        self._there()
        return [one for one in self.clouds.keys[self.named] if one.startswith(prefix)]

    def up(self, named: Collection[str], now: float) -> Mapping[str, float]:
        self._there()
        return {one: state for one, state in self.clouds.states.items() if one in named}

    def speak(self, named: Collection[tuple[str, str]], now: float) -> Mapping[tuple[str, str], float]:
        self._there()
        return {one: part for one, part in self.clouds.spoken.items() if one in named}

    def told(self, named: Collection[str], now: float) -> Mapping[str, Share]:
        self._there()
        return {one: share for one, share in self.clouds.shares.items() if one in named}

    def created(self, named: Collection[str]) -> Mapping[str, float]:
        self._there()
        return {one: when for one, when in self.clouds.made.items() if one in named}

    def room(self, named: Collection[str], now: float) -> Mapping[str, Room]:
        self._there()
        return {one: room for one, room in self.clouds.rooms.items() if one in named}


@pytest.fixture
def clouds() -> Clouds:
    return Clouds()


@pytest.fixture
def asked(clouds: Clouds) -> Iterator[Sources]:
    opened = Opened(clouds.bucket, clouds.tunnels, clouds.quotas, clouds.images, clouds.files, clouds.peers)
    made = Sources(sources.sources(TOLD, opened), AT)
    yield made
    for one in made.found:
        one.series.tell({})


def series(name: str) -> dict[str, float]:
    """By the values of their labels."""
    (metric,) = [one for one in REGISTRY.collect() if one.name == name]
    return {" ".join(one.labels.values()): one.value for one in metric.samples}


def test_each_source_s_reading_is_told_with_its_time(asked: Sources) -> None:
    assert {*series("landbridge_fleet_metrics_read_seconds").values()} == {AT}, "what has not answered yet may still"
    asked.step(AT + 10)
    assert series("landbridge_backup_newest_seconds") == {"main home us-west-2": TAKEN}
    assert series("landbridge_restore_tested_seconds") == {"main us-west-2": AT - 140}
    assert series("landbridge_drift_resources") == {"eu-west-1": 2.0}
    assert series("landbridge_drift_looked_seconds") == {"eu-west-1": AT - 80}
    assert series("landbridge_tunnels_up") == {
        "lab/us-west-2 us-west-2-lab-1 lab us-west-2": 1.0,
        "lab/us-west-2 us-west-2-lab-2 lab us-west-2": 0.5,
        "lab/southcentralus southcentralus-lab-1 lab southcentralus": 1.0,
    }
    assert series("landbridge_bgp_up") == {
        "lab/southcentralus southcentralus-lab-1 169.254.21.1 lab southcentralus": 0.5
    }
    assert series("landbridge_quota_vcpus") == {"p us-west-2 most": 960.0, "p us-west-2 used": 768.0}
    assert series("landbridge_image_created_seconds") == {"west us-west-2": AT - 86_400}
    assert series("landbridge_share_bytes") == {
        " us-west-2 used": 7.0,
        "data southcentralus used": 80.0,
        "data southcentralus most": 100.0,
    }
    places = {
        "backups": ["us-west-2", "us-east-1"],
        "restores": ["us-west-2"],
        "drift": ["us-west-2"],
        "links": ["us-west-2", "southcentralus"],
        "bgp": ["southcentralus"],
        "quotas": ["us-west-2"],
        "images": ["us-west-2"],
        "shares": ["us-west-2", "southcentralus"],
    }
    read = {f"{source} {region}": AT + 10 for source, regions in places.items() for region in regions}
    assert series("landbridge_fleet_metrics_read_seconds") == read


def test_one_that_does_not_answer_keeps_its_series_for_a_while_and_holds_up_no_other(
    asked: Sources, clouds: Clouds, capsys: pytest.CaptureFixture[str]
) -> None:
    asked.step(AT)
    clouds.away = {"us-west-2"}
    clouds.keys["s3://away"] = [KEY.replace("backups/main", "copies/us-west-2/main")]
    for seconds in (300, KEPT_SECONDS):
        asked.step(AT + seconds)
        assert series("landbridge_backup_newest_seconds") == {
            "main home us-west-2": TAKEN,
            "main copy us-east-1": TAKEN,
        }
    asked.step(AT + KEPT_SECONDS + 1)
    assert series("landbridge_backup_newest_seconds") == {"main copy us-east-1": TAKEN}
    assert series("landbridge_drift_resources") == series("landbridge_drift_looked_seconds") == {}
    assert [*series("landbridge_tunnels_up")] == ["lab/southcentralus southcentralus-lab-1 lab southcentralus"]
    read = series("landbridge_fleet_metrics_read_seconds")
    assert (read["links us-west-2"], read["links southcentralus"]) == (AT, AT + KEPT_SECONDS + 1)
    clouds.away = set()
    asked.step(AT + 1000)
    assert len(series("landbridge_tunnels_up")) == 3
    assert capsys.readouterr().err.splitlines() == [
        "fleet metrics: backups us-west-2: us-west-2 does not answer",
        "fleet metrics: restores us-west-2: us-west-2 does not answer",
        "fleet metrics: drift us-west-2: us-west-2 does not answer",
        "fleet metrics: links us-west-2: us-west-2 does not answer",
        "fleet metrics: quotas us-west-2: us-west-2 does not answer",
        "fleet metrics: images us-west-2: us-west-2 does not answer",
        "fleet metrics: shares us-west-2: us-west-2 does not answer",
        "fleet metrics: backups us-west-2: it answers again",
        "fleet metrics: restores us-west-2: it answers again",
        "fleet metrics: drift us-west-2: it answers again",
        "fleet metrics: links us-west-2: it answers again",
        "fleet metrics: quotas us-west-2: it answers again",
        "fleet metrics: images us-west-2: it answers again",
        "fleet metrics: shares us-west-2: it answers again",
    ]


def test_a_connection_of_which_a_cloud_tells_nothing_has_no_series(asked: Sources, clouds: Clouds) -> None:
    asked.step(AT)
    del clouds.states[SECOND.named]
    asked.step(AT + 300)
    assert "lab/us-west-2 us-west-2-lab-2 lab us-west-2" not in series("landbridge_tunnels_up")


def test_a_peer_of_which_azure_tells_nothing_has_no_series(asked: Sources, clouds: Clouds) -> None:
    asked.step(AT)
    clouds.spoken.clear()
    asked.step(AT + 300)
    assert series("landbridge_bgp_up") == {}


def test_what_readings_are_compared_with_is_there_from_the_start() -> None:
    planned(TOLD)
    assert series("landbridge_nodes_most") == {"": 512, "us-west-2a": 992}
    assert series("landbridge_quota_planned_vcpus") == {"p us-west-2": 1920}
    assert series("landbridge_image_due_seconds") == {"west us-west-2": 7_776_000}
    assert series("landbridge_restore_due_seconds") == {"main us-west-2": 7_776_000}
    assert series("landbridge_backup_due_seconds") == {"main home us-west-2": 1620, "main copy us-east-1": 1620}


def test_settings_are_read_as_the_stack_writes_them_and_no_others(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    plain = {
        "backups": [one._asdict() for one in TOLD.backups],
        "restores": [one._asdict() for one in TOLD.restores],
        "drift": [one._asdict() for one in TOLD.drift],
        "connections": [one._asdict() for one in TOLD.connections],
        "peers": [one._asdict() for one in TOLD.peers],
        "quotas": [one._asdict() for one in TOLD.quotas],
        "images": [one._asdict() for one in TOLD.images],
        "shares": [one._asdict() for one in TOLD.shares],
        "nodes_most": TOLD.nodes_most,
    }
    file.write_text(json.dumps(plain))
    assert settings.read(file) == TOLD
    for wrong, why in (
        (
            {**plain, "more": 1},
            "Settings has to have backups, restores, drift, connections, peers, quotas, images, shares, nodes_most, "
            "and nothing else",
        ),
        ({**plain, "backups": [{"ring": "main"}]}, "Backup has to have ring, where"),
        ("[", "it is no JSON"),
    ):
        file.write_text(wrong if isinstance(wrong, str) else json.dumps(wrong))
        with pytest.raises(SettingsError, match=why):
            settings.read(file)
    with pytest.raises(SettingsError, match="No such file"):
        settings.read(tmp_path / "none.json")


def test_a_bucket_of_no_known_form_is_an_error_at_the_start() -> None:
    with pytest.raises(ValueError, match="gs://x is no fleet bucket"):
        list(sources.sources(TOLD._replace(backups=[HOME._replace(into="gs://x")])))
