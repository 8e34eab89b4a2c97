"""A dry run: a region that is looked at as ever, and asked for nothing. What it would be asked for is remembered."""

from collections.abc import Collection

from . import clouds
from .cloud import Cloud, CloudError
from .group import Failure, Observation
from .settings import Settings


class Rehearsal:
    """Machines that would have been bought are owed for as long as the autoscaler waits for them."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        # Of each group: what the cloud itself wants, and what it would be told to want beyond that.
        self.real: dict[str, int] = {}
        self.more: dict[str, int] = {}

    @property
    def busy_seconds(self) -> float:
        return self.cloud.busy_seconds

    def groups(self) -> tuple[dict[str, Observation], dict[str, str]]:
        found, _ = self.cloud.groups()
        self.real = {name: observed.desired for name, observed in found.items()}
        return {name: self._wished(name, observed) for name, observed in found.items()}, {}

    def _wished(self, name: str, observed: Observation) -> Observation:
        return observed._replace(desired=observed.desired + self.more.get(name, 0), spoilt=())

    def failures(self, group: str) -> tuple[Failure, ...]:  # noqa: ARG002
        """Nobody refuses what nobody is asked for."""
        return ()

    def resize(self, group: str, machines: int) -> None:
        self.more[group] = max(0, machines - self.real.get(group, 0))

    def size(self, group: str) -> int:
        return self.cloud.size(group) + self.more.get(group, 0)

    def end(self, group: str, ids: Collection[str]) -> dict[str, CloudError]:  # noqa: ARG002
        """The autoscaler is to know that the machines stay."""
        return {id_: CloudError(f"dry-run: {id_} would end now") for id_ in ids}

    def let_go(self, instance: str, group: str) -> None:
        """Nobody's end waits for a dry run."""


def rehearsed(settings: Settings, region: str) -> Rehearsal:
    return Rehearsal(clouds.cloud(settings, region))
