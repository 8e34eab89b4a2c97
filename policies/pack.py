"""The policies as Pulumi wants them: a few that walk all resources once each, rather than dozens that do."""

from collections.abc import Callable, Iterator

from pulumi_policy import (
    Policy,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from fleet.world import World, current

from . import (
    addons,
    addresses,
    clusters,
    custody,
    exposure,
    images,
    labels,
    links,
    machines,
    pools,
    roles,
    sites,
    workloads,
)
from .reading import Finding, Given, Item, items, plain

Rules = Callable[[list[Item], World], Iterator[Finding]]

RULES: dict[str, tuple[str, Rules]] = {
    "addresses": ("Prefixes are disjoint and are those of the ledger.", addresses.findings),
    "exposure": ("Nothing is open to the world unless the fleet says so; buckets are closed.", exposure.findings),
    "custody": ("Encrypted, tagged, protected, and made by an explicit provider.", custody.findings),
    "machines": (
        "User-data is a stub without secrets, IMDSv2; a machine reads its own and is alone.",
        machines.findings,
    ),
    "roles": ("A role that pods take is one team's for its storage, or one autoscaler's.", roles.findings),
    "pools": (
        "A pool is its owner's, keeps to its price, and nothing but the autoscaler takes its machines.",
        pools.findings,
    ),
    "images": (
        "A pool starts from the image of its kind and Kubernetes, and no machine from a stranger's.",
        images.findings,
    ),
    "labels": ("No node of a site has a label by which a cloud knows its GPUs.", labels.findings),
    "sites": ("What a host takes with its certificate is one host's, and for its backups alone.", sites.findings),
    "links": (
        "Links are of the plan, strong on both tunnels, led by BGP, and their keys stand in no plain text.",
        links.findings,
    ),
    "clusters": (
        "3 or 5 etcd members in one region, a closed API, snapshots, certificates that end.",
        clusters.findings,
    ),
    "workloads": ("What runs in a cluster has a pool to run on.", workloads.findings),
    "addons": ("A NetworkPolicy holds: its engine runs on every node.", addons.findings),
}


def policies(world: World | None = None) -> list[Policy]:
    """The pack's policies for a fleet (default: the current one). Raises FleetError."""
    known, given = world or current(), Given()
    judges = [_policy(name, description, rules, known, given) for name, (description, rules) in RULES.items()]
    return [_listener(given), *judges]


def _listener(given: Given) -> ResourceValidationPolicy:
    """Notes every resource's inputs: the engine shows them one by one, before the outputs of the whole stack."""

    def validate(args: ResourceValidationArgs, _: ReportViolation) -> None:
        given[args.urn] = plain(args.props)

    return ResourceValidationPolicy("inputs", "Notes what the program sets; refuses nothing.", validate)


def _policy(name: str, description: str, rules: Rules, world: World, given: Given) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        found = rules(items(args.resources, given), world)
        # One unknown property may hide several paths, and is told once.
        told = dict.fromkeys((f"{f.type} {f.name}: {f.what}. {f.remedy}.", f.urn) for f in found)
        for message, urn in told:
            report(message, urn)

    return StackValidationPolicy(name, description, validate)
