"""The provider plugins on the real engine: what a program may expect of them, from create to destroy."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from landbridge.places import written_whole
from tests.support import cloud as clouds
from tests.support import programs
from tests.support.cloud import ROOT, Cloud

pytestmark = pytest.mark.cloud

HEAD = """\
import pulumi, pulumi_aws as aws, pulumi_random as random, pulumi_tls as tls
west = aws.Provider("west", region="us-west-2", allowed_account_ids=["123456789012"])
east = aws.Provider("east", region="us-east-1", allowed_account_ids=["123456789012"])
opts = pulumi.ResourceOptions(provider=west)
"""
NETWORK = """\
vpc = aws.ec2.Vpc("v", cidr_block="10.128.0.0/16", tags={"Name": "v"}, opts=opts)
subnet = aws.ec2.Subnet("s", vpc_id=vpc.id, cidr_block="10.128.1.0/24", availability_zone="us-west-2a", opts=opts)
"""


class Project:
    """A program of the test's own, with the plugins of the local cloud."""

    def __init__(
        self, folder: Path, cloud: Cloud, *, name: str = "p", state: Path | None = None, phrase: str = "x"
    ) -> None:
        self.folder, self.cloud, self.phrase = folder, cloud, phrase
        self.backend = state or folder / "state"
        (folder / "state").mkdir(parents=True)
        plugins = "".join(
            f"    - {{name: {plugin}, path: {ROOT / 'local/plugins' / plugin}}}\n"
            for plugin in ("aws", "azure-native", "tls", "random")
        )
        (folder / "Pulumi.yaml").write_text(
            f"name: {name}\nruntime: {programs.runtime(folder)}\nplugins:\n  providers:\n{plugins}"
        )
        self.pulumi("stack", "init", "dev")

    def program(self, body: str) -> None:
        (self.folder / "__main__.py").write_text(HEAD + body)

    def pulumi(self, *arguments: str, code: int | None = 0, before: Sequence[str] = (), seconds: float = 200) -> str:
        path = os.pathsep.join([str(ROOT / ".landbridge/bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        settings = {
            "PATH": path,
            "PULUMI_BACKEND_URL": written_whole(f"file://{self.backend}"),
            "PULUMI_CONFIG_PASSPHRASE": self.phrase,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PYTHONDONTWRITEBYTECODE": "",
            **programs.inside(self.cloud),
        }
        command = ["env", "-C", str(self.folder), *(f"{key}={value}" for key, value in settings.items()), *before]
        full = [clouds.COMMAND, "local", "exec", "--", *command, "pulumi", "--non-interactive", *arguments]
        done = subprocess.run(
            full, capture_output=True, text=True, env=self.cloud._environment(), timeout=seconds, check=False
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def up(self, *arguments: str, code: int | None = 0) -> str:
        return self.pulumi("up", "--yes", "--skip-preview", *arguments, code=code)

    def state(self) -> str:
        return (self.folder / "state/.pulumi/stacks/p/dev.json").read_text()


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = clouds.make(tmp_path_factory.mktemp("cloud"))
    made.run("preview", "--local", "eu-west-1")
    yield made
    made.stop()


@pytest.fixture
def project(tmp_path: Path, cloud: Cloud) -> Project:
    return Project(tmp_path / "project", cloud)


def test_create_keep_update_replace_and_destroy(project: Project) -> None:
    project.program(NETWORK)
    assert "+ 5 created" in project.up()
    project.up("--expect-no-changes")
    project.program(NETWORK.replace('{"Name": "v"}', '{"Name": "w", "more": "1"}'))
    assert "~ 1 updated" in project.up()
    project.program(NETWORK.replace("10.128.1.0/24", "10.128.2.0/24"))
    assert "+-1 replaced" in project.up().replace(" ", "").replace("+-1", "+-1 ")
    project.pulumi("destroy", "--yes", "--skip-preview")


def test_a_subnet_outside_its_network_fails_because_the_cloud_refuses_it(project: Project) -> None:
    project.program(NETWORK.replace("10.128.1.0/24", "10.99.1.0/24"))
    assert "InvalidSubnet.Range" in project.up(code=None)
    project.pulumi("destroy", "--yes", "--skip-preview")


def test_a_preview_with_unknowns_says_what_it_would_do(project: Project) -> None:
    project.program(NETWORK + 'pulumi.export("id", subnet.id)\n')
    assert "+ 5 to create" in project.pulumi("preview")


def test_each_provider_resource_has_its_region(project: Project) -> None:
    body = (
        NETWORK + 'other = aws.ec2.Vpc("o", cidr_block="10.129.0.0/16", opts=pulumi.ResourceOptions(provider=east))\n'
    )
    project.program(body + 'pulumi.export("arns", [vpc.arn, other.arn])\n')
    project.up()
    arns = json.loads(project.pulumi("stack", "output", "arns", "--json"))
    assert [arn.split(":")[3] for arn in arns] == ["us-west-2", "us-east-1"]
    project.pulumi("destroy", "--yes", "--skip-preview")


def test_secrets_stay_secret_in_state(project: Project) -> None:
    project.program(
        'password = random.RandomPassword("p", length=20, special=False)\n'
        'key = tls.PrivateKey("k", algorithm="ED25519")\n'
        'secret = aws.secretsmanager.Secret("s", name="pg", recovery_window_in_days=7, opts=opts)\n'
        'aws.secretsmanager.SecretVersion("v", secret_id=secret.id, secret_string=pulumi.Output.secret("hush-hush-42"), opts=opts)\n'
        'pulumi.export("p", password.result)\n'
    )
    project.up()
    state = project.state()
    assert "hush-hush-42" not in state
    assert "PRIVATE KEY" not in state
    plain = project.pulumi("stack", "output", "p", "--show-secrets").strip()
    assert len(plain) == 20
    assert plain not in state
    project.pulumi("destroy", "--yes", "--skip-preview")
    # The name is taken until its recovery window ends; coming up again restores it, as nothing is lost yet.


def test_what_is_already_gone_is_deleted_without_complaint(project: Project) -> None:
    project.program(NETWORK)
    project.up()
    project.cloud.python(
        "ec2 = client('ec2', 'us-west-2')\n"
        "for s in ec2.describe_subnets(Filters=[{'Name': 'cidr-block', 'Values': ['10.128.1.0/24']}])['Subnets']:\n"
        "    ec2.delete_subnet(SubnetId=s['SubnetId'])\n"
    )
    project.pulumi("destroy", "--yes", "--skip-preview")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('aws.sqs.Queue("q", opts=opts)', "the local cloud can't build aws:sqs/queue:Queue yet"),
        (
            'aws.ec2.Vpc("v", cidr_block="10.128.0.0/16", ipv4_ipam_pool_id="x", opts=opts)',
            "does not act on ipv4IpamPoolId yet",
        ),
        (
            'aws.Provider("x", region="us-west-2", profile="work"); aws.ec2.Vpc("v", cidr_block="10.1.0.0/16", opts=pulumi.ResourceOptions(provider=aws.Provider("y", region="us-west-2", profile="work")))',
            "does not know the setting profile",
        ),
        (
            'aws.sqs.get_queue(name="q", opts=pulumi.InvokeOptions(provider=west))',
            "can't answer aws:sqs/getQueue:getQueue",
        ),
    ],
)
def test_what_it_can_t_honour_it_refuses(project: Project, line: str, message: str) -> None:
    project.program(f"{line}\n")
    assert message in project.up(code=None)
