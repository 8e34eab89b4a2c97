"""IAM Roles Anywhere: trust anchors and profiles."""

from typing import Any

from ...servicer import ProviderError
from ..kinds import ID, TAG_KEYS, TAGS, Arn, Call, Change, Kind, P, Tagging, replaces


def _on(enabled: Any) -> Any:
    """The API has calls of their own to turn one off, which nobody needs here yet."""
    if not enabled:
        raise ProviderError("the local cloud does not act on enabled=False yet")
    return enabled


def _source(source: dict[str, Any]) -> dict[str, Any]:
    data = source["sourceData"]
    given = {"acmPcaArn": data.get("acmPcaArn"), "x509CertificateData": data.get("x509CertificateData")}
    return {"sourceType": source["sourceType"], "sourceData": {k: v for k, v in given.items() if v is not None}}


def _tagging(kind: str) -> Tagging:
    arn = Arn(f"arn:aws:rolesanywhere:{{region}}:{{account}}:{kind}/{{id}}")
    return Tagging(
        add=Call("tag_resource", {"resourceArn": arn, "tags": TAGS}),
        remove=Call("untag_resource", {"resourceArn": arn, "tagKeys": TAG_KEYS}),
        read=Call("list_tags_for_resource", {"resourceArn": arn}, "tags"),
        key="key",
        value="value",
    )


_SOURCE = P("source", convert=_source)
TRUST_ANCHOR = Kind(
    service="rolesanywhere",
    create=Call(
        "create_trust_anchor",
        {"name": P("name"), "source": _SOURCE, "enabled": P("enabled", convert=_on)},
        "trustAnchor.trustAnchorId",
    ),
    read=Call("get_trust_anchor", {"trustAnchorId": ID}, "trustAnchor"),
    delete=(Call("delete_trust_anchor", {"trustAnchorId": ID}),),
    outputs={"arn": "trustAnchorArn", "name": "name", "enabled": "enabled", "source": "source"},
    replace=replaces("enabled"),
    changes=(
        Change(
            ("name", "source"),
            (Call("update_trust_anchor", {"trustAnchorId": ID, "name": P("name"), "source": _SOURCE}),),
        ),
    ),
    tagging=_tagging("trust-anchor"),
    autoname="name",
)

_GIVEN = {name: P(name) for name in ("name", "roleArns", "durationSeconds", "sessionPolicy", "acceptRoleSessionName")}
PROFILE = Kind(
    service="rolesanywhere",
    create=Call("create_profile", {**_GIVEN, "enabled": P("enabled", convert=_on)}, "profile.profileId"),
    read=Call("get_profile", {"profileId": ID}, "profile"),
    delete=(Call("delete_profile", {"profileId": ID}),),
    outputs={"arn": "profileArn", "enabled": "enabled", **{name: name for name in _GIVEN}},
    replace=replaces("enabled"),
    changes=(Change(tuple(_GIVEN), (Call("update_profile", {"profileId": ID, **_GIVEN}),)),),
    tagging=_tagging("profile"),
    autoname="name",
)

KINDS = {
    "aws:rolesanywhere/trustAnchor:TrustAnchor": TRUST_ANCHOR,
    "aws:rolesanywhere/profile:Profile": PROFILE,
}
