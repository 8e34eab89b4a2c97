"""AWS: machines of one are kept by scaling groups, secrets by Secrets Manager, objects by S3."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from fleet.fitting import fitting
from fleet.image_names import parameter
from landbridge.cluster.info import ClusterInfo, MachineInfo
from landbridge.etcd.store import URL_SECONDS, Snapshot
from landbridge.image.machine_images import wanted
from landbridge.remote_execution import REPLACED_BY_GROUP, Instance, running

from ..cloud import CloudError
from .lookups import ClientOf

BALANCER_NAME = 32  # AWS allows no more; components/control_plane/aws/control_plane.py names it so
ABSENT = ("NoSuchKey", "404")
# Somebody else was quicker, by S3's words.
CLASHES = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")


@contextmanager
def aws_errors(what: str, remedy: str) -> Iterator[None]:
    """Raises CloudError: what can't be done, AWS's own words, what to do."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise CloudError(f"{what}: {error}. {remedy}") from None


class S3:
    """`signer` is for the name that machines know, too: the address it signs must hold for them."""

    def __init__(self, client: Any, signer: Any, bucket: str) -> None:
        self.client, self.signer, self.bucket = client, signer, bucket

    def where(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"

    def get_url(self, key: str, seconds: int = URL_SECONDS) -> str:
        what = {"Bucket": self.bucket, "Key": key}
        return str(self.signer.generate_presigned_url("get_object", Params=what, ExpiresIn=seconds))

    def exists(self, key: str) -> bool:
        needs = "You need s3:GetObject on it and s3:ListBucket on the bucket"
        with aws_errors(f"{self.where(key)} can't be asked after", needs):
            try:
                self.client.head_object(Bucket=self.bucket, Key=key)
            except ClientError as error:
                if error.response["Error"]["Code"] in ABSENT:
                    return False
                raise
        return True

    def read(self, key: str) -> bytes | None:
        data, etag = self.read_with_etag(key)
        return data if etag else None

    def put(self, key: str, data: bytes) -> None:
        with aws_errors(f"{self.where(key)} can't be written", "You need s3:PutObject on it and kms:GenerateDataKey"):
            self.client.put_object(Bucket=self.bucket, Key=key, Body=data)

    def read_with_etag(self, key: str) -> tuple[bytes, str]:
        with aws_errors(f"{self.where(key)} can't be read", "You need s3:GetObject on it and kms:Decrypt"):
            try:
                found = self.client.get_object(Bucket=self.bucket, Key=key)
                return bytes(found["Body"].read()), str(found["ETag"])
            except ClientError as error:
                if error.response["Error"]["Code"] in ABSENT:
                    return b"", ""
                raise

    def put_over(self, key: str, data: bytes, etag: str, kind: str) -> bool:
        only = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
        with aws_errors(f"{self.where(key)} can't be written", "You need s3:PutObject on it and kms:GenerateDataKey"):
            try:
                self.client.put_object(Bucket=self.bucket, Key=key, Body=data, ContentType=kind, **only)
            except ClientError as error:
                if error.response["Error"]["Code"] in CLASHES:
                    return False
                raise
        return True

    def delete(self, key: str) -> None:
        with aws_errors(f"{self.where(key)} can't be deleted", "You need s3:DeleteObject on it"):
            self.client.delete_object(Bucket=self.bucket, Key=key)

    def listed(self, prefix: str) -> list[Snapshot]:
        with aws_errors(f"{self.where(prefix)} can't be listed", "You need s3:ListBucket on the bucket"):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            listed = [one for page in pages for one in page.get("Contents", ())]
        return [Snapshot(one["Key"], one["Size"], one["LastModified"]) for one in listed]


def signer(region: str) -> Any:
    """Of addresses that are good for a while: for the name that machines know, whatever name we use ourselves."""
    import boto3
    from botocore.config import Config

    settings = Config(signature_version="s3v4", s3={"addressing_style": "path"})
    return boto3.client("s3", region_name=region, endpoint_url=f"https://s3.{region}.amazonaws.com", config=settings)


class Aws:
    """One region."""

    successor, heals = REPLACED_BY_GROUP, True

    def __init__(self, of: ClientOf, region: str) -> None:
        self.of, self.region = of, region

    def bucket(self, name: str) -> S3:
        return S3(self.of("s3"), signer(self.region), name)

    def secret(self, name: str) -> str:
        needs = f"You need secretsmanager:GetSecretValue on it and kms:Decrypt with the key of {self.region}"
        with aws_errors(f"Secret {name} cannot be read from the secrets manager", needs):
            return str(self.of("secretsmanager").get_secret_value(SecretId=name)["SecretString"])

    def has_secret(self, name: str) -> bool:
        try:
            with aws_errors(f"Secret {name} can't be asked after", "You need secretsmanager:DescribeSecret on it"):
                self.of("secretsmanager").describe_secret(SecretId=name)
        except CloudError as error:
            if "ResourceNotFoundException" in str(error):
                return False
            raise
        return True

    def secrets(self, prefix: str) -> list[str]:
        with aws_errors(f"Secrets of {self.region} can't be listed", "You need secretsmanager:ListSecrets"):
            pages = self.of("secretsmanager").get_paginator("list_secrets")
            found = pages.paginate(Filters=[{"Key": "name", "Values": [prefix]}])
            names = [one["Name"] for page in found for one in page["SecretList"]]
        return sorted(name for name in names if name.startswith(prefix))

    def adopt(self, name: str) -> bool:
        """A replica hangs on the secret of its primary region; AWS wants this call in the replica's."""
        needs = "You need secretsmanager:DescribeSecret and StopReplicationToReplica on it"
        with aws_errors(f"Secret {name} can't be parted from its primary region's", needs):
            secret = self.of("secretsmanager").describe_secret(SecretId=name)
            if secret.get("PrimaryRegion", self.region) == self.region:
                return False
            self.of("secretsmanager").stop_replication_to_replica(SecretId=name)
            return True

    def machines(self, info: ClusterInfo) -> Mapping[str, Instance]:
        with aws_errors(f"The instances of {info.name} can't be listed", "You need ec2:DescribeInstances"):
            return running(self.of("ec2"), info.name)

    def replace(self, info: ClusterInfo, machine: str, instance: str) -> None:
        """Its scaling group starts the successor, which takes interface and volumes."""
        if not instance:
            return
        with aws_errors(
            f"{machine} ({instance}) of {info.name} can't be ended",
            "You need autoscaling:TerminateInstanceInAutoScalingGroup",
        ):
            self.of("autoscaling").terminate_instance_in_auto_scaling_group(
                InstanceId=instance, ShouldDecrementDesiredCapacity=False
            )

    def end(self, info: ClusterInfo, machines: Sequence[str]) -> None:
        there = self.machines(info)
        ids = [there[name].id for name in machines if name in there]
        with aws_errors(f"{', '.join(machines)} can't be ended", "You need ec2:TerminateInstances"):
            self.of("ec2").terminate_instances(InstanceIds=ids)

    def revive(self, info: ClusterInfo, machine: str) -> None:
        """Its scaling group does."""

    def unbalanced(self, info: ClusterInfo, machine: MachineInfo) -> str:
        elb = self.of("elbv2")
        for targets in self._targets(info):
            health = elb.describe_target_health(TargetGroupArn=targets["TargetGroupArn"])["TargetHealthDescriptions"]
            ours = [one["TargetHealth"]["State"] for one in health if one["Target"]["Id"] == machine.address]
            if "healthy" not in ours:
                return f"the balancer sends it nothing: {', '.join(ours) or 'it is no target'}"
        return ""

    def probes(self, info: ClusterInfo) -> set[str]:
        return {str(targets["HealthCheckPath"]) for targets in self._targets(info)}

    def _targets(self, info: ClusterInfo) -> list[dict[str, Any]]:
        """What the balancer sends to: target groups, in AWS's words."""
        name = fitting(f"{info.fleet}-{info.name}-api", BALANCER_NAME)
        with aws_errors(f"{info.name} has no target group {name}", f"`landbridge up {info.name} --refresh`"):
            return list(self.of("elbv2").describe_target_groups(Names=[name])["TargetGroups"])

    def image(self, fleet: str, kubernetes: str) -> str:
        return wanted(self.of, fleet, kubernetes)

    def channel(self, fleet: str, kubernetes: str) -> str:
        return parameter(fleet, kubernetes)
