"""What the commands on pools ask of a region, whichever cloud it is in: its scaling groups, machines and images."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from landbridge.cluster.waiting import Tell
from landbridge.errors import LandbridgeError

from .sizes import Group


class RegionError(LandbridgeError):
    """A region refused or did not answer."""


class About(NamedTuple):
    """A machine as the cloud knows it. `terminating`: its kubelet writes no more."""

    image: str
    launched: datetime
    terminating: bool = False


class Image(NamedTuple):
    """What its bake said of it; `created` in ISO 8601."""

    name: str
    kubernetes: str | None
    driver: str | None
    created: str


class Scaling(Protocol):
    """Machines go by their nodes' names, images by the cloud's ids. All raise RegionError."""

    def groups(self, pools: Collection[str]) -> dict[str, list[Group]]:
        """By pool, in the order of their zones; a pool that is not up has none."""

    def set_desired(self, wanted: Mapping[str, int]) -> None:
        """By group. The same size once more tries anew what has failed. Never below what lives there."""

    def about(self, names: Iterable[str]) -> dict[str, About]:
        """Of those that the cloud still knows."""

    def end(self, name: str, *, replace: bool) -> None:
        """With `replace` its group starts another, else it gets smaller."""

    def let_go(self, groups: Sequence[Group], waiting: Sequence[str], tell: Tell) -> set[str]:
        """Ends the pause of machines that wait for their nodes to be put away; those that others hold are returned."""

    def launched(self, pool: str) -> Collection[str]:
        """Names of all machines of a pool that the cloud still knows, ended ones too where it does."""

    def parameter(self, pool: str) -> str:
        """What names the image of its next machine."""

    def values(self, parameters: Iterable[str]) -> dict[str, str]:
        """Ids of images by parameter, of those that are set."""

    def images(self, ids: Collection[str]) -> dict[str, Image]:
        """Of those of the fleet's own that are there."""

    def template(self, pool: str) -> tuple[str, str]:
        """The newest version of what a pool's machines are made by, and what it starts them from."""

    def starts(self, parameter: str, id_: str) -> str:
        """What the template is to start machines from, where the parameter names the image `id_`."""
