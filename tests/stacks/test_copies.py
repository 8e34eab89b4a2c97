"""Copies in a second region: a real snapshot and every key are there, and can be read while the home region is out."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.local.machines.inside import eventually
from tests.support.cloud import ROOT, Cloud

pytestmark = pytest.mark.cloud
BOOT_SECONDS = 180
HOME, SECOND = "us-west-2", "us-east-1"
FAULTS = """\
import json, urllib.request
data = json.dumps({given!r}).encode()
asked = urllib.request.Request("http://127.0.0.1:5000/landbridge-api/faults", data, method={method!r})
urllib.request.urlopen(asked).close()
"""
READ = """\
import json, subprocess, tempfile
from botocore.exceptions import ClientError
def get(region, bucket, key):
    return client("s3", region).get_object(Bucket=bucket, Key=key)
try:
    get({home!r}, {bucket!r}, {key!r})
    answered = True
except ClientError as error:
    answered = error.response["Error"]["Code"] != "ServiceUnavailable"
found = get({second!r}, {copies!r}, {copy!r})
with tempfile.NamedTemporaryFile() as file:
    file.write(found["Body"].read())
    file.flush()
    status = subprocess.run([{etcdutl!r}, "snapshot", "status", "--write-out=json", file.name], capture_output=True, check=True)
secrets = client("secretsmanager", {second!r})
told = secrets.describe_secret(SecretId={secret!r})
keys = json.loads(secrets.get_secret_value(SecretId={secret!r})["SecretString"])
print(json.dumps([answered, found["SSEKMSKeyId"], json.loads(status.stdout), told["KmsKeyId"], told["PrimaryRegion"], keys]))
"""


@pytest.fixture
def out(cloud: Cloud) -> Iterator[Callable[[str], None]]:
    """Takes a region out, for one test."""
    yield lambda region: run(cloud, "POST", [{"kind": "outage", "region": region}])
    run(cloud, "DELETE", None)


def run(cloud: Cloud, method: str, given: Any) -> None:
    cloud.python(FAULTS.format(given=given, method=method))


def outputs(cloud: Cloud, stack: str) -> dict[str, Any]:
    (path,) = cloud.home.glob(f"local/*/state/.pulumi/stacks/landbridge/{stack}.json")
    resources = json.loads(path.read_text())["checkpoint"]["latest"]["resources"]
    return dict(next(one["outputs"] for one in resources if one["type"] == "pulumi:pulumi:Stack"))


def backup(cloud: Cloud) -> dict[str, Any]:
    """One of etcd main; machines may still be booting."""
    words = ("etcd", "backup", "--local", "--ring", "main", "--json")
    eventually(lambda: cloud.run(*words, code=None).returncode == 0, BOOT_SECONDS)
    return dict(cloud.report(*words[:-1])["backups"][0])


def test_copies_can_be_read_in_the_second_region_while_home_is_out(cloud: Cloud, out: Callable[[str], None]) -> None:
    made, main = backup(cloud), outputs(cloud, "main")
    where = main["copies"]
    assert made["copy"] == {
        "region": SECOND,
        "bucket": f"example-{SECOND}-123456789012",
        "key": made["key"].replace("backups/", f"copies/{HOME}/", 1),
    }
    assert made["copy"]["key"].startswith(f"{where['prefix']}/main/")
    (newest,) = cloud.report("etcd", "snapshots", "--local", "--ring", "main")["newest_copies"]
    assert (newest["key"], newest["late"]) == (made["copy"]["key"], "")
    status = cloud.report("cluster", "status", "--local", code=None)
    assert status["copy_of_keys"] == ""
    assert [one["ring"] for one in status["newest_copies"]] == ["main", "events"]

    out(HOME)
    given = {
        "home": HOME,
        "bucket": main["bucket"],
        "key": made["key"],
        "second": SECOND,
        "copies": where["bucket"],
        "copy": made["copy"]["key"],
        "secret": where["recovery_secret"],
        "etcdutl": str((ROOT / ".landbridge/bin/etcdutl").resolve()),
    }
    answered, encrypted, snapshot, key, primary, keys = json.loads(cloud.python(READ.format(**given)))
    assert not answered, "home is out"
    assert (snapshot["revision"], snapshot["totalKey"]) == (made["revision"], made["keys"])
    assert encrypted == key == outputs(cloud, SECOND)["key_arn"]
    assert primary == HOME
    assert keys["issuer"] == main["issuer"]
    assert "PRIVATE KEY" in keys["authorities"]["kubernetes"]["1"]["key"]
    assert set(keys) == {"issuer", "authorities", "service_accounts", "encryption"}


def test_a_second_region_that_is_out_is_told_and_spoils_nothing_at_home(
    cloud: Cloud, out: Callable[[str], None]
) -> None:
    backup(cloud)
    before = cloud.report("etcd", "snapshots", "--local", "--ring", "main")["snapshots"]
    out(SECOND)
    done = cloud.run("etcd", "backup", "--local", "--ring", "main", code=1)
    assert "is whole at home" in done.stderr
    assert f"no copy in {SECOND} at s3://example-{SECOND}-123456789012/copies/{HOME}/main/main/" in done.stderr
    after = cloud.report("etcd", "snapshots", "--local", "--ring", "main")
    assert len(after["snapshots"]) > len(before)
    (newest,) = after["newest_copies"]
    assert newest["late"].startswith(f"{SECOND} does not say what copies it has")
