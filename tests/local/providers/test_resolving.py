"""Endpoints and rules of names, on the real engine: made, read back without a difference, changed, gone."""

import json

import pytest

from tests.local.providers.test_engine import Project, cloud, project  # noqa: F401  (fixtures)

pytestmark = pytest.mark.cloud

PROGRAM = """\
vpc = aws.ec2.Vpc("v", cidr_block="10.128.0.0/16", opts=opts)
subnets = [aws.ec2.Subnet(zone, vpc_id=vpc.id, cidr_block=f"10.128.{{number}}.0/24", availability_zone=f"us-west-2{{zone}}", opts=opts)
    for number, zone in enumerate("ab")]
group = aws.ec2.SecurityGroup("g", vpc_id=vpc.id, description="names", opts=opts)
made = aws.route53.ResolverEndpoint("r", name="{name}", direction="INBOUND", security_group_ids=[group.id],
    ip_addresses=[{{"subnet_id": subnet.id, "ip": f"10.128.{{number}}.{last}"}} for number, subnet in enumerate(subnets)],
    tags={{"word": "{word}"}}, opts=opts)
pulumi.export("addresses", made.ip_addresses.apply(lambda told: sorted(one["ip"] for one in told)))
pulumi.export("id", made.id)
"""
FIRST = {"name": "one", "word": "one", "last": "8"}
CARDS = 'print([n["PrivateIpAddress"] for n in client("ec2", "us-west-2").describe_network_interfaces()["NetworkInterfaces"] if "Resolver" in n["Description"]])'


def test_it_is_made_kept_changed_and_gone(project: Project) -> None:  # noqa: F811
    first = up(project)
    assert first["addresses"] == ["10.128.0.8", "10.128.1.8"]
    project.pulumi("refresh", "--yes", "--skip-preview")
    project.up("--expect-no-changes")
    assert up(project, name="two", word="two")["id"] == first["id"]
    moved = up(project, name="two", word="two", last="9")
    assert moved["addresses"] == ["10.128.0.9", "10.128.1.9"]
    assert "10.128.0.9" in project.cloud.python(CARDS)
    assert "10.128.0.8" not in project.cloud.python(CARDS)
    project.program("")
    project.up()
    assert project.cloud.python(CARDS).strip() == "[]"


ASKING = """\
vpc = aws.ec2.Vpc("v", cidr_block="10.128.0.0/16", opts=opts)
subnet = aws.ec2.Subnet("a", vpc_id=vpc.id, cidr_block="10.128.0.0/24", availability_zone="us-west-2a", opts=opts)
group = aws.ec2.SecurityGroup("g", vpc_id=vpc.id, description="names", opts=opts)
made = aws.route53.ResolverEndpoint("r", name="{name}", direction="OUTBOUND", security_group_ids=[group.id],
    ip_addresses=[{{"subnet_id": subnet.id, "ip": f"10.128.0.{{number}}"}} for number in (8, 9)], opts=opts)
rule = aws.route53.ResolverRule("u", name="{name}", rule_type="FORWARD", domain_name="south.example.com",
    resolver_endpoint_id=made.id, target_ips=[{{"ip": "10.1.0.{last}", "port": 53}}], tags={{"word": "{word}"}}, opts=opts)
aws.route53.ResolverRuleAssociation("w", name="{name}", resolver_rule_id=rule.id, vpc_id=vpc.id, opts=opts)
pulumi.export("id", rule.id)
pulumi.export("domain", rule.domain_name)
"""
RULES = """
of = client("route53resolver", "us-west-2")
rules = {one["Id"]: one for one in of.list_resolver_rules()["ResolverRules"]}
for one in of.list_resolver_rule_associations()["ResolverRuleAssociations"]:
    print(rules[one["ResolverRuleId"]]["DomainName"], rules[one["ResolverRuleId"]]["TargetIps"][0]["Ip"])
print(len(rules))
"""


def test_a_rule_says_where_names_are_asked_for(project: Project) -> None:  # noqa: F811
    first = up(project, ASKING)
    assert first["domain"] == "south.example.com"
    project.pulumi("refresh", "--yes", "--skip-preview")
    project.up("--expect-no-changes")
    assert up(project, ASKING, word="two")["id"] == first["id"]
    assert up(project, ASKING, word="two", last="9")["id"] != first["id"]
    assert project.cloud.python(RULES).split() == ["south.example.com.", "10.1.0.9", "1"]
    project.program("")
    project.up()
    assert project.cloud.python(RULES).strip() == "0"
    assert project.cloud.python(CARDS).strip() == "[]"


def up(project: Project, program: str = PROGRAM, **given: str) -> dict[str, object]:  # noqa: F811
    project.program(program.format(**{**FIRST, **given}))
    project.up()
    project.up("--expect-no-changes")
    return dict(json.loads(project.pulumi("stack", "output", "--json")))
