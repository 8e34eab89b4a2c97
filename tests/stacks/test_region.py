"""The region stack: every resource of the example fleet against its golden file, and what other stacks read of it."""

import json
from pathlib import Path

import pytest

from tests.local.providers.test_engine import Project
from tests.support import golden
from tests.support.cloud import ROOT, Cloud

pytestmark = pytest.mark.cloud
HERE = Path(__file__).parent
STACKS = ("us-west-2", "us-east-1", "eu-west-1", "southcentralus")


@pytest.mark.golden
@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_s_resources_are_those_of_the_golden_file(states: Path, stack: str) -> None:
    state = json.loads((states / f"{stack}.json").read_text())
    golden.compare(HERE / f"golden/{stack}.yaml", golden.resources(state))


def test_the_exported_state_passes_the_policies(cloud: Cloud, tmp_path: Path) -> None:
    project = Project(tmp_path / "p", cloud)
    state = json.loads((cloud.home / "local/example/state/.pulumi/stacks/landbridge/us-west-2.json").read_text())
    exported = tmp_path / "state.json"
    exported.write_text(json.dumps({"version": 3, "deployment": state["checkpoint"]["latest"]}))
    analyze = ["policy", "analyze", "--file", str(exported), "--policy-pack", str(ROOT / "policies")]
    cloud_fleet = f"LANDBRIDGE_FLEET={cloud.fleet}"
    assert "mandatory" not in project.pulumi(*analyze, before=[cloud_fleet])
    # And it does judge: the same state with an open door fails.
    text = exported.read_text()
    assert '"cidrIpv4": "10.131.0.0/16"' in text
    exported.write_text(text.replace('"cidrIpv4": "10.131.0.0/16"', '"cidrIpv4": "0.0.0.0/0"'))
    assert "wider than the plan" in project.pulumi(*analyze, before=[cloud_fleet], code=None)


def test_another_stack_reads_the_contract(project: Project) -> None:
    project.program(
        "import sys; sys.path.insert(0, " + repr(str(ROOT)) + ")\n"
        "from stacks.outputs import region_outputs\n"
        "async def main():\n"
        "    found = await region_outputs('us-west-2')\n"
        "    pulumi.export('zones', sorted(found['private_subnet_ids']))\n"
        "    pulumi.export('cidr', found['network_cidr'])\n"
        "    pulumi.export('shares', sorted(found['share_ids']))\n"
        "pulumi.run(main)\n"
    )
    project.up()
    assert json.loads(project.pulumi("stack", "output", "--json")) == {
        "cidr": "10.132.0.0/18",
        "shares": ["data", "homes", "results"],
        "zones": ["a", "b", "c"],
    }


def test_a_stack_the_fleet_does_not_have_is_refused(cloud: Cloud) -> None:
    done = cloud.run("up", "--local", "--yes", "mars-1", code=2)
    assert "mars-1" in done.stderr
    assert "us-west-2" in done.stderr
    assert "Traceback" not in done.stderr
