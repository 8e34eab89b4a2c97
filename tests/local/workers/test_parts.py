"""Parts of the workers' stand-ins: command lines, configuration, kernel settings, containerd, kwok's door."""

import http.client
import http.server
import json
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from components.pools import kubelet as bundled
from components.pools import labels, tuning
from components.pools.spec import PoolSpec, pool_spec
from fleet.world import current
from local.workers import api_proxy, configuration, containerd, devices, flags, hardware, process, sysctl
from tests.components.pools.joining_bed import ROOT

GOOD = [
    "--config=/c",
    "--bootstrap-kubeconfig=/b",
    "--kubeconfig=/k",
    "--cert-dir=/p",
    "--hostname-override=one",
    "--node-ip=192.0.2.1",
    "--provider-id=x",
    "--resolv-conf=/etc/resolv.conf",
    "--node-labels=landbridge.dev/pool=a,topology.kubernetes.io/zone=b",
]


def pools() -> list[PoolSpec]:
    world = current(ROOT / "fleet.yaml")
    return [pool_spec(world.fleet, world.plan, name) for name in world.fleet.pools]


def test_the_flags_of_the_bundle_are_read_and_no_others() -> None:
    assert flags.parse(GOOD).node_labels == {"landbridge.dev/pool": "a", "topology.kubernetes.io/zone": "b"}
    for wrong, why in (
        ([*GOOD, "--v=2"], "--v=2: the kubelet of local machines knows --config=…"),
        ([*GOOD, "--config=/d"], "--config is given twice"),
        (GOOD[1:], "--config: not given"),
        ([*GOOD[1:], "--config="], "--config is given no value"),
        ([*GOOD[:-1], "--node-labels=node-role.kubernetes.io/gpu=true"], "may not label itself node-role.kubernetes"),
        ([*GOOD[:-1], "--node-labels=x"], "'x' is no KEY=VALUE"),
    ):
        with pytest.raises(ValueError, match=re.escape(why)):
            flags.parse(wrong)


@pytest.mark.parametrize("spec", pools(), ids=lambda spec: spec.name)
def test_every_pool_s_configuration_is_understood(spec: PoolSpec) -> None:
    told = bundled.config(spec)
    found = configuration.understand(told)
    assert found.runtime == Path("/run/containerd/containerd.sock")
    assert found.client_authority == Path(bundled.AUTHORITY)
    assert found.taints == told["registerWithTaints"]
    assert set(flags.labels(bundled.node_labels(spec))) == set(labels.labels(spec))


def test_a_configuration_that_is_not_understood_is_refused() -> None:
    told = bundled.config(pools()[0])
    for change, why in (
        ({"kubeletCgroups": "/x"}, "does not know kubeletCgroups"),
        ({"serverTLSBootstrap": False}, "needs serverTLSBootstrap"),
        ({"authentication": {"anonymous": {"enabled": True}}}, "needs authentication.anonymous"),
        ({"authorization": {"mode": "AlwaysAllow"}}, "authorization {'mode': 'Webhook'}"),
        ({"authentication": {"anonymous": {"enabled": False}}}, "needs authentication.x509.clientCAFile"),
        ({"apiVersion": "kubelet.config.k8s.io/v1"}, "a configuration is"),
        ({"kubeReserved": {"cpu": "a few"}}, "'a few' is no amount"),
    ):
        with pytest.raises(ValueError, match=why):
            configuration.understand({**told, **change})


def test_amounts_are_written_as_the_api_writes_them() -> None:
    assert [hardware.in_bytes(n) for n in (0, 1000, 1024, 1536 << 20, 2 << 30)] == ["0", "1000", "1Ki", "1536Mi", "2Gi"]
    assert hardware.amount("200m") * 5 == 1
    assert hardware.amount("2Gi") == 2 << 30


def test_a_start_of_the_machine_has_a_name_of_its_own_which_kubelets_share(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(hardware, "BOOT", tmp_path / "boot-id")
    monkeypatch.setattr(hardware, "FILE", tmp_path / "hardware.json")
    size = {"architecture": "amd64", "cpus": 8, "memory_mib": 1024, "disk_gib": 100, "gpus": 0}
    hardware.FILE.write_text(hardware.text(size, "1.36.2"))
    first = hardware.read()
    assert first == hardware.read()
    hardware.BOOT.unlink()
    assert first.boot
    assert hardware.read().boot not in ("", first.boot)


def test_what_pods_may_write_into_is_what_a_kubelet_lets_them() -> None:
    claim = {"persistentVolumeClaim": {"claimName": "data"}}
    closed = {"persistentVolumeClaim": {"claimName": "data", "readOnly": True}}
    assert all(map(process.can_be_written, ({"emptyDir": {}}, {"hostPath": {"path": "/srv"}}, claim)))
    assert not any(map(process.can_be_written, ({"configMap": {}}, {"secret": {}}, {"projected": {}}, closed)))


def test_devices_and_their_plugins_are_those_of_the_add_ons() -> None:
    machine = hardware.Hardware("1.36.2", "amd64", 8, 1024, 100, gpus=8, efa=32, rdma=110)
    assert list(devices.of(machine)) == [
        (labels.GPU_RESOURCE, labels.DEVICE_PLUGIN, 8),
        (labels.EFA_RESOURCE, labels.EFA_PLUGIN, 32),
        (labels.RDMA_RESOURCE, labels.RDMA_PLUGIN, 110),
    ]
    assert list(devices.of(machine._replace(gpus=0, efa=0, rdma=0))) == []


def test_sysctl_sets_a_machine_s_own_and_no_other(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    """The laptop's kernel has one `vm.overcommit_memory` for all: root's local cloud must not set it."""
    for name in tuning.SYSCTLS:
        (tmp_path / name.replace(".", "/")).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name.replace(".", "/")).write_text("as it was")
    # A network namespace of one's own does not show it.
    (tmp_path / "net/core/netdev_max_backlog").unlink()
    monkeypatch.setattr(sysctl, "SETTINGS", tmp_path)
    file = tmp_path / "settings"
    file.write_text(tuning.files(pools()[0])[tuning.FILE])
    assert sysctl.main([f"--load={file}"]) == 0
    said = capsys.readouterr().out
    assert (tmp_path / "net/ipv4/ip_forward").read_text() == "1"
    assert (tmp_path / "vm/overcommit_memory").read_text() == "as it was"
    assert "net.ipv4.ip_forward = 1\n" in said
    assert "vm.overcommit_memory = 1: left as the laptop's kernel has it\n" in said
    assert not [name for name in tuning.SYSCTLS if name not in said]
    assert "net.core.netdev_max_backlog = 16384: left as the laptop's kernel has it\n" in said
    assert sysctl.main(["-w", "vm.swappiness=1"]) == 2
    file.write_text("../../etc/passwd = 1\n")
    assert sysctl.main([f"--load={file}"]) == 1


WRITING = """
import sys, threading, time
from local.workers.background import leave
def write():
    while True:
        sys.stderr.write("x" * 200 + "\\n")
for _ in range(6):
    threading.Thread(target=write, daemon=True).start()
time.sleep(0.2)
leave(3)
"""


def test_it_leaves_with_its_own_code_while_threads_are_writing() -> None:
    """With Python's own end every second one is an abort."""
    words = [sys.executable, "-S", "-E", "-c", WRITING]
    ends = [subprocess.run(words, cwd=ROOT, stderr=subprocess.DEVNULL, check=False).returncode for _ in range(8)]
    assert ends == 8 * [3]


def test_containerd_is_there_and_hangs_up(tmp_path: Path) -> None:
    config, place = tmp_path / "config.toml", tmp_path / "run/c.sock"
    config.write_text(f'version = 3\n[grpc]\naddress = "{place}"\n')
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(str(tmp_path / "notify"))
    heard.settimeout(20)
    code = "import sys; from local.workers import containerd; sys.exit(containerd.main())"
    words = [sys.executable, "-S", "-E", "-c", code, f"--config={config}"]
    running = subprocess.Popen(words, cwd=ROOT, env={"NOTIFY_SOCKET": str(tmp_path / "notify")})
    try:
        assert heard.recv(100) == b"READY=1"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.connect(str(place))
            assert line.recv(100) == b""
    finally:
        running.kill()
        running.wait()
        heard.close()
    assert containerd.main([]) == 2
    config.write_text("version = 2\n")
    assert containerd.main([f"--config={config}"]) == 1


def test_the_door_narrows_the_one_question_and_knows_its_guest() -> None:
    one = api_proxy.ApiProxy(api=None, node="i-1")  # type: ignore[arg-type]
    try:
        assert one.narrowed("/api/v1/nodes?limit=1") == "/api/v1/nodes?limit=1&fieldSelector=metadata.name%3Di-1"
        for path in (
            "/api/v1/nodes?fieldSelector=metadata.name%3Di-2",
            "/api/v1/nodes/i-2",
            "/api/v1/pods?limit=1",
            "/api/v1/namespaces/x/secrets",
        ):
            assert one.narrowed(path) == path, "the API server decides"
        with socket.create_connection(("127.0.0.1", one.server_port), 10) as line:
            line.sendall(b"GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 404")
    finally:
        one.shutdown()
        one.server_close()
    assert json.dumps(one.address).count("/") == 3
    assert threading.active_count() < 50


def test_a_watch_of_the_door_asks_in_silence_whether_the_server_is_there() -> None:
    """Else what an API machine, gone without a word, had told is all that kwok knows for ten minutes."""

    class Silent(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            told.wait(10)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    class Line(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            lines.append(self.sock)

    class Api:
        def connect(self, seconds: float) -> http.client.HTTPConnection:
            return Line("127.0.0.1", server.server_port, timeout=seconds)

        def headers(self) -> dict[str, str]:
            return {}

    told, lines = threading.Event(), list[socket.socket]()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    door = api_proxy.ApiProxy(api=Api(), node="i-1")  # type: ignore[arg-type]
    try:
        with urllib.request.urlopen(f"{door.address}/api/v1/nodes?watch=1", timeout=10):
            (line,) = lines
            found = [line.getsockopt(level, option) for level, option, _ in api_proxy.ALIVE]
        idle, interval, count = found[1:]
        assert found[0] == 1
        assert idle + interval * count == 45
    finally:
        told.set()
        for one in (door, server):
            one.shutdown()
            one.server_close()
