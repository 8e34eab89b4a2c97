"""Record sets are made once, and deleted as they are.

Route 53 API, ChangeResourceRecordSets: CREATE fails for a record that exists, DELETE for one that does not or whose
values differ; all changes of a batch are made or none (InvalidChangeBatch). moto goes by its journal of old changes.
"""

from typing import Any

from moto.route53.exceptions import Route53ClientError
from moto.route53.models import ChangeList, Route53Backend

from .patching import override


def install() -> None:
    """Looks at the records themselves before a batch is applied."""

    @override(Route53Backend, "change_resource_record_sets")
    def change(self: Any, original: Any, zoneid: str, change_list: list[dict[str, Any]]) -> None:
        zone = self.get_hosted_zone(zoneid)
        wrong = [message for change in change_list if (message := _wrong(zone, change))]
        if wrong:
            raise Route53ClientError("InvalidChangeBatch", f"[{', '.join(wrong)}]")
        # Its own opinion of the past is not asked: what is deleted is told to it as made.
        zone.rr_changes = ChangeList()
        deleted = [change["ResourceRecordSet"] for change in change_list if change["Action"] == "DELETE"]
        for record in deleted:
            zone.rr_changes.append({"Action": "CREATE", "ResourceRecordSet": dict(record)})
        original(zoneid, change_list)
        zone.rr_changes = ChangeList()


def _wrong(zone: Any, change: dict[str, Any]) -> str | None:
    wanted, action = change["ResourceRecordSet"], change["Action"]
    name = wanted["Name"].rstrip(".") + "."
    there = next(
        (
            record
            for record in zone.rrsets
            if (record.name.rstrip(".") + ".", record.type) == (name, wanted["Type"])
            and record.set_identifier == wanted.get("SetIdentifier")
        ),
        None,
    )
    label = f"resource record set [name='{name}', type='{wanted['Type']}']"
    if action == "CREATE" and there:
        return f"Tried to create {label} but it already exists"
    if action == "DELETE" and there is None:
        return f"Tried to delete {label} but it was not found"
    if action == "DELETE" and _values(there) != _record_data(wanted):
        return f"Tried to delete {label} but the values provided do not match the current values"
    return None


def _values(record: Any) -> tuple[Any, ...]:
    return str(record.ttl), sorted(record.records or []), _alias(record.alias_target)


def _record_data(record_set: dict[str, Any]) -> tuple[Any, ...]:
    records = sorted(record["Value"] for record in record_set.get("ResourceRecords") or [])
    return str(record_set.get("TTL")), records, _alias(record_set.get("AliasTarget"))


def _alias(target: Any) -> tuple[Any, ...] | None:
    return target and (target.get("HostedZoneId"), str(target.get("DNSName")).rstrip("."))
