"""Storage of a region on AWS: the fleet bucket with its key, and the shares on EFS."""

import json
from typing import TypedDict

import pulumi
import pulumi_aws as aws

from components.preview import known_in_preview
from components.tags import Owner
from fleet.buckets import bucket_arn, bucket_name, key_alias
from fleet.model import Fleet

from ..places import FLOW_LOGS
from ..shares import ShareSpec, SharesSpec, shares_policy
from .bucket import bucket_policy, key_policy, lifecycle


class BucketArgs(TypedDict):
    """The bucket's name and policies follow from the fleet and the region."""

    fleet: Fleet
    region: str
    owner: Owner


class Bucket(pulumi.ComponentResource):
    """The fleet bucket of a region: versioned, encrypted, TLS only, closed to the public. `key` is the shares' too."""

    def __init__(self, name: str, args: BucketArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:storage:Bucket", name, None, opts)
        fleet, region, owner = args["fleet"], args["region"], args["owner"]
        child, protected = pulumi.ResourceOptions(parent=self), pulumi.ResourceOptions(parent=self, protect=True)
        self.arn = bucket_arn(fleet, region)
        self.key = aws.kms.Key(
            "key",
            description="Encrypts the region's bucket, shares and volumes",
            enable_key_rotation=True,
            deletion_window_in_days=30,
            policy=json.dumps(key_policy(fleet, region)),
            tags=owner.tags("key"),
            opts=protected,
        )
        aws.kms.Alias("key", name=key_alias(fleet, region), target_key_id=self.key.id, opts=child)
        self.bucket = aws.s3.Bucket(
            "bucket", bucket=bucket_name(fleet, region), tags=owner.tags("bucket"), opts=protected
        )
        name_only = self.bucket.bucket
        aws.s3.BucketOwnershipControls(
            "bucket", bucket=name_only, rule={"object_ownership": "BucketOwnerEnforced"}, opts=child
        )
        closed = aws.s3.BucketPublicAccessBlock(
            "bucket",
            bucket=name_only,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=child,
        )
        versioning = aws.s3.BucketVersioning(
            "bucket", bucket=name_only, versioning_configuration={"status": "Enabled"}, opts=child
        )
        aws.s3.BucketServerSideEncryptionConfiguration(
            "bucket",
            bucket=name_only,
            rules=[
                {
                    "apply_server_side_encryption_by_default": {
                        "sse_algorithm": "aws:kms",
                        "kms_master_key_id": self.key.arn,
                    },
                    "bucket_key_enabled": True,
                }
            ],
            opts=child,
        )
        aws.s3.BucketLifecycleConfiguration(
            "bucket",
            bucket=name_only,
            rules=lifecycle(fleet),
            # AWS: rules about versions are to follow the versioning they speak of.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[versioning]),
        )
        # S3 answers 409 when the policy and the access block are written at the same time.
        policy = aws.s3.BucketPolicy(
            "bucket",
            bucket=name_only,
            policy=json.dumps(bucket_policy(fleet, region)),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[closed]),
        )
        # Depends on the policy: without it AWS refuses a flow log that is to go here.
        self.flow_log_arn = pulumi.Output.all(policy.id).apply(lambda _: f"{self.arn}/{FLOW_LOGS}/")
        self.register_outputs({})


class SharesArgs(TypedDict):
    """`subnets` and `addresses`, those of the mount targets, by zone letter; `arn_prefix` is every file system's."""

    spec: SharesSpec
    owner: Owner
    arn_prefix: str
    key_arn: pulumi.Input[str]
    subnets: dict[str, aws.ec2.Subnet]
    addresses: dict[str, str]
    group_id: pulumi.Input[str]


class Shares(pulumi.ComponentResource):
    """One EFS file system with a mount target a zone, and an access point for each share and each person's home.

    None of them says who its users are (`posix_user`): a member of the team who mounts another's home must not be them.
    """

    def __init__(self, name: str, args: SharesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:storage:Shares", name, None, opts)
        spec, owner, child = args["spec"], args["owner"], pulumi.ResourceOptions(parent=self)
        self.files = aws.efs.FileSystem(
            "shares",
            # No creation_token: with a fixed one, a run after a killed one fails on what that one made.
            encrypted=True,
            kms_key_id=args["key_arn"],
            throughput_mode="elastic",
            lifecycle_policies=[
                {"transition_to_ia": "AFTER_30_DAYS"},
                {"transition_to_primary_storage_class": "AFTER_1_ACCESS"},
            ],
            tags=owner.tags("shares"),
            opts=pulumi.ResourceOptions(parent=self, protect=True),
        )
        arn = known_in_preview(self.files.arn, f"{args['arn_prefix']}*")
        policy = arn.apply(lambda arn: json.dumps(shares_policy(arn)))
        aws.efs.FileSystemPolicy("shares", file_system_id=self.files.id, policy=policy, opts=child)
        aws.efs.BackupPolicy(
            "shares",
            file_system_id=self.files.id,
            backup_policy={"status": "ENABLED" if spec.backups else "DISABLED"},
            opts=child,
        )
        self.targets = {
            zone: aws.efs.MountTarget(
                f"shares-{zone}",
                file_system_id=self.files.id,
                subnet_id=subnet.id,
                ip_address=args["addresses"][zone],
                security_groups=[args["group_id"]],
                opts=child,
            )
            for zone, subnet in args["subnets"].items()
        }
        self.points = {one.name: self._point("share", one, owner, child) for one in spec.shares}
        self.homes = {one.name: self._point("home", one, owner, child) for one in spec.homes}
        self.register_outputs({})

    def _point(self, kind: str, one: ShareSpec, owner: Owner, opts: pulumi.ResourceOptions) -> aws.efs.AccessPoint:
        return aws.efs.AccessPoint(
            f"{kind}-{one.name}",
            file_system_id=self.files.id,
            root_directory={
                "path": one.path,
                "creation_info": {"owner_uid": one.uid, "owner_gid": one.gid, "permissions": one.mode},
            },
            tags=owner.tags(f"{kind}-{one.name}"),
            opts=opts,
        )
