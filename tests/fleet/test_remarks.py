"""What a file may say is taken, and its people hear of it where they look."""

import json
import re
from pathlib import Path

from click.testing import CliRunner

from fleet.loader import load_with_lines
from fleet.remarks import remarks
from landbridge.commands.plan import plan

# As a lab has it: GPU hosts, a system pool, two zones.
FLEET = """\
fleet: demo
owner: ops
domain: demo.example.com
supernet: 10.128.0.0/9
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a, b]}
sites:
  lab: {gateways: [192.0.2.10], asn: 65010, hosts: {h1: {gpus: 8, gpu: h100, cpus: 8, memory_gib: 64}}}
clusters:
  main: {region: us-west-2, kubernetes: 1.36.2}
pools:
  lab-gpu: {kind: gpu, cluster: main, site: lab, owner: ops, hosts: [h1]}
  system: {kind: system, cluster: main, region: us-west-2, owner: ops, instance_type: m7i.large, min: 2, max: 4}
teams:
  ops: {gid: 2000}
"""
CPU = "  cpu: {kind: cpu, cluster: main, region: us-west-2, owner: ops, instance_type: c7i.large, max: 4}\n"
TOLD = [
    "fleet.yaml:7: us-west-2 has 2 zones, and most etcd members of cluster main stand in one of them: the cluster does "
    "not outlive that zone. With 3 zones it outlives any.",
    "fleet.yaml:11: cluster main has no pool of kind cpu: pods that ask for no GPU wait until there is one, or until they "
    "tolerate another kind's taint.",
]


def told(folder: Path, text: str) -> list[str]:
    (folder / "fleet.yaml").write_text(text)
    return [str(one) for one in remarks(load_with_lines(folder / "fleet.yaml"))]


def test_alarms_that_reach_nobody_are_said(tmp_path: Path) -> None:
    without = "fleet.yaml:17: monitoring has no receivers: alarms reach nobody who does not look for them."
    assert told(tmp_path, FLEET + "monitoring: {}\n") == [*TOLD, without]
    assert told(tmp_path, FLEET + "monitoring: {receivers: {channel: {kind: slack}}}\n") == TOLD


def test_an_image_of_runs_that_is_held_by_its_tag_alone_is_said(tmp_path: Path) -> None:
    line = "images: {runs: registry.example.com/lab/train:3%s}\n"
    (said,) = set(told(tmp_path, FLEET + line % "")) - set(TOLD)
    assert said.startswith("fleet.yaml:17: registry.example.com/lab/train:3 has no digest: whoever may write")
    assert told(tmp_path, FLEET + line % f"@sha256:{64 * '0'}") == TOLD


def test_two_zones_and_no_place_for_cpu_work_are_taken_and_said(tmp_path: Path) -> None:
    assert told(tmp_path, FLEET) == TOLD
    without_pools = re.sub(r"pools:\n(  .*\n)*", "", FLEET.replace("[a, b]", "[a]"))
    assert [one[:44] for one in told(tmp_path, without_pools)] == ["fleet.yaml:7: us-west-2 has one zone, and mo"]


def test_nothing_is_said_of_three_zones_and_a_pool_for_cpu_work(tmp_path: Path) -> None:
    assert told(tmp_path, FLEET.replace("teams:\n", f"{CPU}teams:\n").replace("[a, b]", "[a, b, c]")) == []


def test_the_plan_says_so(tmp_path: Path) -> None:
    told(tmp_path, FLEET)
    words = ["--fleet", str(tmp_path / "fleet.yaml")]
    said = CliRunner().invoke(plan, words, standalone_mode=False)
    assert said.stdout.splitlines()[-2:] == TOLD
    assert json.loads(CliRunner().invoke(plan, [*words, "--json"]).stdout)["remarks"] == TOLD
