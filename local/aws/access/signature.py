"""Whether a role's call is signed as "Signature Version 4" has it: a client that signs wrongly fails here as on AWS."""

import hashlib
import re
from typing import Any

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

HEADER = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[^/]+/(\d{8})/([^/]+)/([^/]+)/aws4_request"
    r",\s*SignedHeaders=([^,]+),\s*Signature=(\w+)"
)
# Where the server keeps a call's body as it came: moto reads forms before anybody sees them.
RAW_BODY = "landbridge.body"
WRONG = "The request signature we calculated does not match the signature you provided."


def problem(response: Any, session: Any) -> str | None:
    """What is wrong with the signature. One in the query (a presigned address) is taken as it is."""
    request = response.normalized_request
    given = HEADER.match(request.headers.get("Authorization", ""))
    if given is None:
        return None if "X-Amz-Signature=" in response.parsed_url.query else "The request is not signed with version 4."
    _, region, service, names, mark = given.groups()
    headers = {name: request.headers.get(name, "") for name in names.split(";")}
    if not {"host", "x-amz-date"} <= set(headers):
        return "The headers host and x-amz-date must be signed."
    body = request.environ[RAW_BODY]
    digest = request.headers.get("x-amz-content-sha256")
    if digest and re.fullmatch(r"[0-9a-f]{64}", digest) and digest != hashlib.sha256(body).hexdigest():
        return "The provided 'x-amz-content-sha256' header does not match what was computed."
    path = request.environ.get("RAW_URI") or request.environ.get("REQUEST_URI") or request.full_path
    again = AWSRequest(request.method, f"https://{headers['host']}{path}", headers, body)
    again.context["timestamp"] = headers["x-amz-date"]
    keys = Credentials(session.access_key_id, session.secret_access_key, session.session_token)
    auth = (S3SigV4Auth if service == "s3" else SigV4Auth)(keys, service, region)
    canonical = auth.canonical_request(again)
    return None if auth.signature(auth.string_to_sign(again, canonical), again) == mark else WRONG
