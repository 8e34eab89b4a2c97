"""The policies as Pulumi wants them: three that walk all resources once each, rather than dozens that do."""

from collections.abc import Callable, Iterator

from pulumi_policy import Policy, ReportViolation, StackValidationArgs, StackValidationPolicy

from fleet.world import World, current

from . import addresses, custody, exposure
from .reading import Finding, Item, items

Rules = Callable[[list[Item], World], Iterator[Finding]]

RULES: dict[str, tuple[str, Rules]] = {
    "addresses": ("Prefixes are disjoint and are those of the ledger.", addresses.findings),
    "exposure": ("Nothing is open to the world unless the fleet says so; buckets are closed.", exposure.findings),
    "custody": ("Encrypted, tagged, protected, and made by an explicit provider.", custody.findings),
}


def policies(world: World | None = None) -> list[Policy]:
    """The pack's policies for a fleet (default: the current one). Raises FleetError."""
    known = world or current()
    return [_policy(name, description, rules, known) for name, (description, rules) in RULES.items()]


def _policy(name: str, description: str, rules: Rules, world: World) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        for finding in rules(items(args.resources), world):
            report(f"{finding.type} {finding.name}: {finding.what}. {finding.remedy}.", finding.urn)

    return StackValidationPolicy(name, description, validate)
