"""`landbridge image burn-in`: without a GPU for real, by real commands and ssh, and on a real API server."""

import asyncio
import json
import os
import shlex
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from components.pools import labels
from landbridge.cluster import session as sessions
from landbridge.cluster.kube import Kube
from landbridge.commands import landbridge
from landbridge.errors import LandbridgeError
from landbridge.image.burn_in import node_status, report
from tests.images.burn_in.bed import Played
from tests.support.apiserver import Server, server

asyncssh = pytest.importorskip("asyncssh", reason="asyncssh is not installed")
ROOT = Path(__file__).parents[4]
SSH = shutil.which("ssh")
NODE = "/api/v1/nodes/gpu-1"
# Nothing listens on the port of discard.
NOBODY = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "current-context": "c",
    }
)
JOINER = {"key": labels.GPU_FAILED.key, "value": "true", "effect": "NoSchedule"}


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine has a driver")
def test_a_machine_without_a_gpu_says_so_and_nothing_is_tested() -> None:
    command = [ROOT / ".venv/bin/landbridge", "image", "burn-in"]
    done = subprocess.run([*command, "--no-taint"], capture_output=True, text=True, check=False)
    assert (done.returncode, "no GPU: nothing was tested" in done.stdout) == (1, True), done.stderr
    said = CliRunner().invoke(landbridge, ["image", "burn-in", "--json"], standalone_mode=False)
    assert (said.return_value, json.loads(said.stdout)["outcome"]) == (1, "no-gpu")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tools of a machine that has eight GPUs, before this machine's own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, ran in Played().tools.items():
        (folder / f"{name}.out").write_text(ran.out)
        body = f"/bin/cat {folder}/{name}.out"
        if name == "nvidia-smi":
            body = f'[ "$1" = nvlink ] && exec /bin/cat {folder}/links.out; exec {body}'
        (folder / name).write_text(f"#!/bin/bash\n{body}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def spoil(folder: Path, tool: str, old: str, new: str) -> None:
    file = folder / f"{tool}.out"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("burn-in"), controllers=False) as made:
        yield made


@pytest.fixture
def node(api: Server) -> Iterator[Callable[[], dict[str, Any]]]:
    """The node that this machine is; its status is as a kubelet has it."""
    meta = {"name": "gpu-1", "labels": {labels.POOL: "west-gpu"}}
    api.api.call("POST", "/api/v1/nodes", None, {"metadata": meta, "spec": {"taints": [JOINER]}})
    now = "2026-01-01T00:00:00Z"
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": now, "lastTransitionTime": now}
    address = {"type": "Hostname", "address": socket.gethostname()}
    api.patch(f"{NODE}/status", {"status": {"conditions": [ready], "addresses": [address]}})
    yield lambda: api.api.call("GET", NODE)
    api.api.call("DELETE", NODE)


@pytest.fixture
def run(api: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    session = SimpleNamespace(admin=Kube(api.kubeconfig()), info=SimpleNamespace(name="main"))
    monkeypatch.setattr(sessions, "opened", lambda *_, **__: session)
    monkeypatch.chdir(ROOT)

    def call(*words: str) -> Result:
        told = ["image", "burn-in", *words]
        done = CliRunner().invoke(landbridge, told, catch_exceptions=False, standalone_mode=False)
        done.exit_code = done.return_value
        return done

    return call


def shown(node: dict[str, Any]) -> tuple[list[str], str, str]:
    """Burn-in's taints, its label, and its condition's status."""
    taints = [one["value"] for one in node["spec"]["taints"] if one["key"].startswith(node_status.STATUS)]
    conditions = {one["type"]: one["status"] for one in node["status"]["conditions"]}
    assert conditions["Ready"] == "True", "the kubelet's own stays"
    assert JOINER in node["spec"]["taints"], "that of the joining service stays"
    return taints, node["metadata"]["labels"].get(node_status.LABEL, ""), conditions.get(node_status.CONDITION, "")


def test_a_node_fails_and_is_readmitted(programs: Path, run: Any, node: Any) -> None:
    spoil(programs, "all_reduce_perf", "479.445", "301.2")
    done = run("--local", "--json")
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    assert (told["node"], told["outcome"], told["model"]) == ("gpu-1", "failed", "h100-sxm")
    assert told["gpus"][3]["serial"] == "1654023001021"
    assert shown(node()) == (["burn-in"], "failed", "True")
    condition = next(one for one in node()["status"]["conditions"] if one["type"] == node_status.CONDITION)
    assert condition["message"] == "GPUs 0-7 together: NCCL all-reduce: 301.2 GB/s, allowed at least 460 GB/s"
    assert condition["reason"] == "AllReduce"
    # Looking is no answer to what the load has found.
    assert run("--local", "--quick").exit_code == 0
    assert shown(node()) == (["burn-in"], "failed", "True")
    spoil(programs, "all_reduce_perf", "301.2", "479.445")
    done = run("--local")
    assert done.exit_code == 0, done.output
    assert shown(node()) == ([], "passed", "False")
    kept = json.loads(node()["metadata"]["annotations"][node_status.ANNOTATION])
    assert (kept["outcome"], kept["kind"], len(kept["digest"])) == ("passed", "full", 64)


def test_what_could_not_run_taints_nothing_and_is_no_pass(programs: Path, run: Any, node: Any) -> None:
    (programs / "dcgmi").unlink()
    done = run("--local")
    assert done.exit_code == 1
    assert "dcgmi is not installed" in done.output
    assert shown(node()) == ([], "not-judged", "Unknown")


def test_no_taint_writes_nothing_and_the_fleet_knows_how_many(programs: Path, run: Any, node: Any) -> None:
    before = node()["metadata"]["resourceVersion"]
    assert run("--local", "--no-taint", "--quick").exit_code == 0
    assert node()["metadata"]["resourceVersion"] == before
    # The pool's machines have eight, whatever one of them tells of itself.
    spoil(programs, "nvidia-smi", "<attached_gpus>8", "<attached_gpus>0")
    text = (programs / "nvidia-smi.out").read_text()
    first = text[: text.index("<gpu ")] + text[text.index("<gpu ") : text.index("</gpu>")] + "</gpu></nvidia_smi_log>"
    (programs / "nvidia-smi.out").write_text(first.replace("<attached_gpus>0", "<attached_gpus>1"))
    (programs / "sh.out").write_text("0x10de 0x030200\n")
    done = run("--local", "--quick")
    assert done.exit_code == 1
    assert "GPUs of the driver: 1, allowed 8" in done.output
    assert shown(node()) == (["burn-in-quick"], "failed-quick", "True")
    assert run("--local", "--quick", "--expect", "1").exit_code == 0
    assert shown(node()) == ([], "passed-quick", "False")


def test_the_fleet_says_how_many_gpus_were_bought(programs: Path, run: Any, node: Any, tmp_path: Path) -> None:
    text, eight = (ROOT / "fleet.yaml").read_text(), "instance_type: p5.48xlarge, gpus: 8, max: 40"
    assert eight in text
    fleet = tmp_path / "fleet.yaml"
    four = eight.replace("p5.48xlarge", "g6e.12xlarge").replace("gpus: 8", "gpus: 4")
    fleet.write_text(text.replace(eight, four))
    shutil.copy(ROOT / "fleet.lock.yaml", tmp_path)
    done = run("--local", "--quick", "--fleet", str(fleet))
    assert "GPUs of the driver: 8, allowed 4" in done.output


def test_new_work_is_kept_off_while_the_load_lasts(programs: Path, run: Any, node: Any, api: Server) -> None:
    (programs / "config").write_text(api.kubeconfig())
    kubectl = ROOT / ".landbridge/bin/kubectl"
    look = f"KUBECONFIG={programs}/config {kubectl} get node gpu-1 -o json > {programs}/meanwhile.json"
    (programs / "nvbandwidth").write_text(f"#!/bin/bash\n{look}\nexec /bin/cat {programs}/nvbandwidth.out\n")
    assert run("--local").exit_code == 0
    meanwhile = json.loads((programs / "meanwhile.json").read_text())
    assert shown(meanwhile)[0] == ["running"]
    assert shown(node())[0] == []


def test_a_node_whose_gpus_are_asked_for_gets_no_load(programs: Path, run: Any, node: Any, api: Server) -> None:
    """Its program may not be on them yet, so the cluster is asked, too."""
    container = {"name": "a", "image": "a", "resources": {"limits": {labels.GPU_RESOURCE: "1"}}}
    pod = {"metadata": {"name": "train"}, "spec": {"nodeName": "gpu-1", "containers": [container]}}
    pods = "/api/v1/namespaces/default/pods"
    api.api.call("POST", pods, None, pod)
    try:
        with pytest.raises(LandbridgeError, match=r"gpu-1 is at work, .* default/train asked"):
            run("--local")
        assert shown(node()) == ([], "", "")
        assert run("--local", "--quick").exit_code == 0
        api.patch(f"{pods}/train/status", {"status": {"phase": "Succeeded"}})
        assert run("--local").exit_code == 0
    finally:
        api.api.call("DELETE", f"{pods}/train", {"gracePeriodSeconds": "0"})


def test_a_node_that_changes_meanwhile_loses_nothing(api: Server, node: Any) -> None:
    kube = Kube(api.kubeconfig())
    added = {"key": "team", "value": "x", "effect": "NoSchedule"}
    first = True

    class Slow(Kube):
        def get(self, *words: str) -> dict[str, Any]:
            nonlocal first
            found = super().get(*words)
            if first:
                first = False
                api.patch(NODE, {"spec": {"taints": [JOINER, added]}})
            return found

    node_status.NodeStatusWriter(Slow(kube.config), "gpu-1").begin()
    assert {one["key"] for one in node()["spec"]["taints"]} >= {JOINER["key"], "team", node_status.RUNNING.key}
    node_status.NodeStatusWriter(kube, "gpu-1").end()
    assert not any(one["key"].startswith(node_status.STATUS) for one in node()["spec"]["taints"])
    version = node()["metadata"]["resourceVersion"]
    node_status.NodeStatusWriter(kube, "gpu-1").end()
    assert node()["metadata"]["resourceVersion"] == version


def test_a_machine_of_no_cluster(programs: Path, run: Any, api: Server) -> None:
    done = run("--local", "--quick")
    assert done.exit_code == 0
    assert "No node shows the result: Cluster main has no node that is called" in " ".join(done.output.split())
    with pytest.raises(Exception, match="has no node that is called"):
        run("--local", "--quick", "--taint")
    # The example's fleet lives in no cloud: nobody gets into a local one unasked.
    assert "has no state" in run("--quick").output


def test_no_load_is_put_on_what_the_cluster_cannot_be_asked_for(
    programs: Path, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions.opened("", ""), "admin", Kube(NOBODY))
    (programs / "nvbandwidth").write_text(f"#!/bin/bash\ntouch {tmp_path}/load\nexec cat {programs}/nvbandwidth.out\n")
    with pytest.raises(LandbridgeError, match=r"could not be asked, so no load .* failed: .*--no-taint .*--quick only"):
        run("--local")
    broken = tmp_path / "fleet.yaml"
    broken.write_text("fleet: [\n")
    with pytest.raises(LandbridgeError, match=r"could not be asked, so no load .*fleet\.yaml"):
        run("--local", "--fleet", str(broken))
    assert not (tmp_path / "load").exists()
    done = run("--local", "--quick")
    assert (done.exit_code, "No node shows the result: kubectl get nodes" in done.output) == (0, True), done.output
    assert run("--local", "--no-taint").exit_code == 0
    assert (tmp_path / "load").exists()


def test_a_machine_of_no_cluster_gets_its_load(
    programs: Path, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("--local")
    assert (done.exit_code, "has no node that is called" in " ".join(done.output.split())) == (0, True), done.output
    monkeypatch.setenv("LANDBRIDGE_FLEET", str(tmp_path / "none.yaml"))
    done = run()
    assert (done.exit_code, "there is no such fleet file" in " ".join(done.output.split())) == (0, True), done.output


def test_the_table_fits_into_80_columns(programs: Path, run: Any) -> None:
    spoil(programs, "nvidia-smi", "hw_thermal_slowdown>Not Active", "hw_thermal_slowdown>Active")
    done = run("--no-taint", "--quick")
    lines = done.stdout.splitlines()
    rows = [line for line in lines if line[:1] in "✓✗?- " and "serial" not in line]
    assert max(map(len, rows)) <= 80
    assert any(line.startswith("✗  GPU 0") and "hw thermal slowdown" in line for line in rows)
    assert any(line.startswith("✓  7 GPUs") and "gpu idle" in line for line in rows)
    assert any(line.startswith("GPU 0 (serial 1654023001000, GPU-00000000") for line in lines)
    assert "quick burn-in failed" in lines[-1]


def test_ends_of_measures() -> None:
    some = [one for one in Played().found("full").findings if one.test == "host_to_device"]
    assert report.span(some) == "54.27 to 54.981 GB/s"
    assert report.span([one._replace(measured=word) for one, word in zip(some, "ab", strict=False)]) == "a, …"


@pytest.fixture
def door(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A server for the real ssh, which runs what it is told here and in the place of sudo; the commands that came."""
    came: list[str] = []
    host_key, key = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    key.write_private_key(str(tmp_path / "key"))
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "authorized").write_bytes(key.export_public_key())

    async def handle(process: Any) -> None:
        words = shlex.split(process.command)
        came.append(" ".join(words))
        assert words[:3] == ["sudo", "-n", "--"]
        child = await asyncio.create_subprocess_exec(*words[3:], stdout=-1, stderr=-1, stdin=-3)
        out, err = await child.communicate()
        process.stdout.write(out)
        process.stderr.write(err)
        process.exit(child.returncode)

    loop, up, port = asyncio.new_event_loop(), threading.Event(), []

    async def serve() -> None:
        listener = await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[host_key], authorized_client_keys=str(tmp_path / "authorized"),
            process_factory=handle, encoding=None,
        )  # fmt: skip
        port.append(listener.get_port())
        up.set()

    def work() -> None:
        asyncio.set_event_loop(loop)
        asyncio.get_child_watcher() if hasattr(asyncio, "get_child_watcher") else None
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert up.wait(20)
    config = {
        "HostName": "127.0.0.1",
        "Port": port[0],
        "IdentityFile": tmp_path / "key",
        "IdentityAgent": "none",
        "UserKnownHostsFile": tmp_path / "known_hosts",
    }
    (tmp_path / "config").write_text("".join(f"{name} {value}\n" for name, value in config.items()))
    (programs / "ssh").write_text(f'#!/bin/sh\nexec {SSH} -F {tmp_path}/config "$@"\n')
    (programs / "ssh").chmod(0o755)
    yield came
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


@pytest.mark.skipif(SSH is None, reason="the command ssh is not installed (package openssh-client)")
def test_by_ssh(door: list[str], run: Any) -> None:
    done = run("alice@gpu-1.example.com", "--quick", "--no-taint")
    assert done.exit_code == 0, done.output
    assert "alice@gpu-1.example.com: quick burn-in passed" in done.output
    assert any("timeout --kill-after=10 60 nvidia-smi -q -x" in command for command in door)


@pytest.mark.skipif(SSH is None, reason="the command ssh is not installed (package openssh-client)")
def test_a_machine_that_cannot_be_reached(programs: Path, run: Any) -> None:
    (programs / "ssh").write_text("#!/bin/sh\necho 'Connection refused' >&2\nexit 255\n")
    (programs / "ssh").chmod(0o755)
    with pytest.raises(Exception, match=r"by ssh: Connection refused\. Nothing more was tested"):
        run("alice@192.0.2.10", "--quick")
