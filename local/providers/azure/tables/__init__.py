"""Every resource type of `azure-native` that the local cloud can build, by its token. Add one in a fitting file."""

from collections.abc import Mapping

from ..kinds import Kind
from . import access, alarms, compute, gateways, names, network, storage

KINDS: Mapping[str, Kind] = {
    **access.KINDS,
    **alarms.KINDS,
    **network.KINDS,
    **gateways.KINDS,
    **names.KINDS,
    **storage.KINDS,
    **compute.KINDS,
}
