"""What one region's answer says of a quota."""

from typing import NamedTuple


class Used(NamedTuple):
    """`most` was granted, `used` is what the whole account uses, `ours` what of it is the fleet's. `name` is the
    cloud's own.
    """

    name: str
    most: float
    used: float
    ours: float

    @property
    def left(self) -> float:
        """What the fleet may have, with what it has. Metrics come late: no others use less than nothing."""
        return self.most - max(0.0, self.used - self.ours)
