"""Experiments in a whole cluster: a researcher's own folder and kubeconfig, real containers, real queues."""

import json
import re
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.components.pools.joining_client import eventually
from tests.support.cloud import ROOT

from .queued import SPACE, Queued
from .researcher import Researcher

pytestmark = [pytest.mark.cloud, pytest.mark.timeout(1800)]
GUIDE = ROOT / "docs/guide/experiments.md"
# Example → what its output has, among other lines, and how often.
EXAMPLES = {
    "servers": ("worker 0 ends at 1.00", 1),
    "mpi": ("of 16 on mpi-", 16),
    "redis": ("of 100", 1),
}
# As the first process of its container a shell ends by SIGTERM only if it says so.
WAITS = "trap exit TERM; sleep 600 & wait\n"
ONE_GPU = ("--gpus", "1", "--image", "registry.example.com/other:2")


@pytest.fixture(scope="module")
def ann(queued: Queued, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Researcher]:
    """What a failed test leaves behind holds GPUs that the next file wants."""
    yield Researcher(queued.cloud, "ann", tmp_path_factory.mktemp("ann"))
    queued.kubectl("-n", "team-lab", "delete", "jobsets", "--all", "--wait=false")


def job_sets(queued: Queued) -> list[str]:
    return [one["metadata"]["name"] for one in queued.get("-n", "team-lab", "jobsets")["items"]]


def state(ann: Researcher, name: str) -> dict[str, Any]:
    return next(one for one in ann.report("runs")["runs"] if one["name"] == name)


def phase(ann: Researcher, name: str) -> str:
    return str(state(ann, name)["phase"])


def test_two_hosts_add_up_and_the_same_code_does_so_again(ann: Researcher, queued: Queued) -> None:
    folder = ann.folder("sum")
    dry = ann.run("run", "--folder", str(folder), "--cluster", "any", "--dry-run").stdout
    assert "2 hosts with 8 GPUs" in dry
    assert "It begins at once" in dry
    assert job_sets(queued) == []
    done = ann.run("run", "--folder", str(folder), "--name", "first")
    assert done.stdout.splitlines()[-2:] == ["rank 0 of 2 has 1", "the sum is 3"]
    assert "first is done" in done.stderr
    assert "rank 1 of 2 has 2" in ann.run("logs", "first", "--rank", "1").stdout
    found = state(ann, "first")
    assert (found["phase"], found["place"], found["gpus"], found["usd"]) == ("done", "lab", 16, 0.0)
    assert found["gpu_hours"] > 0

    (folder / "sum.py").write_text("print('other code')")
    again = ann.run("runs", "again", "first")
    assert again.stdout.splitlines()[-1] == "the sum is 3"
    shown = ann.report("runs", "show", "first")
    assert {(one["rank"], one["phase"], one["exit_code"]) for one in shown["pods"]} == {
        (rank, "Succeeded", 0) for rank in (0, 1)
    }
    taken = ann.run("run", "--folder", str(folder), "--name", "first", code=2)
    assert "there is a run first already" in taken.stderr


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_example_ends_as_it_should(ann: Researcher, example: str) -> None:
    line, times = EXAMPLES[example]
    done = ann.run("run", "--folder", str(ann.folder(example)))
    assert sum(line in one for one in done.stdout.splitlines()) == times, done.stdout
    assert "GPUs" in done.stderr, "where it goes is told, and is no output of the run's"


def test_the_keys_of_a_run_are_owned_by_it(queued: Queued) -> None:
    owners = {
        one["metadata"]["name"]: [owner["kind"] for owner in one["metadata"].get("ownerReferences", [])]
        for one in queued.get("-n", "team-lab", "secrets")["items"]
        if one["metadata"]["name"].endswith("-keys")
    }
    assert len(owners) == 2, "of mpi and of redis"
    assert list(owners.values()) == [["JobSet"]] * 2


def test_the_exit_code_is_the_run_s_and_its_own_failures_count(ann: Researcher) -> None:
    folder = ann.home / "fails"
    folder.mkdir()
    (folder / "fail.sh").write_text("echo attempt $RUN_ATTEMPT of $PRICE; exit 7\n")
    words = ("--name", "fails", "--restarts", "1", "--env", "PRICE=$5", "--", "sh", "fail.sh")
    done = ann.run("run", "--folder", str(folder), *ONE_GPU, *words, code=7)
    assert done.stdout.splitlines()[-1] == "attempt 1 of $5"
    found = state(ann, "fails")
    assert (found["phase"], found["restarts"]) == ("failed", 1)


def test_a_lost_host_restarts_all_of_the_run_from_its_checkpoint_and_does_not_count(
    ann: Researcher, queued: Queued
) -> None:
    """Ranks of two generations never meet: each writes what attempt it is of."""
    folder = ann.home / "resumes"
    folder.mkdir()
    (folder / "train.sh").write_text(
        'echo "rank $RANK attempt $RUN_ATTEMPT" >> $CHECKPOINT_DIR/log\n[ $RUN_ATTEMPT = 0 ] && { trap exit TERM; sleep 600 & wait; }\ncat $CHECKPOINT_DIR/log\n'
    )
    words = ("--name", "resumes", "--checkpoints", "results", "--gpus", "16", "--detach", "--", "sh", "train.sh")
    ann.run("run", "--folder", str(folder), *words)
    eventually(lambda: phase(ann, "resumes") == "runs", 120)
    pods = queued.get("-n", "team-lab", "pods", "-l", "landbridge.dev/run=resumes")["items"]
    first = {one["metadata"]["uid"] for one in pods}
    name = pods[0]["metadata"]["name"]
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": "team-lab"},
        "deleteOptions": {"gracePeriodSeconds": 1},
    }
    path = f"/api/v1/namespaces/team-lab/pods/{name}/eviction"
    queued.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))
    done = ann.run("logs", "resumes", "-f")
    lines = done.stdout.splitlines()
    assert {line for line in lines if "attempt 0" in line} == {f"rank {rank} attempt 0" for rank in (0, 1)}
    assert "rank 0 attempt 1" in lines
    found = state(ann, "resumes")
    assert (found["phase"], found["restarts"]) == ("done", 0)
    pods = queued.get("-n", "team-lab", "pods", "-l", "landbridge.dev/run=resumes")["items"]
    assert first.isdisjoint(one["metadata"]["uid"] for one in pods)


def test_a_valkey_that_is_killed_restarts_its_run_as_a_whole(ann: Researcher) -> None:
    folder = ann.home / "loses"
    folder.mkdir()
    (folder / "train.sh").write_text(
        f"echo attempt $RUN_ATTEMPT\n[ $RUN_ATTEMPT = 0 ] && {{ {WAITS[:-1]}; }}\nexit 0\n"
    )
    words = ("--name", "loses", "--restarts", "1", "--redis", "--detach", "--", "sh", "train.sh")
    ann.run("run", "--folder", str(folder), *ONE_GPU, *words)
    eventually(lambda: phase(ann, "loses") == "runs", 120)
    assert ann.run("exec", "loses", "--part", "redis", "--", "sh", "-c", "kill 1; echo told").stdout == "told\n"
    done = ann.run("logs", "loses", "-f")
    assert done.stdout.splitlines()[-1] == "attempt 1"
    found = state(ann, "loses")
    assert (found["phase"], found["restarts"]) == ("done", 1)


def test_a_host_that_hangs_is_ended_and_its_log_says_why(ann: Researcher) -> None:
    folder = ann.home / "hangs"
    folder.mkdir()
    (folder / "train.sh").write_text(
        "[ $RUN_ATTEMPT = 0 ] && exec sleep 600\nfor i in 1 2 3 4 5; do touch $HEARTBEAT_FILE; sleep 2; done; echo over\n"
    )
    words = ("--name", "hangs", "--restarts", "1", "--hang-minutes", "0.1", "--", "sh", "train.sh")
    done = ann.run("run", "--folder", str(folder), *ONE_GPU, *words)
    assert "of 6 at most: this host hangs, and is ended" in done.stdout
    assert done.stdout.splitlines()[-1] == "over"
    assert state(ann, "hangs")["restarts"] == 1


def test_ctrl_c_and_lost_controllers_leave_a_run_alone_and_stop_ends_it(ann: Researcher, queued: Queued) -> None:
    folder = ann.home / "sleeps"
    folder.mkdir()
    (folder / "sleep.sh").write_text("echo begun; python3 -m http.server 18123 >/dev/null 2>&1 &\n" + WAITS)
    running = ann.start("run", "--folder", str(folder), *ONE_GPU, "--name", "sleeps", "--", "sh", "sleep.sh")
    assert running.stdout
    assert eventually(running.stdout.readline, 120) is not None
    eventually(lambda: phase(ann, "sleeps") == "runs", 120)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "sleeps goes on. `landbridge logs sleeps -f --local" in told
    (before,) = queued.get("-n", "team-lab", "pods", "-l", "landbridge.dev/run=sleeps")["items"]
    queued.kubectl("-n", SPACE, "delete", "pods", "--all", "--wait=false")
    eventually(lambda: queued.ready("kueue") and queued.ready("jobset"), 240)
    (after,) = queued.get("-n", "team-lab", "pods", "-l", "landbridge.dev/run=sleeps")["items"]
    assert (before["metadata"]["uid"], "Running") == (after["metadata"]["uid"], after["status"]["phase"])
    assert "begun" in ann.run("logs", "sleeps").stdout
    inside = ann.run("exec", "sleeps", "--", "sh", "-c", "echo $RUN_NAME in $PWD; exit 4", code=4)
    assert inside.stdout == "sleeps in /code\n"
    forwarding = ann.start("forward", "sleeps", "18124:18123")
    assert forwarding.stdout
    assert "18124 -> 18123" in forwarding.stdout.readline()
    fetch = "from urllib.request import urlopen; print(urlopen('http://127.0.0.1:18124/sleep.sh').read().decode())"
    assert "echo begun" in queued.cloud.inside(sys.executable, "-c", fetch)
    forwarding.terminate()
    forwarding.communicate(timeout=60)
    ann.run("stop", "sleeps")
    eventually(lambda: "sleeps" not in job_sets(queued), 120)
    gone = ann.run("logs", "sleeps", code=2).stderr
    assert "has no run sleeps in main" in " ".join(gone.split())
    assert ann.report("runs", "show", "sleeps")["state"] is None


def test_one_that_takes_too_long_is_stopped(ann: Researcher) -> None:
    folder = ann.home / "sleeps"
    words = ("--name", "bounded", "--max-hours", "0.002", "--", "sh", "sleep.sh")
    done = ann.run("run", "--folder", str(folder), *ONE_GPU, *words, code=1)
    assert "bounded is stopped: " in done.stderr
    assert phase(ann, "bounded") == "stopped"
    ann.run("stop", "bounded")


def test_from_python_a_sweep_is_a_loop(ann: Researcher) -> None:
    """The guide's own lines, in a folder whose program says what it was told."""
    (text,) = re.findall(r"^```\n(from landbridge.experiments .*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    folder = ann.home / "sweep"
    folder.mkdir()
    (folder / "train.py").write_text("import sys; print(sys.argv[1:])\n")
    before = f"""
import os
from functools import partial
from landbridge import experiments
experiments.launch = partial(experiments.launch, fleet={str(ann.cloud.fleet)!r}, local=True)
os.chdir({str(folder)!r})
"""
    names = ann.python(before + text.replace('"python"', '"python3"')).split()
    said = [ann.run("logs", name, "-f").stdout for name in names]
    assert said == [f"['--lr', '{rate}']\n" for rate in (1e-3, 3e-4, 1e-4)]


def test_a_secret_of_the_team_s_namespace_stands_in_no_run(ann: Researcher) -> None:
    made = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "words"}, "stringData": {"WORD_KEY": "sesame"}}
    assert "created" in ann.kubectl("create", "-f", "-", stdin=json.dumps(made))
    folder = ann.home / "secret"
    folder.mkdir()
    (folder / "train.sh").write_text("echo word $WORD_KEY\n")
    words = ("--name", "secret", "--secret", "words", "--", "sh", "train.sh")
    assert ann.run("run", "--folder", str(folder), *ONE_GPU, *words).stdout == "word sesame\n"
    assert "sesame" not in json.dumps(ann.report("runs", "show", "secret"))


BAD = {
    "no GPUs": (("--", "true"), "gpus is missing"),
    "no whole hosts": (("--gpus", "12", "--", "true"), "don't make whole hosts of 8. Ask for 8 or 16"),
    "over what the team may have": (("--gpus", "24", "--", "true"), "never: it asks for 24 GPUs, and lab may hold 16"),
    "a name that is none": (("--gpus", "1", "--name", "Not A Name", "--", "true"), "name is 'Not A Name'"),
    "an unknown template": (("--gpus", "1", "--template", "torch", "--", "true"), "there is no template torch"),
    "an unknown share": (("--gpus", "1", "--checkpoints", "data", "--", "true"), "the fleet has no share data"),
    "an image that is none": (("--gpus", "1", "--image", "Train It", "--", "true"), "is no image's name"),
    "a secret in the open": (("--gpus", "1", "--env", "API_KEY=x", "--", "true"), "API_KEY looks like a secret"),
    "a Secret that is not there": (("--gpus", "1", "--secret", "none", "--", "true"), "there is no Secret none"),
    "another team": (("--gpus", "1", "--team", "ops", "--", "true"), "ann is of team lab, and runs in no other"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_a_mistake_is_told_before_anything_is_created(ann: Researcher, queued: Queued, mistake: str) -> None:
    words, told = BAD[mistake]
    before = job_sets(queued)
    done = ann.run("run", "--folder", str(ann.folder("servers")), "--file", str(empty(ann)), *words, code=2)
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert job_sets(queued) == before


def empty(ann: Researcher) -> Any:
    """A run.yaml that says nothing of GPUs and command."""
    file = ann.home / "empty.yaml"
    file.write_text("restarts: 0\n")
    return file


def test_nobody_s_run_can_be_stopped_by_another_team(ann: Researcher, queued: Queued) -> None:
    assert queued.cloud.run("runs", "--local", "--team", "lab", "--all").stdout
    for verb in ("get", "delete"):
        denied = ann.kubectl("auth", "can-i", verb, "jobsets.jobset.x-k8s.io", "-n", "team-ops", code=1)
        assert denied.strip() == "no"


def test_who_waits_is_told_before_whom(ann: Researcher) -> None:
    folder = ann.home / "sleeps"
    first = ann.report("run", "--folder", str(folder), "--gpus", "16", "--", "sh", "sleep.sh")["name"]
    eventually(lambda: ann.report("queue")["teams"][0]["holds"] == 16, 60)
    second = ann.report("run", "--folder", str(folder), "--gpus", "8", "--", "sh", "sleep.sh")
    assert second["waits"] == "lab holds 16 GPUs of the 16 that it may hold"
    queue = ann.report("queue")
    waiting = next(run for run in queue["runs"] if run["name"] == second["name"])
    assert waiting["why"] == "lab holds 16 GPUs of 16: it owns 16 and may borrow none"
    ann.run("stop", first)
    eventually(lambda: phase(ann, second["name"]) in ("starts", "runs"), 180)
    ann.run("stop", second["name"])
