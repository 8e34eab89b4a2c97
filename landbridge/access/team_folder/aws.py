"""In S3: the role of the team's pods, for a token of their service account."""

from collections.abc import Sequence
from typing import Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from components.addons.aws import team_roles
from fleet import issuers
from landbridge.clouds.aws.cloud import S3
from landbridge.clouds.cloud import Bucket
from landbridge.errors import LandbridgeError

from ..person import Person


def buckets(person: Person, names: Sequence[str]) -> list[Bucket]:
    """Raises LandbridgeError."""
    client = _client(person)
    return [S3(client, None, name) for name in names]


def _client(person: Person) -> Any:
    region = person.storage_region
    role = team_roles.role_arn(person.world.fleet, person.cluster, person.team)
    token = person.token(issuers.AUDIENCE)
    try:
        sts = boto3.client("sts", region_name=region, config=Config(signature_version=UNSIGNED))
        found = sts.assume_role_with_web_identity(
            RoleArn=role, RoleSessionName=person.name[:64], WebIdentityToken=token
        )["Credentials"]
    except (ClientError, BotoCoreError) as error:
        raise LandbridgeError(
            f"AWS gives nobody the role of team {person.team} ({role}): {error}. It comes with the cluster's add-ons: "
            f"`landbridge up {person.cluster}-addons{person.place.options}`."
        ) from None
    return boto3.client(
        "s3",
        region_name=region,
        aws_access_key_id=found["AccessKeyId"],
        aws_secret_access_key=found["SecretAccessKey"],
        aws_session_token=found["SessionToken"],
    )
