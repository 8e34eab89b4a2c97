"""The policies as Pulumi wants them: a few that walk all resources once each, rather than dozens that do."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from fleet.where import named, path_for_engine, project_of_engine
from fleet.world import World, current

from . import (
    addons,
    alarms,
    aws,
    azure,
    clusters,
    containers,
    labels,
    leaving,
    limits,
    link_keys,
    pools,
    protection,
    workloads,
)
from .reading import Finding, Given, Item, items, plain

Rules = Callable[[list[Item], World], Iterator[Finding]]
# The same for one fleet, with what the pack is configured to.
Judge = Callable[[list[Item], Mapping[str, Any]], Iterator[Finding]]

# Name → what it is for, and what judges: what clouds share, and each cloud's own.
RULES: dict[str, tuple[str, tuple[Rules, ...]]] = {
    "addresses": (
        "Prefixes are disjoint and are those of the ledger.",
        (aws.addresses.findings, azure.addresses.findings),
    ),
    "exposure": (
        "Nothing is open to the world unless the fleet says so; buckets are closed.",
        (aws.exposure.findings, azure.exposure.findings, azure.stores.closed),
    ),
    "protection": ("Encrypted, tagged, protected, and made by an explicit provider.", (protection.findings,)),
    "machines": (
        "User-data is a stub without secrets, IMDSv2; a machine reads its own and is alone.",
        (aws.machines.findings,),
    ),
    "roles": (
        "A role that pods take is one team's for its storage, or one autoscaler's.",
        (azure.roles.findings, aws.roles.findings),
    ),
    "pools": (
        "A pool is its owner's, keeps to its price, and nothing but the autoscaler takes its machines.",
        (pools.findings, aws.pools.findings, azure.pools.findings),
    ),
    "images": (
        "A pool starts from the image of its kind and Kubernetes, and no machine from a stranger's.",
        (azure.images.findings, aws.images.findings),
    ),
    "labels": ("No node of a site has a label by which a cloud knows its GPUs.", (labels.findings,)),
    "sites": (
        "What a host takes with its certificate is its own, and for its backups alone.",
        (aws.sites.findings,),
    ),
    "links": (
        "Links are of the plan, strong on both tunnels, led by BGP, and their keys stand in no plain text.",
        (aws.links.findings, link_keys.findings, azure.links.findings),
    ),
    "clusters": (
        "3 or 5 etcd members in one region, a closed API, snapshots, certificates that end.",
        (clusters.findings,),
    ),
    "alarms": ("An alarm of a cloud tells those whom the fleet file names.", (alarms.findings,)),
    "workloads": ("What runs in a cluster has a pool to run on.", (workloads.findings,)),
    "leaving": ("What is asked to leave a machine can, in the time that there is.", (leaving.findings,)),
    "addons": ("A NetworkPolicy holds: its engine runs on every node.", (addons.findings,)),
    "containers": ("An image that is locked by its digest runs by that digest.", (containers.findings,)),
}
# The same, of what is told and not refused.
ADVICE: dict[str, tuple[str, tuple[Rules, ...]]] = {
    "unlocked": ("Images are held by digests, not by tags that somebody may move.", (containers.unlocked,)),
}


def policies(world: World | None = None) -> list[Policy]:
    """The pack's policies for a fleet (default: the current one). Raises FleetError."""
    known, given = world or current(named() or path_for_engine(project_of_engine())), Given()
    judges = [_policy(name, description, _of(rules, known), given) for name, (description, rules) in RULES.items()]
    advisers = [
        _policy(name, description, _of(rules, known), given, EnforcementLevel.ADVISORY)
        for name, (description, rules) in ADVICE.items()
    ]
    schema = PolicyConfigSchema(properties=limits.SCHEMA)
    limited = _policy(limits.NAME, limits.DESCRIPTION, _limits(known), given, schema=schema)
    return [_listener(given), *judges, limited, *advisers]


def _of(rules: tuple[Rules, ...], world: World) -> Judge:
    return lambda found, _: (one for rule in rules for one in rule(found, world))


def _limits(world: World) -> Judge:
    return lambda found, config: limits.findings(found, world, config)


def _listener(given: Given) -> ResourceValidationPolicy:
    """Notes every resource's inputs: the engine shows them one by one, before the outputs of the whole stack."""

    def validate(args: ResourceValidationArgs, _: ReportViolation) -> None:
        given[args.urn] = plain(args.props)

    return ResourceValidationPolicy("inputs", "Notes what the program sets; refuses nothing.", validate)


def _policy(
    name: str,
    description: str,
    judge: Judge,
    given: Given,
    level: EnforcementLevel = EnforcementLevel.MANDATORY,
    schema: PolicyConfigSchema | None = None,
) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        found = judge(items(args.resources, given), args.get_config())
        # One unknown property may hide several paths, and is told once.
        messages = dict.fromkeys((f"{f.type} {f.name}: {f.what}. {f.remedy}.", f.urn) for f in found)
        for message, urn in messages:
            report(message, urn or None)

    return StackValidationPolicy(name, description, validate, level, schema)
