"""AWS for API machines that are at home elsewhere: as a role there, for a token of the cluster's.

"AssumeRoleWithWebIdentity" of AWS STS: it is asked without a signature, and takes tokens of issuers that IAM trusts.
"""

from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

from api_aws import XML, Aws
from cluster_token import LIFETIME_SECONDS, token
from machine import Refused, Text, patiently, send

from kube_http import Kube

AUDIENCE, VERSION, SESSION = "sts.amazonaws.com", "2011-06-15", "landbridge-joining"
FORBIDDEN = (401, 403)
# As STS's answer calls them → as instance metadata does.
NAMES = {
    "AccessKeyId": "AccessKeyId",
    "SecretAccessKey": "SecretAccessKey",
    "SessionToken": "Token",
    "Expiration": "Expiration",
}


class AwsByToken(Aws):
    """One region's services, for one thread. The line to the API is the caller's."""

    def __init__(self, region: str, kube: Kube, role: str) -> None:
        super().__init__(region)
        self.kube, self.arn = kube, role

    def ec2(self, action: str, **parameters: str) -> ElementTree.Element:
        try:
            return super().ec2(action, **parameters)
        except Refused as refused:
            if refused.status in FORBIDDEN:
                self.role = {}  # its role may have been made anew: keys of the former one are worth nothing
            raise

    def given(self) -> dict[str, Any]:
        form = {
            "Action": "AssumeRoleWithWebIdentity",
            "Version": VERSION,
            "RoleArn": self.arn,
            "RoleSessionName": SESSION,
            "DurationSeconds": str(LIFETIME_SECONDS),
            "WebIdentityToken": token(self.kube, AUDIENCE),
        }
        body, url = Text(urlencode(form).encode()), f"https://sts.{self.region}.amazonaws.com/"
        answer = patiently(
            lambda: send("POST", url, {"content-type": XML}, body)[0], lambda refused: refused.status >= 500
        )
        keys = ElementTree.fromstring(answer).find("{*}AssumeRoleWithWebIdentityResult/{*}Credentials")  # noqa: S314
        told = {ours: keys.findtext(f"{{*}}{name}") if keys is not None else None for name, ours in NAMES.items()}
        if not all(told.values()):
            raise OSError("STS answers without keys")
        return told
