"""The example cluster's bundles on local machines: real etcd and Kubernetes, on the planned addresses and names."""

import base64
import gzip
import json
import re
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from components.control_plane import machine_metrics
from components.control_plane.pki import CLIENT, Certificate
from tests.components.control_plane import metrics
from tests.components.control_plane.bed import AWS, BIN, Bed, eventually, make
from tests.support import pki

HELD = "main-etcd-3"
PORTS = {"main": 2379, "events": 2381}
# To whom somebody without a token is `system:anonymous`, who has no rights.
NAMELESS = {"controllers", "scheduler"}


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    made = make(tmp_path_factory.mktemp("cluster"), held=HELD)
    try:
        made.ready()
        made.whole()
        yield made
    finally:
        made.host.close()


def objects(bed: Bed, prefix: str) -> list[str]:
    return sorted(
        str(path.relative_to(bed.bucket))
        for path in (bed.bucket / prefix).rglob("*")
        if path.is_file() and path.suffix != ".meta"
    )


def leader(bed: Bed, ring: str) -> str:
    told = json.loads(bed.etcdctl(ring, "endpoint status --cluster --write-out=json"))
    lead = next(one for one in told if one["Status"]["leader"] == one["Status"]["header"]["member_id"])
    return str(lead["Endpoint"].removeprefix("https://").partition(".")[0])


def test_every_unit_runs_and_none_had_to_be_started_twice(bed: Bed) -> None:
    """So every flag and every setting is one that the real program takes."""
    for name, box in bed.boxes.items():
        wanted = {
            "etcd": (
                "etcd-main.service",
                "etcd-events.service",
                "landbridge-disks.service",
                "etcd-backup-main.timer",
                "landbridge-machine-metrics.service",
            ),
            "api": (
                "kube-apiserver.service",
                "kube-controller-manager.service",
                "kube-scheduler.service",
                "landbridge-audit.service",
                "landbridge-joining.service",
                "landbridge-joining-webhook.service",
                "landbridge-etcd-metrics.service",
            ),
        }["etcd" if "etcd" in name else "api"]
        eventually(lambda box=box, units=wanted: box.ctl("is-active", *units).out.split() == ["active"] * len(units))
        for unit in wanted[:3]:
            assert "estart" not in box.ctl("status", unit).out, box.log(unit)[-2000:]


def test_every_api_server_tells_the_balancer_that_it_is_ready_and_nothing_to_strangers(bed: Bed) -> None:
    ask = "curl --silent --cacert /etc/kubernetes/pki/ca.crt https://127.0.0.1:6443"
    assert bed["main-api-2"].sh(f"{ask}/readyz").out == "ok"
    assert json.loads(bed["main-api-2"].sh(f"{ask}/api").out)["code"] == 401


def test_machines_find_and_attach_their_own_disks_and_wait_for_one_that_is_still_held(bed: Bed) -> None:
    volumes = bed.host(AWS + "result = aws.STATE.volumes")
    assert {(v["tags"]["landbridge:machine"], v["holder"]) for v in volumes} == {
        (m.name, f"i-{m.name}") for m in bed.spec.etcd
    }
    assert {v["device"] for v in volumes} == {"/dev/sdf", "/dev/sdg"}
    log = bed[HELD].log("landbridge-disks.service")
    assert "etcd-main: vol-0main3 is attached at i-before: waits until it is free" in log
    assert "etcd-main: vol-0main3 is free: attaches it as /dev/sdf" in log
    assert "is blank: makes a file system" in log
    assert "ready: /run/landbridge/disks/etcd-main leads to /dev/disk/by-id/" in log
    for ring in PORTS:
        assert (bed.host.folder / f"volumes/vol-0{ring}{HELD[-1]}/data/data/member/wal").is_dir()
        report = json.loads(bed[HELD].sh(f"cat /run/landbridge/fsync-{ring}.json").out)
        assert report["fit"] is True
        assert report["p99_ms"] < report["limit_ms"] == 10


@pytest.mark.parametrize("ring", PORTS)
def test_both_rings_are_whole(bed: Bed, ring: str) -> None:
    members = json.loads(bed.etcdctl(ring, "member list --write-out=json"))["members"]
    assert sorted(member["name"] for member in members) == [m.name for m in bed.spec.etcd]
    assert all(url.endswith(f":{PORTS[ring]}") for member in members for url in member["clientURLs"])
    health = json.loads(bed.etcdctl(ring, "endpoint health --cluster --write-out=json"))
    assert [one["health"] for one in health] == [True] * 3


# curl's codes for a connection that the server ends: so does TLS 1.3 tell that it wants another certificate.
ENDED = (16, 35, 55, 56)


@pytest.mark.parametrize("ring", PORTS)
def test_etcd_and_its_machine_open_to_its_own_clients_and_its_peers_to_each_other_alone(bed: Bed, ring: str) -> None:
    machine, box = bed.spec.etcd[0], bed[bed.spec.etcd[0].name]

    def opened(port: int, authority: str, trusted: str) -> object:
        shown = ""
        if authority == f"etcd-{ring}-peers":  # whose addresses etcd compares with where the call comes from
            shown = f"--cert /etc/etcd/pki/{ring}-peer.crt --key /etc/etcd/pki/{ring}-peer.key"
        elif authority:
            crt, key = pki.signed(Certificate("x", authority, "x", CLIENT, ""), bed.made)  # type: ignore[arg-type]
            (box.disk / "srv/x.crt").write_text(crt)
            (box.disk / "srv/x.key").write_text(key)
            shown = "--cert /srv/x.crt --key /srv/x.key"
        where = f"--cacert /etc/etcd/pki/{trusted}-ca.crt https://{machine.address}:{port}/version"
        code = box.sh(f"curl --silent --http1.1 --max-time 5 {shown} {where}").code
        return {0: True, **dict.fromkeys(ENDED, False)}.get(code, code)

    others = ("kubernetes", "front-proxy", "etcd-clients", "etcd-main-peers", "etcd-events-peers", "")
    for port, trusted, friend in (
        (PORTS[ring], "clients", "etcd-clients"),
        (PORTS[ring] + 1, f"{ring}-peers", f"etcd-{ring}-peers"),
        (machine_metrics.PORT, "clients", "etcd-clients"),
    ):
        codes = {name: opened(port, name, trusted) for name in others}
        assert codes == {name: name == friend for name in others}, port


def test_events_are_in_their_own_ring_and_nothing_else_is(bed: Bed) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "probe", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "x"},
        "reason": "Probe",
        "type": "Normal",
    }
    bed.kube("create", "-f", bed.lay("event.json", json.dumps(event)))
    keys = {ring: bed.etcdctl(ring, "get /registry/ --prefix --keys-only").split() for ring in PORTS}
    assert "/registry/events/default/probe" in keys["events"]
    assert not [key for key in keys["main"] if key.startswith("/registry/events/")]
    assert not [key for key in keys["events"] if not key.startswith("/registry/events/")]


def test_secrets_are_encrypted_at_rest(bed: Bed) -> None:
    bed.kube("create", "secret", "generic", "probe", "--from-literal=word=open-sesame")
    raw = bed.etcdctl("main", "get /registry/secrets/default/probe --print-value-only --hex")
    data = bytes.fromhex(raw.replace("\\x", "").strip())
    assert data.startswith(b"k8s:enc:secretbox:v1:key-1:")
    assert b"open-sesame" not in data
    told = bed.kube("get", "secret", "probe", "-o", "jsonpath={.data.word}", by="main-api-2")
    assert base64.b64decode(told) == b"open-sesame"


def node(name: str, gpus: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {
            "capacity": {"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(name: str, on: str = "") -> dict[str, Any]:
    box = {"name": "x", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    where = {"nodeName": on} if on else {"schedulerName": "gpu-bin-packing"}
    tolerations = [{"operator": "Exists"}]
    spec = {"containers": [box], "tolerations": tolerations, **where}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def test_a_node_may_change_itself_alone_and_gpu_machines_are_filled_one_by_one(bed: Bed) -> None:
    bed.kube("create", "-f", bed.lay("nodes.json", "".join(json.dumps(node(name, 8)) for name in ("a", "b"))))
    wish = Certificate("kubelet-a", "kubernetes", "system:node:a", CLIENT, "", organization="system:nodes")
    certificate, key = pki.signed(wish, bed.made)
    bed.lay("kubelet.crt", certificate)
    bed.lay("kubelet.key", key)
    label = ("label", "--overwrite", "node")
    assert bed.kubectl(*label, "a", "speed=fast", identity="/srv/kubelet").code == 0
    refused = bed.kubectl(*label, "b", "speed=fast", identity="/srv/kubelet")
    assert "only its own Node object" in refused.err
    refused = bed.kubectl(*label, "a", "node-restriction.kubernetes.io/team=x", identity="/srv/kubelet")
    assert "is not allowed to modify labels: node-restriction.kubernetes.io/team" in refused.err
    # Of two nodes with the same GPUs the one that has a pod already gets all others until it is full.
    eventually(lambda: bed.kubectl("get", "serviceaccount", "default").code == 0)
    bed.kube("create", "-f", bed.lay("first.json", json.dumps(pod("first", on="b"))))
    names = [f"packed-{number}" for number in range(7)]
    bed.kube("create", "-f", bed.lay("pods.json", "".join(json.dumps(pod(name)) for name in names)))
    where = ("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}")
    eventually(lambda: bed.kube(*where).split() == ["b"] * 8)


def test_service_account_tokens_name_the_issuer_and_live_a_day_at_most(bed: Bed) -> None:
    token = bed.kube("create", "token", "default", "--duration=100h").strip()
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims["iss"] == bed.spec.issuer
    assert claims["aud"] == [bed.spec.issuer]
    assert claims["exp"] - claims["iat"] <= 24 * 3600
    who = ["curl", "--silent", "--cacert", "/etc/kubernetes/pki/ca.crt", "--header", f"Authorization: Bearer {token}"]
    told = bed["main-api-2"].run(*who, "https://127.0.0.1:6443/api/v1/namespaces/default").out
    assert 'system:serviceaccount:default:default\\" cannot get' in told
    keys = json.loads(bed.kube("get", "--raw", "/.well-known/openid-configuration"))
    assert keys["jwks_uri"] == f"{bed.spec.issuer}/openid/v1/jwks"


def test_priority_and_fairness_have_their_defaults(bed: Bed) -> None:
    found = bed.kube("get", "flowschemas", "-o", "name").split()
    assert {f"flowschema.flowcontrol.apiserver.k8s.io/{n}" for n in ("system-leader-election", "catch-all")} <= {*found}


@pytest.mark.parametrize("ring", PORTS)
def test_the_leader_s_timer_brings_a_snapshot_to_the_bucket_from_which_a_member_starts(bed: Bed, ring: str) -> None:
    name = leader(bed, ring)
    said = bed[name].ctl("start", f"etcd-backup-{ring}.service")
    assert said.code == 0, bed[name].log(f"etcd-backup-{ring}.service")
    kept = objects(bed, f"backups/main/{ring}")
    # At a quarter of an hour the timer has brought one besides.
    key = max(one for one in kept if one.endswith(".db"))
    assert f"{key.removesuffix('.db')}.copied" in kept
    about = json.loads((bed.bucket / f"{key}.meta").read_text())
    assert (about["member"], about["ring"], about["cluster"]) == (name, ring, "main")
    assert key.endswith(f"Z-{about['revision']}.db")
    assert bed[name].sh("ls -A /var/lib/landbridge/backup").out == ""
    restored = bed.host.folder / f"restored-{ring}"
    words = ["snapshot", "restore", str(bed.bucket / key), f"--data-dir={restored}"]
    done = subprocess.run([BIN / "etcdutl", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_backup_at_once_tells_what_it_is_and_one_that_fails_is_seen(bed: Bed) -> None:
    name = next(m.name for m in bed.spec.etcd if m.name != leader(bed, "main"))
    backup = "/usr/bin/python3 /usr/local/lib/landbridge/etcd_backup.py main --now"
    said = bed[name].sh(backup)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["key"] in objects(bed, "backups/main/main")
    assert told["bytes"] == (bed.bucket / told["key"]).stat().st_size
    copy = bed.bucket.parent / told["copy"]["bucket"] / told["copy"]["key"]
    assert copy.read_bytes() == (bed.bucket / told["key"]).read_bytes()
    bed.host(AWS + "aws.STATE.broken = {'s3': 403}")
    try:
        lead = leader(bed, "main")
        assert bed[lead].ctl("start", "etcd-backup-main.service").code == 1
        assert "403" in bed[lead].log("etcd-backup-main.service")
    finally:
        bed.host(AWS + "aws.STATE.broken = {}")


def test_a_second_region_that_is_out_spoils_no_snapshot_at_home(bed: Bed) -> None:
    before = objects(bed, "backups/main/main")
    # Snapshots of one second and one revision have one name.
    bed.kube("annotate", "namespace", "default", "example.com/second-region=out")
    bed.host(AWS + "aws.STATE.broken = {'s3.us-east-1': 400}")
    try:
        lead = leader(bed, "main")
        assert bed[lead].ctl("start", "etcd-backup-main.service").code == 1
        assert "ERROR: no copy in us-east-1 at s3://" in bed[lead].log("etcd-backup-main.service")
    finally:
        bed.host(AWS + "aws.STATE.broken = {}")
    (made,) = set(objects(bed, "backups/main/main")) - set(before)
    assert made.endswith(".db")


def test_defragmentation_hands_the_lead_over_and_leaves_a_ring_that_is_not_whole_alone(bed: Bed) -> None:
    lead = leader(bed, "main")
    unit = "etcd-defrag-main.service"
    assert bed[lead].ctl("start", unit).code == 0
    assert "there is little to win" in bed[lead].log(unit)
    defrag = "/usr/bin/python3 /usr/local/lib/landbridge/etcd_defrag.py main"
    assert bed[lead].sh(f"{defrag} --locked").code == 0
    assert leader(bed, "main") != lead
    other = next(m.name for m in bed.spec.etcd if m.name not in (lead, leader(bed, "main")))
    bed[other].ctl("stop", "etcd-main.service")
    try:
        said = bed[lead].sh(f"{defrag} --locked")
        assert "skipped: etcd main is not whole" in said.err
        assert "bytes became" not in said.err
    finally:
        bed[other].ctl("start", "etcd-main.service")
    # Slow or not: a member that has data starts, whatever the gate says of a disk that is busy just then.
    assert bed[other].ctl("is-active", "etcd-main.service").out.strip() == "active"


def test_the_api_answers_after_the_leader_is_killed_and_the_member_comes_back(bed: Bed) -> None:
    lead = leader(bed, "main")
    pid = bed[lead].sh("pgrep -f config-file=/etc/etcd/main.json").out.split()[0]
    bed[lead].sh(f"kill -KILL {pid}")
    write = ("create", "configmap", "after-the-leader", "--request-timeout=5s")

    def written() -> bool:
        # One that came too late for the first call's patience may have been written all the same.
        said = bed.kubectl(*write)
        return said.code == 0 or "already exists" in said.err

    eventually(written, 20)
    eventually(lambda: "false" not in bed.etcdctl("main", "endpoint health --cluster || true"), 30)


def test_a_killed_api_server_is_started_again_while_the_other_answers(bed: Bed) -> None:
    bed["main-api-1"].sh("kill -KILL $(pgrep -f ^/usr/local/bin/kube-apiserver)")
    assert bed.kube("get", "--raw", "/readyz", by="main-api-2") == "ok"
    bed.ready(60)
    assert bed["main-api-1"].ctl("is-active", "kube-apiserver.service").out == "active\n"


def test_an_api_server_that_stops_says_so_first_goes_on_answering_and_its_log_leaves_the_machine(bed: Bed) -> None:
    box = bed["main-api-2"]
    bed.kube("create", "configmap", "the-last-words", by="main-api-2")
    began = time.monotonic()
    box.ctl("--no-block", "stop", "kube-apiserver.service", "landbridge-audit.service")
    ask = "curl --silent --output /dev/null --write-out '%{http_code}' --cacert /etc/kubernetes/pki/ca.crt https://127.0.0.1:6443"
    eventually(lambda: box.sh(f"{ask}/readyz").out == "500", 5)
    while time.monotonic() - began < 20:
        assert bed.kubectl("get", "configmap", "the-last-words", by="main-api-2").code == 0
        time.sleep(1)
    eventually(lambda: box.ctl("is-active", "landbridge-audit.service").out == "inactive\n", 60)
    entries = [
        json.loads(line)
        for key in objects(bed, "audit/main/main-api-2")
        for line in gzip.decompress((bed.bucket / key).read_bytes()).splitlines()
    ]
    identities = [(entry["auditID"], entry["stage"]) for entry in entries]
    assert len(identities) == len(set(identities))
    here = (box.disk / "var/log/kubernetes/audit.log").read_text().splitlines()
    assert {json.loads(line)["auditID"] for line in here} <= {identity for identity, _ in identities}
    last = [e for e in entries if (e.get("objectRef") or {}).get("name") == "the-last-words"]
    assert {"create", "get"} <= {entry["verb"] for entry in last}
    assert not [e for e in entries if (e.get("objectRef") or {}).get("resource") == "secrets" and "requestObject" in e]
    box.ctl("start", "landbridge.target")
    bed.ready(60)


def test_metrics_are_for_those_who_may_have_them(bed: Bed) -> None:
    for name in ("may", "may-not"):
        bed.kube("create", "serviceaccount", name)
    bed.kube("create", "clusterrole", "may-have-metrics", "--verb=get", "--non-resource-url=/metrics")
    bed.kube("create", "clusterrolebinding", "may", "--clusterrole=may-have-metrics", "--serviceaccount=default:may")
    may, other = (bed.kube("create", "token", name).strip() for name in ("may", "may-not"))
    asked = list(metrics.targets(bed))
    assert {one.job for one in asked} == {"apiserver", "controllers", "etcd", "machines", "scheduler"}
    for one in asked:
        eventually(lambda one=one: one.ask(bed, may)[0] == "200")
        told = metrics.names(one.ask(bed, may)[1])
        for part in metrics.alternatives(one.kept.pattern) if one.job in metrics.NAMED else ():
            assert any(re.fullmatch(part, name) for name in told) or part in metrics.NOT_YET, (one.job, part)
        for token, status in ((other, "403"), ("of-nobody", "401"), ("", "403" if one.job in NAMELESS else "401")):
            assert one.ask(bed, token)[0] == status, (one.job, token)


def test_a_member_of_etcd_that_is_away_is_missed_and_none_that_there_is_not_is_asked(bed: Bed) -> None:
    may = bed.kube("create", "token", "may").strip()
    one = next(one for one in metrics.targets(bed) if one.path == "/events/main-etcd-2")
    bed["main-etcd-2"].ctl("stop", "etcd-events.service")
    try:
        assert one.ask(bed, may)[0] == "502"
    finally:
        bed["main-etcd-2"].ctl("start", "etcd-events.service")
    eventually(lambda: one.ask(bed, may)[0] == "200")
    status, text = one._replace(path="/events/other.example.com").ask(bed, may)
    assert (status, "events/main-etcd-1" in text) == ("404", True)


def test_every_machine_of_the_control_plane_tells_of_its_disks_its_clock_and_its_memory(bed: Bed) -> None:
    may = bed.kube("create", "token", "may").strip()
    told = {one.path: one.ask(bed, may) for one in metrics.targets(bed) if one.job == "machines"}
    assert {path.removeprefix("/machines/") for path in told} == {one.name for one in bed.spec.machines}
    for path, (status, text) in told.items():
        assert status == "200", path
        values = metrics.values(text)
        box = bed[path.rpartition("/")[2]]
        # Of a machine whose folder is on no disk there is none.
        for place in {labels for name, labels in values if name == "node_filesystem_size_bytes"}:
            point = re.findall('mountpoint="(.+)"', place)[0]
            blocks, unit, inodes = map(int, box.sh(f"stat --file-system --format '%b %S %c' {point}").out.split())
            assert values["node_filesystem_size_bytes", place] == blocks * unit
            assert values["node_filesystem_files", place] == inodes
            assert 0 < values["node_filesystem_avail_bytes", place] < blocks * unit
            assert values["node_filesystem_readonly", place] == 0
        total = re.findall(r"MemTotal: +(\d+) kB", box.sh("cat /proc/meminfo").out)[0]
        assert values["node_memory_MemTotal_bytes", ""] == int(total) * 1024
        assert 0 < values["node_memory_MemAvailable_bytes", ""] < int(total) * 1024
        clock = {f"node_timex_{name}" for name in ("maxerror_seconds", "offset_seconds", "sync_status")}
        assert {name for name, labels in values if not labels} >= {"node_load1", *clock}
