"""Serves the pack to the engine; the only module that builds it, since building blocks until the engine is done."""

import sys

from pulumi_policy import EnforcementLevel, PolicyPack

from fleet.errors import FleetError
from policies.pack import policies

try:
    PolicyPack("landbridge", policies(), enforcement_level=EnforcementLevel.MANDATORY)
except FleetError as error:
    sys.exit(str(error))
