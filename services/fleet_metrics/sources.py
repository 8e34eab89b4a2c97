"""Whom the service asks: each source by itself, so that one that does not answer holds up no other."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple

from . import backups, clouds, drift, metrics
from .errors import CloudError
from .metrics import Labels, Looks, Series, Told
from .settings import Backup, Connection, Drift, Image, Peer, Quota, Restores, Settings, Share

# What a source has told holds for so long while it does not answer. Then its alarms are silent, and that of silence is
# on: an answer lost is no snapshot lost.
KEPT_SECONDS = 700.0


class Opened(NamedTuple):
    """Each of a region and of what names something there."""

    bucket: Callable[[str, str], clouds.Bucket] = clouds.bucket
    tunnels: Callable[[str, str], clouds.Tunnels] = clouds.tunnels
    quotas: Callable[[str, str], clouds.Quotas] = clouds.quotas
    images: Callable[[str, str], clouds.Images] = clouds.images
    shares: Callable[[str, str], clouds.Shares] = clouds.shares
    peers: Callable[[str, str], clouds.Peers] = clouds.peers


REAL = Opened()


class Source(NamedTuple):
    """`read` takes the time, and raises CloudError. `series` is its own."""

    kind: str
    region: str
    series: Told
    read: Callable[[float], Mapping[Labels, Any]]


class Sources:
    """One thread calls `step`."""

    def __init__(self, found: Iterable[Source], now: float) -> None:
        self.found = [*found]
        self.read, self.said = dict.fromkeys(self.found, now), dict[Source, str]()
        for one in self.found:
            metrics.read_seconds.labels(one.kind, one.region).set(now)

    def step(self, now: float) -> None:
        for one in self.found:
            why = ""
            try:
                one.series.tell(one.read(now))
            except CloudError as error:
                why = str(error)
                if now - self.read[one] > KEPT_SECONDS:
                    one.series.tell({})
            else:
                self.read[one] = now
                metrics.read_seconds.labels(one.kind, one.region).set(now)
            self._say(one, why)

    def _say(self, one: Source, why: str) -> None:
        """Once for all tries with one answer."""
        if why != self.said.get(one, ""):
            sys.stderr.write(f"fleet metrics: {one.kind} {one.region}: {why or 'it answers again'}\n")
            sys.stderr.flush()
        self.said[one] = why


def sources(told: Settings, opened: Opened = REAL) -> Iterator[Source]:
    """Raises ValueError for a bucket of no known form."""
    bucket = cache(opened.bucket)
    for (region, into), mine in groupby(told.backups, key=lambda one: (one.region, one.into)):
        yield _backups(region, bucket(into, region), [*mine])
    for (region, into), tested in groupby(told.restores, key=lambda one: (one.region, one.into)):
        yield _restores(region, bucket(into, region), [*tested])
    for left in told.drift:
        yield _drift(left, bucket(left.into, left.region))
    parts: tuple[tuple[Iterable[Any], Callable[[str, str], Any], Callable[..., Source]], ...] = (
        (told.connections, opened.tunnels, _links),
        (told.peers, opened.peers, _peers),
        (told.quotas, opened.quotas, _quotas),
        (told.images, opened.images, _images),
        (told.shares, opened.shares, _shares),
    )
    for rows, cloud, source in parts:
        for region, those in groupby(rows, key=lambda one: one.region):
            here = [*those]
            yield source(region, cloud(region, here[0].named), here)


def _backups(region: str, bucket: clouds.Bucket, mine: list[Backup]) -> Source:
    series = Series(metrics.backup_newest_seconds)
    return Source("backups", region, series, lambda now: backups.ages(bucket.listed, mine, now))


def _restores(region: str, bucket: clouds.Bucket, mine: list[Restores]) -> Source:
    series = Series(metrics.restore_tested_seconds)
    return Source("restores", region, series, lambda now: backups.restored(bucket.listed, mine, now))


def _drift(left: Drift, bucket: clouds.Bucket) -> Source:
    return Source("drift", left.region, Looks(), lambda _: drift.looks(bucket.listed, left))


def _links(region: str, tunnels: clouds.Tunnels, here: list[Connection]) -> Source:
    def read(now: float) -> Mapping[Labels, float]:
        up = tunnels.up({one.named for one in here}, now)
        return {(one.link, one.connection, one.place, one.region): up[one.named] for one in here if one.named in up}

    return Source("links", region, Series(metrics.tunnels_up), read)


def _peers(region: str, gateways: clouds.Peers, here: list[Peer]) -> Source:
    def read(now: float) -> Mapping[Labels, float]:
        up = gateways.speak({(one.named, one.peer) for one in here}, now)
        found = ((one, up[key]) for one in here if (key := (one.named, one.peer)) in up)
        return {(one.link, one.connection, one.peer, one.place, one.region): part for one, part in found}

    return Source("bgp", region, Series(metrics.bgp_up), read)


def _quotas(region: str, quotas: clouds.Quotas, here: list[Quota]) -> Source:
    names = {one.named: one.quota for one in here}

    def read(now: float) -> Mapping[Labels, float]:
        found = quotas.told(names, now).items()
        return {
            (names[named], region, what): value for named, share in found for what, value in share._asdict().items()
        }

    return Source("quotas", region, Series(metrics.quota_vcpus), read)


def _images(region: str, images: clouds.Images, here: list[Image]) -> Source:
    def read(_: float) -> Mapping[Labels, float]:
        created = images.created({one.named for one in here})
        return {(one.pool, region): created[one.named] for one in here if one.named in created}

    return Source("images", region, Series(metrics.image_created_seconds), read)


def _shares(region: str, shares: clouds.Shares, here: list[Share]) -> Source:
    names = {one.named: one.share for one in here}

    def read(now: float) -> Mapping[Labels, float]:
        found = shares.room(names, now).items()
        return {
            (names[named], region, what): value
            for named, room in found
            for what, value in room._asdict().items()
            if value is not None
        }

    return Source("shares", region, Series(metrics.share_bytes), read)


def planned(told: Settings) -> None:
    """What needs no cloud: what readings are compared with."""
    for one in told.backups:
        metrics.backup_due_seconds.labels(one.ring, one.where, one.region).set(one.due_seconds)
    for due in told.restores:
        metrics.restore_due_seconds.labels(due.ring, due.region).set(due.due_seconds)
    for quota in told.quotas:
        metrics.quota_planned_vcpus.labels(quota.quota, quota.region).set(quota.planned_vcpus)
    for image in told.images:
        metrics.image_due_seconds.labels(image.pool, image.region).set(image.due_seconds)
    for zone, most in told.nodes_most.items():
        metrics.nodes_most.labels(zone).set(most)
