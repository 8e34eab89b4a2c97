"""The zone of a site's names, on the real engine: made, and kept whichever region the fleet file has first."""

import json

import pytest

from tests.local.providers.test_engine import Project, cloud, project  # noqa: F401  (fixtures)

pytestmark = pytest.mark.cloud

PROGRAM = """\
from components.links.aws.links import Links
from components.links.names import SiteZone
from components.tags import Owner
providers = {{"us-west-2": west, "us-east-1": east}}
ends = {{}}
for region, cidr in {{"us-west-2": "10.128.0.0/16", "us-east-1": "10.129.0.0/16"}}.items():
    own = pulumi.ResourceOptions(provider=providers[region])
    vpc = aws.ec2.Vpc(region, cidr_block=cidr, opts=own)
    zone = aws.route53.Zone(region, name=f"{{region}}.fleet.example.com", vpcs=[{{"vpc_id": vpc.id, "vpc_region": region}}],
        opts=pulumi.ResourceOptions(provider=providers[region], ignore_changes=["vpcs"]))
    ends[region] = {{"provider": providers[region], "network_id": vpc.id, "zone_id": zone.id}}
Links("links", {{
    "regions": {{region: ends[region] for region in {regions}}},
    "connections": [], "peerings": [],
    "zones": [SiteZone("lab", "lab.fleet.example.com", (("host-1.lab.fleet.example.com", "192.168.50.{last}"),))],
    "account_id": "123456789012", "owner": Owner("example", "platform", "links"),
}})
"""
ZONES = """
import json
zones = client("route53", "us-east-1")
(found,) = [one for one in zones.list_hosted_zones()["HostedZones"] if one["Name"] == "lab.fleet.example.com."]
records = zones.list_resource_record_sets(HostedZoneId=found["Id"])["ResourceRecordSets"]
print(json.dumps({
    "regions": sorted(one["VPCRegion"] for one in zones.get_hosted_zone(Id=found["Id"])["VPCs"]),
    "hosts": {one["Name"]: one["ResourceRecords"][0]["Value"] for one in records if one["Type"] == "A"},
}))
"""


@pytest.mark.parametrize("first", [["us-west-2"], ["us-west-2", "us-east-1"]])
def test_every_region_knows_a_site_whichever_comes_first(project: Project, first: list[str]) -> None:  # noqa: F811
    assert known(project, first, 11) == {
        "regions": sorted(first),
        "hosts": {"host-1.lab.fleet.example.com.": "192.168.50.11"},
    }
    project.up("--expect-no-changes")
    both = {"regions": ["us-east-1", "us-west-2"], "hosts": {"host-1.lab.fleet.example.com.": "192.168.50.12"}}
    assert known(project, ["us-east-1", "us-west-2"], 12) == both
    project.up("--expect-no-changes")
    project.program("")
    project.up()


def known(project: Project, regions: list[str], last: int) -> dict[str, object]:  # noqa: F811
    project.program(PROGRAM.format(regions=regions, last=last))
    project.up()
    return dict(json.loads(project.cloud.python(ZONES)))
