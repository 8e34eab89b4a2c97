"""A run as a JobSet: its parts, what each host is told, and what happens when one fails. Pure.

Restarts are always of the whole run, by JobSet: ranks of two generations never meet. A host that is lost, drained or
preempted does not count, an exit code of the run's own does.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from components.addons import jobset, queues
from components.addons.gpu import tolerated
from components.addons.images import SERVICES
from components.addons.manifests import MANAGED, nodes
from components.pools import labels
from fleet import fitness, team_storage

from . import checkpoint_signal, heartbeat, keys, notice, tensorboard, valkey, volumes
from .hosts import Hosts
from .spec import Run
from .templates import Part, Template, filled

Manifest = dict[str, Any]
RUN, PART, RECORD, PERSON = (f"{labels.DOMAIN}/{what}" for what in ("run", "part", "record", "person"))
API = f"{jobset.GROUP}/{jobset.VERSION}"
CODE = "code"
RANK = "batch.kubernetes.io/job-completion-index"
RANK_VARIABLE = {"name": "RUN_RANK", "valueFrom": {"fieldRef": {"fieldPath": f"metadata.annotations['{RANK}']"}}}
ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
MAX_SECONDS = f"{queues.GROUP}/max-exec-time-seconds"
# One on each host: hosts of a run that have an address together get others by their number.
PORT = 29400
# What has ended is listed for so long.
LISTED_SECONDS = 7 * 24 * 3600
# Between the word that a run ends and its end: it may write a checkpoint.
GRACE_SECONDS = 60
LOST = [{"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
# The run begins once more, elsewhere: nothing new comes to that host.
UNFIT = {
    "action": "FailJob",
    "onExitCodes": {"containerName": CODE, "operator": "In", "values": [fitness.EXIT_CODE]},
}
# Pods with a local disk are ended otherwise, when a machine is little used.
STAYS = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}


class Launched(NamedTuple):
    """A run with all that is decided for it. `places` are those that it may go to, `code` is its tree's address, and
    `record` what it can be repeated from.
    """

    run: Run
    name: str
    team: str
    person: str
    image: str
    hosts: Hosts
    template: Template
    places: tuple[str, ...]
    code: str
    record: Mapping[str, Any]


def manifest(one: Launched) -> Manifest:
    run = one.run
    marks = {queues.QUEUE_LABEL: queues.QUEUE, queues.PRIORITY_LABEL: run.priority}
    if run.max_hours is not None:
        marks[MAX_SECONDS] = str(max(1, round(run.max_hours * 3600)))
    ends = [one.template.ends] if one.template.ends else list(one.template.parts)
    spec = {
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True, "subdomain": one.name},
        "replicatedJobs": [_part(one, name, part) for name, part in _parts(one).items()],
        "failurePolicy": {
            "maxRestarts": run.restarts,
            "rules": [
                {
                    "name": "lost",
                    "action": "RestartJobSetAndIgnoreMaxRestarts",
                    "onJobFailureReasons": ["PodFailurePolicy"],
                }
            ],
        },
        "ttlSecondsAfterFinished": LISTED_SECONDS,
        # What serves the others ends with them.
        "successPolicy": {"operator": "All", "targetReplicatedJobs": ends},
    }
    meta = {
        "name": one.name,
        "namespace": team_storage.namespace(one.team),
        "labels": {**MANAGED, RUN: one.name, **marks},
        "annotations": {PERSON: one.person, RECORD: json.dumps(one.record, sort_keys=True)},
    }
    return {"apiVersion": API, "kind": "JobSet", "metadata": meta, "spec": spec}


def _parts(one: Launched) -> dict[str, Part]:
    """Those of its template, and its Valkey."""
    return {**one.template.parts, **({valkey.NAME: valkey.part()} if one.run.redis else {})}


def number(one: Launched, part: Part) -> int:
    return one.hosts.number if part.hosts == "all" else part.hosts


def names(one: Launched) -> dict[str, list[str]]:
    """Hosts by part, as they find each other."""
    return {
        name: [f"{one.name}-{name}-0-{rank}.{one.name}" for rank in range(number(one, part))]
        for name, part in _parts(one).items()
    }


def _part(one: Launched, name: str, part: Part) -> Manifest:
    hosts = number(one, part)
    told = {checkpoint_signal.ANNOTATION: one.run.checkpoint_signal} if one.run.checkpoint_signal else {}
    job = {
        "parallelism": hosts,
        "completions": hosts,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "podFailurePolicy": {"rules": [*LOST, *([] if name == valkey.NAME else [UNFIT])]},
        "template": {
            "metadata": {
                "labels": {**MANAGED, RUN: one.name, PART: name, PERSON: one.person},
                "annotations": {**STAYS, **told},
            },
            "spec": _pod(one, name, part),
        },
    }
    return {"name": name, "replicas": 1, "template": {"spec": job}}


def _pod(one: Launched, name: str, part: Part) -> Manifest:
    variables = [*_variables(one, name, part)]
    mounted = volumes.mounted(one.run, one.name, part, ssh=one.template.ssh)
    beats, told = (one.run.hang_minutes, one.run.checkpoint_signal) if part.gpus == "each" else (None, None)
    pictures = [
        tensorboard.sidecar(
            one.image, [RANK_VARIABLE, *_own(one)], folder, [volume.mount for volume in mounted if volume.has(folder)]
        )
        for folder in [volumes.pictures(one.run, one.name)]
        if one.run.tensorboard and part.gpus == "each"
    ]
    redis = name == valkey.NAME
    secrets = [{"secretRef": {"name": secret}} for secret in one.run.secrets]
    main = {
        "name": "run",
        "image": valkey.IMAGE if redis else one.image,
        "command": list(_words(one, part)),
        "env": variables,
        **({"envFrom": secrets} if secrets and not redis else {}),
        "workingDir": "/" if redis else volumes.CODE,
        "resources": _resources(one, part),
        **({"livenessProbe": heartbeat.probe(beats)} if beats else {}),
        **({"readinessProbe": checkpoint_signal.probe(told)} if told else {}),
        **({} if redis else {"volumeMounts": [volume.mount for volume in mounted]}),
    }
    return {
        "restartPolicy": "Never",
        "serviceAccountName": team_storage.ACCOUNT,
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        **({"affinity": nodes(labels.PLACE, "In", *one.places)} if part.gpus == "each" else _beside(one)),
        **({} if redis else {"initContainers": [_fetch(one, mounted), *pictures]}),
        **({} if redis else {"volumes": [volume.volume for volume in mounted]}),
        "containers": [main],
        **({"tolerations": shorter} if (shorter := notice.tolerations(one.run.max_hours)) else {}),
    }


def _words(one: Launched, part: Part) -> Iterator[str]:
    hosts = _filling(one)
    yield from (filled(word, hosts) for word in part.before)
    yield from (filled(word, hosts) for word in part.command) if part.command else map(_literal, one.run.command)


def _literal(text: str) -> str:
    """To Kubernetes $(NAME) is a variable, and $$ a dollar: a shell's own stay as they are."""
    return text.replace("$", "$$")


def _filling(one: Launched) -> dict[str, str]:
    found = names(one)
    lists = {part: ",".join(hosts) for part, hosts in found.items()}
    ports = {f"{part}_json": json.dumps([f"{host}:{PORT}" for host in hosts]) for part, hosts in found.items()}
    return {**lists, **ports, "slots": str(one.hosts.gpus)}


def _variables(one: Launched, name: str, part: Part) -> Iterator[Manifest]:
    """A variable that stands earlier may be named by a later one."""
    hosts = names(one)
    plain = {
        "RUN_NAME": one.name,
        "RUN_PART": name,
        "RUN_HOSTS": str(number(one, part)),
        "RUN_GPUS_PER_HOST": str(one.hosts.gpus if part.gpus == "each" else 0),
        "RUN_HOST_NAMES": ",".join(hosts[name]),
        "MASTER_ADDR": hosts[one.template.main][0],
        "MASTER_PORT": str(PORT),
        "WORLD_SIZE": str(number(one, part)),
    }
    if one.template.ssh:
        plain |= {"SSH_FOLDER": keys.FOLDER, "SSH_PORT": str(keys.PORT)}
    if one.run.redis:
        yield {"name": "REDIS_PASSWORD", "valueFrom": keys.password(one.name)}
        plain["REDIS_URL"] = f"redis://:$(REDIS_PASSWORD)@{hosts[valkey.NAME][0]}:{valkey.PORT}"
    if one.run.checkpoints:
        plain["CHECKPOINT_DIR"] = volumes.checkpoints(one.name)
    if part.gpus != "none":
        plain[notice.VARIABLE] = notice.FILE
    if one.run.hang_minutes:
        plain[heartbeat.VARIABLE] = heartbeat.FILE
    if one.run.tensorboard:
        plain[tensorboard.VARIABLE] = volumes.pictures(one.run, one.name)
    yield from (RANK_VARIABLE, {**RANK_VARIABLE, "name": "RANK"})
    attempt = {"fieldRef": {"fieldPath": f"metadata.labels['{ATTEMPT}']"}}
    yield {"name": "RUN_ATTEMPT", "valueFrom": attempt}
    yield from ({"name": name, "value": value} for name, value in plain.items())
    filling = _filling(one)
    theirs = {**one.template.environment, **part.environment}
    yield from ({"name": name, "value": filled(text, filling)} for name, text in theirs.items())
    yield from _own(one)


def _own(one: Launched) -> list[Manifest]:
    return [{"name": name, "value": _literal(text)} for name, text in one.run.environment.items()]


def _resources(one: Launched, part: Part) -> Manifest:
    run, gpus = one.run, one.hosts.gpus
    asked = {"cpu": str(run.cpus)} if run.cpus and part.gpus == "each" else {}
    bound = {"memory": f"{run.memory_gib}Gi"} if run.memory_gib and part.gpus == "each" else {}
    limits = {**bound, **({labels.GPU_RESOURCE: str(gpus)} if part.gpus == "each" else {})}
    return {**({"requests": asked} if asked else {}), **({"limits": limits} if limits else {})}


def _beside(one: Launched) -> Manifest:
    """A part without GPUs has no place of its own in the queue: it goes where the others are, whatever machine."""
    chosen = {"matchLabels": {RUN: one.name, PART: one.template.main}}
    near = {"labelSelector": chosen, "topologyKey": labels.PLACE}
    return {
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}},
        "tolerations": [tolerated(labels.GPU_TAINT)],
    }


def _fetch(one: Launched, mounted: Sequence[volumes.Mounted]) -> Manifest:
    """By the team's own identity, into a folder that the run itself can't write; and not before all hosts are there."""
    made = ["--cache", volumes.CACHE, "--make", volumes.checkpoints(one.name)] if one.run.checkpoints else []
    waits = [host for part in one.template.parts for host in names(one)[part]]
    own = [volume for volume in mounted if volume.path in (volumes.CODE, volumes.SHARE)]
    look = ["--look-at", "$(HOST_ADDRESS)"]
    return {
        "name": CODE,
        "image": str(SERVICES),
        # Why there is no code stands in the pod's status then.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "imagePullPolicy": "Never",
        "command": ["python3", "-m", "services.code"],
        "args": [*("--tree", one.code, "--into", volumes.CODE, "--wait-for", ",".join(waits)), *made, *look],
        "env": [{"name": "HOST_ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}}],
        "volumeMounts": [volume._replace(read_only=False).mount for volume in own],
    }
