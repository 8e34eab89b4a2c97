"""Who asks whom for names, as `local.supervisor.names` reads it: resolvers, and rulesets with their networks."""

from collections.abc import Iterator
from typing import Any

from .kinds import World
from .network_state import router
from .resources.forwarding import LINK, RULE, RULESET
from .resources.resolvers import INBOUND, RESOLVER


def resolvers(world: World) -> Iterator[list[Any]]:
    """Networks whose names somebody from outside of them can ask for, with the addresses where they answer."""
    for resolver in world.store.all(RESOLVER):
        found = [
            one["privateIpAddress"]
            for end in world.store.children(resolver, INBOUND)
            for one in end.properties["ipConfigurations"]
        ]
        if found:
            yield [router(resolver.properties["virtualNetwork"]["id"]), found]


def forwards(world: World) -> Iterator[dict[str, Any]]:
    """What networks ask elsewhere: names of `domain`, at the addresses of `targets`."""
    for ruleset in world.store.all(RULESET):
        linked = [router(one.properties["virtualNetwork"]["id"]) for one in world.store.children(ruleset, LINK)]
        for rule in world.store.children(ruleset, RULE):
            if rule.properties["forwardingRuleState"] == "Enabled":
                targets = [one["ipAddress"] for one in rule.properties["targetDnsServers"]]
                domain = rule.properties["domainName"].removesuffix(".").lower()
                yield {"domain": domain, "vpcs": linked, "targets": targets}
