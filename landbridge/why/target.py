"""What is asked about, as people type it. Pure."""

from typing import NamedTuple

from landbridge.errors import UsageError

POD, RUN, JOB, NODE = "pod", "run", "job", "node"
# As kubectl has them. A node is called as its machine is.
NAMES = {
    POD: ("pod", "pods", "po"),
    RUN: ("run", "runs", "jobset", "jobsets"),
    JOB: ("job", "jobs"),
    NODE: ("node", "nodes", "no", "machine"),
}
SHORT = {name: kind for kind, names in NAMES.items() for name in names}
EXAMPLE = "Write pod/NAME, run/NAME, job/NAME or node/NAME"


class Target(NamedTuple):
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


def target(text: str) -> Target:
    """Raises UsageError."""
    kind, slash, name = text.partition("/")
    if not slash or not name or "/" in name:
        raise UsageError(
            f"{text}: what is that? {EXAMPLE}, such as pod/{text.strip('/').rpartition('/')[2] or 'train-0'}."
        )
    if kind not in SHORT:
        raise UsageError(f"{text}: `landbridge why` knows pods, runs, Jobs and nodes, not {kind}. {EXAMPLE}.")
    return Target(SHORT[kind], name)
