"""Every type that the local Azure knows, by its name in small letters. A new one is a `Kind` in a fitting file."""

from collections.abc import Mapping

from ..kinds import Kind
from . import network

KINDS: Mapping[str, Kind] = {kind.type.lower(): kind for kind in (*network.KINDS,)}
