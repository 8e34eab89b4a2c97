"""A region's server for laptops from its rendered bundle, two laptops on the internet, and what is around them.

                        internet ── laptop alice, laptop bob
                            │
    host, resolver ──── the network (AWS's routers) ──── elsewhere, which no plan has
                            │                       │
                         server                   node ── pod

The network stands for AWS: the public address is the server's by NAT there, route tables lead the pool to the server, and
its metadata and S3 answer, as `tests.support.aws.machine` has them. Of the node it takes packets of the node's own address
alone, as of every instance whose source check is on.
"""

import contextlib
import datetime
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from ipaddress import IPv4Network
from pathlib import Path

from components.addons import flannel
from components.addons.spec import addons_spec
from components.control_plane.api import NODE_MASK
from components.control_plane.units import UNITS
from components.links.laptops import firewall, profile, server
from components.links.laptops.authority import Certificate, Revoked, issue, revocations
from components.links.laptops.machine import GROUND, REVOKED, SERVES, bundle
from components.links.laptops.wrapping import client_key
from fleet import laptops
from fleet.world import World, current
from tests.components.links.laptops_bed import REGION, authority, material, spec_of
from tests.support.aws import machine as aws_machine

from . import overlay
from .machines import LabError, Machine, awaited, joined

ROOT = Path(__file__).parents[2]
NAMES = ("alice", "bob")
PUBLIC = "198.51.100.7"
# Of no region, site or cluster; the network would lead there.
ELSEWHERE = "10.200.0.9"
TUNNEL = "tun0"
SECONDS = 900.0
# Of the rendered network: what VXLAN leaves of a tunnel's.
POD_MTU = flannel.TUNNEL_MTU - overlay.HEADS
AWS = """
import sys, time
from tests.support.aws import machine
machine.serve(sys.argv[1], {})
print("serves", flush=True)
time.sleep(900)
"""
# Says to each who asks which address it is seen under.
SEEN = """
import socketserver, sys
class Tell(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(self.client_address[0].encode())
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer((sys.argv[1], 8080), Tell).serve_forever()
"""
# As AWS's: whoever is not of the network gets no answer.
RESOLVER = """
import ipaddress, socket, sys
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.bind((sys.argv[1], 53))
while True:
    data, who = line.recvfrom(512)
    if ipaddress.ip_address(who[0]) in ipaddress.ip_network(sys.argv[2]):
        line.sendto(data[:2] + b"answered to " + who[0].encode(), who)
"""
# As TensorBoard's: who asks, and a page behind it that fills many packets.
PAGE = """
import socketserver, sys
class Tell(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(self.client_address[0].encode() + b" " + bytes(1_000_000))
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer((sys.argv[1], 6006), Tell).serve_forever()
"""
READ = """
import socket, sys
line = socket.create_connection((sys.argv[1], 6006), 3)
line.settimeout(5)
data = b"".join(iter(lambda: line.recv(65536), b""))
print(data.partition(b" ")[0].decode(), len(data.partition(b" ")[2]))
"""
ASK = """
import socket, sys
if sys.argv[1] == "udp":
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.settimeout(3)
    line.sendto(b"ab", (sys.argv[2], 53))
    print(line.recv(512)[2:].decode())
else:
    print(socket.create_connection((sys.argv[2], 8080), 3).recv(64).decode())
"""


def with_services() -> World:
    """The example, whose laptops reach services besides."""
    world = current(ROOT / "fleet.yaml")
    west = world.fleet.regions[REGION].model_copy(update={"laptop_services": True})
    fleet = world.fleet.model_copy(update={"regions": {**world.fleet.regions, REGION: west}})
    return World(fleet, world.plan, world.path)


class Laptop:
    """One person's, with a profile."""

    def __init__(self, machine: Machine, person: str, text: str, certificate: Certificate) -> None:
        self.machine, self.person, self.certificate = machine, person, certificate
        machine.write({f"/run/{person}.ovpn": text})
        self.process: subprocess.Popen[bytes] | None = None

    def connect(self) -> None:
        words = ("openvpn", "--config", f"/run/{self.person}.ovpn", "--log", "/run/openvpn.log")
        self.process = self.machine.start(*words, seconds=SECONDS)

    def disconnect(self) -> None:
        self.machine.kill(self.machine.processes("openvpn --config"), "TERM")
        assert self.process is not None
        self.process.wait(10)

    def log(self) -> str:
        with contextlib.suppress(FileNotFoundError):
            return self.machine.read("/run/openvpn.log")
        return ""

    @property
    def address(self) -> str:
        """In the tunnel; empty without one."""
        told = self.machine.attempt("ip", "-json", "-4", "addr", "show", "dev", TUNNEL)
        found = json.loads(told.stdout)[0]["addr_info"] if not told.returncode else []
        return str(found[0]["local"]) if found else ""

    def routes(self) -> set[str]:
        """Destinations by the tunnel."""
        told = self.machine.run("ip", "-json", "-4", "route", "show", "dev", TUNNEL)
        return {one["dst"] for one in json.loads(told)}

    def pings(self, address: str, *words: str) -> bool:
        return self.machine.attempt("ping", "-c1", "-W1", *words, address).returncode == 0

    def page(self, address: str) -> list[str]:
        """Whom the page's server saw, and how large the page was; nothing without an answer."""
        done = self.machine.attempt(sys.executable, "-c", READ, address)
        return done.stdout.split() if done.returncode == 0 else []

    def ask(self, kind: str, address: str) -> str:
        done = self.machine.attempt(sys.executable, "-c", ASK, kind, address)
        return done.stdout.strip() if done.returncode == 0 else ""


class Region:
    """`begin` brings all up; `close` ends it."""

    def __init__(self, logs: Path) -> None:
        world = with_services()
        self.spec = spec_of(world)
        self.server = self.spec.servers[0]
        self.authority = authority()
        self.network = IPv4Network(world.plan.region(self.spec.region).network)
        self.pool = IPv4Network(self.server.pool_cidr)
        zone = world.plan.region(self.spec.region).zones[self.server.zone]
        self.public, self.private = IPv4Network(zone.public), IPv4Network(zone.private)
        self.inside, self.host_address = str(self.public[10]), str(self.private[100])
        self.node_address = str(self.private[101])
        prefixes = IPv4Network(self.spec.node.pods_cidr).subnets(new_prefix=NODE_MASK)
        self.own_pods, self.node_pods = next(prefixes), next(prefixes)
        self.pod_address = str(self.node_pods[5])
        self.service_address = str(IPv4Network(world.plan.cluster(self.spec.node.cluster).services)[77])
        self.net_conf = flannel.network(addons_spec(world.fleet, world.plan, self.spec.node.cluster), direct=False)
        self.folder = logs
        self.logs, self.machines = logs, list[Machine]()
        self.number = 0

    def begin(self) -> None:
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        names = ("internet", "network", "server", "host", "elsewhere", "node", "pod", *NAMES)
        made = {name: self._machine(name) for name in names}
        self.vpc, self.machine, self.host = made["network"], made["server"], made["host"]
        self._cables(made)
        self._around(made)
        self._aws()
        self.publish([])
        self._serve()
        self._pod(made["node"], made["pod"])
        self.laptops = {name: self._laptop(name, made[name]) for name in NAMES}

    def _machine(self, name: str) -> Machine:
        self.machines.append(Machine(name, self.logs))
        return self.machines[-1]

    def _cables(self, made: dict[str, Machine]) -> None:
        internet = made["internet"]
        internet.sysctl("net.ipv4.ip_forward=1")
        for number, name in enumerate(NAMES):
            joined(internet, name, made[name], "wan")
            internet.ip(f"addr add 192.0.2.{4 * number + 1}/30 dev {name}")
            made[name].ip(
                f"addr add 192.0.2.{4 * number + 2}/30 dev wan", f"route add default via 192.0.2.{4 * number + 1}"
            )
        joined(internet, "aws", self.vpc, "internet")
        internet.ip("addr add 203.0.113.1/30 dev aws", f"route add {PUBLIC} via 203.0.113.2")
        # Called as the stand-in of AWS expects it.
        joined(self.vpc, "machines", self.machine, "eth0")
        joined(self.vpc, "private", self.host, "eth0")
        joined(self.vpc, "odd", made["elsewhere"], "eth0")
        self.vpc.sysctl("net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0")
        self.vpc.ip(
            "addr add 203.0.113.2/30 dev internet",
            f"addr add {self.public[1]}/{self.public.prefixlen} dev machines",
            f"addr add {self.private[1]}/{self.private.prefixlen} dev private",
            "addr add 10.200.0.1/24 dev odd",
            "route add default via 203.0.113.1",
            # What the region's route tables say.
            f"route add {self.pool} via {self.inside} dev machines",
        )
        self.vpc.nft(
            f"""table ip aws {{
                chain public {{ type nat hook prerouting priority dstnat; ip daddr {PUBLIC} dnat to {self.inside}; }}
                chain leaving {{
                    type nat hook postrouting priority srcnat;
                    oifname "internet" ip saddr {self.inside} snat to {PUBLIC};
                }}
            }}"""
        )
        made["elsewhere"].ip(f"addr add {ELSEWHERE}/24 dev eth0", "route add default via 10.200.0.1")

    def _pod(self, node: Machine, pod: Machine) -> None:
        """A node of the cluster, and the overlay that the server is the other end of."""
        joined(self.vpc, "node", node, "eth0")
        joined(node, "cni0", pod, "eth0")
        self.vpc.ip(f"addr add {self.private[1]} peer {self.node_address} dev node")
        node.sysctl("net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=2")
        node.ip(
            f"addr add {self.node_address} peer {self.private[1]} dev eth0",
            f"route add default via {self.private[1]}",
            f"addr add {self.node_pods[1]}/{self.node_pods.prefixlen} dev cni0",
            f"link set cni0 mtu {POD_MTU}",
        )
        pod.ip(
            f"addr add {self.pod_address}/{self.node_pods.prefixlen} dev eth0",
            f"route add default via {self.node_pods[1]}",
            f"link set eth0 mtu {POD_MTU}",
        )
        check = (
            f'type filter hook prerouting priority raw; iifname "node" ip saddr != {self.node_address} counter drop;'
        )
        self.vpc.nft(f"table ip instance {{ chain check {{ {check} }}; }}")
        ends = (
            overlay.Node(self.machine, self.inside, self.own_pods),
            overlay.Node(node, self.node_address, self.node_pods),
        )
        overlay.lay(self.net_conf, *ends)
        # What kube-proxy does on every node.
        service = f"ip daddr {self.service_address} dnat to {self.pod_address};"
        self.machine.nft(f"table ip proxy {{ chain in {{ type nat hook prerouting priority dstnat; {service} }}; }}")
        pod.start(sys.executable, "-c", PAGE, self.pod_address, seconds=SECONDS)

    def dropped(self) -> int:
        """Packets of the node that had an address which is not its own."""
        told = json.loads(self.vpc.run("nft", "-j", "list", "chain", "ip", "instance", "check"))
        (rule,) = [one["rule"] for one in told["nftables"] if "rule" in one]
        return sum(int(part["counter"]["packets"]) for part in rule["expr"] if "counter" in part)

    def _around(self, made: dict[str, Machine]) -> None:
        self.host.ip(
            f"addr add {self.host_address}/{self.private.prefixlen} dev eth0",
            f"addr add {self.spec.resolver}/32 dev eth0",
            f"route add default via {self.private[1]}",
        )
        self.vpc.ip(f"route add {self.spec.resolver}/32 via {self.host_address} dev private")
        for one, at in ((self.host, self.host_address), (made["elsewhere"], ELSEWHERE)):
            one.start(sys.executable, "-c", SEEN, at, seconds=SECONDS)
        self.host.start(sys.executable, "-c", RESOLVER, self.spec.resolver, str(self.network), seconds=SECONDS)

    def _aws(self) -> None:
        trusted = aws_machine.trust(self.folder)
        self.machine.write({**trusted, "/etc/hosts": aws_machine.HOSTS})
        words = (sys.executable, "-c", AWS, str(self.folder))
        env = {"PYTHONPATH": str(ROOT)}
        running = self.vpc.start(*words, seconds=SECONDS, env=env, out=subprocess.PIPE)
        assert running.stdout is not None
        if running.stdout.readline() != b"serves\n":
            raise LabError(f"the stand-in of AWS does not serve: {self.vpc.log.read_text()[-800:]}")

    def _serve(self) -> None:
        machine, made = self.machine, bundle(self.spec, self.server, material(self.authority, self.server))
        machine.ip(
            f"addr add {self.inside}/{self.public.prefixlen} dev eth0",
            f"route add default via {self.public[1]} dev eth0",
        )
        # A machine of the lab has the host's /var.
        machine.run("mount", "-t", "tmpfs", "tmpfs", "/var/lib")
        machine.write({**made.files, **made.keys})
        machine.run("chmod", "600", *made.keys)
        for line in self._starts(GROUND):
            machine.run(*line)
        self._start(REVOKED)
        self._start(SERVES)
        awaited("the server", lambda: Path(f"{machine.root}{server.MANAGEMENT}").exists(), 20.0)

    def _starts(self, name: str) -> list[list[str]]:
        """Command lines of a rendered unit, in their order."""
        text = self.machine.read(f"{UNITS}/{name}").replace("\\\n", " ")
        return [shlex.split(line.partition("=")[2]) for line in text.splitlines() if line.startswith("ExecStart")]

    def _start(self, name: str) -> None:
        """What systemd does of a unit: all lines in their order, the last one for good."""
        line = " && ".join(shlex.join(words) for words in self._starts(name))
        self.machine.start("sh", "-c", line, seconds=SECONDS)

    def _laptop(self, person: str, machine: Machine) -> Laptop:
        one = issue(self.authority, person, 90, datetime.datetime.now(datetime.UTC))
        wrapping = client_key(self.authority.wrapping, int(time.time()))
        told = profile.Profile(
            person, self.spec.fleet, self.spec.region, (PUBLIC,), self.authority.certificate, one, wrapping
        )
        return Laptop(machine, person, profile.text(told), one)

    def publish(self, revoked: list[Certificate]) -> None:
        """As `landbridge vpn` does."""
        now, self.number = datetime.datetime.now(datetime.UTC), self.number + 1
        text = revocations(self.authority, [Revoked(one.serial, now, one.until) for one in revoked], self.number, now)
        file = self.folder / "bucket" / self.spec.bucket / laptops.REVOKED
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{os.getpid()}.new")
        draft.write_text(text)
        draft.replace(file)

    @contextlib.contextmanager
    def without_walls(self) -> Iterator[None]:
        """The server with no firewall, for proofs that it is what refuses."""
        self.machine.run("nft", "delete", "table", "inet", "landbridge_laptops")
        try:
            yield
        finally:
            self.machine.run("nft", "--file", firewall.CONFIG)

    def close(self) -> None:
        for machine in reversed(self.machines):
            machine.close()
        self.machines.clear()
