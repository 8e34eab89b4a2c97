"""What a region's cloud is asked, in our words: the same for every cloud, and a file for each beside this one."""

from collections.abc import Collection
from typing import Protocol

from .group import Failure, Observation

# The autoscaler waits for 30 s at most (grpc_timeout), and what it has given up must not happen after that: a change is
# begun only where there is time for it.
CHANGE_SECONDS = 23.0
# After a change whose answer is lost, while its caller still waits.
CHECK_SECONDS = 6.0
# Ends of machines of one request: the autoscaler does not wait for more.
AT_ONCE = 32


class CloudError(Exception):
    """A region's API did not do what it was asked. The text says what and why."""


class AnswerLostError(CloudError):
    """It may have done it all the same."""


class Cloud(Protocol):
    """One region of one cloud. All but `end` raise CloudError."""

    @property
    def busy_seconds(self) -> float:
        """Between two looks while something is under way: as often as the cloud may be asked."""

    def groups(self) -> tuple[dict[str, Observation], dict[str, str]]:
        """Every group of the cluster by its name, and those instances whose end waits for us, with their groups."""

    def failures(self, group: str) -> tuple[Failure, ...]:
        """Launches that the group failed at lately, newest first."""

    def resize(self, group: str, machines: int) -> None:
        """Wants so many machines of the group."""

    def size(self, group: str) -> int:
        """The machines that the cloud wants there."""

    def end(self, group: str, ids: Collection[str]) -> dict[str, CloudError]:
        """Ends machines, and wants so many fewer. Those that did not go, with what was the matter."""

    def let_go(self, instance: str, group: str) -> None:
        """Ends the pause before a machine's end."""
