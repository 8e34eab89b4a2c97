"""Policies are honoured: those of buckets, keys and secrets for everybody, those of roles for whoever has a role.

"Policy evaluation logic" (IAM user guide). The local cloud's own programs are the account's root: only what a
resource's policy denies is denied to them, and what a key's does not allow. moto judges nobody unless it judges
everybody, and leaves conditions out; for buckets it takes a condition that does not hold for a denial.
"""

import logging
import threading
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from moto.core.responses import BaseResponse
from moto.core.utils import get_service_model
from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeBucket
from moto.s3.responses import S3Response
from moto.sts.models import STSBackend

from .. import clock
from ..access import objects, required_actions, signature
from ..access.conditions import Context
from ..access.policy import Caller, verdict
from ..access.required_actions import RequiredAction
from ..front import MARK
from . import accounts
from .outages import Refusal, Refused, answer
from .patching import override

log = logging.getLogger("local.aws")
# In which words each service says no; EC2's and S3's error lists, "Common errors" of the others.
DENIED = {"ec2": ("UnauthorizedOperation", 403), "s3": ("AccessDenied", 403)}
BY_PROTOCOL = {"query": ("AccessDenied", 403), "rest-xml": ("AccessDenied", 403)}
OTHERWISE = ("AccessDeniedException", 400)
# Services whose resources have policies of their own: there root is judged, too.
GUARDED = ("s3", "kms", "secretsmanager")
# Free of credentials: GetCallerIdentity says who one is, and for the others a token speaks, see web_identity.py.
FREE = {("sts", "GetCallerIdentity"), ("sts", "AssumeRoleWithWebIdentity"), ("sts", "AssumeRoleWithSAML")}
# S3 answers per key here, so that each is judged when its turn comes.
_request = threading.local()


def install() -> None:
    """Judges every call as soon as it is known what it is."""

    @override(BaseResponse, "setup_class")
    def setup_class(self: Any, original: Any, *args: Any, **given: Any) -> None:
        original(*args, **given)
        if self.service_name != "s3":
            judge(self)

    @override(STSBackend, "assume_role")
    def assume_role(self: Any, original: Any, *args: Any, **given: Any) -> Any:  # noqa: ARG001
        session = original(*args, **given)
        session.expiration += timedelta(seconds=clock.ahead())  # moto goes by this computer's time
        return session

    @override(S3Response, "setup_class")
    def setup_s3(self: Any, original: Any, *args: Any, **given: Any) -> None:
        original(*args, **given)
        _request.public = False
        judge(self)

    @override(FakeBucket, "get_permission")
    def get_permission(self: Any, original: Any, action: str, resource: str) -> PermissionResult:  # noqa: ARG001
        """All has been judged before; moto asks once more, for those that nobody knows."""
        return PermissionResult.PERMITTED if getattr(_request, "public", False) else PermissionResult.NEUTRAL


def judge(response: Any) -> None:
    """Raises Refused if the caller may not do what it asks for, or if that cannot be told."""
    try:
        _judge(response)
    except Refused:
        raise
    except Exception as error:
        log.exception("%s was not judged: %s", response.boto3_service_name, type(error).__name__)
        message = f"The local cloud failed to judge this call: {type(error).__name__}"
        raise Refused(response=answer(response, Refusal("InternalFailure", 400, message))) from error


def _judge(response: Any) -> None:
    session = _session(response)
    service = response.boto3_service_name
    if session is None and MARK in response.normalized_request.environ:
        _strange(response, service)
    elif session is None and service not in GUARDED:
        return  # root, which only policies of resources deny anything
    if service != "s3" and (service, response._get_action()) in FREE:
        return
    caller = _caller(response, session)
    context = _context(response, session, caller)
    wanted = objects.required(response, context) if service == "s3" else required_actions.required(response, context)
    identity, boundary = (_policies(session), _boundary(session)) if session is not None else ([], [])
    for required in wanted:
        if refusal := _verdict(required, caller, session, identity, boundary):
            _refuse(response, required, caller, refusal)


def _session(response: Any) -> Any:
    """The role's session whose credentials sign the call; None for the account's own. Raises Refused for bad ones."""
    from moto.sts.models import sts_backends

    session = None
    for backend in sts_backends[response.current_account].values():
        session = session or backend.get_assumed_role_from_access_key(response.access_key)
    token = (
        response.headers.get("X-Amz-Security-Token") or (response.querystring.get("X-Amz-Security-Token") or [None])[0]
    )
    if session is None:
        if token:
            _bad_credentials(response, "The security token included in the request is invalid.")
        return None
    if token != session.session_token:
        _bad_credentials(response, "The security token included in the request is invalid.")
    if session.expiration.timestamp() <= clock.now():
        raise Refused(response=answer(response, Refusal("ExpiredToken", 400, "The security token has expired.")))
    if problem := signature.problem(response, session):
        raise Refused(response=answer(response, Refusal("SignatureDoesNotMatch", 403, problem)))
    return session


def _strange(response: Any, service: str) -> None:
    """A machine's call without a role: whoever signs it is nobody's, and unsigned it is for public objects alone."""
    if "Authorization" not in response.headers and accounts.owners(response.parsed_url.query):
        return  # it was given to the machine
    if "Authorization" in response.headers or "X-Amz-Credential=" in response.parsed_url.query:
        _bad_credentials(response, "The security token included in the request is invalid.")
    if service != "s3" and (service, response._get_action()) not in FREE:
        code = "MissingAuthenticationToken"
        raise Refused(response=answer(response, Refusal(code, 403, "Missing Authentication Token")))


def _bad_credentials(response: Any, message: str) -> NoReturn:
    code = {"s3": "InvalidAccessKeyId", "ec2": "AuthFailure"}.get(response.boto3_service_name, "InvalidClientTokenId")
    raise Refused(response=answer(response, Refusal(code, 401 if code == "AuthFailure" else 403, message)))


def _caller(response: Any, session: Any) -> Caller:
    account = response.current_account
    if session is not None:
        role = _role(session)
        return Caller(account, frozenset({session.arn, role.arn if role else session.role_arn}))
    signed = "Authorization" in response.headers or "Signature=" in response.parsed_url.query
    return Caller(account, frozenset({f"arn:aws:iam::{account}:root"}) if signed else frozenset())


def _context(response: Any, session: Any, caller: Caller) -> Context:
    now = clock.now()
    # The local cloud's own programs reach it without TLS, over the loopback alone; a machine's calls say how they came.
    secure = response.headers.get("X-Forwarded-Proto", "https") == "https"
    context = {
        "aws:securetransport": [str(secure).lower()],
        "aws:requestedregion": [response.region],
        "aws:currenttime": [datetime.fromtimestamp(now, UTC).isoformat()],
        "aws:epochtime": [str(int(now))],
        "aws:viaawsservice": ["false"],
        "aws:principalisawsservice": ["false"],
        "aws:resourceaccount": [caller.account],
        "ec2:region": [response.region],
    }
    if caller.anonymous:
        return context | {"aws:principaltype": ["Anonymous"]}
    context |= {"aws:principalaccount": [caller.account], "aws:principalarn": [f"arn:aws:iam::{caller.account}:root"]}
    if session is None:
        return context | {"aws:principaltype": ["Account"], "aws:userid": [caller.account]}
    role = _role(session)
    tags = {f"aws:principaltag/{tag['Key']}".lower(): [tag["Value"]] for tag in getattr(role, "tags", None) or []}
    # A session's own go before those of its role.
    own: dict[str, str] = getattr(session, "landbridge_tags", {})
    tags |= {f"aws:principaltag/{name}".lower(): [value] for name, value in own.items()}
    instance = f"arn:aws:ec2:{session.region_name}:{caller.account}:instance/{session.session_name}"
    return {
        **context,
        **tags,
        "aws:principalarn": [role.arn if role else session.role_arn],
        "aws:principaltype": ["AssumedRole"],
        "aws:userid": [session.user_id],
        **({"ec2:sourceinstancearn": [instance]} if _of_instance(session) else {}),
    }


def _of_instance(session: Any) -> bool:
    return session.session_name.startswith("i-") and not getattr(session, "web_identity", False)


def _role(session: Any) -> Any:
    return next((role for role in _iam(session).roles.values() if role.arn == session.role_arn), None)


def _iam(session: Any) -> Any:
    from moto.iam.models import iam_backends

    return iam_backends[session.account_id]["aws"]


def _policies(session: Any) -> list[str]:
    """The role's own policies and those attached to it; none for a role that is gone."""
    role = _role(session)
    return of_role(role) if role is not None else []


def of_role(role: Any) -> list[str]:
    attached = [_default(policy) for policy in role.managed_policies.values()]
    return [*role.policies.values(), *attached]


def _boundary(session: Any) -> list[str]:
    """What further narrows a role: its boundary and the session's policy; each alone must allow a call."""
    role, found = _role(session), []
    if arn := getattr(role, "permissions_boundary_arn", None):
        found.append(_default(_iam(session).managed_policies[arn]))
    return found + ([session.policy] if session.policy else [])


def _default(policy: Any) -> str:
    return next(str(version.document) for version in policy.versions if version.is_default)


def _verdict(
    required: RequiredAction, caller: Caller, session: Any, identity: list[str], boundary: list[str]
) -> str | None:
    """Why the need is not granted."""
    own = verdict([required.policy] if required.policy else [], required.request, caller)
    if own.denied:
        return "with an explicit deny in a resource-based policy"
    if session is None:
        if not caller.anonymous:
            # "No AWS principal, including the account root user …, has any permissions to a KMS key unless they are
            # explicitly allowed" (KMS developer guide, "Key policies in AWS KMS").
            return "because no resource-based policy allows it" if required.must_consent and not own.allowed else None
        _request.public = own.allowed
        return None  # moto looks at the object's ACL, and at get_permission
    given = verdict(identity, required.request)
    if given.denied:
        return "with an explicit deny in an identity-based policy"
    for text in boundary:
        limit = verdict([text], required.request)
        if limit.denied or not limit.allowed:
            return "because no permissions boundary or session policy allows it"
    if own.named or (given.allowed and (own.allowed or not required.must_consent)):
        return None
    if given.allowed:
        return "because no resource-based policy allows it"
    return "because no identity-based policy allows it"


def _refuse(response: Any, required: RequiredAction, caller: Caller, why: str) -> NoReturn:
    service = response.boto3_service_name
    protocol = get_service_model(service).metadata["protocol"]
    code, status = DENIED.get(service) or BY_PROTOCOL.get(protocol) or OTHERWISE
    who = min(caller.names) if caller.names else "anonymous"
    request = required.request
    message = f"User: {who} is not authorized to perform: {request.action} on resource: {request.resource} {why}"
    raise Refused(response=answer(response, Refusal(code, status, message)))
