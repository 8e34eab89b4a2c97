"""What is asked about, as people type it. Pure."""

from typing import NamedTuple

from landbridge.errors import UsageError

POD, RUN = "pod", "run"
# As kubectl has them.
SHORT = {"pod": POD, "pods": POD, "po": POD, "run": RUN, "runs": RUN, "jobset": RUN, "jobsets": RUN}
EXAMPLE = "Write pod/NAME or run/NAME"


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
        raise UsageError(f"{text}: `landbridge why` knows pods and runs, not {kind}. {EXAMPLE}.")
    return Target(SHORT[kind], name)
