"""Names in a zone."""

from ..kinds import Call, Change, Found, Kind, Out, P, replaces
from .parts import Given, Part, found, plain

_ALIAS = {**plain("evaluateTargetHealth"), "name": Part("DNSName"), "zoneId": Part("HostedZoneId")}
_RECORD = {
    "Name": P("name"),
    "Type": P("type"),
    "TTL": P("ttl"),
    "ResourceRecords": P("records", convert=lambda records: [{"Value": record} for record in records]),
    "AliasTarget": P("aliases", convert=lambda aliases: Given(_ALIAS)(aliases[0])),
}


def _change(action: str | P) -> Call:
    change = {"Action": action, "ResourceRecordSet": _RECORD}
    return Call("change_resource_record_sets", {"HostedZoneId": P("zoneId"), "ChangeBatch": {"Changes": [change]}})


def _aliases(read: Found) -> list[dict[str, object]] | None:
    alias = found(_ALIAS, read.answer.get("AliasTarget"))
    return [{**alias, "name": alias["name"].removesuffix(".")}] if alias else None


RECORD = Kind(
    service="route53",
    create=_change(P("allowOverwrite", default=False, convert=lambda on: "UPSERT" if on else "CREATE")),
    make_id=lambda _, inputs: f"{inputs['zoneId']}_{inputs['name']}_{inputs['type']}",
    read=Call(
        "list_resource_record_sets",
        {
            "HostedZoneId": P("zoneId"),
            "StartRecordName": P("name"),
            "StartRecordType": P("type"),
            "MaxItems": "1",
        },
        "ResourceRecordSets[?(Name=='$name.' || Name=='$name') && Type=='$type'] | [0]",
    ),
    # A DELETE must say what is there. Whatever somebody else has made of it: first it is ours again.
    delete=(_change("UPSERT"), _change("DELETE")),
    outputs={
        "name": lambda read: read.inputs["name"],
        "fqdn": lambda read: read.answer["Name"].removesuffix("."),
        "type": "Type",
        "ttl": "TTL",
        "records": "ResourceRecords[].Value",
        "aliases": _aliases,
    },
    replace=replaces("zoneId", "name", "type"),
    changes=(Change(("ttl", "records", "aliases"), (_change("UPSERT"),)),),
    missing=("NoSuchHostedZone",),
    accepts=("allowOverwrite",),
)

_NETWORK = {"VPCId": P("vpcId"), "VPCRegion": P("vpcRegion")}


ASSOCIATION = Kind(
    service="route53",
    create=Call("associate_vpc_with_hosted_zone", {"HostedZoneId": P("zoneId"), "VPC": _NETWORK}),
    make_id=lambda _, inputs: ":".join(filter(None, (inputs["zoneId"], inputs["vpcId"], inputs.get("vpcRegion")))),
    read=Call("get_hosted_zone", {"Id": P("zoneId")}, "VPCs[?VPCId=='$vpcId'] | [0]"),
    delete=(
        Call(
            "disassociate_vpc_from_hosted_zone",
            {"HostedZoneId": Out("zoneId"), "VPC": {"VPCId": Out("vpcId"), "VPCRegion": Out("vpcRegion")}},
        ),
    ),
    outputs={
        "zoneId": lambda read: read.inputs["zoneId"],
        "vpcId": "VPCId",
        "vpcRegion": "VPCRegion",
    },
    replace=replaces("zoneId", "vpcId", "vpcRegion"),
    missing=("NoSuchHostedZone", "VPCAssociationNotFound"),
)

KINDS = {
    "aws:route53/record:Record": RECORD,
    "aws:route53/zoneAssociation:ZoneAssociation": ASSOCIATION,
}
