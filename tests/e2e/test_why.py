"""Why a pod died: real ends in a whole cluster, and what is told of each to its team, and to operators.

Each drill ends pods in one way, all begin at once, and the answer is that way and no other.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.components.pools.joining_client import eventually
from tests.support.cloud import Cloud

from .queued import Queued
from .researcher import Researcher

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(900)]
ONE = ("--gpus", "1", "--image", "registry.example.com/other:2")
WAITS = "trap 'exit 143' TERM; sleep 600 & wait\n"
# Run → its program, and words of its launch.
RUNS = {
    "exits": ("echo done for; exit 7\n", ("--restarts", "0", *ONE)),
    "hung": ("exec sleep 600\n", ("--restarts", "0", "--hang-minutes", "0.1", *ONE)),
    "stopped": (WAITS, ONE),
    "evicted": (WAITS, ONE),
    "two": (
        f"[ $RANK = 1 ] && {{ sleep 3; exit 3; }}\n{WAITS}",
        ("--restarts", "0", "--gpus", "2", "--gpus-per-host", "1", *ONE[2:]),
    ),
}
SPACE = "team-lab"


class Drills:
    def __init__(self, queued: Queued, ann: Researcher) -> None:
        self.queued, self.ann = queued, ann
        self.pods: dict[str, list[str]] = {}
        # Where the first of them ran.
        self.host = ""

    def launch(self, name: str) -> None:
        program, words = RUNS[name]
        folder = self.ann.home / name
        folder.mkdir()
        (folder / "train.sh").write_text(program)
        self.ann.run("run", "--folder", str(folder), "--name", name, "--detach", *words, "--", "sh", "train.sh")

    def of(self, run: str) -> list[dict[str, Any]]:
        return list(self.queued.get("-n", SPACE, "pods", "-l", f"landbridge.dev/run={run}")["items"])

    def phases(self, run: str) -> set[str]:
        return {one["status"]["phase"] for one in self.of(run)}

    def began(self, run: str) -> None:
        """Until its pods run, or have run; their names stay known."""
        eventually(lambda: self.phases(run) and "Pending" not in self.phases(run), 180)
        self.pods[run] = sorted(one["metadata"]["name"] for one in self.of(run))

    def operator(self, *words: str) -> dict[str, Any]:
        return dict(self.queued.cloud.report("why", "--local", *words))

    def told(self, run: str) -> dict[str, Any]:
        """To its team."""
        done = self.ann.run("why", f"run/{run}", "--json", code=None)
        return dict(json.loads(done.stdout)) if done.returncode == 0 else {"cause": "", "phase": ""}

    def known(self, run: str) -> bool:
        """Whether the audit log has who ended it."""
        words = ("why", "--local", f"pod/{self.pods[run][0]}", "-n", SPACE, "--json")
        done = self.queued.cloud.run(*words, code=None)
        return done.returncode == 0 and json.loads(done.stdout)["cause"] not in ("nothing", "unknown")


@pytest.fixture(scope="module")
def drills(queued: Queued, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drills]:
    found = Drills(queued, Researcher(queued.cloud, "ann", tmp_path_factory.mktemp("why")))
    for name in RUNS:
        found.launch(name)
    for name in RUNS:
        found.began(name)
    found.host = str(found.of("exits")[0]["spec"]["nodeName"])
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": found.pods["evicted"][0], "namespace": SPACE},
    }
    path = f"/api/v1/namespaces/{SPACE}/pods/{found.pods['evicted'][0]}/eviction"
    queued.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))
    found.ann.run("stop", "stopped")
    for verb in ("cordon", "uncordon"):
        queued.kubectl(verb, found.host)
    # What came last has reached the bucket then: logs are sent once a minute.
    eventually(lambda: all(found.known(run) for run in ("stopped", "evicted", "two")), 150)
    yield found
    queued.kubectl("-n", SPACE, "delete", "jobsets", "--all", "--wait=false")


def test_its_own_exit_code_and_its_team_sees_it_too(drills: Drills) -> None:
    mine = drills.ann.report("why", "run/exits")
    assert (mine["cause"], mine["phase"]) == ("exited", "Failed")
    assert mine["sentence"] == "Its own program ended with exit code 7, in container run."
    assert "Its run exits has ended: failed" in mine["for_the_work"]
    assert "the audit log, which is for operators" in mine["not_looked_at"]
    shown = drills.ann.run("why", f"pod/{drills.pods['exits'][0]}").stdout
    assert "exit code 7" in shown
    assert "kubelet" in shown
    assert drills.operator("run/exits")["cause"] == "exited"


def test_a_hang_is_told_from_the_signal_that_ends_it(drills: Drills) -> None:
    found = drills.operator("run/hung")
    assert found["cause"] == "hang"
    assert "probe" in [one["cause"] for one in found["followed"]]
    assert drills.ann.report("why", "run/hung")["cause"] == "hang"


def test_what_is_gone_is_known_to_its_team_and_who_ended_it(drills: Drills) -> None:
    """By the recorder, which has read the audit log for them."""
    eventually(lambda: drills.told("stopped")["cause"] == "deleted-by-person", 180)
    found = drills.told("stopped")
    assert (found["decided_by"], found["phase"]) == ("ann", "gone")
    assert found["node"].endswith(".lab")
    assert found["sentence"].startswith("ann deleted its run, from 10.")
    drills.queued.kubectl("-n", SPACE, "delete", "jobset", "exits")
    eventually(lambda: drills.told("exits")["phase"] == "gone", 60)
    mine = drills.told("exits")
    assert mine["cause"] == "exited"
    assert [one["text"] for one in mine["evidence"] if one["code"] == "last-lines"] == ["done for\n"]


def test_a_report_counts_what_ended_and_people_see_their_own(drills: Drills, tmp_path: Path) -> None:
    picture, wanted = (
        tmp_path / "report.svg",
        {"exited", "hang", "peer-failed", "deleted-by-person", "drained-by-person"},
    )

    def report() -> dict[str, Any]:
        """With all that was done: each API machine brings its own log."""
        found = drills.operator("--report", "--days", "1", "--picture", str(picture))
        return found if {row["name"] for row in found["causes"]} >= wanted else {}

    every = eventually(report, 150)
    assert "What ended in main" in picture.read_text()
    mine = drills.ann.report("why", "--report")
    assert [row["name"] for row in mine["teams"]] == ["lab"]
    assert {row["name"] for row in every["teams"]} >= {"lab"}


def test_gpu_hours_are_those_of_runs_and_of_whom_launched_them(drills: Drills) -> None:
    found = drills.queued.cloud.report("usage", "--local", "--days", "1")
    (lab,) = [row for row in found["teams"] if row["name"] == "lab"]
    assert 0 < lab["lost_gpu_hours"] < lab["gpu_hours"]
    assert {row["name"] for row in found["runs"]} >= {"lab/exits", "lab/hung", "lab/two"}
    assert "ann" in {row["name"] for row in found["people"]}
    mine = drills.ann.report("usage", "--days", "1")
    assert [row["name"] for row in mine["teams"]] == ["lab"]
    assert "how much of them worked, which is for operators" in mine["not_looked_at"]
    assert "GPU hours held" in drills.ann.run("usage").stdout


def test_a_cluster_that_is_gone_has_answers_for_operators(drills: Drills) -> None:
    """Its stack has built nothing any more, and only the bucket is left."""
    stack = drills.queued.cloud.home / "local/test/state/.pulumi/stacks/landbridge/main.json"
    away = stack.with_suffix(".away")
    stack.rename(away)
    try:

        def gone() -> dict[str, Any]:
            told = drills.operator(f"pod/{drills.pods['exits'][0]}", "-n", SPACE)
            return told if told["phase"] == "gone" else {}

        found = eventually(gone, 60)
        assert drills.queued.cloud.run("why", "--local").stdout.count("exit code 7")
    finally:
        away.rename(stack)
    assert (found["cause"], found["phase"], found["node"]) == ("exited", "gone", drills.host)
    assert any("The cluster main is not up" in one for one in found["not_looked_at"])


def test_a_cluster_that_left_the_fleet_file_has_answers_by_its_name(drills: Drills, tmp_path: Path) -> None:
    """In a copy of the file that has no cluster any more."""
    cloud = drills.queued.cloud
    text = cloud.fleet.read_text()
    first, last = text.index("clusters:"), text.index("teams:")
    # No pool has the hosts any more, the file server neither.
    without = re.sub(r"\n +nfs: \S+", "", re.sub(r", queues: \{.*\}\}", "}", text[:first] + text[last:]))
    copy = Cloud(cloud.home, tmp_path / "fleet.yaml")
    copy.fleet.write_text(without)
    copy.plan()
    words = ("why", "--local", f"pod/{drills.pods['exits'][0]}", "-n", SPACE)
    found = copy.report(*words, "--cluster", "main")
    assert found["cause"] == "exited"
    assert "the cluster's API: fleet.yaml has main no more" in found["not_looked_at"]
    assert "has no cluster other. It has no clusters." in copy.run(*words, "--cluster", "other", code=2).stderr


def test_a_run_that_was_stopped_names_who_did_when_nothing_of_it_is_left(drills: Drills) -> None:
    (pod,) = drills.pods["stopped"]
    found = drills.operator(f"pod/{pod}", "-n", SPACE)
    assert (found["cause"], found["decided_by"], found["phase"]) == ("deleted-by-person", "ann", "gone")
    assert found["sentence"].startswith("ann deleted its run, from 10.")
    assert {"signalled", "collected"} & {one["cause"] for one in found["followed"]}
    assert "nobody makes another one" in found["for_the_work"]
    gone = drills.operator("run/stopped", "-n", SPACE)
    assert (gone["cause"], gone["decided_by"]) == ("deleted-by-person", "ann")


def test_an_eviction_names_who_asked_for_it_and_the_run_goes_on(drills: Drills) -> None:
    (pod,) = drills.pods["evicted"]
    found = drills.operator(f"pod/{pod}", "-n", SPACE)
    assert (found["cause"], found["decided_by"]) == ("drained-by-person", "landbridge-admin")
    assert "signalled" in [one["cause"] for one in found["followed"]]
    assert "Its run evicted goes on" in found["for_the_work"]


def test_a_node_s_story_has_who_cordoned_it(drills: Drills) -> None:
    found = drills.operator(f"node/{drills.host}")
    assert (found["cause"], found["decided_by"], found["phase"]) == ("cordoned", "landbridge-admin", "ready")
    assert found["for_the_work"] == "It is ready: what is there runs on."
    # Their pods are on it: what was done to it concerns them.
    assert drills.ann.report("why", f"node/{drills.host}")["decided_by"] == "landbridge-admin"


def test_the_host_that_ended_first_is_named(drills: Drills) -> None:
    causes = {pod: drills.operator(f"pod/{pod}", "-n", SPACE) for pod in drills.pods["two"]}
    assert sorted(one["cause"] for one in causes.values()) == ["exited", "peer-failed"], json.dumps(causes, indent=1)
    (first,) = [pod for pod, one in causes.items() if one["cause"] == "exited"]
    (other,) = [one for one in causes.values() if one["cause"] == "peer-failed"]
    assert first in other["sentence"]
    assert "exit code 3" in other["sentence"]


def test_what_waits_says_for_what(drills: Drills) -> None:
    """Of a volume that is not there, and of a run for which its team has too little."""
    claim = {"name": "keys", "secret": {"secretName": "not-there"}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "keyless", "namespace": SPACE, "labels": {"landbridge.dev/run": "none"}},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"landbridge.dev/place": "lab"},
            "tolerations": [{"operator": "Exists"}],
            "volumes": [claim],
            "containers": [{"name": "run", "image": "registry.example.com/train:1", "command": ["true"]}],
        },
    }
    drills.queued.make(pod)
    folder = drills.ann.home / "exits"
    drills.ann.run(
        "run", "--folder", str(folder), "--name", "large", "--gpus", "16", "--detach", "--", "sh", "train.sh"
    )
    found = eventually(lambda: (one := drills.operator("pod/keyless"))["cause"] == "mount" and one, 60)
    assert "not-there" in found["sentence"]
    waits = eventually(lambda: "insufficient" in (one := drills.ann.report("why", "run/large"))["sentence"] and one, 60)
    assert waits["cause"] == "queue-waits"
    drills.queued.kubectl("-n", SPACE, "delete", "pod", "keyless", "--wait=false")


def test_the_last_deaths_of_a_team_are_a_table(drills: Drills) -> None:
    assert "exit code" in " ".join(drills.ann.run("why").stdout.split())
    deaths = drills.ann.report("why")["deaths"]
    assert "exited" in {one["cause"] for one in deaths}


@pytest.mark.parametrize("name", ["pod/nobody", "run/nobody"])
def test_what_nobody_knows_is_said_with_what_to_do(drills: Drills, name: str) -> None:
    refused = " ".join(drills.ann.run("why", name, code=1).stderr.split())
    assert f"has no {name.replace('/', ' ')}" in refused
    assert "`landbridge why` without a name" in refused
    assert "--namespace NAME" in " ".join(drills.queued.cloud.run("why", name, "--local", code=2).stderr.split())
