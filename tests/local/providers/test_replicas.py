"""Replicas of a secret on the real engine: made, kept, moved to another key, and gone before their primary."""

import json
from typing import Any

import pytest

from tests.local.providers.test_engine import Project, cloud, project  # noqa: F401  (fixtures)

pytestmark = pytest.mark.cloud

PROGRAM = """\
keys = [aws.kms.Key(f"k{{n}}", deletion_window_in_days=7, opts=pulumi.ResourceOptions(provider=east)) for n in (1, 2)]
secret = aws.secretsmanager.Secret("s", name="main/keys", recovery_window_in_days=0, opts=opts, replicas=[{replicas}])
aws.secretsmanager.SecretVersion("v", secret_id=secret.id, secret_string="{text}", opts=opts)
pulumi.export("keys", [key.arn for key in keys])
"""
EAST = '{{"region": "us-east-1", "kms_key_id": keys[{n}].arn}}'
LOOK = """\
import json
found = {}
for region in ("us-west-2", "us-east-1", "eu-west-1"):
    secrets = client("secretsmanager", region)
    for one in secrets.list_secrets()["SecretList"]:
        told = secrets.describe_secret(SecretId=one["ARN"])
        text = secrets.get_secret_value(SecretId=one["ARN"])["SecretString"]
        found[region] = [one["Name"], told.get("KmsKeyId"), text, told.get("PrimaryRegion")]
print(json.dumps(found))
"""
REMOVE = "client('secretsmanager', 'us-west-2').remove_regions_from_replication(SecretId='main/keys', RemoveReplicaRegions=['us-east-1'])\n"


def written(*replicas: str, text: str = "one") -> str:
    return PROGRAM.format(replicas=", ".join(replicas), text=text)


def test_they_are_made_kept_changed_and_gone(project: Project) -> None:  # noqa: F811
    def look() -> dict[str, Any]:
        return dict(json.loads(project.cloud.python(LOOK)))

    first, second = EAST.format(n=0), EAST.format(n=1)
    project.program(written(first))
    project.up()
    keys = json.loads(project.pulumi("stack", "output", "keys", "--json"))
    here = ["main/keys", None, "one", None]
    assert look() == {"us-west-2": here, "us-east-1": ["main/keys", keys[0], "one", "us-west-2"]}
    project.up("--refresh", "--expect-no-changes")

    project.program(written(first, text="two"))
    project.up()
    assert look()["us-east-1"][2] == "two", "a new version is in the replica, too"

    project.program(written(second, '{"region": "eu-west-1"}', text="two"))
    assert "~ 1 updated" in project.up()
    assert look()["us-east-1"] == ["main/keys", keys[1], "two", "us-west-2"]
    assert look()["eu-west-1"] == ["main/keys", None, "two", "us-west-2"]
    project.up("--refresh", "--expect-no-changes")

    project.cloud.python(REMOVE)
    assert "us-east-1" not in look()
    assert "~ 1 updated" in project.up("--refresh"), "drift is put right"
    assert look()["us-east-1"][1] == keys[1]

    project.program(written(text="two"))
    project.up()
    assert list(look()) == ["us-west-2"]
    project.program(written(first, text="two"))
    project.up()
    project.pulumi("destroy", "--yes", "--skip-preview")
    assert look() == {}
