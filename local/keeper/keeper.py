"""Keeps one machine per instance, and names, volumes and balancers around them, as the local AWS has them."""

import shutil
import subprocess
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from local import hosts_file
from local.kubernetes import BIN, BUILT_IN
from local.machines import network
from local.machines.network import NetworkError
from local.network.namespaces import Namespaces
from local.network.plan import plan

from . import names, programs, volumes
from .aws import Aws, AwsError, AwsGoneError
from .balancers import Balancers
from .guests import Guests
from .hosts import Hosts
from .metadata import ADDRESS
from .resident import Resident, Site, complain, write

CHANGE_SECONDS = 20.0
# While something is under way that no call of anybody's tells of.
RESTLESS_SECONDS = 0.3
PAUSE_SECONDS = 0.1
# Before the local AWS has told anything.
NOTHING: dict[str, Any] = {"machines": [], "networks": [], "hubs": [], "connections": []}
# Where programs look for authorities: Debian and Go, OpenSSL's own default, Red Hat.
TRUSTED = ("etc/ssl/certs/ca-certificates.crt", "etc/ssl/cert.pem", "etc/pki/tls/certs/ca-bundle.crt")


class Keeper:
    """The service's state; `follow` is its life."""

    def __init__(self, home: Path, aws: Aws) -> None:
        self.home, self.aws = home, aws
        self.residents: dict[str, Resident] = {}
        self.lock, self.routing = threading.RLock(), threading.Lock()
        self.world: dict[str, Any] = {}
        self.networked = False
        self.waiting: set[tuple[str, str]] = set()
        shutil.rmtree(home / "machines", ignore_errors=True)
        (home / "machines").mkdir(parents=True)
        self.volumes = volumes.Volumes(home)
        self.volumes.clear()
        if missing := programs.missing(BUILT_IN):
            complain(f"machines will lack {', '.join(missing)}: not in {BIN}")
        self.routers = Namespaces(home / "networks")
        self.site = Site(home, self.trusted, self.volumes, self.tell, self.write, complain, self.routers.file)
        self.balancers = Balancers(self.tell, complain)
        self.hosts = Hosts(self.site, lambda: names.of_sites(self.world) if self.world else "", self.route)
        self.guests = Guests()
        self.write()

    def follow(self) -> None:
        """Does what the local AWS has changed, for as long as it lives. Raises AwsGoneError when it has gone."""
        seen = -1
        while True:
            restless = self.world.get("restless", False)
            seen = self.aws.await_change(seen, RESTLESS_SECONDS if restless else CHANGE_SECONDS)
            try:
                self.apply(self.aws.world())
            except AwsGoneError:
                raise
            except Exception as error:
                # One thing that goes wrong must not end all machines; what is not done now is tried at the next change.
                complain(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
            # Many writes at once are looked at together.
            time.sleep(PAUSE_SECONDS)

    def apply(self, world: dict[str, Any]) -> None:
        """Has everything as `world` tells it."""
        self.world = world
        told = {one["id"]: one for one in world["machines"]}
        if told or world["balancers"]:
            self.lead()
        self.attempt("routers", self.route)
        hosts = {vpc: names.of_network(world, vpc) for vpc in {one["vpc"] for one in told.values()}}
        with self.lock:
            for id_, one in told.items():
                if id_ in self.residents:
                    self.residents[id_].tell(one, hosts[one["vpc"]])
                elif one["state"] == "shutting-down":
                    self.tell("ended", id_)
                elif not (holder := self.taken(one["address"])):
                    self.residents[id_] = self.guests.resident(self.site, one, hosts[one["vpc"]])
                elif (id_, holder) not in self.waiting:
                    self.waiting.add((id_, holder))
                    complain(f"{id_} waits: {holder} has its address {one['address']}")
            for id_ in [id_ for id_ in self.residents if id_ not in told]:
                self.residents[id_].leave()
                if not self.residents[id_].thread.is_alive():
                    del self.residents[id_]
        hosts_file.lay(self.home / "cloud.hosts", names.of_cloud(world), "the local AWS")
        self.hosts.tell(names.of_sites(world))
        self.volumes.drop_others(set(world["volumes"]) | self.held())
        self.attempt("balancers", lambda: self.balancers.update(world["balancers"], world["groups"]))
        self.write()

    def attempt(self, what: str, work: Callable[[], None]) -> None:
        """What the kernel refuses now is tried at the next change."""
        try:
            work()
        except NetworkError as error:
            complain(f"{what}: {error}")

    def lead(self) -> None:
        """Machines reach the local AWS."""
        if not self.networked:
            network.hold(ADDRESS)
            self.networked = True

    def route(self) -> None:
        """Packets go where the local AWS and sites' gateways have them go. Raises NetworkError."""
        with self.routing:
            made = plan(self.world or NOTHING, self.hosts.rooms.values())
            self.routers.apply(made)
            if made.tunnels:
                ends = {end: {"keys": told is not None, "prefixes": told} for end, told in made.tunnels.items()}
                self.tell("ends", ends)

    def stand_up(self, told: dict[str, Any]) -> dict[str, Any]:
        """Has a host of a site running: see `hosts`."""
        self.lead()
        return self.hosts.stand_up(told)

    def taken(self, address: str) -> str | None:
        """Which other machine still has the address: the new one waits for it."""
        holders = [r.id for r in self.residents.values() if r.told["address"] == address and r.thread.is_alive()]
        return holders[0] if holders else None

    def held(self) -> set[str]:
        return {volume for resident in self.residents.values() for volume in resident.attached}

    def find(self, address: str) -> dict[str, Any] | None:
        """The instance of the machine with an address."""
        with self.lock:
            for resident in self.residents.values():
                if resident.told["address"] == address and resident.thread.is_alive():
                    return resident.told
        return None

    def tell(self, name: str, body: Any) -> None:
        try:
            self.aws.tell(name, body)
        except AwsError as error:
            complain(f"{name}: {error}")

    def write(self) -> None:
        with self.lock:
            write(self.home / "machines.json", self.described())

    def described(self) -> list[dict[str, Any]]:
        """Every machine, as `landbridge local machines` shows it."""
        residents = [one.described() for one in list(self.residents.values())]
        return residents + [one.described() for one in self.hosts.all()]

    def trusted(self) -> dict[str, str]:
        """The authority's certificate, wherever programs look for one."""
        authority = (self.home / "authority/ca.crt").read_text()
        return {**dict.fromkeys(TRUSTED, authority), f"etc/ssl/certs/{self.hashed()}.0": authority}

    def hashed(self) -> str:
        """The name under which OpenSSL looks an authority up in a folder."""
        argv = ["openssl", "x509", "-noout", "-hash", "-in", str(self.home / "authority/ca.crt")]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    def end(self) -> None:
        """Ends all machines at once, as a power cut does."""
        with self.lock:
            kills = [one.kill for one in self.residents.values()] + [one.kill for one in self.hosts.all()]
        ending = [threading.Thread(target=kill) for kill in kills]
        for thread in ending:
            thread.start()
        for thread in ending:
            thread.join()
