"""What clouds say of a quota: read by a cluster's service and by commands, of which neither may know the other."""

from typing import NamedTuple


class Share(NamedTuple):
    """Of something that is bounded: the most, and what is used."""

    most: float
    used: float
