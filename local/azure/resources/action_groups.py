"""Action groups: whom alerts of Azure's Monitor tell. They are kept and checked; nothing here mails."""

import re
from typing import Any

from ..errors import bad_request
from ..kinds import Kind, Write
from ..regions import GLOBAL
from . import common

GROUP = "Microsoft.Insights/actionGroups"
NAME = re.compile(r"[^*#&+:<>?@%{}\\/|]{1,260}")
MAIL = re.compile(r"[^@\s]+@[^@\s]+")
SHORT = 12
# Azure Monitor docs, "Action Groups - Create Or Update". Other ways to tell somebody are nobody's here.
KNOWN = frozenset(("groupShortName", "enabled", "emailReceivers"))
RECEIVER = frozenset(("name", "emailAddress", "useCommonAlertSchema", "status"))


def _check(write: Write) -> None:
    if write.new.location != GLOBAL:
        message = f"{write.id.text} is in '{write.new.location}'; it must be in 'global'."
        raise bad_request("LocationNotAvailableForResourceType", message)
    if not NAME.fullmatch(write.id.name):
        raise common.invalid(f"'{write.id.name}' is no name of an action group.")
    properties = write.properties
    short = properties.get("groupShortName")
    if not isinstance(short, str) or not 1 <= len(short) <= SHORT:
        raise common.invalid(f"{write.id.text}: groupShortName is {short!r}; it must have 1 to {SHORT} characters.")
    if not isinstance(properties.setdefault("enabled", True), bool):
        raise common.invalid(f"{write.id.text}: enabled is {properties['enabled']!r}; it must be true or false.")
    names = set[str]()
    properties["emailReceivers"] = properties.get("emailReceivers") or []
    for one in properties["emailReceivers"]:
        _receiver(write, one)
        if one["name"].lower() in names:
            raise common.invalid(f"{write.id.text}: two receivers have the name {one['name']}.")
        names.add(one["name"].lower())


def _receiver(write: Write, one: dict[str, Any]) -> None:
    if strange := sorted(one.keys() - RECEIVER):
        raise common.invalid(f"Could not find member '{strange[0]}' at 'properties.emailReceivers' of {write.id.text}.")
    if not one.get("name") or not MAIL.fullmatch(str(one.get("emailAddress"))):
        raise common.invalid(f"{write.id.text}: {one} is no receiver: it needs a name and an emailAddress.")
    one.setdefault("useCommonAlertSchema", False)
    one["status"] = "Enabled"


KINDS = (
    Kind(
        GROUP,
        check=_check,
        known=KNOWN,
        stateless=True,
        untagged=True,
        # An alert that names one which is gone tells nobody.
        free=frozenset(("Microsoft.Insights/metricAlerts",)),
    ),
)
