"""When images were made that machines in a region of AWS start from: the parameter of a launch template names each."""

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

from .clients import client, errors

# As a launch template has it (fleet/image_names.py).
NAMED = re.compile(r"resolve:ssm:(/.+)")
# GetParameters takes so many.
AT_ONCE = 10


class Region:
    """One thread calls it."""

    def __init__(self, region: str, ssm: Any = None, ec2: Any = None) -> None:
        self.region, self.ssm, self.ec2 = region, ssm or client("ssm", region), ec2 or client("ec2", region)

    def created(self, named: Collection[str]) -> Mapping[str, float]:
        """In the epoch. A parameter that names none that is there is not told. Raises CloudError."""
        with errors(self.region):
            ids = dict(self._ids(sorted(named)))
            # By a filter: an id that is gone would be an error for all of them. Owners see what is deprecated, too.
            filters = [{"Name": "image-id", "Values": sorted({*ids.values()})}]
            images = self.ec2.describe_images(Owners=["self"], Filters=filters)["Images"] if ids else []
        made = {one["ImageId"]: datetime.fromisoformat(one["CreationDate"]).timestamp() for one in images}
        return {one: made[id_] for one, id_ in ids.items() if id_ in made}

    def _ids(self, named: list[str]) -> Iterator[tuple[str, str]]:
        names = {found[1]: one for one in named if (found := NAMED.fullmatch(one))}
        for first in range(0, len(names), AT_ONCE):
            told = self.ssm.get_parameters(Names=[*names][first : first + AT_ONCE])
            yield from ((names[one["Name"]], one["Value"]) for one in told["Parameters"])
