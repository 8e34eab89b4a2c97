"""Serves the pack to the engine; the only module that builds it, since building blocks until the engine is done."""

import sys

from pulumi_policy import EnforcementLevel, PolicyPack

from fleet import witness
from fleet.errors import FleetError
from policies.pack import policies

# The engine waits for the port that the pack prints, and a pipe is buffered by default.
sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
witness.begin()
try:
    PolicyPack("landbridge", policies(), enforcement_level=EnforcementLevel.MANDATORY)
except FleetError as error:
    sys.exit(str(error))
