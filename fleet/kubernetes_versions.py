"""Which version of Kubernetes may follow which."""


def refusal(running: str | None, wanted: str) -> str | None:
    """Why a cluster that runs one version (None: none yet) can't take the other; None when it can.

    The rules are Kubernetes' own ("Version Skew Policy"): API servers go up one minor at a time, and what a newer one
    has stored an older one need not be able to read. Patches go both ways.
    """
    if running is None:
        return None
    old, new = _minor(running), _minor(wanted)
    if new < old:
        return f"kubernetes {wanted} is older than {running}, which runs: Kubernetes can't go back a minor version"
    if new > old + 1:
        return f"kubernetes {wanted} skips a minor version after {running}, which runs: go to 1.{old + 1} first"
    return None


def _minor(version: str) -> int:
    return int(version.split(".")[1])
