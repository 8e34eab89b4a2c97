"""What ends pods: each fault makes its own, ends them in one way, and knows what the true cause is.

A fault gives the pods that it means, once they have ended. `Fault.causes` are the right answers, most have one.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from .world import TEAM, WAITS, World, job, pod, until

Pods = list[tuple[str, str]]
ENDED = {"Succeeded", "Failed", "gone"}
START_SECONDS, END_SECONDS = 120.0, 120.0


class Fault(NamedTuple):
    """`ends` gets the world, the name of what it makes, and a node of the place."""

    causes: frozenset[str]
    ends: Callable[[World, str, str], Pods]


def by_itself(name: str, program: str = WAITS, **more: Any) -> Fault:
    def ends(world: World, this: str, node: str) -> Pods:
        world.make_all([pod(this, node, program, **more)])
        world.await_phase([(TEAM, this)], {"Failed", "Succeeded"}, START_SECONDS)
        return [(TEAM, this)]

    return Fault(frozenset({name}), ends)


def running(world: World, this: str, node: str, **more: Any) -> Pods:
    """One that waits to be ended."""
    space = more.get("space", TEAM)
    world.make_all([pod(this, node, **more)])
    world.await_phase([(space, this)], {"Running"}, START_SECONDS)
    return [(space, this)]


def deleted(world: World, this: str, node: str) -> Pods:
    found = running(world, this, node)
    world.ann.kubectl("delete", "pod", this, "--wait=false")
    world.await_phase(found, ENDED, END_SECONDS)
    return found


def evicted(world: World, this: str, node: str) -> Pods:
    found = running(world, this, node)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": this, "namespace": TEAM}}
    path = f"/api/v1/namespaces/{TEAM}/pods/{this}/eviction"
    world.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))
    world.await_phase(found, ENDED, END_SECONDS)
    return found


def of(world: World, this: str) -> Pods:
    """What the controllers made of `this`."""
    return [one for one in sorted(world.phases()) if one[0] == TEAM and one[1].startswith(f"{this}-")]


def by_job(world: World, this: str, template: dict[str, Any], number: int = 1, **more: Any) -> Pods:
    world.make_all([job(this, template, parallelism=number, completions=number, **more)])
    found = until(lambda: len(of(world, this)) == number and of(world, this), START_SECONDS, f"pods of {this}")
    world.await_phase(found, {"Running", *ENDED}, START_SECONDS)
    return list(found)


def job_deadline(world: World, this: str, node: str) -> Pods:
    found = by_job(world, this, pod(this, node), activeDeadlineSeconds=10)
    world.await_phase(found, ENDED, END_SECONDS)
    return found


def job_suspended(world: World, this: str, node: str) -> Pods:
    found = by_job(world, this, pod(this, node))
    world.kubectl("-n", TEAM, "patch", "job", this, "-p", '{"spec":{"suspend":true}}')
    world.await_phase(found, ENDED, END_SECONDS)
    return found


def job_deleted(world: World, this: str, node: str) -> Pods:
    found = by_job(world, this, pod(this, node))
    world.ann.kubectl("delete", "job", this, "--wait=false")
    world.await_phase(found, ENDED, END_SECONDS)
    return found


def job_gave_up(world: World, this: str, node: str) -> Pods:
    """The second pod is ended because the first one failed."""
    program = f"[ $JOB_COMPLETION_INDEX = 0 ] && {{ sleep 4; exit 5; }}\n{WAITS}"
    found = by_job(world, this, pod(this, node, program), 2, completionMode="Indexed")
    world.await_phase(found, ENDED, END_SECONDS)
    return [one for one in found if "-1-" in one[1]]


def deployment(this: str, node: str) -> dict[str, Any]:
    template = pod(this, node)
    template["spec"]["restartPolicy"] = "Always"
    labels = {"day": this}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]},
    }
    meta = {"name": this, "namespace": TEAM}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


def scaled(world: World, this: str, node: str) -> Pods:
    world.make_all([deployment(this, node)])
    found = until(lambda: len(of(world, this)) == 2 and of(world, this), START_SECONDS, f"pods of {this}")
    world.await_phase(found, {"Running"}, START_SECONDS)
    world.kubectl("-n", TEAM, "scale", "deployment", this, "--replicas=0")
    world.await_phase(found, ENDED, END_SECONDS)
    world.kubectl("-n", TEAM, "delete", "deployment", this, "--wait=false")
    return list(found)


def namespace(world: World, this: str, node: str) -> Pods:
    world.make_all([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": this}}])
    until(lambda: world.get("-n", this, "serviceaccounts")["items"], 60, f"the account of {this}")
    found = running(world, this, node, space=this)
    world.kubectl("delete", "namespace", this, "--wait=false")
    world.await_phase(found, ENDED, END_SECONDS)
    return found


def preempted(world: World, this: str, node: str) -> Pods:
    """All GPUs of a node are taken, and one who comes first wants one."""
    gpus = {"limits": {"nvidia.com/gpu": "8"}}
    found = running(world, this, node, resources=gpus, priorityClassName="day-low")
    first = f"{this}-first"
    world.make_all([pod(first, node, "sleep 3", resources=gpus, priorityClassName="day-high")])
    world.await_phase(found, ENDED, END_SECONDS)
    world.await_phase([(TEAM, first)], {"Succeeded"}, START_SECONDS)
    return found


def launched(world: World, this: str, program: str, *words: str) -> Pods:
    """A run, by its researcher. One place is as good as another."""
    folder = world.ann.home / this
    folder.mkdir()
    (folder / "train.sh").write_text(program + "\n")
    common = ("run", "--folder", str(folder), "--name", this, "--detach")
    world.ann.run(*common, *words, "--", "sh", "train.sh")
    found = until(lambda: of(world, this), START_SECONDS, f"pods of {this}")
    world.await_phase(found, {"Running", *ENDED}, START_SECONDS)
    return list(of(world, this))


def run_ended(program: str, *words: str, pods: str = "") -> Callable[[World, str, str], Pods]:
    """By itself; `pods` is in the names of those that are meant."""

    def ends(world: World, this: str, _: str) -> Pods:
        found = launched(world, this, program, *words)
        world.await_phase(found, ENDED, END_SECONDS)
        return [one for one in found if pods in one[1]]

    return ends


def run_stopped(world: World, this: str, _: str) -> Pods:
    found = launched(world, this, WAITS, "--gpus", "1")
    world.ann.run("stop", this)
    world.await_phase(found, ENDED, END_SECONDS)
    return found


LIVELESS = {"exec": {"command": ["false"]}, "periodSeconds": 2, "failureThreshold": 2}
INIT = [{"name": "before", "image": "registry.example.com/train:1", "command": ["sh", "-c", "exit 3"]}]
TWO = ("--restarts", "0", "--gpus", "2", "--gpus-per-host", "1")
FAULTS = {
    "exit-code": by_itself("exited", "echo told; sleep 2; exit 7"),
    "crash": by_itself("exited", "sleep 2; sh -c 'kill -SEGV $$'"),
    "done": by_itself("done", "sleep 1"),
    "deadline": by_itself("deadline", activeDeadlineSeconds=6),
    "probe": by_itself("probe", livenessProbe=LIVELESS),
    "init": by_itself("init-failed", initContainers=INIT),
    "deleted": Fault(frozenset({"deleted-by-person"}), deleted),
    "evicted": Fault(frozenset({"drained-by-person"}), evicted),
    "job-deadline": Fault(frozenset({"deadline"}), job_deadline),
    "job-suspended": Fault(frozenset({"suspended"}), job_suspended),
    "job-deleted": Fault(frozenset({"deleted-by-person"}), job_deleted),
    "job-gave-up": Fault(frozenset({"job-gave-up", "peer-failed"}), job_gave_up),
    "scaled": Fault(frozenset({"scaled"}), scaled),
    "namespace": Fault(frozenset({"namespace-deleted"}), namespace),
    "preempted": Fault(frozenset({"preempted"}), preempted),
    "run-exits": Fault(frozenset({"exited"}), run_ended("sleep 1; exit 9", "--restarts", "0", "--gpus", "1")),
    "run-hangs": Fault(
        frozenset({"hang"}), run_ended("exec sleep 600", "--restarts", "0", "--hang-minutes", "0.1", "--gpus", "1")
    ),
    "run-peer": Fault(
        frozenset({"peer-failed"}),
        run_ended(f"[ $RANK = 1 ] && {{ sleep 3; exit 3; }}\n{WAITS}", *TWO, pods="-0-0-"),
    ),
    "run-over": Fault(frozenset({"max-hours"}), run_ended(WAITS, "--max-hours", "0.005", "--gpus", "1")),
    "run-stopped": Fault(frozenset({"deleted-by-person"}), run_stopped),
}
