"""Saved worlds that several files begin with."""

from tests.support import saved

from .monitored import measured as measured
from .queued import queued as queued
from .worlds import WORLDS

in_aws, in_azure, in_all, at_rest, in_both = (saved.world(name, *how) for name, how in WORLDS.items())
