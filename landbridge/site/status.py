"""Hosts of a site as they are, beside what they ought to be: the drift report."""

import json
from base64 import b64decode
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from components.pools.bundle import OWN_SCRIPTS, SITE_SCRIPT
from components.pools.discovery import PATH as DISCOVERY
from landbridge import remote_execution
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError

from . import nodes, store
from .hosts import SiteHost
from .nodes import Node
from .store import Published

SECONDS = 60.0
UP = ("active", "activating", "reloading")


@dataclass(frozen=True)
class State:
    """One host. `differs` are files that are not those of the wanted bundle; `unknown` says why it can't be asked.

    `failed` are units that have failed, or that should be up and are not.
    """

    host: str
    node: str
    pool: str
    address: str
    enrolled: bool
    ready: bool
    cordoned: bool
    applying: bool
    bundle: str
    wanted_bundle: str
    differs: tuple[str, ...]
    failed: tuple[str, ...]
    runs: tuple[str, ...]
    joined: bool
    unknown: str = ""

    @property
    def current(self) -> bool:
        return self.enrolled and not self.unknown and self.bundle == self.wanted_bundle and not self.differs

    @property
    def healthy(self) -> bool:
        return self.enrolled and self.ready and not self.unknown and not self.failed

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "current": self.current, "healthy": self.healthy, "idle": not self.runs}


class HostError(LandbridgeError):
    """A host has not done what it was asked; the text has its own words."""


class Hosts:
    """The way to the hosts of a site, and to what their pools have published."""

    def __init__(self, session: Session, hosts: Mapping[str, SiteHost]) -> None:
        self.session, self.hosts = session, hosts
        self.addresses: dict[str, str] = {host.node: host.address for host in hosts.values() if host.address}
        self.script = (OWN_SCRIPTS / f"{SITE_SCRIPT}.py").read_text()

    @cached_property
    def site(self) -> str:
        return next(iter(self.hosts.values())).site

    @cached_property
    def published(self) -> dict[str, Published]:
        """What each host is to have. Raises LandbridgeError."""
        pools = defaultdict[str, list[str]](list)
        for host in self.hosts.values():
            pools[host.pool].append(host.name)
        read = (store.read(self.session, pool, hosts) for pool, hosts in pools.items())
        return {name: found for one in read for name, found in one.items()}

    @cached_property
    def remote(self) -> remote_execution.RemoteExecution:
        if self.session.place.cloud is not None:
            return self.session.remote
        return remote_execution.Hosts(lambda: self.addresses)

    def ask(self, host: SiteHost, verb: str, stdin: bytes = b"", seconds: float = SECONDS) -> dict[str, Any]:
        """What the host's script says, which is sent along: the one there may be broken.

        Raises HostError and RemoteExecutionError.
        """
        result = self.remote.run(host.node, ["python3", "-c", self.script, verb], stdin, seconds)
        if result.code != 0:
            raise HostError(f"{host.node}: {result.why}")
        return dict(json.loads(result.out))

    def look(self) -> dict[str, State]:
        """All of them, side by side. Raises LandbridgeError when the cluster or the bucket does not answer."""
        found = nodes.of_site(self.session.admin, self.site)
        for name, node in found.items():
            self.addresses.setdefault(name, nodes.address(node))
        wanted = self.published
        with ThreadPoolExecutor(8) as pool:
            states = pool.map(lambda h: self.state(h, found.get(h.node), wanted[h.name]), self.hosts.values())
            return {state.host: state for state in states}

    def state(self, host: SiteHost, node: Node | None, wanted: Published) -> State:
        report, unknown = dict[str, Any](), ""
        try:
            report = self.ask(host, "report")
        except (HostError, remote_execution.RemoteExecutionError) as error:
            unknown = str(error)
        # A host that gets a bundle of its own, or loses it, is the pool's before and after.
        mine = same_pool(report.get("prefix", ""), wanted.prefix) and report.get("host") == host.name
        has: dict[str, str] = report.get("files", {}) if mine else {}
        return State(
            host=host.name,
            node=host.node,
            pool=host.pool,
            address=nodes.address(node) if node else host.address or "",
            enrolled=mine or (bool(unknown) and node is not None),
            ready=nodes.ready(node) if host.joins else mine,
            cordoned=node is not None and nodes.cordoned(node),
            applying=node is not None and nodes.applying(node),
            bundle=str(report.get("version", "")) if mine else "",
            wanted_bundle=wanted.version,
            differs=tuple(different(has, wanted.digests)) if mine else (),
            failed=tuple(sorted(down(report))),
            runs=tuple(nodes.busy(self.session.admin, host.node)) if node else (),
            joined=bool(report.get("joined")),
            unknown=unknown or foreign(report, host, mine=mine) or of_gone_cluster(report, host, wanted),
        )


def same_pool(one: str, other: str) -> bool:
    """By prefixes of bundles: FLEET/CLUSTER/POOL, and the host's name if it has one of its own."""
    return one.split("/")[:3] == other.split("/")[:3]


def down(report: Mapping[str, Any]) -> set[str]:
    """Units of a host's report that have failed, or that should be up and are not."""
    units: Mapping[str, str] = report.get("units", {})
    wanted = {*report.get("wants", ()), *report.get("serves", ())}
    return {unit for unit, how in units.items() if how == "failed" or (unit in wanted and how not in UP)}


def different(has: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """Paths whose content differs, that lack on the host, or that only the host has."""
    return sorted(path for path in {*has, *wanted} if has.get(path) != wanted.get(path))


def of_gone_cluster(report: Mapping[str, Any], host: SiteHost, wanted: Published) -> str:
    """That a host belongs to a cluster which is gone: what it shows was signed by no authority that there is now."""
    if not report.get("certificate") or DISCOVERY not in wanted.files:
        return ""
    cluster = json.loads(wanted.files[DISCOVERY])["clusters"][0]["cluster"]
    mine = x509.load_pem_x509_certificate(report["certificate"].encode())
    authorities = x509.load_pem_x509_certificates(b64decode(cluster["certificate-authority-data"]))
    if any(signed(mine, one) for one in authorities):
        return ""
    again = f"`landbridge site enrol {host.site} {host.name}` lets it into the one of now"
    return f"it belongs to a cluster {host.cluster} that is gone, or to keys of it that a rotation ended. {again}"


def signed(mine: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        mine.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def foreign(report: Mapping[str, Any], host: SiteHost, *, mine: bool) -> str:
    """That it is another host, or one of another pool."""
    if mine or not report.get("prefix"):
        return ""
    text = f"it has the bundle of {report['prefix']} as {report['host'] or 'nobody'}"
    again = f". `landbridge site enrol {host.site} {host.name}` moves it to {host.pool} as soon as it has no work there"
    return text + (again if report["host"] == host.name else "")
