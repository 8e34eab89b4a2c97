"""CreateSession: a role's credentials for whoever shows that a certificate's key is theirs. All else is a 403.

"Authentication", "CreateSession API" and "Trust model" in the IAM Roles Anywhere user guide.
"""

import json
import logging
from datetime import UTC
from typing import Any
from urllib.parse import parse_qs

from .. import clock, faults
from ..access.policy import Caller, Request, verdict
from . import certificates, signature
from .models import SERVICE, Missing, RolesAnywhereBackend, Thing, rolesanywhere_backends

PRINCIPAL = f"{SERVICE}.amazonaws.com"
# "Role trusts": what a role must allow.
ACTIONS = ("sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity")
ARNS = ("trustAnchorArn", "profileArn", "roleArn")
LEAST_SECONDS, MOST_SECONDS = 900, 43200
log = logging.getLogger("local.aws")
Answer = tuple[int, dict[str, str], str]


class Denied(Exception):
    """Why there are no credentials."""


def create_session(request: Any, full_url: str, headers: Any) -> Answer:  # noqa: ARG001
    """As moto calls it."""
    try:
        return _answer(201, session(_signed_request(request)))
    except (Denied, signature.Wrong, certificates.Untrusted, Missing) as error:
        return _refused(403, "AccessDeniedException", str(error))
    except _Out as error:
        return _refused(error.status, error.code, error.code)
    except Exception as error:  # fails closed; never the request itself
        log.exception("CreateSession failed: %s", type(error).__name__)
        return _refused(403, "AccessDeniedException", f"The local cloud failed to judge this: {type(error).__name__}")


class _Out(Exception):
    """A fault that was asked for."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status, self.code = status, code


def _signed_request(request: Any) -> signature.SignedRequest:
    given = {str(name).lower(): str(value) for name, value in request.headers.items()}
    query = request.environ.get("QUERY_STRING", "")
    return signature.SignedRequest(request.method, request.environ["PATH_INFO"], query, given, request.get_data())


def session(request: signature.SignedRequest) -> dict[str, Any]:
    """What the answer holds. Raises Denied, Wrong, Untrusted or Missing."""
    now = clock.now()
    leaf, region = signature.signer(request, now)
    host = request.headers.get("host", "")
    if host.startswith(SERVICE) and not host.startswith(f"{SERVICE}.{region}."):
        raise Denied(f"The call is signed for {region}")
    _faults(region)
    if request.method != "POST":
        raise Denied("Sessions are made by POST")
    body = json.loads(request.body or b"{}")
    query = {name: values[0] for name, values in parse_qs(request.query).items()}
    arns = {name: str(query.get(name) or body.get(name) or "") for name in ARNS}
    backend = _backend(arns["trustAnchorArn"], region)
    anchor, profile = backend.trust_anchor(arns["trustAnchorArn"]), backend.profile(arns["profileArn"])
    for thing, what in ((anchor, "trust anchor"), (profile, "profile")):
        if not thing.told["enabled"]:
            raise Denied(f"The {what} is disabled")
    known = certificates.authorities(anchor.told["source"]["sourceData"]["x509CertificateData"])
    certificates.vouched(leaf, known, now)
    role = _role(backend.account_id, arns["roleArn"], profile)
    tags = certificates.attributes(leaf)
    _trusted(role, backend.account_id, anchor, tags)
    seconds = _seconds(body, query, profile, role)
    made = _assumed(backend, role, f"{leaf.serial_number:x}", profile, seconds, tags)
    return _response(made, role, tags, anchor, leaf)


def _faults(region: str) -> None:
    if faults.out(region):
        raise _Out(503, "ServiceUnavailableException")
    if faults.met(faults.Throttling, SERVICE, "CreateSession", region):
        raise _Out(429, "ThrottlingException")


def _backend(arn: str, region: str) -> RolesAnywhereBackend:
    parts = arn.split(":")
    if len(parts) != 6 or parts[2] != SERVICE or parts[3] != region:
        raise Denied(f"There is no trust anchor {arn or '(none)'} in {region}")
    found: RolesAnywhereBackend = rolesanywhere_backends[parts[4]][region]
    return found


def _role(account: str, arn: str, profile: Thing) -> Any:
    from moto.iam.models import iam_backends

    if arn not in profile.told["roleArns"]:
        raise Denied("The profile does not list the role")
    role = next((one for one in iam_backends[account]["aws"].roles.values() if one.arn == arn), None)
    if role is None:
        raise Denied("The role does not exist in the trust anchor's account")
    return role


def _trusted(role: Any, account: str, anchor: Thing, tags: dict[str, str]) -> None:
    """Raises Denied unless the role's trust policy lets the service act for this certificate."""
    context = {
        "aws:sourcearn": [anchor.arn],
        "aws:sourceaccount": [account],
        **{f"aws:principaltag/{name}".lower(): [value] for name, value in tags.items()},
        **{f"aws:requesttag/{name}".lower(): [value] for name, value in tags.items()},
        **({"sts:sourceidentity": [tags["x509Subject/CN"]]} if "x509Subject/CN" in tags else {}),
    }
    for action in ACTIONS:
        heard = verdict(
            [role.assume_role_policy_document], Request(action, role.arn, context), Caller(account, service=PRINCIPAL)
        )
        if heard.denied or not heard.allowed:
            raise Denied(f"Unable to assume role for {role.arn}: its trust policy does not allow {action}")


def _seconds(body: dict[str, Any], query: dict[str, str], profile: Thing, role: Any) -> int:
    """Asked for, within what the profile gives. Raises Denied for more than the role may last."""
    given = int(profile.told["durationSeconds"])
    wanted = int(body.get("durationSeconds") or query.get("durationSeconds") or given)
    if not LEAST_SECONDS <= wanted <= MOST_SECONDS:
        raise Denied(f"durationSeconds is {LEAST_SECONDS} to {MOST_SECONDS}")
    lasts = min(wanted, given)
    if lasts > int(role.max_session_duration or 3600):
        raise Denied("The session would last longer than the role allows")
    return lasts


def _assumed(
    backend: RolesAnywhereBackend, role: Any, name: str, profile: Thing, seconds: int, tags: dict[str, str]
) -> Any:
    from moto.sts.models import sts_backends

    policy = profile.told.get("sessionPolicy") or ""
    sts = sts_backends[backend.account_id]["aws"]
    made: Any = sts.assume_role(backend.region_name, name, role.arn, policy, seconds, "")
    # Policies of what it touches may ask for them.
    made.landbridge_tags = tags
    return made


def _response(made: Any, role: Any, tags: dict[str, str], anchor: Thing, leaf: Any) -> dict[str, Any]:
    credentials = {
        "accessKeyId": made.access_key_id,
        "secretAccessKey": made.secret_access_key,
        "sessionToken": made.session_token,
        "expiration": made.expiration.replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    one = {
        "assumedRoleUser": {"arn": made.arn, "assumedRoleId": made.user_id},
        "credentials": credentials,
        "packedPolicySize": 0,
        "roleArn": role.arn,
        "sourceIdentity": tags.get("x509Subject/CN", ""),
    }
    subject = f"{anchor.arn.partition(':trust-anchor')[0]}:subject/{leaf.serial_number:x}"
    return {"credentialSet": [one], "subjectArn": subject}


def _refused(status: int, code: str, message: str) -> Answer:
    return _answer(status, {"message": message}, {"x-amzn-errortype": code})


def _answer(status: int, body: dict[str, Any], more: dict[str, str] | None = None) -> Answer:
    return status, {"content-type": "application/json", **(more or {})}, json.dumps(body)
