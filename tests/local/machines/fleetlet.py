# Run inside a local cloud by `inside.Inside`, which defines `client`: a small fleet of machines, made with boto3 alone.
"""A network, a bucket, a key, and what one machine needs beside them."""

import base64
import hashlib
import json

client = globals()["client"]
ACCOUNT, REGION = "123456789012", "us-west-2"
ec2, s3, iam = client("ec2"), client("s3"), client("iam")
scaling, secrets, kms, ssm = client("autoscaling"), client("secretsmanager"), client("kms"), client("ssm")
elb, r53 = client("elbv2"), client("route53")
BUCKET = "fleetlet"
IMAGE = "resolve:ssm:/fleetlet/images/cpu/stable"
UNIT = """[Unit]
Description={0}
[Service]
Type=exec
ExecStart=/usr/bin/python3 -m http.server --directory /srv 8080
[Install]
WantedBy=landbridge.target
"""
MARKER = """[Unit]
Description=A oneshot
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'hostname > /srv/name; cat /etc/keys/secret > /srv/seen; echo up'
[Install]
WantedBy=landbridge.target
"""
TARGET = "[Unit]\nDescription=All\nWants=web.service marker.service\n[Install]\nWantedBy=multi-user.target\n"
TRUST = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}


def found():
    """The network and what all machines share."""
    made = {"vpc": ec2.create_vpc(CidrBlock="10.128.0.0/20")["Vpc"]["VpcId"]}
    for letter, block in (("a", "10.128.0.0/24"), ("b", "10.128.1.0/24")):
        zone = {"AvailabilityZone": f"{REGION}{letter}"}
        made[letter] = ec2.create_subnet(VpcId=made["vpc"], CidrBlock=block, **zone)["Subnet"]["SubnetId"]
    whose = [{"Name": "vpc-id", "Values": [made["vpc"]]}]
    (group,) = ec2.describe_security_groups(Filters=whose)["SecurityGroups"]
    # Who names no group gets the network's own.
    inside = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.128.0.0/20"}]}
    ec2.authorize_security_group_ingress(GroupId=group["GroupId"], IpPermissions=[inside])
    made["key"] = kms.create_key()["KeyMetadata"]["Arn"]
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": made["key"]}}
    s3.put_bucket_encryption(Bucket=BUCKET, ServerSideEncryptionConfiguration={"Rules": [rule]})
    arn = f"arn:aws:s3:::{BUCKET}"
    insecure = {"Bool": {"aws:SecureTransport": "false"}}
    deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": [arn, f"{arn}/*"], "Condition": insecure}
    s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps({"Version": "2012-10-17", "Statement": [deny]}))
    ssm.put_parameter(Name="/fleetlet/images/cpu/stable", Type="String", Value="ami-0c00000000000c001")
    return made


def role(name, key, arns):
    statements = [
        ("s3:GetObject", f"arn:aws:s3:::{BUCKET}/fleetlet/{name}/*", {}),
        ("secretsmanager:GetSecretValue", arns, {}),
        ("kms:Decrypt", key, {}),
        ("ec2:DescribeVolumes", "*", {}),
        (
            "ec2:AttachVolume",
            f"arn:aws:ec2:{REGION}:{ACCOUNT}:*",
            {"StringEquals": {"aws:ResourceTag/landbridge:machine": name}},
        ),
    ]
    said = [
        {"Effect": "Allow", "Action": a, "Resource": r, **({"Condition": c} if c else {})} for a, r, c in statements
    ]
    iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [TRUST]}))
    iam.put_role_policy(
        RoleName=name, PolicyName="own", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": said})
    )
    iam.create_instance_profile(InstanceProfileName=name)
    iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)


def publish(name, signed_by, files=None, tampered=None):
    """A bundle as the contract has it; `tampered` is put into the files after they were signed for."""
    files = files or {
        "/etc/systemd/system/landbridge.target": TARGET,
        "/etc/systemd/system/web.service": UNIT.format(name),
        "/etc/systemd/system/marker.service": MARKER,
    }
    keys = {"/etc/keys/secret": f"of {name}"}

    def digest(given):
        return {p: {"sha256": hashlib.sha256(t.encode()).hexdigest(), "mode": "0644"} for p, t in given.items()}

    def put(key, body):
        s3.put_object(Bucket=BUCKET, Key=f"fleetlet/{name}/{key}", Body=body.encode())

    if name not in [one["Name"] for one in secrets.list_secrets()["SecretList"]]:
        secrets.create_secret(Name=f"fleetlet/{name}", SecretString=json.dumps(keys))
    version = secrets.get_secret_value(SecretId=f"fleetlet/{name}")["VersionId"]
    told = {"prefix": f"fleetlet/{name}", "version": "1", "secret_version": version}
    text = json.dumps({**told, "files": digest(files), "keys": digest(keys)})
    put("1.json", json.dumps({**files, **(tampered or {})}))
    put("manifest.json", json.dumps({"manifest": text, "signature": signed_by(text)}))


def machine(name, made, address, user_data, letter="a", **more):
    """Interface, role, template and a scaling group of one."""
    interface = ec2.create_network_interface(SubnetId=made[letter], PrivateIpAddress=address)["NetworkInterface"]
    arn = secrets.describe_secret(SecretId=f"fleetlet/{name}")["ARN"]
    role(name, made["key"], arn)
    tags = [{"Key": "landbridge:machine", "Value": name}]
    data = {
        "ImageId": IMAGE,
        "InstanceType": "t3.micro",
        "IamInstanceProfile": {"Name": name},
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1, "InstanceMetadataTags": "enabled"},
        "NetworkInterfaces": [{"DeviceIndex": 0, "NetworkInterfaceId": interface["NetworkInterfaceId"]}],
        "UserData": base64.b64encode(user_data.encode()).decode(),
        "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
        **more,
    }
    ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)
    scaling.create_auto_scaling_group(
        AutoScalingGroupName=name,
        MinSize=1,
        MaxSize=1,
        DesiredCapacity=1,
        AvailabilityZones=[f"{REGION}{letter}"],
        LaunchTemplate={"LaunchTemplateName": name, "Version": "$Latest"},
    )
    return interface["NetworkInterfaceId"]


def instance(name):
    """The group's one, or nothing."""
    group = scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"][0]
    return next((one["InstanceId"] for one in group["Instances"]), None)


def volume(name):
    tags = [{"Key": "landbridge:machine", "Value": name}]
    spec = [{"ResourceType": "volume", "Tags": tags}]
    return ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=1, TagSpecifications=spec)["VolumeId"]
