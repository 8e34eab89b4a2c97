"""The address plan: from a fleet and its ledger to every prefix, or to the reasons why that can't be.

Deterministic: the same fleet, ledger and day give the same plan. What lives in the ledger never moves; what is new goes
to the lowest fitting hole; what is gone rests for 30 days, and a name that returns by then gets its prefix back.
"""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ..model import Fleet
from . import reserved, sizes
from .blocks import Block, Pool, parse
from .ledger import Entry, Ledger, Resting
from .lookup import Lookup
from .names import SUPERNET, TUNNELS, holds_machines, is_aggregate, is_zone, parent_of
from .placement import misplaced
from .requests import Request, requests

REST_DAYS = 30


class ZonePlan(NamedTuple):
    """A zone's two subnets and the part of the private one that is kept for single addresses, as CIDRs.

    `addresses` are those, by what lives there: "shares", "resolver/1", "asking/1", "main/balancer", "main/etcd-1".
    """

    private: str
    public: str
    fixed: str
    addresses: Mapping[str, str]


class RegionPlan(NamedTuple):
    """CIDRs: `block` is the region's one route, `network` the VPC or VNet in it, `laptops` a pool a VPN server.

    `zones` are the region's in the order in which they were added to the ledger, so that the first one stays the first.
    In a VNet `gateway` is the VPN gateway's subnet, `names` where it is asked for names, and `questions` from where it
    asks another cloud for them; None where there is none.
    """

    block: str
    network: str
    zones: Mapping[str, ZonePlan]
    laptops: tuple[str, ...]
    gateway: str | None = None
    names: str | None = None
    questions: str | None = None


class SitePlan(NamedTuple):
    """CIDRs: the site's one route and the LAN in it."""

    block: str
    lan: str


class ClusterPlan(NamedTuple):
    """CIDRs: the cluster's one route, its pods and its services."""

    block: str
    pods: str
    services: str


class AddressPlan:
    """Every live prefix by name (see `names`). All answers are CIDR texts."""

    def __init__(self, supernet: Block, entries: Mapping[str, Entry]) -> None:
        self.supernet = str(supernet)
        self._entries = dict(sorted(entries.items()))
        self.blocks: Mapping[str, Block] = MappingProxyType({n: entry.block for n, entry in self._entries.items()})

    def prefix(self, name: str) -> str:
        """Raises KeyError for a name that has no prefix."""
        return str(self.blocks[name])

    def region(self, region: str) -> RegionPlan:
        name = f"region/{region}"
        zone_blocks = [
            (e.since, e.block, n) for n, e in self._entries.items() if is_zone(n) and parent_of(n) == f"{name}/network"
        ]
        zones = [block_name.rpartition("/")[2] for _, _, block_name in sorted(zone_blocks)]
        return RegionPlan(
            self.prefix(name),
            self.prefix(f"{name}/network"),
            {zone: self._zone(f"{name}/zone/{zone}") for zone in zones},
            tuple(str(block) for key, block in self.blocks.items() if key.startswith(f"{name}/laptops/")),
            self._if_any(f"{name}/gateway"),
            self._if_any(f"{name}/names"),
            self._if_any(f"{name}/questions"),
        )

    def _if_any(self, name: str) -> str | None:
        return self.prefix(name) if name in self.blocks else None

    def _zone(self, name: str) -> ZonePlan:
        private, addresses = f"{name}/private", f"{name}/private/"
        return ZonePlan(
            self.prefix(private),
            self.prefix(f"{name}/public"),
            str(self.blocks[private].child(0, sizes.FIXED)),
            {
                key.removeprefix(addresses): str(block).removesuffix("/32")
                for key, block in self.blocks.items()
                if key.startswith(addresses)
            },
        )

    def site(self, site: str) -> SitePlan:
        return SitePlan(self.prefix(f"site/{site}"), self.prefix(f"site/{site}/lan"))

    def cluster(self, cluster: str) -> ClusterPlan:
        name = f"cluster/{cluster}"
        return ClusterPlan(self.prefix(name), self.prefix(f"{name}/pods"), self.prefix(f"{name}/services"))

    @property
    def tunnels(self) -> Mapping[str, str]:
        return {name: str(block) for name, block in self.blocks.items() if name.startswith("link/")}

    def aggregates(self) -> Mapping[str, str]:
        """The one route of every region, site and cluster, by name."""
        return {name: str(block) for name, block in self.blocks.items() if is_aggregate(name)}

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.blocks)

    def owner(self, address: str | int) -> str | None:
        """Name of the deepest prefix that holds the address."""
        return self._lookup.owner(address)

    def owners(self, addresses: Iterable[str]) -> list[str | None]:
        """`owner` for many, about 2 million a second."""
        return self._lookup.owners(addresses)


class Change(NamedTuple):
    """What a new ledger does to one name: `kind` is new, returned or released."""

    kind: str
    name: str
    cidr: str


class Refusal(NamedTuple):
    """Why a request can't be met, and the entry of the fleet file that asks."""

    entry: tuple[str | int, ...]
    what: str
    remedy: str


@dataclass(frozen=True)
class Draft:
    """A plan, the ledger that would hold it, what changes, and what can't be had (then the plan lacks it)."""

    plan: AddressPlan
    ledger: Ledger
    changes: tuple[Change, ...]
    refusals: tuple[Refusal, ...]


def draft(fleet: Fleet, ledger: Ledger | None, today: datetime.date) -> Draft:
    """Plans the fleet on top of its ledger (None: nothing was ever given out)."""
    return _Drafting(fleet, ledger or Ledger(parse(fleet.supernet)), today).run()


class _Drafting:
    def __init__(self, fleet: Fleet, old: Ledger, today: datetime.date) -> None:
        self.fleet, self.old, self.today = fleet, old, today
        self.supernet = parse(fleet.supernet)
        self.live: dict[str, Entry] = {}
        self.refusals: list[Refusal] = []
        self.stuck: set[str] = set()
        self.changes: list[Change] = []
        self.pools: dict[str, list[Pool]] = {}
        rested = today - datetime.timedelta(days=REST_DAYS)
        self.resting = {name: rest for name, rest in old.resting.items() if rest.released > rested}

    def run(self) -> Draft:
        wanted = requests(self.fleet, self.old.live)
        names = {request.name for request in wanted}
        for name, entry in sorted(self.old.live.items()):
            if name not in names:
                self.resting[name] = Resting(entry.block, self.today)
                self.changes.append(Change("released", name, str(entry.block)))
        self.retained = {name: entry for name, entry in self.old.live.items() if name in names}
        self.claimed = {name: entry.block for name, entry in self.retained.items()}
        self.claimed |= {r.name: r.pin for r in wanted if r.pin and r.name not in self.claimed}
        for request in wanted:
            self._serve(request)
        plan = AddressPlan(self.supernet, self.live)
        resting = {name: rest for name, rest in self.resting.items() if name not in self.live}
        ledger = Ledger(self.supernet, MappingProxyType(self.live), MappingProxyType(resting))
        return Draft(plan, ledger, tuple(sorted(self.changes)), tuple(self.refusals))

    def _serve(self, request: Request) -> None:
        if parent_of(request.name) in self.stuck:  # one refusal says it for all that lies in the prefix
            self.stuck.add(request.name)
            if request.name in self.retained:
                self.live[request.name] = self.retained[request.name]
            return
        if parent_of(request.name) not in (SUPERNET, TUNNELS) and parent_of(request.name) not in self.live:
            return  # the parent was refused, which says it all
        if (entry := self.old.live.get(request.name)) is not None:
            self.live[request.name] = entry
            if entry.block.length != request.length or (request.pin and request.pin != entry.block):
                self._refuse_to_move(request, entry.block)
            elif wrong := misplaced(self.fleet, request, entry.block):
                self.refusals.append(Refusal(*wrong))
            return
        rest = self.resting.get(request.name)
        if rest and not request.pin and rest.block.length == request.length and self._parent_holds(request, rest.block):
            self._give(request, rest.block, "returned")
            return
        block = self._pinned(request) if request.pin else self._allocate(request)
        if block:
            self._give(request, block, "new")

    def _give(self, request: Request, block: Block, kind: str) -> None:
        self.live[request.name] = Entry(block, self.today)
        self.changes.append(Change(kind, request.name, str(block)))

    def _parent_holds(self, request: Request, block: Block) -> bool:
        parent = parent_of(request.name)
        return parent in (SUPERNET, TUNNELS) or self.live[parent].block.holds(block)

    def _allocate(self, request: Request) -> Block | None:
        for pool in self._pools(request):
            if block := pool.take(request.length):
                return block
        parent = parent_of(request.name)
        where = {SUPERNET: f"the supernet {self.supernet}", TUNNELS: "the tunnels' range"}.get(parent, parent)
        free = sum(pool.free_addresses for pool in self._pools(request))
        what = (
            f"no room for {request.name} (/{request.length}) in {where}: {free:,} addresses are free, in smaller pieces"
        )
        remedy = "Choose a smaller size, a larger supernet, or wait until released prefixes have rested"
        if holds_machines(parent):
            what = f"no address is left for {request.name} in the first /{sizes.FIXED} of {parent}"
            remedy = "Add a zone to the region, choose fewer machines, or put the cluster into another region"
        self.refusals.append(Refusal(request.entry, what, remedy))
        return None

    def _pinned(self, request: Request) -> Block | None:
        pin = request.pin
        assert pin is not None
        holders = [(n, e.block) for n, e in (self.retained | self.live).items() if parent_of(n) == SUPERNET]
        holders += [
            (f"{n} (resting)", r.block) for n, r in self.resting.items() if n.count("/") == 1 and n != request.name
        ]
        for name, block in holders:
            if block.overlaps(pin):
                what = f"{pin} can't be pinned: it overlaps {name} ({block})"
                self.refusals.append(
                    Refusal(request.entry, what, "Pin another prefix, or remove the one that is in the way")
                )
                return None
        return pin

    def _refuse_to_move(self, request: Request, live: Block) -> None:
        wish = f"to be {request.pin}" if request.pin else f"a /{request.length}"
        what = f"{request.name} is live as {live} and the file now wants it {wish}; a live prefix never moves"
        remedy = "Put the old size or pin back, or add a new entry under another name and move there"
        self.refusals.append(Refusal(request.entry, what, remedy))
        self.stuck.add(request.name)

    def _pools(self, request: Request) -> list[Pool]:
        parent = parent_of(request.name)
        key = f"{parent}/azure" if request.azure else parent
        if key not in self.pools:
            self.pools[key] = self._open_pools(parent, azure=request.azure)
        return self.pools[key]

    def _open_pools(self, parent: str, *, azure: bool) -> list[Pool]:
        if parent == SUPERNET:
            pools = [Pool(self.supernet)]
            taken = reserved.reserved_blocks() + [parse(item.cidr) for item in self.fleet.reserved]
        elif parent == TUNNELS:
            azure_roots = [parse(cidr) for cidr in reserved.AZURE_TUNNEL_ROOTS]
            pools = [Pool(root) for root in azure_roots] if azure else [Pool(parse(reserved.TUNNEL_ROOT))]
            taken = [] if azure else azure_roots + [parse(cidr) for cidr, _ in reserved.TUNNEL_RESERVED]
        elif holds_machines(parent):
            block = self.live[parent].block
            pools, taken = [Pool(block.child(0, sizes.FIXED))], [block.child(0, sizes.RESERVED_BY_CLOUDS)]
        else:
            pools, taken = [Pool(self.live[parent].block)], []
        taken += [block for name, block in self.claimed.items() if parent_of(name) == parent]
        taken += [rest.block for name, rest in self.resting.items() if parent_of(name) == parent]
        taken += [entry.block for name, entry in self.live.items() if parent_of(name) == parent]
        for pool in pools:
            for block in taken:
                pool.carve(block)
        return pools
