"""A region's authority, ledger and list of revoked certificates: in its secrets store and its fleet bucket."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from fleet.buckets import bucket_name
from fleet.world import World
from landbridge.cluster.info import published, up
from landbridge.cluster.session import cloud_in
from landbridge.errors import LandbridgeError
from landbridge.places import Place

from . import ledger as ledgers
from .ledger import Ledger

# Two people at once are rare, and each try is one who was quicker.
TRIES = 8


class ClashError(Exception):
    """Somebody else was quicker."""


class Numbered(Protocol):
    @property
    def number(self) -> int: ...


Authority = TypeVar("Authority")
List = TypeVar("List", bound=Numbered)


class CertificateStore(ABC, Generic[Authority, List]):
    """One region's, as `stack` published it: `outputs`. Raises LandbridgeError for what is missing or refused.

    `what` it is, for people. `issued` and `revoked` are the places of ledger and list in the bucket, `kind` is the
    list's content type. `behind` says who goes by the old list when the new one can't be laid, and what lays it.
    """

    what = issued = revoked = kind = behind = ""

    def __init__(self, world: World, place: Place, region: str, stack: str) -> None:
        self.world, self.place, self.region = world, place, region
        self.up = up(place, stack)
        self.cloud = cloud_in(world, place, region)
        self.objects = self.cloud.bucket(bucket_name(world.fleet, region))
        self.outputs = self.published(place, stack)
        if not self.outputs:
            raise LandbridgeError(f"Region {region} has no {self.what} yet. Run `{self.up}`.")

    def published(self, place: Place, stack: str) -> Mapping[str, Any]:
        return published(place, stack)

    @abstractmethod
    def read(self, secret: str) -> Authority:
        """What the secret holds. Raises ValueError and KeyError."""

    @abstractmethod
    def public(self, authority: Authority) -> str:
        """What of it is no secret, and published: its own certificate, or its public key."""

    @abstractmethod
    def look(self, text: str) -> List:
        """A list. Raises ValueError for what is none, or not signed by the authority."""

    @abstractmethod
    def made(self, ledger: Ledger, now: datetime) -> str:
        """The list that follows from a ledger."""

    @property
    def vouching(self) -> str:
        return str(self.outputs["authority"])

    @cached_property
    def authority(self) -> Authority:
        place = str(self.outputs["authority_secret"])
        try:
            found = self.read(self.cloud.secret(place))
        except (ValueError, KeyError) as error:
            why = f"Secret {place} in {self.region} holds no authority ({error})"
            raise LandbridgeError(f"{why}. Run `{self.up}`.") from None
        if self.public(found).strip() != self.vouching.strip():
            raise LandbridgeError(f"Secret {place} in {self.region} is another one's than what is up. Run `{self.up}`.")
        return found

    def listed(self) -> List | None:
        """The list of revoked certificates; None where there is none, or none of this authority's."""
        text, _ = self._get(self.revoked)
        with suppress(ValueError):
            return self.look(text) if text else None
        return None

    def lay(self, ledger: Ledger, now: datetime) -> None:
        """Lays the list of revoked certificates that follows from the ledger. Raises LandbridgeError."""
        try:
            self._tried("list of revoked certificates", lambda: self._lay(ledger, now))
        except LandbridgeError as error:
            raise LandbridgeError(
                f"{error} The ledger of {self.region} is changed already, and {self.behind}."
            ) from None

    def _lay(self, ledger: Ledger, now: datetime) -> None:
        """Never over a newer one, which has all that this one has."""
        text, etag = self._get(self.revoked)
        with suppress(ValueError):
            if text and self.look(text).number >= ledger.number:
                return
        self._put(self.revoked, self.made(ledger, now), etag, self.kind)

    def ledger(self) -> Ledger:
        return self._ledger()[0]

    def note(self, change: Callable[[Ledger], Ledger]) -> Ledger:
        """Changes the ledger; what it is then."""
        made: Ledger = self._tried("ledger", lambda: self._change(change))
        return made

    def _change(self, change: Callable[[Ledger], Ledger]) -> Ledger:
        before, etag = self._ledger()
        after = change(before)._replace(number=before.number + 1)
        self._put(self.issued, ledgers.written(after), etag, "application/json")
        return after

    def _ledger(self) -> tuple[Ledger, str]:
        text, etag = self._get(self.issued)
        mine = ledgers.digest(self.vouching)
        if not text:
            return Ledger(0, mine), etag
        try:
            return ledgers.read(text, mine), etag
        except (ValueError, KeyError) as error:
            where = self.objects.where(self.issued)
            raise LandbridgeError(f"{where} can't be read: {error}. The bucket keeps its older versions.") from None

    def _tried(self, what: str, work: Callable[[], Any]) -> Any:
        for _ in range(TRIES):
            with suppress(ClashError):
                return work()
        raise LandbridgeError(
            f"The {what} of {self.region} is changed by somebody else again and again. Run this again."
        )

    def _get(self, key: str) -> tuple[str, str]:
        """The object's text and its mark; empty where there is none."""
        data, etag = self.objects.read_with_etag(key)
        return data.decode(), etag

    def _put(self, key: str, text: str, etag: str, kind: str) -> None:
        """Only in place of what was read. Raises ClashError."""
        if not self.objects.put_over(key, text.encode(), etag, kind):
            raise ClashError
