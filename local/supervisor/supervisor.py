"""Keeps one machine per instance, and names, volumes and balancers around them, as the local clouds have them."""

import subprocess
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from local import hosts_file
from local.kubernetes import BIN, BUILT_IN
from local.machines import network
from local.machines.network import NetworkError
from local.network.namespaces import Namespaces
from local.network.plan import plan

from . import leftovers, names, programs, volumes, worlds
from .azure.balancers import Spread
from .balancers import Balancers
from .cloud import Cloud, CloudError, CloudGoneError
from .guests import Guests
from .hosts import Hosts
from .instance import Instance, Site, complain, write
from .metadata import ADDRESS

CHANGE_SECONDS = 20.0
# While something is under way that no call of anybody's tells of.
RESTLESS_SECONDS = 0.3
PAUSE_SECONDS = 0.1
# What is told once: a cloud that is away hears it when it is back, within so many seconds. All else is told again.
LASTING = {"ill": 60.0, "command": 60.0}
AUTHORITIES = ("authority", "azure-authority")
# Where programs look for authorities: Debian and Go, OpenSSL's own default, Red Hat.
TRUSTED = ("etc/ssl/certs/ca-certificates.crt", "etc/ssl/cert.pem", "etc/pki/tls/certs/ca-bundle.crt")


class Supervisor:
    """The service's state; `follow` is its life."""

    def __init__(self, home: Path, clouds: Sequence[Cloud]) -> None:
        self.home, self.clouds = home, {one.name: one for one in clouds}
        self.instances: dict[str, Instance] = {}
        self.lock, self.routing = threading.RLock(), threading.Lock()
        self.worlds: dict[str, dict[str, Any]] = {}
        self.applying = threading.Lock()
        self.networked = self.begun = False
        self.waiting: set[tuple[str, str]] = set()
        (home / "machines").mkdir(parents=True, exist_ok=True)
        leftovers.await_ended(home / "machines")
        self.volumes = volumes.Volumes(home)
        if missing := programs.missing(BUILT_IN):
            complain(f"machines will lack {', '.join(missing)}: not in {BIN}")
        self.routers = Namespaces(home / "networks")
        self.sites = {name: self.site(name) for name in self.clouds}
        self.spread = Spread(self.routers.through, complain)
        self.balancers = Balancers(self.teller("aws"), complain)
        self.hosts = Hosts(self.sites["aws"], lambda: names.of_sites(self.world), self.route, home / "hosts.json")
        self.guests = Guests(home / "guests.json")
        self.write()

    @property
    def world(self) -> dict[str, Any]:
        """All clouds' as they last told."""
        return worlds.merged(self.worlds.values())

    def site(self, cloud: str) -> Site:
        """What machines of a cloud share."""
        tell = self.teller(cloud)
        return Site(self.home, self.trusted, self.volumes, tell, self.write, complain, self.routers.file)

    def follow(self) -> None:
        """Does what the clouds have changed, for ever. A cloud that is away for a while finds all as it was."""
        for cloud in self.clouds.values():
            threading.Thread(target=self.follow_one, args=(cloud,), name=cloud.name, daemon=True).start()
        threading.Event().wait()

    def follow_one(self, cloud: Cloud) -> None:
        version = -1
        while True:
            try:
                restless = self.worlds.get(cloud.name, {}).get("restless", False)
                version = cloud.await_change(version, RESTLESS_SECONDS if restless else CHANGE_SECONDS)
                world = cloud.world()
                with self.applying:
                    self.take(cloud.name, world)
            except CloudGoneError as error:
                complain(f"{cloud.name} does not answer: {error}. Machines go on, and wait for it")
                cloud.await_back()
                complain(f"{cloud.name} answers again")
                version = -1
                # It may have forgotten how its targets are.
                self.balancers.tell_again()
            except Exception as error:
                # One thing that goes wrong must not end all machines; what is not done now is tried at the next change.
                complain(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
            # Many writes at once are looked at together.
            time.sleep(PAUSE_SECONDS)

    def take(self, name: str, world: dict[str, Any]) -> None:
        """What a cloud has now. Nothing happens before all have told: what is nobody's is dropped then."""
        self.worlds = {**self.worlds, name: world}
        if len(self.worlds) < len(self.clouds):
            return
        self.apply(self.world)
        if not self.begun:
            self.begun = True
            known = {one["id"] for one in self.world["machines"]}
            leftovers.drop(self.home / "machines", known | self.hosts.known())
            self.hosts.restore()

    def apply(self, world: dict[str, Any]) -> None:
        """Has everything as `world` tells it."""
        specs = {one["id"]: one for one in world["machines"]}
        if specs or world["balancers"]:
            self.lead()
        self.attempt("routers", self.route)
        hosts = {vpc: names.of_network(world, vpc) for vpc in {one["vpc"] for one in specs.values()}}
        with self.lock:
            for id_, one in specs.items():
                if id_ in self.instances:
                    self.instances[id_].tell(one, hosts[one["vpc"]])
                elif one["state"] == "shutting-down":
                    self.teller(one["cloud"])("ended", id_)
                elif not (holder := self.taken(one["address"])):
                    self.instances[id_] = self.guests.create(self.sites[one["cloud"]], one, hosts[one["vpc"]])
                elif (id_, holder) not in self.waiting:
                    self.waiting.add((id_, holder))
                    complain(f"{id_} waits: {holder} has its address {one['address']}")
            for id_ in [id_ for id_ in self.instances if id_ not in specs]:
                self.instances[id_].leave()
                if not self.instances[id_].thread.is_alive():
                    del self.instances[id_]
        hosts_file.lay(self.home / "cloud.hosts", names.of_cloud(world), "the machines service")
        self.hosts.tell(names.of_sites(world))
        self.volumes.drop_others(set(world["volumes"]) | self.attached_volumes())
        routers = set(self.routers.routers)
        self.attempt("balancers", lambda: self.spread.update(world["spread"], routers))
        self.attempt("balancers", lambda: self.balancers.update(world["balancers"], world["groups"]))
        self.write()

    def attempt(self, what: str, work: Callable[[], None]) -> None:
        """What the kernel refuses now is tried at the next change."""
        try:
            work()
        except NetworkError as error:
            complain(f"{what}: {error}")

    def lead(self) -> None:
        """Machines reach the local clouds."""
        if not self.networked:
            network.hold(ADDRESS)
            self.networked = True

    def route(self) -> None:
        """Packets go where the local clouds and sites' gateways have them go. Raises NetworkError."""
        with self.routing:
            made = plan(self.world, self.hosts.rooms.values())
            self.routers.apply(made)
            if made.tunnels:
                ends = {
                    end: {"keys": prefixes is not None, "prefixes": prefixes} for end, prefixes in made.tunnels.items()
                }
                self.teller("aws")("ends", ends)
            if made.ends:
                self.teller("azure")("ends", made.ends)

    def stand_up(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Has a host of a site running: see `hosts`."""
        self.lead()
        return self.hosts.stand_up(spec)

    def taken(self, address: str) -> str | None:
        """Which other machine still has the address: the new one waits for it."""
        holders = [r.id for r in self.instances.values() if r.spec["address"] == address and r.thread.is_alive()]
        return holders[0] if holders else None

    def attached_volumes(self) -> set[str]:
        return {volume for instance in self.instances.values() for volume in instance.attached}

    def find(self, address: str) -> dict[str, Any] | None:
        """The instance of the machine with an address."""
        with self.lock:
            for instance in self.instances.values():
                if instance.spec["address"] == address and instance.thread.is_alive():
                    return instance.spec
        return None

    def teller(self, cloud: str) -> Callable[[str, Any], None]:
        """What speaks to a cloud."""

        def tell(name: str, body: Any) -> None:
            try:
                self.clouds[cloud].tell(name, body, LASTING.get(name, 0.0))
            except CloudError as error:
                complain(f"{name}: {error}")

        return tell

    def write(self) -> None:
        with self.lock:
            write(self.home / "machines.json", self.described())

    def described(self) -> list[dict[str, Any]]:
        """Every machine, as `landbridge local machines` shows it."""
        instances = [one.described() for one in list(self.instances.values())]
        return instances + [one.described() for one in self.hosts.all()]

    def trusted(self) -> dict[str, str]:
        """The authorities' certificates, wherever programs look for one."""
        authorities = [self.home / f"{folder}/ca.crt" for folder in AUTHORITIES]
        texts = [one.read_text() for one in authorities]
        hashes = [hashed(one) for one in authorities]
        # Those of one name, as ours are, are told apart by a number.
        by_hash = {f"etc/ssl/certs/{h}.{hashes[:n].count(h)}": texts[n] for n, h in enumerate(hashes)}
        return {**dict.fromkeys(TRUSTED, "".join(texts)), **by_hash}

    def end(self) -> None:
        """Ends all machines at once, as a power cut does."""
        with self.lock:
            kills = [one.kill for one in self.instances.values()] + [one.kill for one in self.hosts.all()]
        threads = [threading.Thread(target=kill) for kill in kills]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def hashed(authority: Path) -> str:
    """The name under which OpenSSL looks an authority up in a folder."""
    argv = ["openssl", "x509", "-noout", "-hash", "-in", str(authority)]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
