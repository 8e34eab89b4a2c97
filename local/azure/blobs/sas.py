"""Shared access signatures: service, account and user delegation SAS ("Create a service SAS" and its sisters)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ..errors import ArmError
from ..store import Resource
from .shared_key import keys, refused, require_allowed, signature

# Before it the string to sign has another form, which no client of today writes.
OLDEST = "2020-12-06"
WITH_DELEGATE, WITH_REQUEST = "2025-07-05", "2026-04-06"  # from which the string to sign has more lines
LONGEST_DAYS = 7
RESPONSES = ("rscc", "rscd", "rsce", "rscl", "rsct")
_MASTER = secrets.token_bytes(32)


class Sas(NamedTuple):
    """What a verified one allows. `container` and `blob` are None where it is for all; `principal` made it, if any."""

    permissions: str
    container: str | None
    blob: str | None
    principal: str | None = None


def verify(account: Resource, query: Mapping[str, str], container: str, blob: str) -> Sas:
    """`query` is the request's, which is for `container` and `blob`; either may be empty. Raises ArmError."""
    version = query.get("sv", "")
    if version < OLDEST:
        raise refused(f"The local Azure takes signatures of {OLDEST} and later.")
    if query.get("si") or query.get("sip"):
        raise refused("The local Azure knows no stored access policies and no sip.")
    _check_time(query)
    if "ss" in query:
        return _account(account, query, container, blob)
    sort = query.get("sr", "")
    if sort not in ("b", "c", "bv", "bs"):
        raise refused(f"sr={sort} is no resource of blobs'.")
    path = f"/blob/{account.id.name}/{container}" + ("" if sort == "c" else f"/{blob}")
    of = query.get("snapshot", "") if sort == "bs" else query.get("versionid", "") if sort == "bv" else ""
    lines = [query.get("sp", ""), query.get("st", ""), query.get("se", ""), path]
    delegated = "skoid" in query
    if delegated:
        lines += [query.get(name, "") for name in ("skoid", "sktid", "skt", "ske", "sks", "skv")]
        lines += [query.get(name, "") for name in ("saoid", "suoid", "scid")]
        lines += ["", ""] if version >= WITH_DELEGATE else []
    else:
        lines.append("")
    lines += ["", query.get("spr", ""), version, sort, of, query.get("ses", "")]
    lines += ["", ""] if delegated and version >= WITH_REQUEST else []
    lines += [query.get(name, "") for name in RESPONSES]
    if delegated:
        possible = [_delegated_key(query)]
    else:
        require_allowed(account)
        possible = keys(account)
    _check("\n".join(lines), possible, query)
    return Sas(query.get("sp", ""), container, None if sort == "c" else blob, query.get("skoid"))


def _account(account: Resource, query: Mapping[str, str], container: str, blob: str) -> Sas:
    require_allowed(account)
    names = ("sp", "ss", "srt", "st", "se", "sip", "spr", "sv", "ses")
    lines = [account.id.name, *(query.get(name, "") for name in names), ""]
    _check("\n".join(lines), keys(account), query)
    level = "o" if blob else "c" if container else "s"
    # A list is of the container, and Create Container, too.
    if "b" not in query["ss"] or level not in query.get("srt", ""):
        message = "This request is not authorized to perform this operation using this resource type."
        raise ArmError(403, "AuthorizationResourceTypeMismatch", message)
    return Sas(query.get("sp", ""), None, None)


def _check(text: str, possible: list[bytes], query: Mapping[str, str]) -> None:
    if not any(hmac.compare_digest(signature(key, text), query.get("sig", "")) for key in possible):
        raise refused("Signature did not match.")


def _check_time(query: Mapping[str, str]) -> None:
    now = datetime.now(UTC)
    try:
        fits = (not query.get("st") or _time(query["st"]) <= now) and now < _time(query["se"])
        key_fits = "skoid" not in query or _time(query["skt"]) - timedelta(minutes=15) <= now < _time(query["ske"])
    except (KeyError, ValueError):
        raise refused("The signature's times are missing or none.") from None
    if not (fits and key_fits):
        raise refused("Signature not valid in the specified time frame.")


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def delegation(principal: str, tenant: str, start: str, expiry: str, version: str) -> dict[str, str]:
    """A user delegation key, as its XML has it ("Get User Delegation Key"). Raises ArmError."""
    try:
        span = _time(expiry) - max(_time(start), datetime.now(UTC)) if start else _time(expiry) - datetime.now(UTC)
    except ValueError:
        raise ArmError(400, "InvalidXmlNodeValue", "Start or Expiry is no time.") from None
    if not timedelta() < span <= timedelta(days=LONGEST_DAYS):
        raise ArmError(400, "InvalidXmlNodeValue", f"Expiry is at most {LONGEST_DAYS} days from now.")
    fields = {"skoid": principal, "sktid": tenant, "skt": start, "ske": expiry, "sks": "b", "skv": version}
    return {
        "SignedOid": principal,
        "SignedTid": tenant,
        "SignedStart": start,
        "SignedExpiry": expiry,
        "SignedService": "b",
        "SignedVersion": version,
        "Value": base64.b64encode(_delegated_key(fields)).decode(),
    }


def _delegated_key(query: Mapping[str, str]) -> bytes:
    """Made of what it is for, so that nothing has to be kept."""
    text = "\n".join(query.get(name, "") for name in ("skoid", "sktid", "skt", "ske", "sks", "skv"))
    return hmac.new(_MASTER, text.encode(), hashlib.sha256).digest()
