"""`kubectl landbridge …`: the command line, for the cluster of kubectl's context where nothing else is said."""

import os
import sys
from collections.abc import Sequence

from fleet.where import ENVIRONMENT as FLEET
from landbridge.cluster.kept import CLUSTER

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
    if meant.local:
        sys.argv = with_local(sys.argv)


def with_local(words: Sequence[str]) -> list[str]:
    """The same with --local behind the command, if that takes it: a context of the local cloud is nowhere else."""
    from landbridge.completion.tree import rows_by_words

    known, end = rows_by_words(), 1
    while " ".join(["landbridge", *words[1 : end + 1]]) in known and end < len(words):
        end += 1
    takes = any(one["label"] == "--local" for one in known[" ".join(["landbridge", *words[1:end]])]["parameters"])
    said = words[end : words.index("--")] if "--" in words else words[end:]
    return [*words[:end], *(["--local"] if takes and "--local" not in said else []), *words[end:]]
