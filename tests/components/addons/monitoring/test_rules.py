"""Alarms are read and tried by promtool, and each has what a person who is called needs."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from prometheus_client import REGISTRY
from ruamel.yaml import YAML

import services.autoscaler.metrics
import services.fleet_metrics.metrics
import services.recorder.metrics  # noqa: F401
from components.addons.monitoring import alertmanager
from components.addons.spec import AddOnsSpec
from components.pools.labels import GPU_FAILED, PLACE
from fleet import fitness
from fleet.maintenance import NONE_LEFT, TAINT
from landbridge.image.burn_in.node_status import CONDITION as BURN_IN_FAILED
from local.kubernetes import BIN
from services.recorder.writing import MOST_UNSENT_BYTES
from tests.components.pools import joining_bed  # noqa: F401  (the scripts' folders)
from tests.test_docs import tables

import kernel_rows  # isort: skip
import xids  # isort: skip

ROOT = Path(__file__).parents[4]
RULES = ROOT / "components/addons/monitoring/rules"
TESTS = Path(__file__).parent / "rules"
RUNBOOKS = ROOT / "docs/runbooks"
TOPICS = sorted(path.stem for path in RULES.glob("*.yaml"))
SEVERITIES, OWNERS = {"page", "ticket"}, {"operators", "team"}
# It always fires.
WATCHDOG = "Watchdog"


class Alarm(NamedTuple):
    topic: str
    name: str
    rule: dict[str, Any]


def read(path: Path) -> Any:
    return YAML(typ="safe").load(path)


def rules(topic: str) -> list[dict[str, Any]]:
    return [rule for group in read(RULES / f"{topic}.yaml")["groups"] for rule in group["rules"]]


def tried(topic: str) -> list[list[dict[str, Any]]]:
    """What is asked of each case: at which time which alarm fires."""
    return [case["alert_rule_test"] for case in read(TESTS / f"{topic}.test.yaml")["tests"]]


ALARMS = [Alarm(topic, rule["alert"], rule) for topic in TOPICS for rule in rules(topic) if "alert" in rule]
RECORDED = {rule["record"]: str(rule["expr"]) for topic in TOPICS for rule in rules(topic) if "record" in rule}


def expression(name: str) -> str:
    (found,) = (alarm.rule["expr"] for alarm in ALARMS if alarm.name == name)
    return str(found)


def promtool(*words: str | Path) -> None:
    done = subprocess.run([BIN / "promtool", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("topic", TOPICS)
def test_prometheus_takes_them(topic: str) -> None:
    promtool("check", "rules", "--lint=all", "--lint-fatal", RULES / f"{topic}.yaml")


@pytest.mark.parametrize("topic", TOPICS)
def test_they_fire_when_they_should(topic: str) -> None:
    promtool("test", "rules", TESTS / f"{topic}.test.yaml")


@pytest.mark.parametrize("topic", TOPICS)
def test_each_is_seen_to_fire_and_to_be_silent(topic: str) -> None:
    fires, silent, early = set[str](), set[str](), set[str]()
    for case in tried(topic):
        (name,) = {one["alertname"] for one in case}
        fired = [bool(one["exp_alerts"]) for one in case]
        (fires if any(fired) else silent).add(name)
        if fired == [False, True]:
            early.add(name)
    known = {alarm.name: alarm.rule for alarm in ALARMS if alarm.topic == topic}
    assert fires == known.keys()
    # A case of its own: that it is too early is no test of what it asks.
    assert silent == known.keys() - {WATCHDOG}
    assert early == {name for name, rule in known.items() if "for" in rule}


def test_the_guide_has_every_alarm() -> None:
    found = [row for parts in tables(ROOT / "docs/guide/alarms.md").values() for part in parts for row in part[1:]]
    told = {(row[0], row[1], row[3], re.findall(r"\(\.\./runbooks/(.+)\)", row[4])[0]) for row in found}
    assert len(found) == len(ALARMS)
    assert told == {
        (one.name, one.rule["labels"]["severity"], one.rule.get("for", "at once"), one.rule["annotations"]["runbook"])
        for one in ALARMS
    }


def test_alarms_that_alertmanager_names_are_there(example: AddOnsSpec) -> None:
    named = set(re.findall(r'alertname!?=\\?"(\w+)', json.dumps(alertmanager.config(example))))
    assert len(named) == 4
    assert named <= {alarm.name for alarm in ALARMS}


def test_topics_have_tests_and_names_are_used_once() -> None:
    assert sorted(path.name.partition(".")[0] for path in TESTS.iterdir()) == TOPICS
    names = [alarm.name for alarm in ALARMS]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("alarm", ALARMS, ids=lambda alarm: alarm.name)
def test_whoever_is_called_knows_what_to_do(alarm: Alarm) -> None:
    labels, notes = alarm.rule["labels"], alarm.rule["annotations"]
    assert labels.keys() == {"severity", "owner"}
    assert labels["severity"] in (SEVERITIES if alarm.name != WATCHDOG else {"none"})
    assert labels["owner"] in OWNERS
    assert notes.keys() == {"summary", "runbook"}
    assert notes["summary"].endswith(".")
    page = RUNBOOKS / notes["runbook"]
    assert page.is_file()
    # A page of many alarms must say which of its parts is meant.
    if page.name in {"node-unwell.md", "service-away.md", "work-does-not-begin.md"}:
        assert f"`{alarm.name}`" in page.read_text()


@pytest.mark.parametrize("topic", TOPICS)
def test_an_alarm_can_be_led_to_whom_and_held_back_by_what_it_concerns(topic: str) -> None:
    for case in (one for asked in tried(topic) for one in asked):
        for expected in case["exp_alerts"]:
            labels = expected["exp_labels"]
            assert ("node" in labels) <= ("place" in labels), case
            assert (labels["owner"] == "team") <= ("namespace" in labels), case
            # They change with the pod that tells, and each change would be another alarm.
            assert not labels.keys() & {"pod", "uid", "endpoint"}, case


@pytest.mark.parametrize("alarm", ALARMS, ids=lambda alarm: alarm.name)
def test_our_services_count_what_is_asked(alarm: Alarm) -> None:
    known = {sample.name for metric in REGISTRY.collect() for sample in metric.samples}
    known |= {f"{metric.name}_total" for metric in REGISTRY.collect() if metric.type == "counter"}
    known |= {metric.name for metric in REGISTRY.collect()}
    assert set(re.findall(r"\blandbridge_\w+", alarm.rule["expr"])) <= known
    assert set(re.findall(r"\blandbridge:\w+", alarm.rule["expr"])) <= RECORDED.keys()


def test_what_stands_in_them_is_the_code_s() -> None:
    label = re.sub(r"\W", "_", PLACE)
    assert f'"label_{label}"' in RECORDED["landbridge:node_place"]
    maintenance = RECORDED["landbridge:node_in_maintenance"]
    assert f'key="{TAINT}", value="{NONE_LEFT}"' in maintenance
    assert f'condition=~"{"|".join(fitness.CONDITIONS)}"' in maintenance
    assert f'key="{TAINT}", value="{NONE_LEFT}"' in expression("NodeClosedForLong")
    assert f'key="{GPU_FAILED.key}"' in expression("GPUsMissing")
    (lost,) = (alarm.rule["annotations"]["summary"] for alarm in ALARMS if alarm.name == "RecorderCannotWrite")
    assert f"at {MOST_UNSENT_BYTES // 2**20} MiB" in lost


def test_each_condition_by_which_a_node_says_that_something_is_wrong_has_its_alarm() -> None:
    names = ("NodeGPUFailed", "NFSUnavailable", "NodeBroken", "NodeServiceUnwell", "NodeUnfit")
    # What makes an alarm silent stands after `unless`.
    asked = [expression(name).partition("unless")[0] for name in names]
    found = [one for text in asked for part in re.findall(r'condition=~?"([^"]+)"', text) for one in part.split("|")]
    assert sorted(found) == sorted({*kernel_rows.WELL, fitness.CONDITION, BURN_IN_FAILED})
    (others,) = re.findall(r'condition=~"([^"]+)"', expression("NodeUnfit"))
    assert {one for one in found if re.fullmatch(others, one)} == {*found} - {fitness.CONDITION, "ServiceUnwell"}


def test_the_xids_are_those_that_last() -> None:
    last = {number for number, one in xids.XIDS.items() if one.lasts == "yes"}
    assert {int(number) for number in re.findall(r"== (\d+)", expression("GPUXid"))} == last
