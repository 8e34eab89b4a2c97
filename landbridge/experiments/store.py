"""What is known of a run when its cluster has forgotten it: a record in the team's folder, by which it runs again."""

import json
from collections.abc import Mapping
from typing import Any

from fleet import team_storage
from landbridge.access.person import Person
from landbridge.access.team_folder.opened import buckets
from landbridge.errors import UsageError


class Records:
    """Of one team, in the region that its cluster keeps them in; read in all, for runs of other clusters.

    All raise LandbridgeError.
    """

    def __init__(self, person: Person) -> None:
        self.team, self.options = person.team, person.options
        self.bucket, *self.others = buckets(person)

    def key(self, name: str) -> str:
        return f"{team_storage.FOLDER}/{self.team}/runs/{name}.json"

    def write(self, name: str, record: Mapping[str, Any]) -> None:
        """Of a new run. Raises UsageError for a name that was used before."""
        if not self.bucket.put_over(self.key(name), _text(record), "", "application/json"):
            raise UsageError(
                f"--name {name}: team {self.team} has had a run of that name. Choose another one, or leave --name out."
            )

    def write_over(self, name: str, record: Mapping[str, Any]) -> None:
        """Of a run that goes on elsewhere."""
        self.bucket.put(self.key(name), _text(record))

    def read(self, name: str) -> dict[str, Any]:
        """Raises UsageError for a run that nobody knows."""
        found = next((data for one in (self.bucket, *self.others) if (data := one.read(self.key(name)))), None)
        if found is None:
            raise UsageError(
                f"Team {self.team} has never had a run {name}. "
                f"`landbridge runs --all{self.options}` shows those of the last week."
            )
        return dict(json.loads(found))


def _text(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, indent=1).encode()
