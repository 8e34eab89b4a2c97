"""State that a team shares: in S3, its secrets under a KMS key, for the one who made a stack and for all others."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.model import State
from fleet.world import World, current
from landbridge import places
from local.environment import AWS_URL
from tests.support import cloud as clouds
from tests.support.cloud import ROOT, Cloud

pytestmark = pytest.mark.cloud
PREPARE = """
client("s3", "us-west-2").create_bucket(
    Bucket="state", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
key = client("kms", "us-west-2").create_key()["KeyMetadata"]["KeyId"]
client("kms", "us-west-2").create_alias(AliasName="alias/state", TargetKeyId=key)
"""
PROGRAM = """
import pulumi, pulumi_random as random
made = random.RandomPassword("p", length=20)
pulumi.export("secret", made.result)
"""
STATE = State(
    backend=f"s3://state?region=us-west-2&endpoint={AWS_URL}&s3ForcePathStyle=true",
    secrets="awskms://alias/state?region=us-west-2",
)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = clouds.make(tmp_path_factory.mktemp("cloud"))
    made.run("preview", "--local", "eu-west-1")
    made.python(PREPARE)
    yield made
    made.stop()


class Teammate:
    """Somebody with a clone of the repository, a home of their own, and what `landbridge` gives Pulumi for real clouds."""

    def __init__(self, folder: Path, cloud: Cloud) -> None:
        self.folder, self.cloud = folder, cloud
        folder.mkdir()
        plugins = f"plugins: {{providers: [{{name: random, path: {ROOT / 'local/plugins/random'}}}]}}"
        runtime = f"runtime: {{name: python, options: {{virtualenv: {sys.prefix}}}}}"
        (folder / "Pulumi.yaml").write_text(f"name: landbridge\n{runtime}\n{plugins}\n")
        (folder / "__main__.py").write_text(PROGRAM)
        world = current(cloud.fleet)
        shared = world.fleet.model_copy(update={"state": STATE})
        self.place = places.cloud_place(World(shared, world.plan, world.path))

    def pulumi(self, *arguments: str) -> str:
        given = {**self.place.environment, "PULUMI_HOME": str(self.folder / "pulumi-home")}
        given["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
        pulumi = [str(ROOT / ".landbridge/bin/pulumi"), "--non-interactive", "-C", str(self.folder), *arguments]
        command = [
            clouds.COMMAND,
            "local",
            "exec",
            "--",
            "env",
            "-u",
            "PULUMI_CONFIG_PASSPHRASE",
            *(f"{k}={v}" for k, v in given.items()),
            *pulumi,
        ]
        environment = {**os.environ, "LANDBRIDGE_HOME": str(self.cloud.home), "PYTHONDONTWRITEBYTECODE": ""}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def test_a_teammate_goes_on_with_a_stack_that_another_made(tmp_path: Path, cloud: Cloud) -> None:
    one, other = Teammate(tmp_path / "one", cloud), Teammate(tmp_path / "other", cloud)
    one.pulumi("stack", "init", "us-west-2", "--secrets-provider", one.place.secrets_provider)
    one.pulumi("up", "--yes", "--skip-preview")
    # A settings file lies beside one's program, and is not committed: the other never has it.
    assert (one.folder / "Pulumi.us-west-2.yaml").exists()
    other.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes", "-s", "us-west-2")
    secret = json.loads(other.pulumi("stack", "output", "--json", "--show-secrets", "-s", "us-west-2"))["secret"]
    assert len(secret) == 20
    state = cloud.python(
        "s3 = client('s3', 'us-west-2')\n"
        "for o in s3.list_objects_v2(Bucket='state')['Contents']:\n"
        "    print(s3.get_object(Bucket='state', Key=o['Key'])['Body'].read().decode(errors='replace'))"
    )
    assert "us-west-2" in state
    assert secret not in state
    shutil.rmtree(one.folder)
