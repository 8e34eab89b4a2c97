"""Every AWS resource type that the local cloud can build, by token. To add one, write its entry in the fitting file."""

from collections.abc import Mapping

from ..kinds import Kind
from . import compute, files, gateways, hub, identity, keys, network, objects, security

KINDS: Mapping[str, Kind] = {
    **network.KINDS,
    **gateways.KINDS,
    **security.KINDS,
    **hub.KINDS,
    **files.KINDS,
    **objects.KINDS,
    **keys.KINDS,
    **identity.KINDS,
    **compute.KINDS,
}
