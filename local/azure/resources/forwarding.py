"""How DNS private resolvers ask elsewhere: outbound endpoints, rulesets with rules, and whose networks ask by them."""

import re
from ipaddress import AddressValueError, IPv4Address

from .. import ids
from ..errors import conflict
from ..kinds import SLOW, Kind, Write
from ..references import require
from . import common
from .private_zones import LABEL
from .resolvers import NETWORK, OUTBOUND, end

RULESET = "Microsoft.Network/dnsForwardingRulesets"
RULE, LINK = f"{RULESET}/forwardingRules", f"{RULESET}/virtualNetworkLinks"
# Azure docs, "Azure subscription and service limits", "Azure DNS Private Resolver".
MOST_ENDPOINTS, MOST_RULES, MOST_SERVERS, MOST_LINKS = 2, 1000, 6, 500
NAME = re.compile(r"[a-z][a-z0-9_-]{0,78}[a-z0-9_]|[a-z]", re.IGNORECASE)
DNS, LAST_PORT = 53, 65535
SERVER = frozenset(("ipAddress", "port"))


def _outbound(turn: Write) -> None:
    common.name(turn)
    end(turn, turn.properties, "properties", None)
    common.guid(turn)


def _ruleset(turn: Write) -> None:
    common.name(turn)
    endpoints = turn.properties.get("dnsResolverOutboundEndpoints") or []
    if not 1 <= len(endpoints) <= MOST_ENDPOINTS:
        raise common.invalid(f"{turn.id.text} has 1 to {MOST_ENDPOINTS} of dnsResolverOutboundEndpoints.")
    for one in endpoints:
        require(turn, one, "properties.dnsResolverOutboundEndpoints.id", OUTBOUND)
    common.guid(turn)


def _rule(turn: Write) -> None:
    if not NAME.fullmatch(turn.id.name):
        raise common.invalid(f"'{turn.id.name}' is no name of a forwarding rule.")
    properties = turn.properties
    domain = str(properties.get("domainName") or "")
    labels = domain.removesuffix(".").split(".") if domain != "." else []
    if not domain.endswith(".") or not all(LABEL.fullmatch(one) for one in labels):
        raise common.invalid(f"{turn.id.text}: '{domain}' at 'domainName' is no domain's name that ends in a period.")
    if turn.old and not ids.same(turn.old.properties["domainName"], domain):
        raise common.invalid(f"{turn.id.text}: 'domainName' cannot be changed.")
    for other in turn.siblings:
        if ids.same(other.properties["domainName"], domain):
            raise conflict("Conflict", f"{other.id.text} is for {domain} already.")
    if len(turn.siblings) >= MOST_RULES:
        raise common.invalid(f"{turn.parent.id.text} has {MOST_RULES} rules already.")
    common.pick(turn, properties, "forwardingRuleState", ("Enabled", "Disabled"), "Enabled")
    servers = properties.get("targetDnsServers") or []
    if not 1 <= len(servers) <= MOST_SERVERS or any(set(one) - SERVER for one in servers):
        raise common.invalid(f"{turn.id.text} has 1 to {MOST_SERVERS} of targetDnsServers, each ipAddress and port.")
    for one in servers:
        common.number(turn, one, "port", 1, LAST_PORT, DNS)
        try:
            IPv4Address(one.get("ipAddress"))
        except AddressValueError as error:
            raise common.invalid(f"{turn.id.text}: {error}.") from None


def _link(turn: Write) -> None:
    common.name(turn)
    network = require(turn, turn.properties.get("virtualNetwork"), "properties.virtualNetwork.id", NETWORK, near=False)
    common.only_id(turn.properties, "virtualNetwork")
    if network.location != turn.parent.location:
        raise common.invalid(f"{turn.id.text}: {network.id.text} is not in the ruleset's region.")
    if turn.old and not ids.same(turn.old.properties["virtualNetwork"]["id"], network.id.text):
        raise common.invalid(f"The network of {turn.id.text} cannot be changed.")
    if len(turn.siblings) >= MOST_LINKS:
        raise common.invalid(f"{turn.parent.id.text} has {MOST_LINKS} links already.")
    for other in turn.world.store.all(LINK):
        if other.id.key != turn.id.key and ids.same(other.properties["virtualNetwork"]["id"], network.id.text):
            raise conflict("Conflict", f"{network.id.text} is linked by {other.id.text} already.")


def _keep(turn: Write) -> None:
    common.refuse_nested(turn, LINK)


KINDS = (
    Kind(
        OUTBOUND,
        check=_outbound,
        known=frozenset(("subnet",)),
        read_only=("resourceGuid",),
        serial=True,
        slow=SLOW,
    ),
    Kind(
        RULESET,
        check=_ruleset,
        removing=_keep,
        known=frozenset(("dnsResolverOutboundEndpoints",)),
        read_only=("resourceGuid",),
        slow=SLOW,
    ),
    Kind(
        RULE,
        tracked=False,
        check=_rule,
        known=frozenset(("domainName", "forwardingRuleState", "metadata", "targetDnsServers")),
    ),
    Kind(
        LINK,
        tracked=False,
        check=_link,
        known=frozenset(("metadata", "virtualNetwork")),
        slow=SLOW,
    ),
)
