"""Who is at the ends of tunnels, and what they have heard by BGP: the words of all that leads packets. Pure."""

from typing import Any, NamedTuple

from .routers import short_name

# Numbers on the way.
Path = tuple[Any, ...]
# Tunnel's name and the router that listens → prefix → numbers on the way.
Heard = dict[tuple[str, str], dict[str, Path]]


class Site(NamedTuple):
    """A machine room where something stands. `gateways` are the public addresses of its ends of tunnels."""

    name: str
    block: str
    lan: str
    gateways: tuple[str, ...]

    @property
    def router(self) -> str:
        return f"site-{self.name}"


class Side(NamedTuple):
    """The router at an end, and the cloud's connection that it is of; a site has none."""

    router: str
    connection: str = ""


class Tunnel(NamedTuple):
    """`name` is no other tunnel's. `ends` are the public addresses of those ends that are a cloud's, by connection."""

    name: str
    here: Side
    there: Side
    ends: tuple[tuple[str, str], ...]

    @property
    def interface(self) -> str:
        return short_name("t", self.name)

    def at(self, router: str) -> bool:
        return router in (self.here.router, self.there.router)
