"""IAM Roles Anywhere: what a site's host asks for with its own script, and everything that it must not get."""

import datetime
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import boto3
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from components.storage.aws import nfs_roles
from components.storage.site.nfs_spec import nfs_spec
from fleet.world import current
from tests.components.storage.bed import ROOT, site_identity
from tests.local.aws.conftest import asker
from tests.local.aws.support import refused
from tests.support.node_certificates import NODE, Pair, certificate

Client = Callable[..., Any]
REGION, ACCOUNT = "us-west-2", "123456789012"
BUCKET = f"example-{REGION}-{ACCOUNT}"
HOST = f"rolesanywhere.{REGION}.amazonaws.com"


@pytest.fixture(scope="module")
def authority(endpoint: str) -> Pair:
    return issuer(moment(endpoint))


def issuer(now: datetime.datetime) -> Pair:
    return certificate("kubernetes", organization="landbridge", ca=True, now=now)


@pytest.fixture(scope="module")
def identity(client: Client, authority: Pair) -> Iterator[dict[str, str]]:
    """The role of the example's site as its stack makes it, and a bucket."""
    world = current(ROOT / "fleet.yaml")
    spec = nfs_spec(world.fleet, world.plan, "lab")
    api, iam, s3 = client("rolesanywhere", REGION), client("iam"), client("s3", REGION)
    anchor = api.create_trust_anchor(name="lab", source=source(authority), tags=[{"key": "a", "value": "b"}])
    anchor_arn = anchor["trustAnchor"]["trustAnchorArn"]
    role = iam.create_role(RoleName="lab-nfs", AssumeRolePolicyDocument=json.dumps(nfs_roles.trust(spec, anchor_arn)))
    allowed = nfs_roles.permissions(world.fleet, spec, f"arn:aws:kms:{REGION}:{ACCOUNT}:key/none")
    iam.put_role_policy(RoleName="lab-nfs", PolicyName="nfs", PolicyDocument=json.dumps(allowed))
    profile = api.create_profile(name="lab", roleArns=[role["Role"]["Arn"]])["profile"]
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket=BUCKET, Key="backups/main/secret", Body=b"x")
    yield {"trust_anchor_arn": anchor_arn, "profile_arn": profile["profileArn"], "role_arn": role["Role"]["Arn"]}
    for key in [found["Key"] for found in s3.list_objects_v2(Bucket=BUCKET)["Contents"]]:
        s3.delete_object(Bucket=BUCKET, Key=key)
    s3.delete_bucket(Bucket=BUCKET)
    iam.delete_role_policy(RoleName="lab-nfs", PolicyName="nfs")
    iam.delete_role(RoleName="lab-nfs")
    api.delete_profile(profileId=profile["profileId"])
    api.delete_trust_anchor(trustAnchorId=anchor["trustAnchor"]["trustAnchorId"])


def moment(endpoint: str) -> datetime.datetime:
    """By the local AWS's clock, which other tests have moved on."""
    return datetime.datetime.fromtimestamp(asker(endpoint)("clock"), datetime.UTC)


def source(pair: Pair) -> dict[str, Any]:
    return {"sourceType": "CERTIFICATE_BUNDLE", "sourceData": {"x509CertificateData": pair.pem}}


class Host:
    """Asks as site_identity does, and shows what it sends, so that a test can change it on its way."""

    def __init__(self, endpoint: str, folder: Path, pair: Pair, identity: dict[str, str]) -> None:
        self.endpoint, self.pair, self.identity = endpoint, pair.file(folder), identity
        self.host, self.moment = HOST, moment(endpoint)

    def ask(self, change: Callable[[urllib.request.Request], None] = lambda _: None) -> tuple[int, dict[str, Any]]:
        """Status and answer."""
        query = {name: self.identity[f"{key}_arn"] for name, key in site_identity.ARNS.items()}
        asked = urlencode(sorted(query.items()), quote_via=quote, safe="-_.~")
        body = json.dumps({"durationSeconds": 3600}).encode()
        given = {"content-type": "application/json", "host": self.host, "x-amz-date": f"{self.moment:%Y%m%dT%H%M%SZ}"}
        headers = site_identity.signed(REGION, self.pair, asked, body, given)
        request = urllib.request.Request(f"{self.endpoint}/sessions?{asked}", body, headers, method="POST")
        change(request)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@pytest.fixture
def host(endpoint: str, tmp_path: Path, authority: Pair, identity: dict[str, str]) -> Callable[..., Host]:
    """One with a certificate that `certificate` makes of these words, else the node's own."""

    def make(other_authority: bool = False, **more: Any) -> Host:
        now = moment(endpoint)
        by = issuer(now) if other_authority else authority
        return Host(endpoint, tmp_path, certificate(issuer=by, now=now, **more), identity)

    return make


@pytest.mark.parametrize("key", [None, rsa.generate_private_key(65537, 2048)], ids=["ECDSA", "RSA"])
def test_a_node_s_certificate_gets_an_hour_of_the_role_s_rights_and_no_others(
    endpoint: str, host: Callable[..., Host], identity: dict[str, str], key: Any
) -> None:
    status, told = host(key=key).ask()
    assert status == 201, told
    (one,) = told["credentialSet"]
    assert (one["roleArn"], one["sourceIdentity"]) == (identity["role_arn"], NODE)
    given = one["credentials"]
    left = datetime.datetime.fromisoformat(given["expiration"]) - moment(endpoint)
    assert datetime.timedelta(minutes=55) < left <= datetime.timedelta(hours=1, minutes=1)
    s3 = boto3.client(
        "s3",
        region_name=REGION,
        endpoint_url=endpoint,
        aws_access_key_id=given["accessKeyId"],
        aws_secret_access_key=given["secretAccessKey"],
        aws_session_token=given["sessionToken"],
    )
    mine = {"Bucket": BUCKET, "Key": "nfs/lab/data/packs/1"}
    s3.put_object(**mine, Body=b"pack")
    assert s3.get_object(**mine)["Body"].read() == b"pack"
    assert s3.list_objects_v2(Bucket=BUCKET, Prefix="nfs/lab/data/")["KeyCount"] == 1
    assert refused(s3.delete_object, **mine) == "AccessDenied"
    assert refused(s3.put_object, Bucket=BUCKET, Key="nfs/other/data/packs/1", Body=b"") == "AccessDenied"
    assert refused(s3.get_object, Bucket=BUCKET, Key="backups/main/secret") == "AccessDenied"
    assert refused(s3.list_objects_v2, Bucket=BUCKET, Prefix="") == "AccessDenied"


LATER, AGO = datetime.timedelta(hours=12), -datetime.timedelta(hours=1)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({"name": "system:node:host-2.lab"}, "its trust policy does not allow sts:AssumeRole"),
        ({"organization": "system:masters"}, "its trust policy does not allow sts:AssumeRole"),
        ({"other_authority": True}, "no authority of the trust anchor"),
        ({"ends": AGO}, "it is not valid now"),
        ({"begins": LATER}, "it is not valid now"),
        ({"signs": False}, "key usage must include digital signatures"),
        ({"purpose": ExtendedKeyUsageOID.SERVER_AUTH}, "must include client authentication"),
        ({"ca": True}, "an authority's own takes no role"),
    ],
    ids=["other-node", "other-group", "other-authority", "expired", "not-yet", "no-signer", "server", "authority"],
)
def test_other_certificates_get_nothing(host: Callable[..., Host], made: dict[str, Any], why: str) -> None:
    status, told = host(**made).ask()
    assert status == 403
    assert why in told["message"]


def _body(request: urllib.request.Request) -> None:
    request.data = b'{"durationSeconds": 43200}'


def _role(request: urllib.request.Request) -> None:
    request.full_url = request.full_url.replace("lab-nfs", "lab-admin")


def _certificate(request: urllib.request.Request) -> None:
    request.add_header("x-amz-x509", "MIIB")


def _forgotten(request: urllib.request.Request) -> None:
    kept = str(request.get_header("Authorization"))
    request.add_header("authorization", kept.replace(";x-amz-x509", ""))


def _mark(request: urllib.request.Request) -> None:
    kept = str(request.get_header("Authorization"))
    request.add_header("authorization", kept[:-1] + ("0" if kept[-1] != "0" else "1"))


@pytest.mark.parametrize("change", [_body, _role, _certificate, _forgotten, _mark])
def test_what_was_changed_on_its_way_gets_nothing(host: Callable[..., Host], change: Any) -> None:
    status, told = host().ask(change)
    assert (status, "credentialSet" in told) == (403, False)


def test_a_call_signed_by_keys_gets_nothing(host: Callable[..., Host]) -> None:
    scope = f"local/{datetime.date.today():%Y%m%d}/{REGION}/rolesanywhere/aws4_request"
    root = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host;x-amz-date, Signature={'0' * 64}"
    status, told = host().ask(lambda request: request.add_header("authorization", root))
    assert (status, told["message"]) == (403, "Missing or malformed Authorization header")


def test_an_old_call_is_worth_nothing(host: Callable[..., Host]) -> None:
    one = host()
    one.moment -= datetime.timedelta(minutes=20)
    status, told = one.ask()
    assert (status, told["message"]) == (403, "Signature expired or not yet valid")
    other = host()
    other.host = HOST.replace("west", "east")
    assert other.ask()[0] == 403, "signed for one region, and sent to another"


def test_a_role_that_the_profile_does_not_list_is_not_given(
    client: Client, host: Callable[..., Host], identity: dict[str, str]
) -> None:
    api, name = client("rolesanywhere", REGION), identity["profile_arn"].rpartition("/")[2]
    api.update_profile(profileId=name, roleArns=[])
    assert host().ask() == (403, {"message": "The profile does not list the role"})
    api.update_profile(profileId=name, roleArns=[identity["role_arn"]])
    assert host().ask()[0] == 201


def test_what_is_disabled_gives_nothing(client: Client, host: Callable[..., Host], identity: dict[str, str]) -> None:
    api = client("rolesanywhere", REGION)
    anchor, profile = (identity[key].rpartition("/")[2] for key in ("trust_anchor_arn", "profile_arn"))
    api.disable_trust_anchor(trustAnchorId=anchor)
    assert host().ask() == (403, {"message": "The trust anchor is disabled"})
    api.enable_trust_anchor(trustAnchorId=anchor)
    api.disable_profile(profileId=profile)
    assert host().ask() == (403, {"message": "The profile is disabled"})
    api.enable_profile(profileId=profile)
    assert host().ask()[0] == 201


def test_the_same_authority_in_another_trust_anchor_is_another_s_word(
    client: Client, host: Callable[..., Host], authority: Pair, identity: dict[str, str]
) -> None:
    api, one = client("rolesanywhere", REGION), host()
    other = api.create_trust_anchor(name="other", source=source(authority))["trustAnchor"]
    one.identity = {**identity, "trust_anchor_arn": other["trustAnchorArn"]}
    status, told = one.ask()
    assert (status, "trust policy does not allow" in told["message"]) == (403, True)
    api.delete_trust_anchor(trustAnchorId=other["trustAnchorId"])
    status, told = one.ask()
    assert (status, told["message"]) == (403, "ResourceNotFoundException: Trust anchor not found")


def test_the_api_s_own_calls(client: Client, authority: Pair, identity: dict[str, str]) -> None:
    api, arn = client("rolesanywhere", REGION), identity["trust_anchor_arn"]
    assert [one["trustAnchorArn"] for one in api.list_trust_anchors()["trustAnchors"]] == [arn]
    api.tag_resource(resourceArn=arn, tags=[{"key": "c", "value": "d"}])
    api.untag_resource(resourceArn=arn, tagKeys=["a"])
    assert api.list_tags_for_resource(resourceArn=arn)["tags"] == [{"key": "c", "value": "d"}]
    found = api.get_profile(profileId=identity["profile_arn"].rpartition("/")[2])["profile"]
    assert (found["durationSeconds"], found["enabled"]) == (3600, True)
    nobody = "00000000-0000-0000-0000-000000000000"
    assert refused(api.get_trust_anchor, trustAnchorId=nobody) == "ResourceNotFoundException"
    leaf = source(certificate(issuer=authority))
    assert refused(api.create_trust_anchor, name="leaf", source=leaf) == "ValidationException"
    assert refused(api.create_profile, name="p", roleArns=[], managedPolicyArns=["arn:aws:iam::aws:policy/x"]) == (
        "ValidationException"
    )
