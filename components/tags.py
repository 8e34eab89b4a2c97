"""Tags that every taggable resource carries: bills, policies and clean-up after accidents go by them."""

from typing import NamedTuple

from fleet.fitting import fitting

# On an instance: the version in the image that it was started from.
KUBERNETES = "landbridge:kubernetes"


class Owner(NamedTuple):
    """Who a stack's resources belong to."""

    fleet: str
    team: str
    stack: str

    def name(self, name: str, most: int) -> str:
        """What the cloud calls a resource whose names must be unique, at most so many characters of it."""
        return fitting(f"{self.fleet}-{self.stack}-{name}", most)

    def tags(self, name: str) -> dict[str, str]:
        """Tags of one resource; `name` is what consoles show, made unique by fleet and stack."""
        return {
            "Name": f"{self.fleet}-{self.stack}-{name}",
            "landbridge:fleet": self.fleet,
            "landbridge:owner": self.team,
            "landbridge:stack": self.stack,
        }
