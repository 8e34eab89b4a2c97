"""The machines service: instances of the local AWS boot their bundles, are replaced, and keep to what is theirs."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from local.workers.shares import PLACE

from .inside import REGION, Inside, eventually, stub, up

DEVICE = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_"


def boot_log(cloud: Inside, name: str) -> str:
    return Path(cloud.machine(name)["folder"], "disk/var/log/landbridge-boot.log").read_text()


ASK = """
import hashlib, hmac, json, sys, time, urllib.request, urllib.error
service, method, path, body = sys.argv[1:5]
sent = dict(pair.split("=", 1) for pair in sys.argv[5:])
META, TOKEN = "http://169.254.169.254/latest/", "X-aws-ec2-metadata-token"
ask = lambda url, **more: urllib.request.urlopen(urllib.request.Request(url, **more), timeout=10).read().decode()
def meta(path):
    token = ask(META + "api/token", method="PUT", headers={TOKEN + "-ttl-seconds": "60"})
    return ask(META + "meta-data/" + path, headers={TOKEN: token})
role = json.loads(meta("iam/security-credentials/" + meta("iam/security-credentials/")))
region = meta("placement/region")
data = body.replace("INSTANCE", meta("instance-id")).encode()
host, now = f"{service}.{region}.amazonaws.com", time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
digest = hashlib.sha256(data).hexdigest()
sent |= {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now, "x-amz-security-token": role["Token"]}
names, scope = ";".join(sorted(sent)), f"{now[:8]}/{region}/{service}/aws4_request"
lines = "".join(f"{name}:{sent[name]}\\n" for name in sorted(sent))
asked = "\\n".join([method, path, "", lines, names, digest])
text = f"AWS4-HMAC-SHA256\\n{now}\\n{scope}\\n" + hashlib.sha256(asked.encode()).hexdigest()
key = ("AWS4" + role["SecretAccessKey"]).encode()
for part in [*scope.split("/"), text]:
    key = hmac.digest(key, part.encode(), "sha256")
sent["authorization"] = f"AWS4-HMAC-SHA256 Credential={role['AccessKeyId']}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
try:
    print("ok", ask(f"https://{host}{path}", data=data or None, headers=sent, method=method))
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""


def call(cloud: Inside, name: str, *words: str) -> str:
    return cloud.run(name, "python3", "-c", ASK, *words).stdout


def secret(cloud: Inside, name: str, wanted: str) -> str:
    kind = ("x-amz-target=secretsmanager.GetSecretValue", "content-type=application/x-amz-json-1.1")
    return call(cloud, name, "secretsmanager", "POST", "/", json.dumps({"SecretId": wanted}), *kind)


def ec2(cloud: Inside, name: str, query: str) -> str:
    kind = "content-type=application/x-www-form-urlencoded; charset=utf-8"
    return call(cloud, name, "ec2", "POST", "/", query + "&Version=2016-11-15", kind)


def test_an_instance_boots_its_bundle_and_its_units_run(cloud: Inside) -> None:
    eventually(lambda: up(cloud, "one"))
    assert "boot: done" in boot_log(cloud, "one")
    assert cloud.sh("one", "cat /srv/name /srv/seen") == "one\nof one"
    assert json.loads(cloud.sh("one", "cat /etc/landbridge/manifest.json"))["prefix"] == "fleetlet/one"
    told = cloud.machine("one")
    assert (told["address"], told["zone"], told["region"]) == ("10.128.0.10", "us-west-2a", REGION)
    # Machines of one network reach each other.
    eventually(lambda: up(cloud, "two"))
    asked = "import urllib.request as u; print(u.urlopen('http://10.128.0.11:8080/name').read().decode())"
    assert cloud.run("one", "python3", "-c", asked).stdout.strip() == "two"
    # And have one folder for what a server would have.
    cloud.sh("one", f"echo shared > {PLACE}/file")
    assert cloud.sh("two", f"cat {PLACE}/file") == "shared\n"
    assert (cloud.home / "shares/file").read_text() == "shared\n"


def test_metadata_is_version_two_and_the_machine_s_own(cloud: Inside) -> None:
    eventually(lambda: up(cloud, "one"))
    meta = "curl -s -o /tmp/out -w '%{http_code} ' http://169.254.169.254/latest"
    assert cloud.sh("one", f"{meta}/meta-data/instance-id") == "401 "
    assert cloud.sh("one", f"{meta}/api/token -X PUT") == "400 "
    token = (
        "T=$(curl -s -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' http://169.254.169.254/latest/api/token); "
    )
    ask = (
        token
        + "get() { curl -s -w ' %{http_code}\\n' -H \"X-aws-ec2-metadata-token: $T\" http://169.254.169.254/latest/$1; }; "
    )
    said = cloud.sh(
        "one",
        ask
        + "for p in instance-id local-ipv4 placement/region placement/availability-zone tags/instance/landbridge:machine iam/security-credentials/; do get meta-data/$p; done",
    )
    instance = cloud("result = instance('one')")
    assert said.split("\n")[:-1] == [
        f"{word} 200" for word in (instance, "10.128.0.10", REGION, "us-west-2a", "one", "one")
    ]
    assert '"accountId": "123456789012"' in cloud.sh("one", ask + "get dynamic/instance-identity/document")
    assert "404" in cloud.sh("one", ask + "get meta-data/mac; get user-data/x; get dynamic/x").split()
    assert cloud.sh("one", ask + "get user-data").startswith("#!/usr/bin/python3")
    # One machine's token is not another's.
    stolen = cloud.sh("one", token + "echo $T").strip()
    assert cloud.sh("two", f"{meta}/meta-data/instance-id -H 'X-aws-ec2-metadata-token: {stolen}'") == "401 "


def test_a_machine_reads_and_takes_just_its_own(cloud: Inside) -> None:
    eventually(lambda: up(cloud, "one") and up(cloud, "two"))
    assert call(cloud, "one", "s3", "GET", "/fleetlet/fleetlet/one/1.json", "").startswith("ok")
    assert "AccessDenied" in call(cloud, "one", "s3", "GET", "/fleetlet/fleetlet/two/1.json", "")
    assert "AccessDenied" in call(cloud, "one", "s3", "PUT", "/fleetlet/fleetlet/one/1.json", "x")
    assert secret(cloud, "one", "fleetlet/one").startswith("ok")
    assert "AccessDenied" in secret(cloud, "one", "fleetlet/two")
    mine, theirs = cloud("result = volume('one'), volume('two')")
    attach = "Action=AttachVolume&InstanceId=INSTANCE&Device=/dev/sdz&VolumeId="
    assert "UnauthorizedOperation" in ec2(cloud, "one", attach + theirs)
    assert ec2(cloud, "one", attach + mine).startswith("ok")
    assert "UnauthorizedOperation" in ec2(cloud, "one", "Action=TerminateInstances&InstanceId.1=INSTANCE")


def test_nothing_but_a_role_s_credentials_opens_the_local_cloud_to_a_machine(cloud: Inside) -> None:
    eventually(lambda: up(cloud, "one"))
    code = "curl -s -o /dev/null -w '%{http_code}\\n'"
    s3 = f"https://s3.{REGION}.amazonaws.com"
    assert cloud.sh("one", f"{code} {s3}/fleetlet/fleetlet/one/1.json") == "403\n"
    assert cloud.sh("one", f"{code} {s3}/landbridge-api/inventory; {code} {s3}/moto-api/data.json").split()[1] == "421"
    assert "vpcs" not in cloud.sh("one", f"curl -s {s3}/landbridge-api/inventory")
    scope = "Credential=local/20260101/us-west-2/s3/aws4_request, SignedHeaders=host, Signature=0"
    assert cloud.sh("one", f"{code} -H 'Authorization: AWS4-HMAC-SHA256 {scope}' {s3}/fleetlet") == "403\n"
    assert "Could not resolve" in cloud.sh("one", "curl -sS https://lambda.us-west-2.amazonaws.com")
    assert "Could not resolve" in cloud.sh("one", "curl -sS https://example.com")
    assert cloud.sh("one", f"{code} https://fleetlet.s3.{REGION}.amazonaws.com/fleetlet/one/1.json") == "403\n"
    assert "Failed to connect" in cloud.sh("one", "curl -sS http://127.0.0.1:5000")


def test_a_replaced_machine_has_the_address_the_role_and_the_volume_of_the_one_before(cloud: Inside) -> None:
    eventually(lambda: up(cloud, "two"))
    before = cloud("result = instance('two')")
    volume = cloud(
        "v = volume('two'); ec2.attach_volume(VolumeId=v, InstanceId=instance('two'), Device='/dev/sdf'); result = v"
    )
    device = DEVICE + volume.replace("-", "")
    eventually(lambda: "found" in cloud.sh("two", f"test -d {device} && echo found"))
    assert cloud.run("two", "blkid", "-o", "value", "-s", "TYPE", device).returncode == 2
    unit = "[Mount]\nWhat=/run/disk\nWhere=/var/lib/data\nType=ext4\n"
    mount = f"ln -sfn {device} /run/disk; printf '{unit}' > /etc/systemd/system/var-lib-data.mount; systemctl daemon-reload; systemctl start var-lib-data.mount"
    cloud.sh("two", mount)
    assert "has none, not ext4" in cloud.sh("two", "cat /var/log/units/var-lib-data.mount.log")
    assert cloud.run("two", "mkfs.ext4", "-q", device).returncode == 0
    assert cloud.run("two", "blkid", "-o", "value", "-s", "TYPE", device).stdout == "ext4\n"
    assert "without -F" in cloud.sh("two", f"mkfs.ext4 -q {device}")
    cloud.sh("two", mount + "; echo kept > /var/lib/data/f; echo lost > /srv/lost")
    cloud(
        "scaling.terminate_instance_in_auto_scaling_group(InstanceId=before, ShouldDecrementDesiredCapacity=False)",
        before=before,
    )
    after = eventually(lambda: (found := cloud("result = instance('two')")) != before and found)
    cloud("ec2.attach_volume(VolumeId=v, InstanceId=instance('two'), Device='/dev/sdf')")
    eventually(lambda: up(cloud, "two"))
    assert cloud.machine("two")["instance"] == after
    assert cloud.machine("two")["address"] == "10.128.0.11"
    eventually(lambda: "found" in cloud.sh("two", f"test -d {device} && echo found"))
    assert cloud.sh("two", mount + "; cat /var/lib/data/f; ls /srv") == "kept\nname\nseen\n"
    states = "result = [i['State']['Name'] for r in ec2.describe_instances(InstanceIds=[before])['Reservations'] for i in r['Instances']]"
    assert cloud(states) == ["terminated"]
    # In use, it stays with the machine until it is unmounted.
    cloud("ec2.detach_volume(VolumeId=v)")
    state = "result = ec2.describe_volumes(VolumeIds=[v])['Volumes'][0]['State']"
    time.sleep(1)  # what must not happen needs its time
    assert cloud(state) == "in-use"
    assert cloud.sh("two", "cat /var/lib/data/f; systemctl stop var-lib-data.mount") == "kept\n"
    eventually(lambda: cloud(state) == "available")
    eventually(lambda: "gone" in cloud.sh("two", f"test -e {device} || echo gone"))
    folder = cloud.home / "volumes" / volume
    assert (folder / "data/f").read_text() == "kept\n"
    cloud("ec2.delete_volume(VolumeId=v)")
    eventually(lambda: not folder.exists())


def test_a_machine_that_dies_is_replaced_by_its_group(cloud: Inside) -> None:
    eventually(lambda: up(cloud, "one"))
    before = cloud.machine("one")
    os.kill(before["pid"], signal.SIGKILL)
    eventually(lambda: cloud.machine("one")["instance"] != before["instance"] and up(cloud, "one"))
    assert cloud.machine("one")["address"] == before["address"]
    told = (cloud.home / "cloud.log").read_text()
    assert f"one ({before['instance']}, 10.128.0.10): dead: its first process died" in told


def test_a_bundle_that_was_tampered_with_is_refused_and_the_step_is_named(cloud: Inside) -> None:
    cloud("publish('three', signed_by, tampered={'/etc/systemd/system/web.service': 'bad'})")
    cloud("machine('three', world, '10.128.0.13', data)", data=stub("three"))
    eventually(lambda: cloud.machine("three")["state"] == "boot failed")
    assert "stopped at files" in cloud.machine("three")["why"]
    assert cloud.sh("three", "ls /etc/systemd/system") == ""
    assert "user-data ended with status 1" in Path(cloud.machine("three")["folder"], "console.log").read_text()
    cloud("publish('four', lambda text: signed_by(text + ' '))")
    cloud("machine('four', world, '10.128.0.14', data)", data=stub("four"))
    eventually(lambda: cloud.machine("four")["state"] == "boot failed")
    assert "stopped at signature" in cloud.machine("four")["why"]


def test_instances_that_are_no_machines_are_left_alone(cloud: Inside) -> None:
    cloud(
        """
        image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
        launch = {"MinCount": 1, "MaxCount": 1, "SubnetId": world["a"], "InstanceType": "t3.micro"}
        ec2.run_instances(ImageId=image, UserData="#!/bin/sh\\ntrue", **launch)
        ec2.run_instances(ImageId="ami-0c00000000000c001", **launch)
        ec2.run_instances(ImageId="ami-0c00000000000c001", UserData="#cloud-config", **launch)
        result = ec2.run_instances(ImageId="ami-0c00000000000c001", UserData="#!/bin/sh\\ntrue", **launch)["Instances"][0]["InstanceId"]
        """
    )
    addresses = eventually(
        lambda: {m["address"] for m in cloud.machines()} - {f"10.128.0.{n}" for n in (10, 11, 13, 14)}
    )
    assert len(addresses) == 1


def test_an_image_parameter_that_is_missing_is_said_as_ec2_does(cloud: Inside) -> None:
    with pytest.raises(RuntimeError, match=r"InvalidParameterValue.*'/no/such'"):
        cloud("ec2.run_instances(ImageId='resolve:ssm:/no/such', MinCount=1, MaxCount=1, SubnetId=world['a'])")
    cloud("ssm.put_parameter(Name='/odd', Type='String', Value='windows')")
    with pytest.raises(RuntimeError, match="does not contain a valid AMI ID"):
        cloud("ec2.run_instances(ImageId='resolve:ssm:/odd', MinCount=1, MaxCount=1, SubnetId=world['a'])")
