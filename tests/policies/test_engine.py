"""The pack on the real engine: a preview that violates a rule, or that can't tell, fails and says why."""

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.local.providers.test_engine import Project
from tests.support import cloud as clouds
from tests.support.cloud import ROOT, Cloud

pytestmark = pytest.mark.cloud
REFUSED = 1  # pulumi's exit code
VERSION = YAML(typ="safe").load((ROOT / "policies/PulumiPolicy.yaml").read_text())["version"]
NETWORK = """\
tags = {"landbridge:fleet": "test", "landbridge:owner": "ops"}
vpc = aws.ec2.Vpc("v", cidr_block="10.128.0.0/18", tags=tags, opts=opts)
table = aws.ec2.RouteTable("t", vpc_id=vpc.id, tags=tags, opts=opts)
group = aws.ec2.SecurityGroup("g", vpc_id=vpc.id, description="d", tags=tags, opts=opts)
"""


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    made = clouds.make(tmp_path_factory.mktemp("cloud"))
    made.run("preview", "--local", "eu-west-1")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, cloud: Cloud) -> Project:
    return Project(tmp_path_factory.mktemp("program") / "p", cloud)


def preview(project: Project, line: str = "", *, code: int = 0, config: Any = None) -> str:
    """What a preview of the network and one more line says, on one line; `config` is the pack's."""
    project.program(NETWORK + line)
    before = [f"LANDBRIDGE_FLEET={project.cloud.fleet}", "PYTHONUNBUFFERED=1"]
    words = ["preview", "--policy-pack", str(ROOT / "policies")]
    if config is not None:
        file = project.folder / "policy-config.json"
        file.write_text(json.dumps(config))
        words += ["--policy-pack-config", str(file)]
    said = project.pulumi(*words, code=code, before=before)
    return " ".join(said.split())


def test_a_preview_that_holds_to_the_rules_passes(project: Project) -> None:
    said = preview(project)
    assert "landbridge" in said
    assert "mandatory" not in said


RULE = 'aws.vpc.SecurityGroupIngressRule("r", security_group_id=group.id, ip_protocol="tcp", from_port=22, to_port=22, tags=tags, opts=opts, '
ROUTE = 'aws.ec2.Route("r", route_table_id=table.id, gateway_id="igw-1", opts=opts, '
TEMPLATE = 'aws.ec2.LaunchTemplate("l", metadata_options={"http_tokens": "required"}, tags=tags, opts=opts, '
TOKEN = base64.b64encode(b"kubeadm join --token abcdef.0123456789abcdef").decode()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f'{RULE}cidr_ipv4="0.0.0.0/0")', "ingress from 0.0.0.0/0 to tcp 22-22 is wider than the plan"),
        (f'{RULE}cidr_ipv4=vpc.id.apply(lambda _: "10.128.0.0/18"))', "undecidable: its ingress is not known"),
        (f'{TEMPLATE}user_data="{TOKEN}")', "userData holds a bootstrap token (abcdef.01234…)"),
        (f'{TEMPLATE}user_data=pulumi.Output.secret("{TOKEN}"))', "userData holds a bootstrap token (abcdef.01234…)"),
        (f'{TEMPLATE}user_data=vpc.id.apply(lambda _: "{TOKEN}"))', "undecidable: userData is not known"),
        (f'{ROUTE}destination_cidr_block=vpc.id.apply(lambda _: "0.0.0.0/0"))', "undecidable: destinationCidrBlock is"),
    ],
)
def test_a_preview_that_violates_a_rule_fails(project: Project, line: str, words: str) -> None:
    said = preview(project, line + "\n", code=REFUSED)
    assert words in said
    assert "[mandatory]" in said


# No pool's: of those the fleet file says how many machines they may have.
MACHINES = """\
template = aws.ec2.LaunchTemplate("l", metadata_options={"http_tokens": "required"}, tags=tags, opts=opts)
of_group = [{"key": key, "value": value, "propagate_at_launch": True} for key, value in tags.items()]
aws.autoscaling.Group("a", min_size=0, max_size=5, launch_template={"name": "l"}, tags=of_group, opts=opts)
"""
EAST = 'aws.ec2.SecurityGroup("s", vpc_id=vpc.id, region="us-east-1", tags=tags, opts=opts)\n'


@pytest.mark.parametrize(
    ("line", "good", "bad", "words"),
    [
        (MACHINES, {"max_machines": 5}, {"max_machines": 4}, "it may have 5 machines, and the configuration of limits"),
        (EAST, {"regions": ["us-east-1", "us-west-2"]}, {"regions": ["us-west-2"]}, "it stands in us-east-1, and"),
    ],
    ids=["machines", "regions"],
)
def test_the_configuration_decides_what_is_refused(
    project: Project, line: str, good: Any, bad: Any, words: str
) -> None:
    assert words not in preview(project, line, config={"limits": good}, code=None)
    said = preview(project, line, config={"limits": bad}, code=REFUSED)
    assert words in said
    assert "[mandatory]" in said
    assert f"landbridge@v{VERSION}" in said


def test_the_configuration_says_how_strict_a_policy_is(project: Project) -> None:
    line = f'{RULE}cidr_ipv4="0.0.0.0/0")\n'
    said = preview(project, line, config={"exposure": "advisory"})
    assert "[advisory]" in said
    assert "is wider than the plan" in said
    assert "is wider than the plan" not in preview(project, line, config={"exposure": {"enforcementLevel": "disabled"}})


def test_a_configuration_that_does_not_fit_is_refused(project: Project) -> None:
    assert "max_machines" in preview(project, config={"limits": {"max_machines": "many"}}, code=None)


# The program of every stack, but what it builds loses its owner.
FORGETFUL = """\
import runpy
from components.tags import Owner
Owner.tags = lambda self, name: {"Name": name, "landbridge:fleet": self.fleet}
runpy.run_module("stacks", run_name="__main__")
"""
# The command line with that program in the place of ours. Inside of the local cloud it has no need to enter it first.
COMMAND_LINE = """\
import shutil, sys
from landbridge import cli, projects
write, program, *sys.argv[1:] = projects.write_local, *sys.argv[1:]
def forgetful(folder):
    write(folder)
    shutil.copy(program + "/__main__.py", folder)
projects.write_local = forgetful
sys.exit(cli.main())
"""


def test_a_violating_stack_stops_up_before_anything_is_made(cloud: Cloud, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(FORGETFUL)
    before = cloud.inventory()
    up = [str(tmp_path), "up", "--local", "--yes", "eu-west-1", "--fleet", str(cloud.fleet)]
    done = cloud.inside("sh", "-c", '"$@" 2>&1; echo "exit code $?"', "sh", sys.executable, "-c", COMMAND_LINE, *up)
    assert "tag landbridge:owner is missing" in done
    assert "policy protection" in done
    assert "exit code 1" in done
    assert cloud.inventory() == before
