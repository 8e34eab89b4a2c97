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


def _outbound(write: Write) -> None:
    common.name(write)
    end(write, write.properties, "properties", None)
    common.guid(write)


def _ruleset(write: Write) -> None:
    common.name(write)
    endpoints = write.properties.get("dnsResolverOutboundEndpoints") or []
    if not 1 <= len(endpoints) <= MOST_ENDPOINTS:
        raise common.invalid(f"{write.id.text} has 1 to {MOST_ENDPOINTS} of dnsResolverOutboundEndpoints.")
    for one in endpoints:
        require(write, one, "properties.dnsResolverOutboundEndpoints.id", OUTBOUND)
    common.guid(write)


def _rule(write: Write) -> None:
    if not NAME.fullmatch(write.id.name):
        raise common.invalid(f"'{write.id.name}' is no name of a forwarding rule.")
    properties = write.properties
    domain = str(properties.get("domainName") or "")
    labels = domain.removesuffix(".").split(".") if domain != "." else []
    if not domain.endswith(".") or not all(LABEL.fullmatch(one) for one in labels):
        raise common.invalid(f"{write.id.text}: '{domain}' at 'domainName' is no domain's name that ends in a period.")
    if write.old and not ids.same(write.old.properties["domainName"], domain):
        raise common.invalid(f"{write.id.text}: 'domainName' cannot be changed.")
    for other in write.siblings:
        if ids.same(other.properties["domainName"], domain):
            raise conflict("Conflict", f"{other.id.text} is for {domain} already.")
    if len(write.siblings) >= MOST_RULES:
        raise common.invalid(f"{write.parent.id.text} has {MOST_RULES} rules already.")
    common.pick(write, properties, "forwardingRuleState", ("Enabled", "Disabled"), "Enabled")
    servers = properties.get("targetDnsServers") or []
    if not 1 <= len(servers) <= MOST_SERVERS or any(set(one) - SERVER for one in servers):
        raise common.invalid(f"{write.id.text} has 1 to {MOST_SERVERS} of targetDnsServers, each ipAddress and port.")
    for one in servers:
        common.number(write, one, "port", 1, LAST_PORT, DNS)
        try:
            IPv4Address(one.get("ipAddress"))
        except AddressValueError as error:
            raise common.invalid(f"{write.id.text}: {error}.") from None


def _link(write: Write) -> None:
    common.name(write)
    network = require(
        write, write.properties.get("virtualNetwork"), "properties.virtualNetwork.id", NETWORK, near=False
    )
    common.only_id(write.properties, "virtualNetwork")
    if network.location != write.parent.location:
        raise common.invalid(f"{write.id.text}: {network.id.text} is not in the ruleset's region.")
    if write.old and not ids.same(write.old.properties["virtualNetwork"]["id"], network.id.text):
        raise common.invalid(f"The network of {write.id.text} cannot be changed.")
    if len(write.siblings) >= MOST_LINKS:
        raise common.invalid(f"{write.parent.id.text} has {MOST_LINKS} links already.")
    for other in write.world.store.all(LINK):
        if other.id.key != write.id.key and ids.same(other.properties["virtualNetwork"]["id"], network.id.text):
            raise conflict("Conflict", f"{network.id.text} is linked by {other.id.text} already.")


def _keep(write: Write) -> None:
    common.refuse_nested(write, LINK)


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
