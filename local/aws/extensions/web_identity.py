"""Roles for tokens of an identity provider: STS verifies the token, then the role's own trust decides.

moto gives any role to whoever asks. "Create an OpenID Connect (OIDC) identity provider in IAM" and
"AssumeRoleWithWebIdentity" say what AWS looks at. SAML, which nobody here verifies, gets no role.
"""

import re
import ssl
import urllib.request
from typing import Any, NoReturn

from moto.core.responses import ActionResult
from moto.sts.responses import TokenResponse

from .. import clock, faults
from ..access.conditions import Context
from ..access.policy import Caller, Request
from ..access.policy import verdict as decide
from ..access.tokens import BadToken, Token, verified
from .outages import ServiceError
from .patching import override

ACTION = "sts:AssumeRoleWithWebIdentity"
# An issuer's documents lie in a bucket of the local AWS, or with the local Azure: there is no other place to read.
PLACE = re.compile(r"https://([a-z0-9][a-z0-9.-]*)\.s3\.([a-z0-9-]+)\.amazonaws\.com/(.+)")
ELSEWHERE = re.compile(r"https://[a-z0-9]{3,24}\.blob\.core\.windows\.net/[^?#]+")
ELSEWHERE_SECONDS = 5
SESSION_NAME = re.compile(r"[\w+=,.@-]{2,64}", re.ASCII)
LEAST_SECONDS = 900


def install() -> None:
    """Takes the place of moto's two answers."""

    @override(TokenResponse, "assume_role_with_web_identity")
    def assume_role_with_web_identity(self: Any, original: Any) -> ActionResult:  # noqa: ARG001
        return _assume(self)

    @override(TokenResponse, "assume_role_with_saml")
    def assume_role_with_saml(self: Any, original: Any) -> NoReturn:  # noqa: ARG001
        raise ServiceError("InvalidAction", "The local cloud does not have sts AssumeRoleWithSAML")


def _assume(response: Any) -> ActionResult:
    arn, name = str(response._get_param("RoleArn")), str(response._get_param("RoleSessionName"))
    iam = _iam(response)
    clients = {provider.url: provider.client_id_list for provider in iam.open_id_providers.values()}
    text = str(response._get_param("WebIdentityToken") or "")
    try:
        token = verified(text, clients, lambda url: _read(response, url), clock.now())
    except BadToken as error:
        raise ServiceError(error.code, str(error)) from None
    role = next((role for role in iam.roles.values() if role.arn == arn), None)
    provider = next(arn for arn, known in iam.open_id_providers.items() if known.url == token.issuer)
    if role is None or not _trusted(response, role, provider, token):
        raise ServiceError("AccessDenied", f"Not authorized to perform {ACTION}")
    seconds = response._get_int_param("DurationSeconds", 3600)
    if not SESSION_NAME.fullmatch(name) or not LEAST_SECONDS <= seconds <= int(role.max_session_duration or 3600):
        raise ServiceError("ValidationError", "RoleSessionName or DurationSeconds is out of bounds")
    session = response.backend.assume_role_with_web_identity(
        region_name=response.region,
        role_session_name=name,
        role_arn=arn,
        policy=response._get_param("Policy"),
        duration=seconds,
        external_id=None,
    )
    # A name that looks like an instance's makes no instance of it: extensions/access.py.
    session.web_identity = True
    return ActionResult(
        {
            "Credentials": session,
            "AssumedRoleUser": {"AssumedRoleId": session.user_id, "Arn": session.arn},
            "SubjectFromWebIdentityToken": token.subject,
            "Audience": token.audience,
            "Provider": provider,
        }
    )


def _trusted(response: Any, role: Any, provider: str, token: Token) -> bool:
    context: Context = {
        "aws:currenttime": [str(int(clock.now()))],
        "aws:epochtime": [str(int(clock.now()))],
        "aws:requestedregion": [response.region],
        "aws:principaltype": ["Federated"],
        "aws:securetransport": ["true"],
        **{f"{token.issuer}:{claim}".lower(): [value] for claim, value in _claims(token).items()},
    }
    caller = Caller(response.current_account, federated=provider)
    verdict = decide([_text(role.assume_role_policy_document)], Request(ACTION, role.arn, context), caller)
    return verdict.allowed and not verdict.denied


def _claims(token: Token) -> dict[str, str]:
    return {"sub": token.subject, "aud": token.audience}


def _text(document: Any) -> str:
    import json

    return document if isinstance(document, str) else json.dumps(document)


def _iam(response: Any) -> Any:
    from moto.iam.models import iam_backends

    return iam_backends[response.current_account]["aws"]


def _read(response: Any, url: str) -> bytes:
    """An object that everybody may read over TLS. Raises LookupError."""
    from moto.s3.models import s3_backends

    if ELSEWHERE.fullmatch(url):
        return elsewhere(url)
    found = PLACE.fullmatch(url)
    bucket = s3_backends[response.current_account]["aws"].buckets.get(found[1]) if found else None
    if found is None or bucket is None or bucket.region_name != found[2] or faults.out(found[2]):
        raise LookupError(f"{url} is not there")
    request = Request("s3:GetObject", f"arn:aws:s3:::{found[1]}/{found[3]}", {"aws:securetransport": ["true"]})
    public = decide([bucket.policy.decode()] if bucket.policy else [], request, Caller(""))
    closed = bucket.public_access_block and str(bucket.public_access_block.restrict_public_buckets).lower() == "true"
    if public.denied or not public.allowed or closed:
        raise LookupError(f"{url} is not public")
    return bytes(bucket.keys[found[3]].value)


def elsewhere(url: str) -> bytes:
    """A document of the local Azure, by its name and over TLS. Raises LookupError."""
    handlers = urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=ssl.create_default_context())
    try:
        with urllib.request.build_opener(*handlers).open(url, timeout=ELSEWHERE_SECONDS) as answer:
            return bytes(answer.read())
    except OSError as error:
        raise LookupError(f"{url} cannot be read: {error}") from None
