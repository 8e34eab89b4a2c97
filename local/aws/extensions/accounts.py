"""Whose account a call is for: that of the access key, which the local cloud's own programs have of any account.

moto finds the accounts of keys and sessions that it gave; all else is one account's to it.
"""

import re
from typing import Any

from moto.core.responses import BaseResponse

from local.environment import ACCESS_KEY, DUMMIES

from .patching import override

_OF_ONE = ACCESS_KEY.format(account=r"(\d{12})")
# In a header of a signed call, and in the query of an address that was signed.
_OWNERS = re.compile(rf"Credential=(?:{DUMMIES['AWS_ACCESS_KEY_ID']}|{_OF_ONE})(?:/|%2F)")


def install() -> None:
    """A call's account is its owner's."""

    @override(BaseResponse, "get_current_account")
    def get_current_account(self: Any, original: Any) -> str:
        signed = self.headers.get("Authorization") or self.parsed_url.query
        found = _OWNERS.search(signed)
        if found and found[1]:
            return found[1]
        nobody = "Authorization" not in self.headers and "Credential=" not in signed
        return (_named(self) if nobody else None) or str(original())


def _named(response: Any) -> str | None:
    """Of a call that nobody has signed: its role's account, or that of the bucket which its host or path names."""
    from moto.s3.models import s3_backends

    if role := (response.querystring.get("RoleArn") or [""])[0]:
        return str(role.split(":")[4]) if role.count(":") > 4 else None
    known = s3_backends.bucket_accounts  # name → partition and account
    words = (response.parsed_url.netloc.partition(".")[0], response.parsed_url.path.lstrip("/").partition("/")[0])
    return next((str(known[word][1]) for word in words if word in known), None)


def owners(query: str) -> bool:
    """Whether an address with this query was signed by an operator of an account."""
    return bool(_OWNERS.search(query))
