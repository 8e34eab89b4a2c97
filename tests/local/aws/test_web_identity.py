"""STS gives a role for a token only if all is right: issuer, signature, audience, time, and the role's own trust."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from components.control_plane.aws.issuer import bucket_policy
from components.control_plane.issuer import documents
from fleet import issuers
from tests.local.aws.support import refused, with_keys

ACCOUNT, REGION, BUCKET = "123456789012", "us-west-2", "tokens-of-a-test"
HOST = f"{BUCKET}.s3.{REGION}.amazonaws.com"
ISSUER, AUDIENCE = f"https://{HOST}", "sts.amazonaws.com"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/web-identity"
GOOD, BAD = (rsa.generate_private_key(65537, 2048) for _ in range(2))
PUBLIC = GOOD.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
PUBLISHED = documents(ISSUER, PUBLIC)
(KEY,) = json.loads(PUBLISHED[issuers.KEYS])["keys"]
READ = [f"arn:aws:s3:::{BUCKET}/{name}" for name in issuers.DOCUMENTS]


DAY = 86400  # tests beside these move the server's time on, by hours


def trust(**conditions: Any) -> str:
    provider = {"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/{HOST}"}
    statement = {"Effect": "Allow", "Principal": provider, "Action": "sts:AssumeRoleWithWebIdentity"}
    return json.dumps({"Version": "2012-10-17", "Statement": [{**statement, "Condition": conditions}]})


TRUST = trust(StringEquals={f"{HOST}:sub": "me", f"{HOST}:aud": AUDIENCE})


def text(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def token(key: rsa.RSAPrivateKey = GOOD, head: dict[str, Any] | None = None, **claims: Any) -> str:
    """None leaves a claim out."""
    now = int(time.time())
    all_ = {"iss": ISSUER, "sub": "me", "aud": [AUDIENCE], "iat": now - 5, "exp": now + 30 * DAY, **claims}
    head = {"alg": "RS256", "kid": KEY["kid"], **(head or {})}
    signed = f"{text(head)}.{text({name: value for name, value in all_.items() if value is not None})}"
    return f"{signed}.{text(key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def changed() -> str:
    """Another's claims under the signature of one's own."""
    (head, _, signature), (_, claims, _) = (made.split(".") for made in (token(sub="you"), token()))
    return f"{head}.{claims}.{signature}"


@pytest.fixture(scope="module", autouse=True)
def issuer(client: Callable[..., Any]) -> Iterator[None]:
    s3, iam = client("s3"), client("iam")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps(bucket_policy(BUCKET, READ)))
    for name, made in PUBLISHED.items():
        s3.put_object(Bucket=BUCKET, Key=name, Body=made.encode())
    made = iam.create_open_id_connect_provider(Url=ISSUER, ClientIDList=[AUDIENCE], ThumbprintList=[])
    iam.create_role(RoleName="web-identity", AssumeRolePolicyDocument=TRUST)
    allow = {"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"}
    iam.put_role_policy(
        RoleName="web-identity",
        PolicyName="own",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [allow]}),
    )
    yield
    for name in PUBLISHED:
        s3.delete_object(Bucket=BUCKET, Key=name)
    s3.delete_bucket(Bucket=BUCKET)
    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=made["OpenIDConnectProviderArn"])


@pytest.fixture(scope="module")
def assume(endpoint: str) -> Callable[..., Any]:
    """Without any credentials, as SDKs ask."""
    config = Config(signature_version=UNSIGNED, retries={"total_max_attempts": 1})
    sts = boto3.client("sts", region_name=REGION, endpoint_url=endpoint, config=config)

    def ask(web_identity: str, role: str = ROLE, session: str = "pod", **more: Any) -> Any:
        return sts.assume_role_with_web_identity(
            RoleArn=role, RoleSessionName=session, WebIdentityToken=web_identity, **more
        )

    return ask


def test_a_token_that_is_right_gets_the_role_and_no_more(assume: Callable[..., Any], endpoint: str) -> None:
    given = assume(token(), session="i-0abc")
    assert given["SubjectFromWebIdentityToken"] == "me"
    assert given["Audience"] == AUDIENCE
    assert given["AssumedRoleUser"]["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/web-identity/i-0abc"
    keys = given["Credentials"]

    def client(service: str) -> Any:
        return with_keys(endpoint, keys, service, REGION)

    assert client("s3").list_buckets()["Buckets"]
    assert refused(client("s3").list_objects_v2, Bucket=BUCKET) == "AccessDenied"
    assert refused(client("ec2").describe_vpcs) == "UnauthorizedOperation"


NOW = time.time()
TOKENS: dict[str, tuple[str, str]] = {
    "signed by another key": (token(BAD), "InvalidIdentityToken"),
    "changed after it was signed": (changed(), "InvalidIdentityToken"),
    "of a key that is not published": (token(head={"kid": "other"}), "InvalidIdentityToken"),
    "without a signature": (token(head={"alg": "none"}).rpartition(".")[0] + ".", "InvalidIdentityToken"),
    "signed in another way": (token(head={"alg": "HS256"}), "InvalidIdentityToken"),
    "of another issuer": (token(iss="https://id.example.com"), "InvalidIdentityToken"),
    "of an issuer without TLS": (token(iss=f"http://{HOST}"), "InvalidIdentityToken"),
    "for somebody else": (token(aud=["https://kubernetes.default.svc"]), "InvalidIdentityToken"),
    "for somebody else, too": (token(aud=[AUDIENCE, "other"]), "InvalidIdentityToken"),
    "for nobody": (token(aud=[]), "InvalidIdentityToken"),
    "without a subject": (token(sub=None), "InvalidIdentityToken"),
    "without an end": (token(exp=None), "InvalidIdentityToken"),
    "of yesterday": (token(exp=int(NOW) - 1), "ExpiredTokenException"),
    "of tomorrow": (token(nbf=int(NOW) + 29 * DAY), "InvalidIdentityToken"),
    "of somebody else": (token(sub="you"), "AccessDenied"),
    "no token": ("a.bc", "InvalidIdentityToken"),
    "nothing in it": ("a.b.c", "InvalidIdentityToken"),
}


@pytest.mark.parametrize("what", TOKENS)
def test_a_token_that_is_wrong_gets_nothing(what: str, assume: Callable[..., Any]) -> None:
    wrong, code = TOKENS[what]
    assert refused(assume, web_identity=wrong) == code


TRUSTS = {
    "asks what nobody knows": trust(StringEquals={f"{HOST}:sub": "me", "aws:NeverHeardOf": "x"}),
    "asks another issuer's claims": trust(StringEquals={"id.example.com:sub": "me"}),
    "asks by a negation another issuer's": trust(StringNotEquals={"id.example.com:sub": "you"}),
    "names everybody of the account": TRUST.replace('{"Federated"', '{"AWS"'),
    "allows another call": TRUST.replace("AssumeRoleWithWebIdentity", "AssumeRole"),
    "denies, too": json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                *json.loads(TRUST)["Statement"],
                {**json.loads(TRUST)["Statement"][0], "Effect": "Deny", "Condition": {}},
            ],
        }
    ),
}


@pytest.mark.parametrize("what", TRUSTS)
def test_a_role_whose_trust_is_not_in_the_token_is_not_given(
    what: str, assume: Callable[..., Any], client: Callable[..., Any]
) -> None:
    iam = client("iam")
    iam.update_assume_role_policy(RoleName="web-identity", PolicyDocument=TRUSTS[what])
    try:
        assert refused(assume, web_identity=token()) == "AccessDenied"
    finally:
        iam.update_assume_role_policy(RoleName="web-identity", PolicyDocument=TRUST)


def test_bounds_are_kept_and_a_role_must_be_there(assume: Callable[..., Any]) -> None:
    assert refused(assume, web_identity=token(), role=f"{ROLE}-missing") == "AccessDenied"
    assert refused(assume, web_identity=token(), session="a/b") == "ValidationError"
    assert refused(assume, web_identity=token(), DurationSeconds=7200) == "ValidationError"


def test_an_issuer_that_nobody_may_read_vouches_for_nobody(
    assume: Callable[..., Any], client: Callable[..., Any]
) -> None:
    s3 = client("s3")
    for policy in (bucket_policy(BUCKET, [READ[0]]), bucket_policy(BUCKET, [f"arn:aws:s3:::{BUCKET}/other"])):
        s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps(policy))
        assert refused(assume, web_identity=token()) == "InvalidIdentityToken"
    s3.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps(bucket_policy(BUCKET, READ)))
    assume(token())
    s3.put_object(Bucket=BUCKET, Key=issuers.KEYS, Body=b'{"keys": []}')
    assert refused(assume, web_identity=token()) == "InvalidIdentityToken"
    s3.put_object(Bucket=BUCKET, Key=issuers.KEYS, Body=PUBLISHED[issuers.KEYS].encode())


def test_saml_which_nobody_verifies_gets_nothing(client: Callable[..., Any]) -> None:
    asked = {"PrincipalArn": f"arn:aws:iam::{ACCOUNT}:saml-provider/x", "SAMLAssertion": text({"a": 1})}
    assert refused(client("sts").assume_role_with_saml, RoleArn=ROLE, **asked) == "InvalidAction"
