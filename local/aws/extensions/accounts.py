"""Whose account a call is for: that of the access key, which the local cloud's own programs have of any account.

moto finds the accounts of keys and sessions that it gave; all else is one account's to it.
"""

import re
from typing import Any

from moto.core.responses import BaseResponse

from ...environment import ACCESS_KEY, DUMMIES
from .patching import override

_OF_ONE = ACCESS_KEY.format(account=r"(\d{12})")
# In a header of a signed call, and in the query of an address that was signed.
_OWNERS = re.compile(rf"Credential=(?:{DUMMIES['AWS_ACCESS_KEY_ID']}|{_OF_ONE})(?:/|%2F)")


def install() -> None:
    """A call's account is its owner's."""

    @override(BaseResponse, "get_current_account")
    def get_current_account(self: Any, original: Any) -> str:
        found = _OWNERS.search(self.headers.get("Authorization") or self.parsed_url.query)
        return found[1] if found and found[1] else str(original())


def owners(query: str) -> bool:
    """Whether an address with this query was signed by an operator of an account."""
    return bool(_OWNERS.search(query))
