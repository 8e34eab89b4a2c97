"""The types that no stack uses yet, on the real engine: made, kept, changed, read back without a difference, gone."""

import pytest

from tests.local.providers.test_engine import Project, cloud, project  # noqa: F401  (fixtures)

pytestmark = pytest.mark.cloud

PROGRAM = """\
import base64, json
trust = json.dumps({{"Version": "2012-10-17", "Statement": [{{"Effect": "Allow", "Principal": {{"Service": "ec2.amazonaws.com"}}, "Action": "sts:AssumeRole"}}]}})
read = json.dumps({{"Version": "2012-10-17", "Statement": [{{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}}]}})
role = aws.iam.Role("r", assume_role_policy=trust, description="{word}", tags={{"word": "{word}"}}, opts=opts)
aws.iam.RolePolicy("p", role=role.name, policy=read, opts=opts)
roles = {{"one": role, "two": aws.iam.Role("r2", assume_role_policy=trust, opts=opts)}}
aws.iam.InstanceProfile("i", role=roles["{word}"].name, opts=opts)
aws.cloudwatch.LogGroup("l", retention_in_days={days}, tags={{"word": "{word}"}}, opts=opts)
aws.ec2.LaunchTemplate("t", instance_type="{machine}", user_data=base64.b64encode(b"{word}").decode(), tags={{"word": "{word}"}}, opts=opts)
vpc = aws.ec2.Vpc("v", cidr_block="10.128.0.0/16", opts=opts)
group = aws.ec2.SecurityGroup("g", vpc_id=vpc.id, description="d", opts=opts)
aws.vpc.SecurityGroupEgressRule("e", security_group_id=group.id, ip_protocol="tcp", from_port=443, to_port=443, cidr_ipv4="10.128.0.0/16", description="{word}", opts=opts)
own = pulumi.ResourceOptions(provider=west, ignore_changes=["vpcs"])
zone = aws.route53.Zone("z", name="z.example.com", comment="{word}", vpcs=[{{"vpc_id": vpc.id, "vpc_region": "us-west-2"}}], opts=own)
other = aws.ec2.Vpc("o", cidr_block="10.129.0.0/16", opts=opts)
aws.route53.ZoneAssociation("a", zone_id=zone.zone_id, vpc_id=other.id, vpc_region="us-west-2", opts=opts)
key = aws.kms.Key("k", description="{word}", enable_key_rotation=True, deletion_window_in_days=7, opts=opts)
secret = aws.secretsmanager.Secret("s", name="more", description="{word}", recovery_window_in_days=0, opts=opts)
who = aws.get_caller_identity(opts=pulumi.InvokeOptions(provider=west))
zones = aws.get_availability_zones(state="available", opts=pulumi.InvokeOptions(provider=west))
pulumi.export("who", who.account_id)
pulumi.export("zones", zones.names[:1])
for n in (1, 2):
    bucket = aws.s3.Bucket(f"b{{n}}", force_destroy=n == 1, opts=opts)
    aws.s3.BucketVersioning(f"b{{n}}", bucket=bucket.bucket, versioning_configuration={{"status": "Enabled"}}, opts=opts)
    pulumi.export(f"bucket{{n}}", bucket.bucket)
versions = pulumi.ResourceOptions(provider=west, depends_on=[bucket])
aws.s3.BucketObjectv2("v", bucket=bucket.bucket, key="versions/v", content="{word}", opts=versions)
random.RandomId("ri", byte_length=4)
random.RandomBytes("rb", length=8)
random.RandomInteger("rn", min=1, max=3, keepers={{"word": "{word}"}})
"""


def test_they_are_made_kept_changed_and_gone(project: Project) -> None:  # noqa: F811
    project.program(PROGRAM.format(word="one", days=7, machine="m7i.large"))
    project.up()
    project.up("--expect-no-changes")
    project.pulumi("refresh", "--yes", "--skip-preview")
    project.up("--expect-no-changes")
    project.program(PROGRAM.format(word="two", days=14, machine="m7i.xlarge"))
    changed = project.up()
    assert "~ 9 updated" in changed
    assert "replaced" in changed, "the integer whose keeper changed"
    project.up("--expect-no-changes")
    assert "123456789012" in project.pulumi("stack", "output", "who")
    project.pulumi("destroy", "--yes", "--skip-preview")
    # Everything is truly gone: the same names can be made again at once.
    project.up()
    project.pulumi("destroy", "--yes", "--skip-preview")


VERSIONS = """\
s3 = client("s3", "us-west-2")
for body in (b"one", b"two"):
    s3.put_object(Bucket={bucket!r}, Key="k", Body=body)
s3.delete_object(Bucket={bucket!r}, Key="k")
"""


def test_a_full_bucket_goes_only_if_the_program_says_so(project: Project) -> None:  # noqa: F811
    project.program(PROGRAM.format(word="one", days=7, machine="m7i.large"))
    project.up()
    names = [project.pulumi("stack", "output", f"bucket{n}").strip() for n in (1, 2)]
    for name in names:
        project.cloud.python(VERSIONS.format(bucket=name))
    said = project.pulumi("destroy", "--yes", "--skip-preview", code=None)
    assert "BucketNotEmpty" in said
    left = project.cloud.python("print([b['Name'] for b in client('s3', 'us-west-2').list_buckets()['Buckets']])")
    assert (names[0] in left, names[1] in left) == (False, True)
    project.cloud.python(
        f"s3 = client('s3', 'us-west-2')\n"
        f"found = s3.list_object_versions(Bucket={names[1]!r})\n"
        f"for one in (*found['Versions'], *found['DeleteMarkers']):\n"
        f"    s3.delete_object(Bucket={names[1]!r}, Key='k', VersionId=one['VersionId'])\n"
    )
    project.pulumi("destroy", "--yes", "--skip-preview")
