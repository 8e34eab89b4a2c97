"""A dry run: a region that is looked at as ever, and asked for nothing. What it would be asked for is remembered."""

from .aws import Aws, CloudError
from .group import Failure, Seen


class Rehearsal(Aws):
    """Machines that would have been bought are owed for as long as the autoscaler waits for them."""

    def __init__(self, region: str, cluster: str) -> None:
        super().__init__(region, cluster)
        # Of each group: what the cloud itself wants, and what it would be told to want beyond that.
        self.real: dict[str, int] = {}
        self.more: dict[str, int] = {}

    def groups(self) -> tuple[dict[str, Seen], dict[str, str]]:
        found, _ = super().groups()
        self.real = {name: seen.desired for name, seen in found.items()}
        wished = {name: seen._replace(desired=seen.desired + self.more.get(name, 0)) for name, seen in found.items()}
        return wished, {}

    def failures(self, group: str) -> tuple[Failure, ...]:  # noqa: ARG002
        """Nobody refuses what nobody is asked for."""
        return ()

    def resize(self, group: str, machines: int) -> None:
        self.more[group] = max(0, machines - self.real.get(group, 0))

    def end(self, instance: str) -> None:
        """Raises CloudError: the autoscaler is to know that the machine stays."""
        raise CloudError(f"dry-run: {instance} would end now")
