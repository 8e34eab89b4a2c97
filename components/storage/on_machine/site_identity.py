"""A site host's rights in AWS: for the certificate by which it is a node, IAM Roles Anywhere gives an hour's.

Sources: IAM Roles Anywhere user guide, "The IAM Roles Anywhere authentication signing process"; where parameters go:
aws/rolesanywhere-credential-helper. An operator's own credentials in the environment go before it, for a restore
elsewhere.
"""

import base64
import hashlib
import json
import os
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib import error, request
from urllib.parse import quote, urlencode

from api_aws import Aws
from machine import EARLY_SECONDS, SECONDS, Refused

# The kubelet's own, certificate and key; it renews both.
NODE = Path("/var/lib/kubelet/pki/kubelet-client-current.pem")
SERVICE, SESSION_SECONDS = "rolesanywhere", 3600
OPERATOR = {
    "AccessKeyId": "AWS_ACCESS_KEY_ID",
    "SecretAccessKey": "AWS_SECRET_ACCESS_KEY",
    "Token": "AWS_SESSION_TOKEN",
}


class SiteAws(Aws):
    """One region's services, spoken to as the site's role or as the operator at the keyboard."""

    def __init__(self, region: str, identity: dict[str, str] | None) -> None:
        super().__init__(region)
        self.identity = identity

    def credentials(self) -> dict[str, str]:
        if os.environ.get("AWS_ACCESS_KEY_ID"):
            return {name: os.environ.get(variable, "") for name, variable in OPERATOR.items()}
        if self.identity is None:
            raise SystemExit(
                "ERROR: this host has no role in the cloud: its bundle names none. Nothing leaves it and nothing comes "
                "back. At a keyboard, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN do"
            )
        ends = self.role.get("Expiration", "")
        if not ends or datetime.fromisoformat(ends).timestamp() < time.time() + EARLY_SECONDS:
            self.role = session(self.region, self.identity, NODE)
        return self.role


def session(region: str, identity: dict[str, str], pair: Path) -> dict[str, str]:
    """Credentials in the form of an instance's metadata. Raises Refused or OSError."""
    query = {name: identity[f"{key}_arn"] for name, key in ARNS.items()}
    asked = urlencode(sorted(query.items()), quote_via=quote, safe="-_.~")
    body = json.dumps({"durationSeconds": SESSION_SECONDS}).encode()
    host, now = f"{SERVICE}.{region}.amazonaws.com", datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    headers = signed(region, pair, asked, body, {"content-type": "application/json", "host": host, "x-amz-date": now})
    wanted = request.Request(f"https://{host}/sessions?{asked}", method="POST", data=body, headers=headers)
    try:
        with request.urlopen(wanted, timeout=SECONDS) as answer:
            told: Any = json.load(answer)
    except error.HTTPError as problem:
        text = problem.read().decode(errors="replace")[:500]
        raise Refused(problem.code, f"IAM Roles Anywhere: {problem.code} {text}") from None
    found = told["credentialSet"][0]["credentials"]
    return {ours: found[theirs] for ours, theirs in FIELDS.items()}


ARNS = {"profileArn": "profile", "roleArn": "role", "trustAnchorArn": "trust_anchor"}
FIELDS = {
    "AccessKeyId": "accessKeyId",
    "SecretAccessKey": "secretAccessKey",
    "Token": "sessionToken",
    "Expiration": "expiration",
}


def signed(region: str, pair: Path, query: str, body: bytes, headers: dict[str, str]) -> dict[str, str]:
    """Signature version 4 with the key of a certificate, which goes along."""
    der = _openssl("x509", "-in", str(pair), "-outform", "DER")
    given = {**headers, "x-amz-x509": base64.b64encode(der).decode()}
    names, scope = ";".join(sorted(given)), f"{given['x-amz-date'][:8]}/{region}/{SERVICE}/aws4_request"
    lines = "".join(f"{name}:{given[name]}\n" for name in sorted(given))
    asked = "\n".join(["POST", "/sessions", query, lines, names, hashlib.sha256(body).hexdigest()])
    kind = "RSA" if b"rsaEncryption" in _openssl("x509", "-in", str(pair), "-noout", "-text") else "ECDSA"
    algorithm = f"AWS4-X509-{kind}-SHA256"
    text = f"{algorithm}\n{given['x-amz-date']}\n{scope}\n{hashlib.sha256(asked.encode()).hexdigest()}"
    signature = _openssl("dgst", "-sha256", "-sign", str(pair), told=text.encode()).hex()
    serial = int(_openssl("x509", "-in", str(pair), "-noout", "-serial").decode().strip().partition("=")[2], 16)
    given["authorization"] = f"{algorithm} Credential={serial}/{scope}, SignedHeaders={names}, Signature={signature}"
    return given


def _openssl(*words: str, told: bytes = b"") -> bytes:
    done = subprocess.run(["openssl", *words], input=told, capture_output=True, check=False)
    if done.returncode:
        raise OSError(f"openssl {words[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
