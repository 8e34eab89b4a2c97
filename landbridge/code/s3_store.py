"""A team's folder of code in a fleet bucket of S3. What encrypts it is the bucket's default."""

from typing import Any

from botocore.exceptions import ClientError

from landbridge.clouds.aws.cloud import ABSENT, CLASHES, aws_errors


class S3Store:
    """`client` is boto3's, of the bucket's region; `prefix` ends in a slash."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        self.client, self.bucket, self.prefix = client, bucket, prefix

    def where(self, key: str) -> str:
        """The object as people write it down, and as pods are told."""
        return f"s3://{self.bucket}/{self.prefix}{key}"

    def exists(self, key: str) -> bool:
        needs = "You need s3:GetObject on it and s3:ListBucket on the bucket"
        with aws_errors(f"{self.where(key)} can't be asked after", needs):
            try:
                self.client.head_object(Bucket=self.bucket, Key=self.prefix + key)
            except ClientError as error:
                if error.response["Error"]["Code"] in ABSENT:
                    return False
                raise
        return True

    def put(self, key: str, data: bytes) -> None:
        """Where two launches send the same at once, one is told that it is there: keys are digests, so it is."""
        with aws_errors(f"{self.where(key)} can't be written", "You need s3:PutObject on it and kms:GenerateDataKey"):
            try:
                self.client.put_object(Bucket=self.bucket, Key=self.prefix + key, Body=data, IfNoneMatch="*")
            except ClientError as error:
                if error.response["Error"]["Code"] not in CLASHES:
                    raise
                if not self.exists(key):  # the other is not done, and may yet fail
                    self.client.put_object(Bucket=self.bucket, Key=self.prefix + key, Body=data)

    def read(self, key: str) -> bytes | None:
        with aws_errors(f"{self.where(key)} can't be read", "You need s3:GetObject on it and kms:Decrypt"):
            try:
                return bytes(self.client.get_object(Bucket=self.bucket, Key=self.prefix + key)["Body"].read())
            except ClientError as error:
                if error.response["Error"]["Code"] in ABSENT:
                    return None
                raise
