"""A team's folder of code in a fleet bucket. What encrypts it is the bucket's default."""

from landbridge.clouds.cloud import Bucket

BYTES = "application/octet-stream"


class TeamStore:
    """`prefix` ends in a slash."""

    def __init__(self, bucket: Bucket, prefix: str) -> None:
        self.bucket, self.prefix = bucket, prefix

    def where(self, key: str) -> str:
        """The object as people write it down, and as pods are told."""
        return self.bucket.where(self.prefix + key)

    def exists(self, key: str) -> bool:
        return self.bucket.exists(self.prefix + key)

    def put(self, key: str, data: bytes) -> None:
        """Where two launches send the same at once, one is told that it is there: keys are digests, so it is."""
        if not self.bucket.put_over(self.prefix + key, data, "", BYTES) and not self.exists(key):
            self.bucket.put(self.prefix + key, data)  # the other was not done, and has failed

    def read(self, key: str) -> bytes | None:
        return self.bucket.read(self.prefix + key)
