"""Which version of Kubernetes may follow which."""

from collections.abc import Sequence


def refusal(running: str | None, wanted: str, *, undone: bool = False) -> str | None:
    """Why a cluster that runs one version (None: none yet) can't take the other; None when it can.

    The rules are Kubernetes' own ("Version Skew Policy"): API servers go up one minor at a time, and what a newer one
    has stored an older one need not be able to read. Patches go both ways, and so does a minor version that no API
    server has taken yet (`undone`): nothing is stored by it.
    """
    if running is None:
        return None
    old, new = _minor(running), _minor(wanted)
    if new < old - (1 if undone else 0):
        return f"kubernetes {wanted} is older than {running}, which runs: Kubernetes can't go back a minor version"
    if new > old + 1:
        return f"kubernetes {wanted} skips a minor version after {running}, which runs: go to 1.{old + 1} first"
    return None


def back(published: str | None, wanted: str) -> bool:
    """Whether this is a step to an older minor version."""
    return published is not None and _minor(wanted) < _minor(published)


def mutates_by_beta(version: str) -> bool:
    """Whether MutatingAdmissionPolicies are v1beta1 there, and off by default: they are v1 since 1.36."""
    return _minor(version) < 36


def steps(published: str | None, wanted: str) -> bool:
    """Whether this is a step to another minor version."""
    return published is not None and _minor(published) != _minor(wanted)


def minor(version: str) -> str:
    """As people call it: 1.36."""
    return version.rpartition(".")[0]


def behind_refusal(cluster: str, published: str, wanted: str, behind: Sequence[str]) -> str | None:
    """Why a step to another minor must wait: machines (`behind`) have not taken the last one, and would skip it."""
    if not behind:
        return None
    return (
        f"kubernetes {wanted} must wait: {', '.join(behind)} {'runs' if len(behind) == 1 else 'run'} none of "
        f"{minor(published)} yet and would skip it. Stay at {published}, run `landbridge cluster roll {cluster}`, and "
        "then go on"
    )


def ahead_refusal(what: str, cluster: str, wanted: str, servers: Sequence[str]) -> str | None:
    """Why pools and add-ons must wait with a step: API servers (`servers`) have not taken it, and must be first."""
    if not servers:
        return None
    return (
        f"{what} must wait with kubernetes {wanted}: nothing may be ahead of the API, and {', '.join(servers)} "
        f"{'has' if len(servers) == 1 else 'have'} an older minor version. Run `landbridge cluster roll {cluster}`, "
        "then `landbridge up` again"
    )


def _minor(version: str) -> int:
    return int(version.split(".")[1])
