"""What is known of a run when its cluster has forgotten it: a record in the team's folder, by which it runs again."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from fleet import team_storage
from landbridge.access.person import Person
from landbridge.errors import LandbridgeError, UsageError

TAKEN = ("PreconditionFailed", "ConditionalRequestConflict")


class Records:
    """Of one team. All raise LandbridgeError."""

    def __init__(self, person: Person) -> None:
        self.person, self.bucket = person, person.bucket
        self.s3 = person.storage()

    def key(self, name: str) -> str:
        return f"{team_storage.FOLDER}/{self.person.team}/runs/{name}.json"

    def write(self, name: str, record: Mapping[str, Any]) -> None:
        """Of a new run. Raises UsageError for a name that was used before."""
        try:
            self.s3.put_object(
                Bucket=self.bucket, Key=self.key(name), Body=json.dumps(record, indent=1).encode(), IfNoneMatch="*"
            )
        except (ClientError, BotoCoreError) as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in TAKEN:
                raise UsageError(
                    f"--name {name}: team {self.person.team} has had a run of that name. Choose another one, or leave "
                    "--name out."
                ) from None
            raise self._trouble(name, error) from None

    def read(self, name: str) -> dict[str, Any]:
        """Raises UsageError for a run that nobody knows."""
        try:
            found = self.s3.get_object(Bucket=self.bucket, Key=self.key(name))["Body"].read()
        except (ClientError, BotoCoreError) as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in ("NoSuchKey", "404"):
                raise UsageError(
                    f"Team {self.person.team} has never had a run {name}. `landbridge runs --all` shows those of the "
                    "last week."
                ) from None
            raise self._trouble(name, error) from None
        return dict(json.loads(found))

    def _trouble(self, name: str, error: Exception) -> LandbridgeError:
        return LandbridgeError(f"The record of {name} in s3://{self.bucket}/{self.key(name)}: {error}.")
