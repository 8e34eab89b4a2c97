"""A team's folder of code in a fleet bucket of S3. What encrypts it is the bucket's default."""

from typing import Any

from botocore.exceptions import ClientError

from landbridge.clouds.aws.cloud import ABSENT, S3, aws_errors

BYTES = "application/octet-stream"


class S3Store:
    """`client` is boto3's, of the bucket's region; `prefix` ends in a slash."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        self.bucket, self.prefix = S3(client, None, bucket), prefix

    def where(self, key: str) -> str:
        """The object as people write it down, and as pods are told."""
        return self.bucket.where(self.prefix + key)

    def exists(self, key: str) -> bool:
        needs = "You need s3:GetObject on it and s3:ListBucket on the bucket"
        with aws_errors(f"{self.where(key)} can't be asked after", needs):
            try:
                self.bucket.client.head_object(Bucket=self.bucket.bucket, Key=self.prefix + key)
            except ClientError as error:
                if error.response["Error"]["Code"] in ABSENT:
                    return False
                raise
        return True

    def put(self, key: str, data: bytes) -> None:
        """Where two launches send the same at once, one is told that it is there: keys are digests, so it is."""
        if not self.bucket.put_over(self.prefix + key, data, "", BYTES) and not self.exists(key):
            self.bucket.put(self.prefix + key, data)  # the other was not done, and has failed

    def read(self, key: str) -> bytes | None:
        return self.bucket.read(self.prefix + key)
