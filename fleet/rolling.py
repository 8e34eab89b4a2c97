"""Which machine of one is to be made anew in a run, where the engine does that: in its programs' environment."""

import os

ROLLED = "LANDBRIDGE_ROLLED"
# Of a virtual machine in Azure, what belongs to its birth: a change replaces it, so that `up` leaves it alone.
CREATE_ONLY = ("osProfile", "storageProfile.imageReference", "hardwareProfile.vmSize", 'tags["landbridge:kubernetes"]')


def keeps(machine: str) -> list[str]:
    """Properties of its virtual machine that the run leaves as they were: `ignore_changes` of that resource."""
    return [] if os.environ.get(ROLLED) == machine else list(CREATE_ONLY)
