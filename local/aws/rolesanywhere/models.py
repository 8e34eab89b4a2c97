"""Trust anchors and profiles of one region."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moto.core.base_backend import BackendDict, BaseBackend
from moto.core.exceptions import ServiceException

from . import certificates

SERVICE, BUNDLE = "rolesanywhere", "CERTIFICATE_BUNDLE"
# "CreateProfile": without a time of its own.
DURATION_SECONDS = 3600


class Missing(ServiceException):
    code = "ResourceNotFoundException"


class Invalid(ServiceException):
    code = "ValidationException"


class Thing:
    """A trust anchor or a profile. `told` is as the API shows it."""

    def __init__(self, kind: str, id_key: str, region: str, account: str, attributes: Mapping[str, Any]) -> None:
        self.id = str(uuid.uuid4())
        self.arn = f"arn:aws:{SERVICE}:{region}:{account}:{kind}/{self.id}"
        now = datetime.now(UTC)
        named = {f"{id_key}Id": self.id, f"{id_key}Arn": self.arn, "createdAt": now, "updatedAt": now}
        self.told: dict[str, Any] = {**attributes, **named}
        self.tags: dict[str, str] = {}

    def change(self, attributes: Mapping[str, Any]) -> None:
        self.told |= {**attributes, "updatedAt": datetime.now(UTC)}


class RolesAnywhereBackend(BaseBackend):
    """All that a region has. `trust_anchors` and `profiles` are by id."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.trust_anchors: dict[str, Thing] = {}
        self.profiles: dict[str, Thing] = {}

    def create_trust_anchor(self, attributes: Mapping[str, Any], tags: list[dict[str, str]]) -> Thing:
        checked(attributes)
        given = {"enabled": True, **attributes}
        return self._made(self.trust_anchors, Thing("trust-anchor", "trustAnchor", *self._here, given), tags)

    def create_profile(self, attributes: Mapping[str, Any], tags: list[dict[str, str]]) -> Thing:
        given = {"enabled": True, "durationSeconds": DURATION_SECONDS, "acceptRoleSessionName": False, **attributes}
        made = Thing("profile", "profile", *self._here, given)
        made.told["createdBy"] = f"arn:aws:iam::{self.account_id}:root"
        return self._made(self.profiles, made, tags)

    @property
    def _here(self) -> tuple[str, str]:
        return self.region_name, self.account_id

    def _made(self, things: dict[str, Thing], made: Thing, tags: list[dict[str, str]]) -> Thing:
        made.tags = {tag["key"]: tag["value"] for tag in tags}
        things[made.id] = made
        return made

    def trust_anchor(self, name: str) -> Thing:
        return found(self.trust_anchors, name, "Trust anchor")

    def profile(self, name: str) -> Thing:
        return found(self.profiles, name, "Profile")

    def of_arn(self, arn: str) -> Thing:
        return found({**self.trust_anchors, **self.profiles}, arn, "Resource")


def found(things: Mapping[str, Thing], name: str, what: str) -> Thing:
    """By id or ARN. Raises Missing."""
    thing = next((one for one in things.values() if name in (one.id, one.arn)), None)
    if thing is None:
        raise Missing(f"{what} not found")
    return thing


def checked(attributes: Mapping[str, Any]) -> None:
    """Raises Invalid for a source that vouches for nobody."""
    source = attributes.get("source")
    if source is None:
        return
    if source.get("sourceType") != BUNDLE:
        raise Invalid(f"The local cloud has no authorities of its own: sourceType must be {BUNDLE}")
    try:
        certificates.authorities(source.get("sourceData", {}).get("x509CertificateData") or "")
    except certificates.Untrusted as error:
        raise Invalid(str(error)) from None


rolesanywhere_backends = BackendDict(RolesAnywhereBackend, SERVICE)
