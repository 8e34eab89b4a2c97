"""The drill that loses all machines of a control plane and all that their disks hold."""

import base64
import hashlib
import json
import secrets
import time
from typing import NamedTuple

from components.control_plane.disks import LINKS, mount
from components.control_plane.disks import disk as disk_of
from components.control_plane.rings import MAIN, RINGS
from landbridge.etcd import store as stores
from landbridge.etcd.backup import backup
from landbridge.etcd.machine_steps import side_by_side

from .bench import Bench, DrillError, Outcome, killing
from .events import event
from .restores import back, restore

# As on a disk that has just been made: no file system that blkid knows, and zeros where it looks for one.
BLANK = "blkdiscard --force --zeroout --length 1MiB"
ENCRYPTED = b"k8s:enc:secretbox:v1:key-"
DIGEST = """\
import base64, hashlib, json, sys
told = json.load(open("/etc/kubernetes/encryption.json"))
keys = [k for r in told["resources"] for p in r["providers"] for k in p.get("secretbox", {}).get("keys", ())]
print(hashlib.sha256(base64.b64decode(next(k["secret"] for k in keys if k["name"] == sys.argv[1]))).hexdigest())
"""


class TestSecret(NamedTuple):
    """A Secret of the drill's own."""

    name: str
    word: str


def total_loss(bench: Bench) -> Outcome:
    """Every machine and every disk of both rings is lost: main goes back to the last snapshot, events begin anew."""
    secret = seal(bench)
    store = bench.session.bucket
    made = backup(bench.session.remote, bench.info, store, "main")
    bench.tell(f"snapshot at revision {made.revision}; the writes go on")
    bench.writes(30)
    # Were a timer to take another one in between, that would be the last.
    last = stores.newest(store, bench.info.name, "main")
    bench.mark.add(restore={"source": last.key})
    begun = time.monotonic()
    lose(bench)
    blank(bench, secret)
    done = restore(bench, last.key, None)
    if done["revision"] != stores.revision(last.key):
        raise DrillError(f"it went back to revision {done['revision']}, and the last snapshot is {last.key}")
    facts = {"snapshot": last.key, "age_seconds": done["age_seconds"], "machines": len(bench.info.machines)}
    outcome = back(bench, done, begun, facts)
    bench.healthy("events")
    event(bench)
    bench.tell("etcd events began anew, empty: events live for an hour and are in no snapshot of main")
    outcome.facts["encrypted_by"] = opened(bench, secret)
    outcome.facts["recovery_point_minutes"] = due(bench)
    return outcome


def due(bench: Bench) -> int:
    """How much a next loss would cost at most. Raises DrillError where no timer takes snapshots any more."""
    timer = "etcd-backup-main.timer"
    if idle := [machine for machine in bench.etcd if not bench.steps.active(machine, timer)]:
        raise DrillError(f"{timer} does not run on {', '.join(idle)}")
    return MAIN.backup_minutes


def lose(bench: Bench) -> None:
    """The disks of both rings on all etcd machines, then every machine's instance; waits for the successors' boot."""
    side_by_side(lambda machine: wipe(bench, machine), bench.etcd)
    bench.tell(f"blank: the disks of both rings of {', '.join(bench.etcd)}")
    old = {name: bench.instance(name) for name in bench.info.machines}
    bench.session.cloud.end(bench.info, list(old))
    bench.tell(f"terminated: {', '.join(f'{instance} ({name})' for name, instance in old.items())}")
    for name, instance in old.items():
        bench.successor(name, instance)
    bench.boots()


def wipe(bench: Bench, machine: str) -> None:
    lines = []
    for ring in RINGS:
        unit = f"etcd-{ring.name}.service"
        lines.append(f"{killing(ring.name)} || true; systemctl stop {unit}")
        lines.append(f"systemctl stop {mount(ring)}; {BLANK} $(readlink -f {LINKS}/{disk_of(ring)})")
    bench.steps.sh(machine, "losing its disks", "\n".join(lines))


def blank(bench: Bench, secret: TestSecret) -> None:
    """That nothing is left. Machines make file systems, and members begin an empty ring. Raises DrillError."""
    bench.healthy("main")
    found = bench.ctl.call(bench.etcd[0], "main", "get", where(bench, secret), "--keys-only")
    if found.get("kvs"):
        raise DrillError(f"{where(bench, secret)} is there still: the disks were not lost")
    bench.tell("all machines are back; etcd main is healthy and empty")


def seal(bench: Bench) -> TestSecret:
    """Writes a Secret. Raises DrillError unless it lies encrypted in etcd."""
    secret = TestSecret("landbridge-drill", secrets.token_hex(32))
    body = {"metadata": {"name": secret.name}, "stringData": {"word": secret.word}}
    bench.writer.ask("POST", f"/api/v1/namespaces/{bench.writer.namespace}/secrets", body)
    key_name(bench, secret)
    return secret


def opened(bench: Bench, secret: TestSecret) -> str:
    """The name of the key under which the Secret lies in etcd, after all that must hold of it. Raises DrillError."""
    found = bench.writer.ask("GET", f"/api/v1/namespaces/{bench.writer.namespace}/secrets/{secret.name}")
    if base64.b64decode(found["data"]["word"]).decode() != secret.word:
        raise DrillError("the Secret that was written before is another now")
    name = key_name(bench, secret)
    used = {bench.steps.do(one.name, "its key", "python3", "-c", DIGEST, name).strip() for one in bench.info.api}
    recovered = recovery(bench, name.removeprefix("key-"))
    if len(used) != 1 or not used & recovered:
        raise DrillError(f"no secret {bench.info.prefix}/recovery-… holds {name}, which the API servers decrypt with")
    bench.tell(f"a Secret of before is readable, encrypted in etcd by {name}, which lies apart in the recovery secret")
    return name


def key_name(bench: Bench, secret: TestSecret) -> str:
    """Which key encrypts the Secret in etcd. Raises DrillError when none does."""
    response = bench.ctl.call(bench.etcd[0], "main", "get", where(bench, secret))
    raw = base64.b64decode(response["kvs"][0]["value"])
    if not raw.startswith(ENCRYPTED) or secret.word.encode() in raw or base64.b64encode(secret.word.encode()) in raw:
        raise DrillError(f"{where(bench, secret)} is not encrypted in etcd")
    return raw.split(b":", 5)[4].decode()


def where(bench: Bench, secret: TestSecret) -> str:
    return f"/registry/secrets/{bench.writer.namespace}/{secret.name}"


def recovery(bench: Bench, generation: str) -> set[str]:
    """Digests of the encryption key in the recovery secrets: of this life of the cluster, and of earlier ones."""
    cloud = bench.session.cloud
    names = cloud.secrets(f"{bench.info.prefix}/recovery-")
    encryption = [json.loads(cloud.secret(name))["encryption"] for name in names]
    return {hashlib.sha256(base64.b64decode(one[generation])).hexdigest() for one in encryption if generation in one}
