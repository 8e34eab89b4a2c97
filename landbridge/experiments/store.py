"""What is known of a run when its cluster has forgotten it: a record in the team's folder, by which it runs again."""

import json
from collections.abc import Mapping
from typing import Any

from fleet import team_storage
from landbridge.access.person import Person
from landbridge.clouds.aws.cloud import S3
from landbridge.errors import UsageError


class Records:
    """Of one team. All raise LandbridgeError."""

    def __init__(self, person: Person) -> None:
        self.team, self.client = person.team, person.storage()
        self.bucket = S3(self.client, None, person.bucket)

    def key(self, name: str) -> str:
        return f"{team_storage.FOLDER}/{self.team}/runs/{name}.json"

    def write(self, name: str, record: Mapping[str, Any]) -> None:
        """Of a new run. Raises UsageError for a name that was used before."""
        data = json.dumps(record, indent=1).encode()
        if not self.bucket.put_over(self.key(name), data, "", "application/json"):
            raise UsageError(
                f"--name {name}: team {self.team} has had a run of that name. Choose another one, or leave --name out."
            )

    def read(self, name: str) -> dict[str, Any]:
        """Raises UsageError for a run that nobody knows."""
        found = self.bucket.read(self.key(name))
        if found is None:
            raise UsageError(
                f"Team {self.team} has never had a run {name}. `landbridge runs --all` shows those of the last week."
            )
        return dict(json.loads(found))
