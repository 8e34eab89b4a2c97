"""`kubectl landbridge …`: the command line, for the cluster of kubectl's context where nothing else is said."""

import os
import sys
from collections.abc import Sequence

from fleet.where import ENVIRONMENT as FLEET
from landbridge.cluster.kept import CLUSTER
from landbridge.local.meant import VARIABLE as LOCAL

from . import cli

CONTEXT = "--context"


def main() -> None:
    """kubectl starts `kubectl-landbridge` for it; never returns."""
    context, words = context_of(sys.argv[1:])
    sys.argv = ["landbridge", *words]
    sys.exit(cli.told(lambda: mean(context)) or cli.code_of())


def context_of(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """The context that is named before all other words, and those."""
    first, equals, value = (words[0] if words else "").partition("=")
    if first != CONTEXT:
        return None, list(words)
    return (value, list(words[1:])) if equals else ((words[1] if len(words) > 1 else None), list(words[2:]))


def mean(context: str | None) -> None:
    """What the user says in the environment or by options goes before. Raises UsageError."""
    from landbridge.cluster import kubeconfig_merge

    meant = kubeconfig_merge.context(kubeconfig_merge.chain(), context)
    if meant is None:
        return
    os.environ.setdefault(FLEET, str(meant.fleet))
    if os.environ[FLEET] == str(meant.fleet):
        os.environ.setdefault(CLUSTER, meant.cluster)
        # A context of the local cloud is nowhere else, and one of a real cloud never there.
        os.environ.setdefault(LOCAL, "1" if meant.local else "0")
