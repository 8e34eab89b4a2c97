"""A minor version of Kubernetes: `up` touches no machine, `cluster roll` brings each to it, and nobody's write fails."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.kubernetes import BUILT_IN, VERSIONS
from tests.local.providers.test_engine import Project
from tests.support import cloud as clouds
from tests.support.cloud import COMMAND, ROOT, Cloud
from tests.support.upgrade import OBJECTS, PROGRAMS

# Building the older version takes minutes, once.
pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
NEW, OLD = BUILT_IN, VERSIONS[1]
NEXT = "1.37.0"
FLEET = f"""\
fleet: test
owner: ops
domain: test.example.com
supernet: 10.128.0.0/12
aws: {{account_id: "123456789012"}}
regions:
  us-west-2: {{cloud: aws, zones: [a, b, c]}}
clusters:
  main: {{region: us-west-2, kubernetes: {OLD}}}
teams:
  ops: {{gid: 2000}}
"""
# Its first pools, in the middle of the upgrade.
POOLS = """\
pools:
  system: {kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, min: 2, max: 4}
  cpu: {kind: cpu, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, max: 4}
"""
FROZEN = "maintenance: {frozen: [%s/%s]}\n"
# The stacks' program, run by Pulumi alone, with a version that nothing here knows yet.
PLAIN = f"""\
import runpy, sys
sys.path.insert(0, {str(ROOT)!r})
import fleet.rules
fleet.rules.KUBERNETES += ("1.37",)
runpy.run_path({str(ROOT / "stacks")!r}, run_name="__main__")
"""
Machines = dict[str, dict[str, Any]]


@dataclass
class Story:
    """What was seen, in the order of the upgrade: before, after `up`, half-way through the roll, and at its end."""

    machines: dict[str, Machines] = field(default_factory=dict)
    facts: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    up: dict[str, Any] = field(default_factory=dict)
    rolled: dict[str, Any] = field(default_factory=dict)
    checked: dict[str, Any] = field(default_factory=dict)
    frozen: dict[str, Any] = field(default_factory=dict)
    undone: dict[str, Any] = field(default_factory=dict)
    again: dict[str, Any] = field(default_factory=dict)
    witness: dict[str, Any] = field(default_factory=dict)
    shown: str = ""
    too_early: str = ""
    back: str = ""
    pool: dict[str, str] = field(default_factory=dict)


def at(cloud: Cloud, version: str) -> None:
    text = cloud.fleet.read_text()
    cloud.fleet.write_text(text.replace(text.partition("kubernetes: ")[2].partition("}")[0], version))


def machines(cloud: Cloud) -> Machines:
    return {one["name"]: one for one in cloud.report("cluster", "status", "--local")["machines"]}


def pool_previewed(cloud: Cloud, code: int) -> str:
    """What a preview of a first pool says; the fleet file is as before afterwards."""
    text = cloud.fleet.read_text()
    cloud.fleet.write_text(text + POOLS)
    try:
        return " ".join(cloud.run("preview", "system", "--local", code=code).stdout.split())
    finally:
        cloud.fleet.write_text(text)


def healthy(cloud: Cloud, seconds: float = 180) -> None:
    """`up` waits for the API, not for every machine."""
    deadline = time.monotonic() + seconds
    while cloud.run("cluster", "status", "--local", code=None).returncode != 0:
        assert time.monotonic() < deadline, "some machine never became healthy"
        time.sleep(1)


def inside(cloud: Cloud, *words: str) -> list[str]:
    environment = [f"LANDBRIDGE_FLEET={cloud.fleet}", f"PYTHONPATH={ROOT}"]
    return ["env", "-C", str(ROOT), *environment, sys.executable, "-m", "tests.support.upgrade", *words]


def facts(cloud: Cloud) -> dict[str, dict[str, str]]:
    return dict(json.loads(cloud.inside(*inside(cloud, "facts"))))


def update(cloud: Cloud, *words: str, code: int = 0) -> dict[str, Any]:
    return dict(json.loads(cloud.run("cluster", "update", "--local", "--json", *words, code=code).stdout))


@contextmanager
def frozen(cloud: Cloud) -> Iterator[None]:
    """The days around this one, in the fleet file."""
    today = datetime.now(UTC).date()
    cloud.fleet.write_text(f"{cloud.fleet.read_text()}{FROZEN % (today, today + timedelta(days=1))}")
    try:
        yield
    finally:
        cloud.fleet.write_text(cloud.fleet.read_text().partition(FROZEN.partition(":")[0])[0])


def roll_until(cloud: Cloud, sign: str) -> None:
    """A roll that is killed at a blow once it has said so."""
    roll = cloud.start("cluster", "roll", "--local")
    assert roll.stdout is not None
    try:
        assert any(line.startswith("main-api-1") and sign in line for line in roll.stdout)
    finally:
        os.killpg(roll.pid, signal.SIGKILL)
        roll.wait()


def plain_preview(cloud: Cloud, folder: Path) -> str:
    project = Project(folder, cloud, name="landbridge", state=cloud.home / "local/test/state", phrase="local")
    shutil.copy(cloud.home / "local/test/Pulumi.main.yaml", project.folder)
    (project.folder / "__main__.py").write_text(PLAIN)
    said = project.pulumi("preview", "-s", "main", code=None, before=[f"LANDBRIDGE_FLEET={cloud.fleet}"])
    project.pulumi("stack", "rm", "dev", "--yes", "--force")
    return " ".join(said.split())


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    subprocess.run([sys.executable, ROOT / "tools/kubernetes_version.py", OLD], check=True)
    folder = tmp_path_factory.mktemp("upgrade")
    cloud, seen, watched = clouds.make(folder, FLEET), Story(), folder / "witness"
    watched.mkdir()
    try:
        cloud.run("up", "--local", "--yes")
        healthy(cloud)
        seen.machines["before"], seen.facts["before"] = machines(cloud), facts(cloud)
        command = [COMMAND, "local", "exec", "--", *inside(cloud, "witness", str(watched))]
        witness = subprocess.Popen(command, env=cloud._environment(), stderr=subprocess.PIPE, text=True)
        try:
            until(watched / "ready", witness)
            seen.checked = update(cloud, "--to", NEW, "--check")
            with frozen(cloud):
                seen.frozen = update(cloud, "--to", NEW, "--yes", code=1)
                seen.undone = update(cloud, "--to", OLD, "--yes")
            at(cloud, NEW)
            seen.up = cloud.report("up", "--local", "--yes")
            seen.machines["published"], seen.facts["published"] = machines(cloud), facts(cloud)
            seen.shown = cloud.run("cluster", "status", "--local").stdout
            roll_until(cloud, "is healthy after")
            seen.machines["half-way"], seen.facts["half-way"] = machines(cloud), facts(cloud)
            seen.pool["half-way"] = pool_previewed(cloud, 1)
            at(cloud, NEXT)
            seen.too_early = plain_preview(cloud, folder / "plain")
            at(cloud, NEW)
            seen.rolled = update(cloud, "--yes")
            seen.machines["rolled"], seen.facts["rolled"] = machines(cloud), facts(cloud)
        finally:
            (watched / "stop").touch()
            until(watched / "report.json", witness)
        seen.witness = json.loads((watched / "report.json").read_text())
        sys.stdout.write(json.dumps(seen.witness))
        seen.again = cloud.report("cluster", "roll", "--local")
        seen.pool["rolled"] = pool_previewed(cloud, 0)
        at(cloud, OLD)
        seen.back = " ".join(cloud.run("up", "--local", "--yes", code=1).stdout.split())
        yield seen
    finally:
        cloud.stop()


def until(file: Path, witness: "subprocess.Popen[str]", seconds: float = 200) -> None:
    deadline = time.monotonic() + seconds
    while not file.exists():
        ended = witness.poll() is not None
        assert not ended or file.exists(), witness.communicate()[1][-2000:]
        assert time.monotonic() < deadline, f"{file.name} never came"
        time.sleep(0.2)


def versions(found: Machines) -> dict[str, str]:
    return {name: one["kubernetes"] for name, one in found.items()}


def everywhere(found: dict[str, dict[str, str]], version: str) -> None:
    expected = {"serves": version, **dict.fromkeys(PROGRAMS, version)}
    assert found == dict.fromkeys(("main-api-1", "main-api-2"), expected)


def test_a_cluster_comes_up_at_the_older_version_and_its_programs_take_every_flag(story: Story) -> None:
    everywhere(story.facts["before"], OLD)
    assert set(versions(story.machines["before"]).values()) == {OLD}


def test_up_publishes_the_new_version_and_touches_no_machine(story: Story) -> None:
    main = next(stack for stack in story.up["stacks"] if stack["stack"] == "main")
    assert main["result"] == "done"
    assert {verb for verb, count in main["changes"].items() if count} == {"updated", "same"}
    before, after = story.machines["before"], story.machines["published"]
    assert {name: one["instance"] for name, one in after.items()} == {n: one["instance"] for n, one in before.items()}
    everywhere(story.facts["published"], OLD)


def test_status_tells_each_machine_s_version_and_what_it_is_behind_on(story: Story) -> None:
    found = story.machines["published"].values()
    assert {(one["kubernetes"], one["wanted_kubernetes"]) for one in found} == {(OLD, NEW)}
    assert all(one["behind"] == ["Kubernetes"] and one["healthy"] for one in found)
    assert story.shown.count(OLD) == 5
    assert f"`landbridge cluster roll main` replaces them, to Kubernetes {NEW}." in story.shown


def test_a_killed_roll_leaves_one_api_machine_and_goes_on_with_it(story: Story) -> None:
    assert versions(story.machines["half-way"]) == {
        **dict.fromkeys(("main-api-1", "main-etcd-1", "main-etcd-2", "main-etcd-3"), NEW),
        "main-api-2": OLD,
    }
    assert story.again["replaced"] == []


def steps(document: dict[str, Any]) -> dict[str, str]:
    return {one["kind"]: one["state"] for one in document["steps"]}


def test_an_update_says_before_what_stands_against_it_and_what_it_would_do(story: Story) -> None:
    assert {one["what"]: one["found"] for one in story.checked["checks"] if one["found"]} == {}
    assert steps(story.checked) == {
        "file": "to do",
        "publish": "to do",
        "machines": "to do",
        "follow": steps(story.frozen)["follow"],
    }


def test_on_a_frozen_day_no_machine_goes_and_there_is_a_way_back(story: Story) -> None:
    found = steps(story.frozen)
    assert (found["file"], found["publish"], found["machines"]) == ("done", "done", "waits")
    assert (story.undone["from"], story.undone["to"]) == (NEW, OLD)
    assert set(steps(story.undone).values()) == {"done"}
    assert set(versions(story.machines["before"]).values()) == {OLD}


def test_an_update_goes_on_where_a_roll_was_killed(story: Story) -> None:
    assert (story.rolled["from"], story.rolled["to"]) == (NEW, NEW)
    assert set(steps(story.rolled).values()) == {"done"}


@pytest.mark.parametrize("when", ["before", "published", "half-way", "rolled"])
def test_no_program_is_ever_newer_than_the_server_it_talks_to(story: Story, when: str) -> None:
    for name, found in story.facts[when].items():
        assert found == dict.fromkeys(("serves", *PROGRAMS), found["serves"]), f"{when}, {name}"


def test_every_machine_ends_at_the_new_version(story: Story) -> None:
    everywhere(story.facts["rolled"], NEW)
    assert set(versions(story.machines["rolled"]).values()) == {NEW}
    assert all(one["behind"] == [] and one["healthy"] for one in story.machines["rolled"].values())


def test_no_write_failed_none_is_lost_and_what_was_there_before_is_there(story: Story) -> None:
    seen = story.witness
    assert seen["acknowledged"] > 100
    assert seen["failed"] == []
    assert seen["lost"] == []
    assert seen["kept"] == [one["kind"] for one in OBJECTS]


def test_whoever_asks_through_the_balancer_meets_two_versions_at_most_and_the_new_one_alone_at_the_end(
    story: Story,
) -> None:
    seen = story.witness["versions"]
    assert set(seen) == {OLD, NEW}
    assert (seen[0], seen[-1]) == (OLD, NEW)


def test_the_next_minor_waits_for_the_last_machine_also_for_pulumi_alone(story: Story) -> None:
    assert f"cluster main: kubernetes {NEXT} must wait: main-api-2 runs none of 1.36 yet" in story.too_early
    assert "landbridge cluster roll main" in story.too_early


def test_pools_wait_until_no_api_server_is_behind_them(story: Story) -> None:
    assert (
        f"system must wait with kubernetes {NEW}: nothing may be ahead of the API, and main-api-2 has an older minor "
        "version. Run `landbridge cluster roll main`, then `landbridge up` again"
    ) in story.pool["half-way"]
    assert "must wait" not in story.pool["rolled"]


def test_there_is_no_way_back(story: Story) -> None:
    assert f"cluster main: kubernetes {OLD} is older than {NEW}, which runs" in story.back
