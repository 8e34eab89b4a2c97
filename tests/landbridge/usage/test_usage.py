"""GPU hours: of pods that run, of records of those that ended, and of both once."""

import json
import subprocess
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from components.addons.monitoring import prometheus
from fleet.loader import load
from fleet.price_book import PriceList, RegionPrices
from fleet.prices import Price
from landbridge.bars import MOST
from landbridge.commands.usage import NOT_KNOWN, priced_by, table
from landbridge.experiments.manifest import PERSON
from landbridge.usage import activity
from landbridge.usage.account import GONE, NOBODY, NOT_RUN, Account, Row, account, gpu_prices
from landbridge.usage.held import Held, of_deaths, of_pods, within
from landbridge.usage.picture import svg, told
from landbridge.usage.scale_down import Saved, ScaleDown
from landbridge.why.report import ended
from local.kubernetes import BIN
from tests.landbridge.why.recorded import BEGUN, RUN, Recorded, at

ROOT = Path(__file__).parents[3]
HOUR, DAY = 3600.0, 86_400.0
NOW = BEGUN + 10 * HOUR
NODES = [{"metadata": {"name": "gpu-1", "labels": {"landbridge.dev/pool": "west-gpu"}}}]
Json = dict[str, Any]


def pod(name: str, phase: str = "Running", begun: float = 0.0, until: float | None = None, **meta: Any) -> Json:
    marks = {RUN: "train", PERSON: "ann"}
    about = {"name": name, "namespace": "team-vision", "uid": f"uid-{name}", "labels": marks, **meta}
    status: Json = {"phase": phase, "startTime": at(begun)}
    if until is not None:
        status["containerStatuses"] = [{"name": "run", "state": {"terminated": {"finishedAt": at(until)}}}]
    box = {"name": "run", "resources": {"limits": {"nvidia.com/gpu": "8"}}}
    return {"metadata": about, "spec": {"nodeName": "gpu-1", "containers": [box]}, "status": status}


def test_what_runs_counts_until_now_and_what_ended_until_its_end() -> None:
    pods = [pod("a"), pod("b", "Succeeded", HOUR, 3 * HOUR), pod("c", "Failed", 0, HOUR)]
    found = {one.uid: one for one in of_pods(pods, NODES, NOW)}
    assert [found[f"uid-{name}"].hours for name in "abc"] == [80, 16, 8]
    assert [found[f"uid-{name}"].lost for name in "abc"] == [False, False, True]
    assert {(one.team, one.person, one.run, one.pool) for one in found.values()} == {
        ("vision", "ann", "train", "west-gpu")
    }


def test_what_has_no_gpu_or_no_host_yet_counts_nothing() -> None:
    waits, bare = pod("a"), pod("b")
    del waits["status"]["startTime"]
    del bare["spec"]["containers"][0]["resources"]
    assert [*of_pods([waits, bare], NODES, NOW)] == []


def test_records_of_what_is_gone_count_once_each() -> None:
    made = Recorded()
    made.node("gpu-1")
    made.ended("train-0", 7, 2 * HOUR)
    made.gone("train-0", 2 * HOUR + 10)
    made.ended("fine-0", 0, HOUR, phase="Succeeded")
    made.gone("fine-0", HOUR + 10)
    made.write(3 * HOUR)
    were = [*of_deaths(ended(made.records()))]
    assert {(one.uid, one.lost, round(one.hours, 1), one.pool) for one in were} == {
        ("uid-train-0", True, 16.0, "west-gpu"),
        ("uid-fine-0", False, 8.0, "west-gpu"),
    }
    # The cluster has one of them still, and knows better.
    there = [*of_pods([pod("train-0", "Failed", 0, 3 * HOUR)], NODES, NOW)]
    both = within(there, were, 0.0)
    assert sorted(round(one.hours) for one in both) == [8, 24]


def test_of_what_began_before_only_the_asked_days_count() -> None:
    long, before = Held("a", "v", "", "", "p", 8, 0.0, DAY), Held("b", "v", "", "", "p", 8, 0.0, HOUR)
    assert [one.hours for one in within([long], [before], DAY - HOUR)] == [8.0]


HELD = [
    Held("a", "vision", "ann", "train", "west-gpu", 8, 0.0, 10 * HOUR),
    Held("b", "vision", "bob", "fine", "site-gpu", 8, 0.0, HOUR, lost=True),
    Held("c", "", "", "", "", 1, 0.0, HOUR),
]


@pytest.fixture
def made() -> Account:
    return account(HELD, 0.0, DAY, {"west-gpu": 5.0}, {"vision": 0.37})


def test_the_account_has_each_table_with_the_most_first(made: Account) -> None:
    assert (made.gpu_hours, made.lost_gpu_hours, made.dollars, made.unpriced_gpu_hours) == (89, 8, 400, 9)
    assert made.tables["teams"] == [Row("vision", 88, 8, 400, 0.37), Row(NOBODY, 1, 0, None)]
    assert [row.name for row in made.tables["people"]] == ["ann", "bob", NOT_RUN]
    assert [row.name for row in made.tables["runs"]] == ["vision/train", "vision/fine", NOT_RUN]
    assert [(row.name, row.dollars) for row in made.tables["pools"]] == [
        ("west-gpu", 400),
        ("site-gpu", None),
        (GONE, None),
    ]
    assert json.loads(json.dumps(made.as_json()))["teams"][0]["active"] == 0.37


def test_prices_are_of_one_gpu_and_of_sites_there_is_none() -> None:
    fleet = load(ROOT / "fleet.yaml")
    # AWS's list is of one region, and the example says no prices of its own.
    assert gpu_prices(fleet) == {"east-gpu": 55.04 / 8}


def test_its_age_is_that_of_the_prices_it_goes_by(made: Account) -> None:
    listed = PriceList(date=date(2026, 11, 1), source="x", usd_per_hour={"p5.48xlarge": 50.0, "c7i.8xlarge": 1.0})
    fleet = load(ROOT / "fleet.yaml").with_prices({"us-west-2": RegionPrices(on_demand=listed)})
    assert priced_by(fleet, made) == [Price(50.0, "x", listed.date)], "of west-gpu: the site and what is gone have none"
    saving = ScaleDown(24.0, [Saved("cpu", 1, 1.0, 1.0, 0.0, None)])
    assert [one.usd for one in priced_by(fleet, made._replace(scale_down=saving))] == [50.0, 1.0]


def test_the_table_leaves_out_what_nothing_is_known_of(made: Account) -> None:
    heads = [str(one.header) for one in table("teams", made.tables["teams"]).columns]
    assert heads == ["teams", "GPU hours", "lost", "at work", "US dollars"]
    assert [str(one.header) for one in table("people", made.tables["people"]).columns][-1] == "US dollars"
    bare = account(HELD, 0.0, DAY, {}, {})
    assert [str(one.header) for one in table("teams", bare.tables["teams"]).columns] == ["teams", "GPU hours", "lost"]
    assert [*table("teams", made.tables["teams"]).columns[3].cells] == ["37%", NOT_KNOWN]
    many = [Row(f"team-{n}", 1, 0, None) for n in range(13)]
    assert "3 more" in str([*table("teams", many).columns[0].cells][-1])


def test_the_picture_has_all_of_it(made: Account) -> None:
    text = svg("main", made)
    words = [one.text or "" for one in Xml.fromstring(text).iter() if one.tag.endswith("text")]
    for wanted in ("vision", "ann", "site-gpu", "88.0 (8.0)"):
        assert wanted in words
    many = {**made.tables, "runs": [Row(f"run-{n}", 9, 0, None) for n in range(MOST + 2)]}
    assert "2 more" in svg("main", made._replace(tables=many))
    assert told(account([], 0.0, DAY, {}, {})) == "0.0 GPU hours held, 0.0 of them lost"


def test_the_share_that_works_is_read_by_team() -> None:
    series = [
        {"metric": {"namespace": "team-vision"}, "value": [1, "0.25"]},
        {"metric": {"namespace": "kube-system"}, "value": [1, "1"]},
    ]
    assert activity.read(series) == {"vision": 0.25}


def test_prometheus_reckons_that_share_by_its_rules(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(prometheus.rules()["usage.yaml"])
    asks = 'namespace="team-vision",pod="p",container="run",node="n",resource="nvidia_com_gpu"'
    series = {
        f"kube_pod_container_resource_requests{{{asks}}}": "2x60",
        'kube_pod_status_phase{namespace="team-vision",pod="p",phase="Running"}': "1x60",
        'DCGM_FI_PROF_SM_ACTIVE{job="gpu-exporter",node="n",gpu="0"}': "1x60",
        'DCGM_FI_PROF_SM_ACTIVE{job="gpu-exporter",node="n",gpu="1"}': "0x60",
    }
    asked = {
        "expr": activity.query(1 / 24),
        "eval_time": "60m",
        "exp_samples": [{"labels": '{namespace="team-vision"}', "value": 0.5}],
    }
    case = {
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [asked],
    }
    test = {"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": [case]}
    (tmp_path / "test.yaml").write_text(json.dumps(test))
    done = subprocess.run([BIN / "promtool", "test", "rules", tmp_path / "test.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_window_is_told_in_days(made: Account) -> None:
    assert f"{datetime.fromtimestamp(DAY, UTC):%-d %b %Y}" in svg("main", made)
