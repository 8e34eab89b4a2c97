"""A site that is cut off keeps what its nodes measure, and home has it with its own times when the way is back: the
real Prometheus at both ends, each with the add-on's configuration.
"""

import contextlib
import json
import re
import subprocess
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from components.addons.manifests import Manifest
from components.addons.monitoring import prometheus, site_metrics, targets
from components.addons.spec import AddOnsSpec
from components.pools import labels
from fleet.monitoring import SPACE
from local.kubernetes import BIN
from tests.components.addons.monitoring.asking import Standing
from tests.support.apiserver import HERE, free_port
from tests.support.link import Link
from tests.support.prometheus import Json, answering, get, ready, running
from tests.support.waiting import eventually

SITE, HOST, CLOUD = "lab", "host-2.lab", "gpu-1"
SAID = 'tried{job="node-exporter"}'
# Home takes nothing that is older than half a block, unless it is told to.
BLOCK_SECONDS, AWAY_SECONDS = 10, 20


class Cut(NamedTuple):
    """Home, one of its two, and the way there from the site. The other one of the two is away all the time."""

    home: Standing
    way: Link

    def times(self, node: str, begin: float, end: float) -> list[float]:
        """Of home's samples between these two."""
        (seconds, now) = int(time.time() - begin) + 5, time.time()
        found = self.home.value(f'tried{{job="node-exporter",node="{node}"}}[{seconds}s] @ {now:.3f}')
        return [float(at) for one in found for at, _ in one["values"] if begin < float(at) < end]

    def alarms(self, seconds: int) -> set[str]:
        """That have been on in the last so many."""
        found = self.home.labels(f'last_over_time(ALERTS{{alertstate="firing"}}[{seconds}s])')
        return {one["alertname"] for one in found}

    def asked(self, job: str) -> set[str]:
        """The nodes of whose pods home itself asks."""
        active = get(self.home.port, "/api/v1/targets?state=active")["data"]["activeTargets"]
        return {one["labels"]["node"] for one in active if one["labels"]["job"] == job}


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory, example: AddOnsSpec) -> Iterator[Cut]:
    port, folder = free_port(), tmp_path_factory.mktemp("cut")
    way = Link(port)
    with (
        answering("tried 1\n") as page,
        contextlib.closing(way),
        _home(folder, port, found(prometheus.config(example), page.port)),
        _at_the_site(folder, found(site_metrics.config(SITE), page.port), way.port),
    ):
        yield Cut(Standing(port, page), way)
        way.mend()


def found(config: Json, port: int) -> Json:
    """With the pods that the API tells of: test_prometheus.py asks it."""
    meta = "__meta_kubernetes_pod"
    labels_ = {f"{meta}_label_app_kubernetes_io_name": "node-exporter", f"{meta}_container_port_name": targets.METRICS}
    pods = [
        {"targets": [f"{HERE}:{port}"], "labels": {**labels_, f"{meta}_phase": "Running", f"{meta}_node_name": node}}
        for node in (HOST, CLOUD)
    ]
    config["scrape_configs"] = [one for one in config["scrape_configs"] if one.pop("kubernetes_sd_configs", None)]
    for one in config["scrape_configs"]:
        one |= {"static_configs": pods, "scrape_interval": "1s"}
    return config


@contextlib.contextmanager
def _home(folder: Path, port: int, config: Json) -> Iterator[None]:
    own = folder / "home"
    (own / "rules").mkdir(parents=True)
    for name, text in prometheus.rules().items():
        # Nothing here lasts for a minute.
        (own / "rules" / name).write_text(re.sub(r"for: \d+[mh]", "for: 0s", text))
    config["global"]["evaluation_interval"] = "5s"
    config["rule_files"] = [f"{own}/rules/*.yaml"]
    del config["remote_write"], config["alerting"]
    (own / "prometheus.yaml").write_text(json.dumps(config))
    words = [
        f"--config.file={own}/prometheus.yaml",
        f"--storage.tsdb.path={own}/data",
        f"--storage.tsdb.min-block-duration={BLOCK_SECONDS}s",
        f"--web.listen-address={HERE}:{port}",
        "--web.enable-remote-write-receiver",
    ]
    with running("prometheus", own / "log", *words, POD_NAME="prometheus-0"):
        ready(port)
        yield


@contextlib.contextmanager
def _at_the_site(folder: Path, config: Json, way: int) -> Iterator[None]:
    own, port = folder / "site", free_port()
    own.mkdir()
    for one, to in zip(config["remote_write"], (way, free_port()), strict=True):
        one["url"] = f"http://{HERE}:{to}/api/v1/write"
    (own / "prometheus.yaml").write_text(json.dumps(config))
    words = site_metrics.arguments(f"{own}/prometheus.yaml", f"{own}/data")
    with running("prometheus", own / "log", *words, f"--web.listen-address={HERE}:{port}"):
        ready(port)
        yield


def test_a_site_asks_its_own_nodes_and_home_whether_they_answer(cut: Cut) -> None:
    eventually(lambda: {one["node"] for one in cut.home.labels(SAID)} == {HOST, CLOUD}, 90, (OSError,))
    assert cut.asked("node-exporter") == {CLOUD}
    assert cut.asked(targets.REACH) == {HOST}
    (reached,) = eventually(lambda: cut.home.value(f'up{{job="{targets.REACH}"}}'), 60)
    assert (reached["metric"]["node"], reached["value"][1]) == (HOST, "1")
    assert not cut.home.value(f'tried{{job="{targets.REACH}"}}'), "it would be there twice"
    one, other = (cut.home.labels(f'up{{job="node-exporter",node="{node}"}}')[0] for node in (HOST, CLOUD))
    assert one.keys() == other.keys(), "nobody can tell by whom it was asked"


def test_what_it_measured_while_it_was_cut_off_comes_after_with_its_own_times(cut: Cut) -> None:
    eventually(lambda: {one["node"] for one in cut.home.labels(SAID)} == {HOST, CLOUD}, 90, (OSError,))
    time.sleep(BLOCK_SECONDS)
    before = cut.alarms(BLOCK_SECONDS)
    cut.way.cut()
    # What was on its way is let through.
    begin = time.time() + 2
    time.sleep(AWAY_SECONDS)
    end = time.time() - 1
    assert not cut.times(HOST, begin, end)
    assert cut.times(CLOUD, begin, end)
    cut.way.mend()
    mended = time.time()

    def holes() -> list[float]:
        there = [begin, *cut.times(HOST, begin, end), end]
        return [later - earlier for earlier, later in pairwise(there)]

    # A busy machine misses one or another.
    eventually(lambda: max(holes()) < 5, 90)
    came = cut.times(HOST, begin, end)
    assert len(came) == len(set(came)) >= AWAY_SECONDS / 3
    eventually(lambda: cut.times(HOST, mended + 3, time.time()), 60)
    assert cut.alarms(int(time.time() - mended)) <= before, "what comes late is no news"


def test_both_of_the_two_at_home_are_told(example: AddOnsSpec) -> None:
    (home,) = [one for one in prometheus.manifests(example) if one["kind"] == "StatefulSet"]
    service, number = home["spec"]["serviceName"], home["spec"]["replicas"]
    told = [one["url"] for one in site_metrics.config(SITE)["remote_write"]]
    assert told == [
        f"http://prometheus-{n}.{service}.{SPACE}.svc:{prometheus.PORT}/api/v1/write" for n in range(number)
    ]


def test_its_configuration_is_one(tmp_path: Path) -> None:
    (tmp_path / "prometheus.yaml").write_text(json.dumps(site_metrics.config(SITE)))
    command = [BIN / "promtool", "check", "config", "--agent", "--syntax-only", tmp_path / "prometheus.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_stands_at_its_site_and_ends_nobody_s_work(example: AddOnsSpec) -> None:
    (made,) = [one for one in site_metrics.manifests(example) if one["kind"] == "Deployment"]
    spec = made["spec"]["template"]["spec"]
    assert spec["nodeSelector"] == {labels.PLACE: SITE}
    assert spec["priorityClassName"] == "site-dns"
    assert made["spec"]["replicas"] == 1
    assert made["spec"]["strategy"]["rollingUpdate"]["maxSurge"] == 0, "two would send all of it twice"


def test_it_may_do_what_prometheus_may_in_that_namespace_and_no_more(example: AddOnsSpec) -> None:
    def rules(made: list[Manifest]) -> list[Manifest]:
        return [
            one["rules"] for one in made if one["kind"].endswith("Role") and one["metadata"].get("namespace") == SPACE
        ]

    mine = site_metrics.manifests(example)
    assert rules(mine) == rules(prometheus.manifests(example))
    assert not [one for one in mine if one["kind"].startswith("ClusterRole")]


def test_a_fleet_that_does_not_ask_for_it_or_has_no_site_has_none_of_it(example: AddOnsSpec) -> None:
    assert example.fleet.monitoring
    without = example.fleet.monitoring.model_copy(update={"keep_at_sites": False})
    off = example._replace(fleet=example.fleet.model_copy(update={"monitoring": without}))
    nowhere = example._replace(pools=tuple(one for one in example.pools if not one.site))
    for of in (off, nowhere):
        assert not site_metrics.wanted(of)
        assert "storage" not in prometheus.config(of)
        assert "receiver" not in json.dumps(prometheus.manifests(of))
        jobs = {one["job_name"] for one in prometheus.config(of)["scrape_configs"]}
        assert targets.REACH not in jobs
    assert "receiver" in json.dumps(prometheus.manifests(example))


def test_the_log_has_room_for_days(example: AddOnsSpec) -> None:
    def room(made: list[Manifest]) -> str:
        (one,) = [one for one in made if one["kind"] == "Deployment"]
        (data,) = [volume for volume in one["spec"]["template"]["spec"]["volumes"] if volume["name"] == "data"]
        return str(data["emptyDir"]["sizeLimit"])

    assert room(site_metrics.manifests(example)) == f"{site_metrics.log_gib(8)}Gi"
    # A third of it is never cut before it is a day old.
    assert site_metrics.CUT_HOURS / 3 >= prometheus.KEPT_HOURS
    assert prometheus.LATE_HOURS > prometheus.KEPT_HOURS
    assert 10 < site_metrics.log_gib(500) < 40
