"""Routers as network namespaces of the local cloud, and the wires between them: has them as a plan says."""

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from local.machines.network import at, batch, environment, run

from .plan import Plan
from .routers import CLOUD, HARDWARE, NEXT_HOP, Router, Wire

# Both ways of a flow may differ, so no router but a network's asks where a packet should have come from.
SETTINGS = {
    "ip_forward": 1,
    "conf/all/rp_filter": 0,
    "conf/default/rp_filter": 0,
    "conf/all/send_redirects": 0,
    "fib_multipath_hash_policy": 1,
}
# Priorities of what the kernel itself lays into each network.
KERNELS_RULES = ("0", "32766", "32767")


class Namespaces:
    """Each router's namespace is a file below `folder`; all go with the local cloud's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.routers: dict[str, Router] = {}
        self.wires: frozenset[Wire] = frozenset()
        self.lock = threading.Lock()
        self._sweep()
        folder.mkdir(parents=True)

    def _sweep(self) -> None:
        """What an earlier machines service has left here, or an earlier daemon: files that lead nowhere."""
        for file in self.folder.glob("*"):
            subprocess.run(["umount", str(file)], capture_output=True, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
        interfaces = [name for _, name in socket.if_nameindex() if name != "lo"]
        rules = subprocess.run(["ip", "rule"], capture_output=True, text=True, check=False).stdout.splitlines()
        own = [line.partition(":")[0] for line in rules]
        lines = [f"link delete {interface}" for interface in interfaces]
        lines += [f"rule delete pref {one}" for one in own if one not in KERNELS_RULES]
        if lines:
            _try(["ip", "-force", "-batch", "-"], lines)
        # A router without a wall has none of these; then it says so, and nobody listens.
        subprocess.run(["nft", "delete", "table", "ip", "cloud"], capture_output=True, check=False, env=environment())

    def file(self, name: str) -> Path:
        return self.folder / name

    def apply(self, plan: Plan) -> None:
        """Raises NetworkError; what is not done then is tried again the next time."""
        with self.lock:
            for name in plan.routers.keys() - self.routers.keys():
                self._make(name)
                self.routers[name] = Router()
            for name, router in plan.routers.items():
                # Walls before ways, so that nothing passes in between.
                if router.ruleset != self.routers[name].ruleset:
                    self._filter(name, router.ruleset)
                    self.routers[name] = self.routers[name]._replace(ruleset=router.ruleset)
            gone = {name: Router(ruleset=one.ruleset) for name, one in self.routers.items() if name not in plan.routers}
            self._forget({**plan.routers, **gone})
            self._rewire(plan.wires)
            for name, router in plan.routers.items():
                self._lead(name, router)
                self.routers[name] = router
            for name in gone:
                del self.routers[name]
                self._end(name)

    def through(self, name: str) -> list[str]:
        """What runs a command at a router."""
        return at(None if name == CLOUD else self.file(name))

    def _make(self, name: str) -> None:
        if name == CLOUD:
            settings = {one: value for one, value in SETTINGS.items() if one != "ip_forward"}
        else:
            self.file(name).touch()
            run(["unshare", f"--net={self.file(name)}", "true"])
            settings = SETTINGS
        commands = [f"echo {value} > /proc/sys/net/ipv4/{one}" for one, value in settings.items()]
        run([*self.through(name), "sh", "-c", " && ".join(["ip link set lo up", *commands])])

    def _end(self, name: str) -> None:
        run(["umount", str(self.file(name))])
        self.file(name).unlink()

    def _filter(self, name: str, ruleset: str) -> None:
        run([*self.through(name), "nft", "-f", "-"], ruleset or "table ip cloud\ndelete table ip cloud\n")

    def _forget(self, wanted: dict[str, Router]) -> None:
        """Routes and rules that are no more. Those whose interface went before are gone already."""
        for name, now in self.routers.items():
            then = wanted[name]
            stay = {route.place for route in then.routes}
            lines = [f"route delete {one.place}" for one in now.routes if one.place not in stay]
            lines += [f"rule delete {one}" for one in now.rules - then.rules]
            if lines:
                _try([*self.through(name), "ip", "-force", "-batch", "-"], lines)

    def _lead(self, name: str, router: Router) -> None:
        now = self.routers[name]
        lines = [f"route replace {one}" for one in sorted(router.routes - now.routes)]
        lines += [f"rule add {one}" for one in sorted(router.rules - now.rules)]
        if lines:
            batch(lines, self.through(name))

    def _rewire(self, wires: frozenset[Wire]) -> None:
        for name, interfaces in _by_router((one.here, one.here_interface) for one in self.wires - wires).items():
            _try(
                [*self.through(name), "ip", "-force", "-batch", "-"],
                [f"link delete {interface}" for interface in interfaces],
            )
        self.wires = self.wires & wires
        for wire in sorted(wires - self.wires):
            self._wire(wire)
            self.wires |= {wire}

    def _wire(self, wire: Wire) -> None:
        # Made from the end that is no local cloud: that one has no file.
        there = f"address {HARDWARE} netns {self.file(wire.there)}"
        made = (
            f"link add name {wire.here_interface} address {HARDWARE} type veth peer name {wire.there_interface} {there}"
        )
        batch([made], self.through(wire.here))
        for name, interface in ((wire.here, wire.here_interface), (wire.there, wire.there_interface)):
            batch(
                [
                    f"link set {interface} addrgenmode none up",
                    f"neigh replace {NEXT_HOP} lladdr {HARDWARE} dev {interface} nud permanent",
                ],
                self.through(name),
            )


def _by_router(interfaces: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, interface in interfaces:
        found.setdefault(name, []).append(interface)
    return found


def _try(command: Sequence[str], lines: Sequence[str]) -> None:
    subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
