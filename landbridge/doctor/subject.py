"""What is looked at: a fleet as far as its file can be read, and where its stacks live."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fleet.world import World
from landbridge.cluster import info
from landbridge.cluster.session import Session
from landbridge.errors import LandbridgeError
from landbridge.places import Place
from local.client import Cloud


@dataclass
class Patient:
    """`world` is None where the fleet file is wrong, `place` where nothing can be asked. `options` end every command.

    `cloud` is the local cloud if it is up; `home` is where one would be, None on real clouds.
    """

    path: Path
    world: World | None = None
    place: Place | None = None
    cloud: Cloud | None = None
    home: Path | None = None
    options: tuple[str, ...] = ()

    def command(self, words: str) -> str:
        """A command of ours as somebody would type it here."""
        return f"`{' '.join(('landbridge', words, *self.options))}`"

    @property
    def known(self) -> tuple[World, Place]:
        """For looks that are only taken where there are both."""
        assert self.world
        assert self.place
        return self.world, self.place

    @cached_property
    def standing(self) -> dict[str, Session]:
        """The clusters that are up, by name."""
        found = {}
        if self.world and self.place:
            for name in self.world.fleet.clusters:
                try:
                    found[name] = Session(self.world, self.place, info.read(self.place, name), hasty=True)
                except LandbridgeError:  # never up, or half: its stack's own look says so
                    continue
        return found
