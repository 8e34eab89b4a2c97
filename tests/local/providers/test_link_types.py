"""Types that links are made of, on the real engine: made, kept, read back without a difference, changed, gone."""

import json

import pytest

from tests.local.providers.test_engine import Project, cloud, project  # noqa: F401  (fixtures)

pytestmark = pytest.mark.cloud

PROGRAM = """\
silent = {{"default_route_table_association": "disable", "default_route_table_propagation": "disable"}}
far = pulumi.ResourceOptions(provider=aws.Provider("far", region="us-east-1"))
tgw = aws.ec2transitgateway
hub = tgw.TransitGateway("h", amazon_side_asn=64515, opts=opts, **silent)
there = tgw.TransitGateway("t", amazon_side_asn=64512, opts=far, **silent)
table = tgw.RouteTable("h", transit_gateway_id=hub.id, tags={{"word": "{word}"}}, opts=opts)
vpc = aws.ec2.Vpc("v", cidr_block="10.128.0.0/16", opts=opts)
subnet = aws.ec2.Subnet("s", vpc_id=vpc.id, cidr_block="10.128.0.0/24", availability_zone="us-west-2a", opts=opts)
attached = tgw.VpcAttachment("a", transit_gateway_id=hub.id, vpc_id=vpc.id, subnet_ids=[subnet.id],
    transit_gateway_default_route_table_association=False, transit_gateway_default_route_table_propagation=False, opts=opts)
tgw.RouteTableAssociation("a", transit_gateway_attachment_id=attached.id, transit_gateway_route_table_id=table.id, opts=opts)
gateway = aws.ec2.CustomerGateway("g", type="ipsec.1", ip_address="{address}", bgp_asn="65010", opts=opts)
group = aws.cloudwatch.LogGroup("l", name="tunnels", opts=opts)
logs = {{"cloudwatch_log_options": {{"log_enabled": True, "log_group_arn": group.arn, "log_output_format": "json"}}}}
key = random.RandomPassword("k", length=40, special=False).result.apply(lambda text: "k" + text)
vpn = aws.ec2.VpnConnection("c", type="ipsec.1", customer_gateway_id=gateway.id, transit_gateway_id=hub.id,
    static_routes_only=False, tunnel_inside_ip_version="ipv4",
    tunnel1_inside_cidr="169.254.23.16/30", tunnel2_inside_cidr="169.254.23.20/30",
    tunnel1_ike_versions=["ikev2"], tunnel1_phase1_encryption_algorithms=["AES256"], tunnel1_phase1_dh_group_numbers=[20],
    tunnel1_dpd_timeout_action="{action}", tunnel2_dpd_timeout_action="restart", tunnel1_preshared_key=key,
    tunnel2_enable_tunnel_lifecycle_control=True, tunnel1_log_options=logs, tags={{"word": "{word}"}}, opts=opts)
tgw.RouteTablePropagation("p", transit_gateway_attachment_id=vpn.transit_gateway_attachment_id, transit_gateway_route_table_id=table.id, opts=opts)
peering = tgw.PeeringAttachment("e", transit_gateway_id=hub.id, peer_transit_gateway_id=there.id, peer_region="us-east-1",
    peer_account_id="123456789012", tags={{"end": "asks"}}, opts=opts)
taken = tgw.PeeringAttachmentAccepter("e", transit_gateway_attachment_id=peering.id, tags={{"end": "accepts"}}, opts=far)
over = pulumi.ResourceOptions(provider=west, depends_on=[taken])
tgw.Route("e", destination_cidr_block="10.131.0.0/16", transit_gateway_attachment_id=peering.id, transit_gateway_route_table_id=table.id, opts=over)
told = aws.sns.Topic("m", tags={{"word": "{word}"}}, opts=opts)
allowed = '{{"Statement": [{{"Effect": "Allow", "Principal": {{"Service": "cloudwatch.amazonaws.com"}}, "Action": "sns:Publish", "Resource": "*"}}]}}'
aws.sns.TopicPolicy("m", arn=told.arn, policy=allowed, opts=opts)
aws.sns.TopicSubscription("m", topic=told.arn, protocol="email", endpoint="a@example.com", opts=opts)
aws.cloudwatch.MetricAlarm("m", alarm_actions=[told.arn], ok_actions=[told.arn], namespace="AWS/VPN", metric_name="TunnelState", dimensions={{"VpnId": vpn.id}}, statistic="Minimum",
    comparison_operator="LessThanThreshold", threshold=1, evaluation_periods={minutes}, period=60, treat_missing_data="breaching",
    alarm_description="d", tags={{"word": "{word}"}}, opts=opts)
pulumi.export("outside", [vpn.tunnel1_address, vpn.tunnel2_address])
pulumi.export("inside", [vpn.tunnel1_vgw_inside_address, vpn.tunnel1_cgw_inside_address])
pulumi.export("key", vpn.tunnel1_preshared_key)
"""
FIRST = {"word": "one", "address": "192.0.2.10", "action": "restart", "minutes": 3}


def test_they_are_made_kept_changed_and_gone(project: Project) -> None:  # noqa: F811
    project.program(PROGRAM.format(**FIRST))
    project.up()
    project.up("--expect-no-changes")
    project.pulumi("refresh", "--yes", "--skip-preview")
    project.up("--expect-no-changes")
    told = json.loads(project.pulumi("stack", "output", "--json"))
    assert told["inside"] == ["169.254.23.17", "169.254.23.18"]
    assert len({*told["outside"]}) == 2
    assert told["key"] == "[secret]"
    key = project.pulumi("stack", "output", "key", "--show-secrets").strip()
    assert len(key) == 41
    assert key not in project.state(), "neither by itself nor in the configuration that AWS offers for download"
    changed = {**FIRST, "word": "two", "action": "clear", "minutes": 5}
    project.program(PROGRAM.format(**changed))
    assert "~ 4 updated" in project.up()
    assert json.loads(project.pulumi("stack", "output", "--json")) == told, "no address moves, no key changes"
    project.up("--expect-no-changes")
    # Another gateway, the same connection.
    project.program(PROGRAM.format(**{**changed, "address": "192.0.2.11"}))
    moved = project.up()
    assert "+-1 replaced" in moved.replace(" ", "").replace("+-1", "+-1 ")
    assert "~ 1 updated" in moved
    project.pulumi("destroy", "--yes", "--skip-preview")
    project.up()
    project.pulumi("destroy", "--yes", "--skip-preview")
