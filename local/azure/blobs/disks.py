"""What answers at the addresses of managed disks' bytes: pages of one blob, by the signature in the address alone."""

from dataclasses import dataclass, field
from typing import Any

from werkzeug.wrappers import Request as Incoming
from werkzeug.wrappers import Response

from ..compute import disk_access
from ..errors import ArmError
from ..kinds import World
from ..resources.disks import DISK, SNAPSHOT
from ..store import Resource
from . import reading, writing
from .contents import Blob
from .request import Ask
from .service import UNKNOWN, refusal

OLDEST = "2018-03-28"
ACTS = {
    ("PUT", "page"): writing.put_page,
    ("GET", ""): reading.get,
    ("HEAD", ""): reading.head,
    ("GET", "pagelist"): reading.page_list,
}


@dataclass
class _Open:
    """Who has the address may do what it is for: `disk_access.find` has judged."""

    def require(self, *_: Any) -> None:
        """Nothing more is asked."""


@dataclass
class DiskAsk(Ask):
    """A request whose blob is a disk's."""

    of: Blob = field(kw_only=True)

    @property
    def place(self) -> Resource:
        return self.account

    @property
    def blobs(self) -> Any:
        return self

    def find(self, *_: Any) -> Blob:
        return self.of

    def found(self) -> Blob:
        return self.of


def serve(world: World, incoming: Incoming, _: str) -> Response:
    headers = {name.lower(): value for name, value in incoming.headers.items()}
    try:
        made = _answer(world, incoming, headers)
    except ArmError as error:
        made = refusal(incoming.method, error)
    made.headers["x-ms-version"] = headers.get("x-ms-version", OLDEST)
    return made


def _answer(world: World, incoming: Incoming, headers: dict[str, str]) -> Response:
    query = {name.lower(): value for name, value in incoming.args.items()}
    container, _, blob = incoming.path.removeprefix("/").partition("/")
    act = ACTS.get((incoming.method, query.get("comp", "").lower()))
    strange = [name for name in UNKNOWN if name in headers]
    if act is None or blob != disk_access.BLOB or strange:
        unknown = strange[0] if strange else f"comp={query.get('comp', '')} of '{blob}'"
        message = f"The local Azure does not know {incoming.method} of a disk with {unknown}."
        raise ArmError(400, "UnsupportedQueryParameter", message)
    disk = disk_access.find(world, (DISK, SNAPSHOT), container, query.get("sig", ""), writes=incoming.method == "PUT")
    grant: Any = _Open()
    told_body = incoming.get_data(cache=True)
    ask = DiskAsk(
        world, disk, disk, incoming.method, container, blob, query, headers, told_body, grant, of=disk.state["contents"]
    )
    return act(ask)
