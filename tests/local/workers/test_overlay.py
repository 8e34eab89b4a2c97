"""The network of pods between machines: what the kernel is told, and packets behind a router that lets nothing else by.

Machines are network namespaces with a local machine's own card; the router is the namespace that they are made in.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from components.addons import flannel
from components.addons.spec import addons_spec
from components.control_plane.api import NODE_MASK
from components.pools.firewall import OVERLAY_PORT
from fleet.world import current
from kube_http import Kube
from local import namespace
from local.machines.network import NetworkError
from local.workers import overlay, vxlan
from local.workers.overlay import Overlay
from local.workers.vxlan import Member
from tests.components.pools.joining_bed import ROOT
from tests.local.machines.host import Host
from tests.local.workers.real_pods import pod

NODES = {
    "a": Member("10.0.0.4", "10.64.0.0/25"),
    "b": Member("10.0.1.4", "10.64.0.128/25"),
    "c": Member("10.0.2.4", "10.64.1.0/25"),
}
A, B, C = NODES.values()
PORT, OTHER_PORT = 7000, 7001
# As security groups let nodes talk to each other.
WALL = """
table ip wall {
    chain forward {
        type filter hook forward priority 0; policy drop;
        ct state established,related accept
        udp dport 8472 accept
    }
}
"""
# In the router's namespace. What `machines` has ends with it.
MADE = """
import subprocess
here = Path("/proc/self/ns/net").readlink()
for name, address in hosts.items():
    machines[name] = subprocess.Popen(["unshare", "--net", "sleep", "600"])
    while Path(f"/proc/{machines[name].pid}/ns/net").readlink() == here:
        pass
    network.plug(machines[name].pid, network.Interface((f"{address}/24",)))
network.run(["nft", "-f", "-"], wall)
"""
# Like a kubelet of that machine, which starts anew.
STARTED = """
import subprocess
if keeper in machines:
    machines[keeper].kill()
words = ["nsenter", f"--target={machines[name].pid}", "--net", *words]
machines[keeper] = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
"""
KEEPS = """
import json, sys
from kube_http import Kube
from local.workers.overlay import Overlay
from local.workers.vxlan import Member
one = Overlay(Kube("https://192.0.2.1", "ca"), *sys.argv[1:])
for line in sys.stdin:
    what, given = json.loads(line)
    if what == "listed":
        one.listed([(name, Member(*known)) for name, known in given[0].items()])
    else:
        one.changed(*given)
    print(json.dumps([one.address, one.refused]), flush=True)
"""
TOLD = """
import json
machines[keeper].stdin.write(json.dumps([what, given]) + "\\n")
machines[keeper].stdin.flush()
result = json.loads(machines[keeper].stdout.readline())
"""
RUN = """
import subprocess
words = ["nsenter", f"--target={machines[name].pid}", "--net", *words]
result = subprocess.run(words, capture_output=True, text=True, env=network.environment()).stdout
"""
# What is said to it comes back: more than fits a packet.
ANSWERS = """
import socket, sys, threading
def answer(door):
    while True:
        line = door.accept()[0]
        line.sendall(line.makefile("rb").readline())
        line.close()
for port in sys.argv[1:]:
    threading.Thread(target=answer, args=(socket.create_server(("", int(port))),)).start()
"""
ASKS = """
import socket, sys
try:
    line = socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)
    line.sendall(b"x" * 100_000 + b"\\n")
    print(len(line.makefile("rb").readline()), line.getsockname()[0], line.getpeername()[0])
except OSError as error:
    print(type(error).__name__)
"""


def node(name: str, known: Member, **more: Any) -> dict[str, Any]:
    addresses = [{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": known.host}]
    spec = {"podCIDR": known.pods} if known.pods else {}
    return {"metadata": {"name": name}, "spec": spec, "status": {"addresses": addresses}, **more}


def made() -> Overlay:
    return Overlay(Kube("https://192.0.2.1", "ca"), "a", A.host)


def test_a_node_is_a_member_once_it_has_a_range() -> None:
    assert vxlan.member(node("a", A)) == A
    assert vxlan.member(node("a", Member(A.host, ""))) is None
    assert vxlan.member(node("a", A, status={})) is None
    assert [(one.address, one.hardware) for one in (A, B)] == [
        ("10.64.0.126", "0a:58:0a:00:00:04"),
        ("10.64.0.254", "0a:58:0a:00:01:04"),
    ]


def test_it_is_the_add_on_s_network() -> None:
    world = current(ROOT / "fleet.yaml")
    backend = flannel.network(addons_spec(world.fleet, world.plan, "main"), direct=False)["Backend"]
    assert (backend["VNI"], backend["Port"]) == (vxlan.VNI, vxlan.PORT)
    assert vxlan.PORT == OVERLAY_PORT
    assert backend["MTU"] - 50 == vxlan.MTU
    # A node's highest address is none that kwok gives: it gives the lowest, and kubelets have 110 pods.
    assert (1 << 32 - NODE_MASK) - 2 > 110


def test_what_the_kernel_is_told() -> None:
    assert vxlan.device(A) == [
        "link add flannel.1 address 0a:58:0a:00:00:04 mtu 1350 type vxlan id 1 local 10.0.0.4 dstport 8472 nolearning",
        "link set flannel.1 addrgenmode none up",
        "addr add 10.64.0.126/32 dev flannel.1",
    ]
    assert vxlan.laid(A, [C, B]) == [
        "neigh replace 10.64.0.254 lladdr 0a:58:0a:00:01:04 dev flannel.1 nud permanent",
        "route replace 10.64.0.128/25 via 10.64.0.254 dev flannel.1 onlink src 10.64.0.126",
        "neigh replace 10.64.1.126 lladdr 0a:58:0a:00:02:04 dev flannel.1 nud permanent",
        "route replace 10.64.1.0/25 via 10.64.1.126 dev flannel.1 onlink src 10.64.0.126",
    ]
    assert vxlan.dropped([B]) == [
        "route delete 10.64.0.128/25 via 10.64.0.254 dev flannel.1",
        "neigh delete 10.64.0.254 dev flannel.1",
    ]
    assert vxlan.forwarded("replace", [B]) == [
        "fdb replace 0a:58:0a:00:01:04 dev flannel.1 dst 10.0.1.4 self permanent"
    ]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What an overlay has the kernel do."""
    found: list[Any] = []
    monkeypatch.setattr(overlay, "background", lambda work: found.append("begun"))
    monkeypatch.setattr(vxlan, "begin", lambda own: found.append(("begin", own)))
    monkeypatch.setattr(vxlan, "lead", lambda own, others: found.append(("lead", *sorted(others))))
    monkeypatch.setattr(vxlan, "forget", lambda others: found.append(("forget", *sorted(others))))
    return found


def test_ways_follow_nodes(told: list[Any]) -> None:
    one = made()
    one.listed([("b", B), ("c", None)])
    assert (one.address, told) == ("", []), "it has no range yet"
    one.changed("MODIFIED", node("a", A))
    assert one.address == A.address
    one.changed("MODIFIED", node("b", B))
    one.changed("ADDED", node("c", Member(C.host, "")))
    moved = Member("10.0.1.9", B.pods)
    one.changed("MODIFIED", node("b", moved))
    one.changed("DELETED", node("b", moved))
    assert told == [("begin", A), ("lead", B), ("forget", B), ("lead", moved), ("forget", moved)]
    told.clear()
    # A list after a break has all that changed meanwhile.
    one.listed([("a", A), ("c", C)])
    one.broken("watches /api/v1/nodes again in 1 s: gone")
    assert told == [("lead", C)]
    assert one.address == A.address


def test_a_machine_that_is_two_nodes_for_a_while_keeps_the_way_to_the_newer(told: list[Any]) -> None:
    one, newer = made(), Member(B.host, C.pods)
    one.listed([("a", A), ("b", B), ("again", newer), ("mine", Member(A.host, "10.64.9.0/25"))])
    one.changed("DELETED", node("b", B))
    assert told[1:] == [("lead", B, newer), ("forget", B), ("lead", newer)]


def test_pods_wait_a_little_for_their_address(
    told: list[Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    one, now = made(), [100.0]
    monkeypatch.setattr(overlay.time, "monotonic", lambda: now[0])
    plain, hosts = pod("plain", "a"), pod("hosts", "a", hostNetwork=True)
    assert (one.of(hosts), one.of(plain)) == (A.host, None)
    assert told == ["begun"]
    now[0] += overlay.SHORT_SECONDS
    assert [one.of(plain), one.of(plain)] == [A.host] * 2, "without flannel it may never come"
    assert capfd.readouterr().err.count("no flannel.1 yet") == 1
    one.flannel.found = True
    assert one.of(plain) is None
    now[0] += overlay.SETTLE_SECONDS
    assert one.of(plain) == A.host
    one.listed([("a", A)])
    assert (one.of(plain), one.of(hosts)) == (A.address, A.host)


def test_a_kernel_without_it_is_asked_once(
    told: list[Any], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuses(_: Member) -> None:
        told.append("asked")
        raise NetworkError("Unknown device type")

    one = made()
    monkeypatch.setattr(vxlan, "begin", refuses)
    for found in ([("a", A)], [("a", A), ("b", B)]):
        one.listed(found)
    assert one.of(pod("plain", "a")) == A.host
    assert told == ["asked", "begun"]
    assert capfd.readouterr().err.count("Unknown device type") == 1


class Machines:
    def __init__(self, host: Host) -> None:
        self.host = host
        host(MADE, hosts={name: one.host for name, one in NODES.items()}, wall=WALL)
        for name in NODES:
            self.starts(name, f"answers-{name}", "-c", ANSWERS, str(PORT), str(OTHER_PORT))
            self.begin(name)

    def starts(self, name: str, keeper: str, *words: str) -> None:
        self.host(STARTED, name=name, keeper=keeper, words=[sys.executable, *words])

    def begin(self, name: str) -> None:
        self.starts(name, f"keeps-{name}", "-c", KEEPS, name, NODES[name].host)

    def tell(self, name: str, what: str, *given: Any) -> tuple[str, bool]:
        address, refused = self.host(TOLD, keeper=f"keeps-{name}", what=what, given=given)
        return address, refused

    def listed(self, name: str, **nodes: Member) -> tuple[str, bool]:
        return self.tell(name, "listed", nodes)

    def run(self, name: str, *words: str) -> str:
        return str(self.host(RUN, name=name, words=list(words)))

    def asks(self, name: str, address: str, port: int = PORT) -> str:
        return self.run(name, sys.executable, "-c", ASKS, address, str(port)).strip()

    def ways(self, name: str) -> list[str]:
        """Ranges, neighbours and nodes that its device leads to."""
        routes = self.run(name, "ip", "-json", "route", "show", "dev", vxlan.DEVICE)
        neighbours = self.run(name, "ip", "-json", "neigh", "show", "dev", vxlan.DEVICE)
        nodes = self.run(name, "bridge", "-json", "fdb", "show", "dev", vxlan.DEVICE)
        return [str(one["dst"]) for told in (routes, neighbours, nodes) for one in sorted(json.loads(told), key=str)]


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    host = Host(tmp_path_factory.mktemp("overlay"), ["unshare", *namespace.usable_mode().make])
    yield Machines(host)
    host.close()


def test_pods_reach_each_other_where_only_vxlan_passes(machines: Machines) -> None:
    assert machines.asks("a", B.host) == "TimeoutError"
    for name, one in NODES.items():
        assert machines.listed(name, **NODES) == (one.address, False)
    for port in (PORT, OTHER_PORT):
        assert machines.asks("a", B.address, port) == f"100001 {A.address} {B.address}"
    assert machines.asks("c", A.address) == f"100001 {C.address} {A.address}"
    assert machines.asks("a", A.address) == f"100001 {A.address} {A.address}", "on one machine"
    assert machines.asks("a", B.host) == "TimeoutError", "nothing else may"


def test_a_node_that_goes_loses_its_ways(machines: Machines) -> None:
    for name in NODES:
        machines.listed(name, **NODES)
    assert machines.ways("a") == [B.pods, C.pods, B.address, C.address, B.host, C.host]
    machines.tell("a", "changed", "DELETED", node("b", B))
    assert machines.ways("a") == [C.pods, C.address, C.host]
    assert not machines.asks("a", B.address).startswith("100001")
    assert machines.asks("a", C.address).startswith("100001")
    machines.tell("a", "changed", "ADDED", node("b", B))
    assert machines.asks("a", B.address).startswith("100001")


def test_the_next_kubelet_takes_it_over_and_forgets_what_has_gone(machines: Machines) -> None:
    for name in NODES:
        machines.listed(name, **NODES)
    number = machines.run("a", "ip", "-brief", "link", "show", vxlan.DEVICE)
    machines.begin("a")
    assert machines.listed("a", a=A, c=C) == (A.address, False)
    assert machines.run("a", "ip", "-brief", "link", "show", vxlan.DEVICE) == number
    assert machines.ways("a")[:4] == [C.pods, C.address, B.host, C.host]
    # As another node it gets another range.
    machines.begin("a")
    again = Member(A.host, "10.64.9.0/25")
    assert machines.listed("a", a=again, c=C) == ("10.64.9.126", False)
    machines.listed("c", a=again, c=C)
    assert machines.asks("c", again.address) == f"100001 {C.address} {again.address}"
    assert machines.asks("c", A.address) == "OSError"


def test_a_machine_without_the_node_s_address_has_none(machines: Machines) -> None:
    machines.starts("b", "keeps-b", "-c", KEEPS, "b", "10.0.7.7")
    assert machines.listed("b", b=Member("10.0.7.7", B.pods)) == ("", True)
