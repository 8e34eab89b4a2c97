"""Where code lies, as a pod asks for it: a team's folder in a fleet bucket of either cloud."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from fleet.team_code import pack_key, tree_key

from . import aws, azure
from .errors import AbsentError, AwayError, BrokenError, FetchError, RefusedError, Stream

# A tree's address is of the one whose form it has.
STORES = (aws, azure)
WHOLE_BYTES = 1 << 30


class Place(NamedTuple):
    """Of a tree: `prefix` is the team's folder of code, with a slash behind it. `store` is one of `STORES`."""

    store: Any
    bucket: str
    prefix: str
    team: str
    digest: str

    def where(self, key: str) -> str:
        return str(self.store.where(self.bucket, self.prefix + key))


def place(url: str) -> Place:
    """Raises FetchError."""
    for store in STORES:
        if found := store.TREE.fullmatch(url):
            return Place(store, *found.groups())
    forms = " or ".join(
        one.where(name, "teams/TEAM/code/trees/SHA256.json")
        for one, name in zip(STORES, ("BUCKET", "ACCOUNT"), strict=True)
    )
    raise FetchError(f"{url} is no tree of code: it is called {forms}")


class Source:
    """`client` is called when the store is first asked: a pod whose code is all in the cache needs no cloud."""

    def __init__(self, at: Place, client: Callable[[], Any] | None = None) -> None:
        self.place, self._make = at, client or (lambda: at.store.client(at.bucket))
        self._client: Any = None
        self._lock = threading.Lock()

    def _connect(self) -> Any:
        with self._lock:  # boto3 makes clients in one thread at a time
            if self._client is None:
                self._client = self._make()
        return self._client

    def tree(self) -> bytes:
        """Raises FetchError."""
        key, found = tree_key(self.place.digest), bytearray()
        with self._errors(key, "the code"):
            answer = self._read(key, None)
            while piece := answer.read(WHOLE_BYTES):
                found += piece
        return bytes(found)

    def pack(self, sha256: str, start: int, end: int) -> Stream:
        """Bytes of a pack, from `start` to before `end`. Raises FetchError; its `read` raises BrokenError."""
        key = pack_key(sha256)
        with self._errors(key, "a pack of the code"):
            return self._read(key, (start, end))

    def _read(self, key: str, span: tuple[int, int] | None) -> Stream:
        at = self.place
        found: Stream = at.store.read(self._connect(), at.bucket, at.prefix + key, span)
        return found

    @contextmanager
    def _errors(self, key: str, what: str) -> Iterator[None]:
        where = self.place.where(key)
        try:
            yield
        except AbsentError:
            raise FetchError(f"{what} {where} is not there any more: launch the run again, which sends it") from None
        except RefusedError as refused:
            if not str(refused):
                account = "let it have the service account `storage`, whose pods get the team's rights"
                raise FetchError(f"{where} can't be read: this pod has no credentials: {account}") from None
            needs = str(refused).format(folder=self.place.prefix)
            raise FetchError(f"the team's role may not read {where}: {needs}") from None
        except BrokenError:
            raise
        except FetchError as error:
            kind = AwayError if isinstance(error, AwayError) else FetchError
            raise kind(f"{where} can't be read: {error}") from None
