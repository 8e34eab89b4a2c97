"""The kind of object that says what is planned on machines, as the API server is told of it, and who may move one."""

from typing import Any

from components.pools import labels
from fleet import maintenance
from fleet.model import Postponing
from fleet.people import GROUP as GROUP_OF_TEAM

from .manifests import Manifest, meta

ADDON = maintenance.ACCOUNT
NAME = f"{maintenance.PLURAL}.{maintenance.GROUP}"
POLICY = f"{labels.DOMAIN}-maintenance"
ADMISSION = "admissionregistration.k8s.io/v1"
TIME: Manifest = {"type": "string", "format": "date-time"}
TEXT: Manifest = {"type": "string", "maxLength": maintenance.MOST_SIGNS}
NAMED: Manifest = {"type": "string", "minLength": 1, "maxLength": 253}
FLAG: Manifest = {"type": "boolean"}
SECONDS: Manifest = {"type": "integer", "minimum": 0, "maximum": 1209600}
# A node each: so many fit in one object.
MOST_NODES, MOST_MOVES = 5000, 100
COLUMNS = (
    ("Source", ".spec.source"),
    ("Target", ".spec.target.name"),
    ("Start", ".spec.start"),
    ("Phase", ".status.phase"),
    ("Why", ".spec.why"),
)


def _thing(required: tuple[str, ...], **properties: Manifest) -> Manifest:
    return {"type": "object", "required": list(required), "properties": properties}


def _choice(*values: str) -> Manifest:
    return {"type": "string", "enum": list(values)}


def _spec() -> Manifest:
    target = _thing(("kind", "name"), kind=_choice(*maintenance.TARGETS), name=NAMED)
    move = _thing(("by", "at", "minutes"), by=NAMED, at=TIME, minutes={"type": "integer", "minimum": 1})
    found = _thing(
        ("source", "target", "why", "start", "end", "noticeSeconds", "closedSeconds"),
        source=_choice(*maintenance.SOURCES),
        target=target,
        why=TEXT,
        by=TEXT,
        event=TEXT,
        start=TIME,
        end=TIME,
        deadline=TIME,
        noticeSeconds=SECONDS,
        closedSeconds=SECONDS,
        over=FLAG,
        cancelled=FLAG,
        postponed={"type": "array", "maxItems": MOST_MOVES, "items": move},
    )
    found["x-kubernetes-validations"] = [
        {"rule": "self.end >= self.start", "message": "it ends before it starts"},
        {"rule": "!has(self.deadline) || self.deadline >= self.start", "message": "its deadline is before its start"},
        *(
            {"rule": f"self.{name} == oldSelf.{name}", "message": f"{name} stays what it was: plan another one"}
            for name in ("source", "target")
        ),
    ]
    return found


def _status() -> Manifest:
    pods: Manifest = {"type": "array", "items": {"type": "string"}}
    phase = _choice(*maintenance.PHASES)
    node = _thing(("phase", "told", "since"), phase=phase, told=TIME, since=TIME, why=TEXT, work=pods, teams=pods)
    nodes = {"type": "object", "maxProperties": MOST_NODES, "additionalProperties": node}
    return {"type": "object", "properties": {"phase": {"type": "string"}, "nodes": nodes}}


def definition() -> Manifest:
    schema = _thing(("spec",), spec=_spec(), status=_status())
    version = {
        "name": maintenance.VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [{"name": name, "type": "string", "jsonPath": path} for name, path in COLUMNS],
    }
    names = {
        "kind": maintenance.KIND,
        "listKind": f"{maintenance.KIND}List",
        "plural": maintenance.PLURAL,
        "singular": maintenance.KIND.lower(),
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": meta(NAME, ADDON, ""),
        "spec": {"group": maintenance.GROUP, "names": names, "scope": "Cluster", "versions": [version]},
    }


def policy(told: Postponing) -> list[Manifest]:
    """What people may change of a plan who may not delete one: its time, to later, within the limits, once told."""
    same = ("why", "by", "event", "noticeSeconds", "closedSeconds", "over", "cancelled")
    ours = ", ".join(f"'{name}'" for name, one in maintenance.SOURCES.items() if one.ours)
    move = "object.spec.postponed[size(object.spec.postponed) - 1]"
    minutes = "object.spec.postponed.map(one, one.minutes)"
    by = f"duration(string({move}.minutes) + 'm')"
    nodes = "oldObject.?status.?nodes.orValue({})"
    theirs = f"('{GROUP_OF_TEAM}' + team) in request.userInfo.groups"
    checks = (
        (
            f"{told.by == 'team'}".lower(),
            "plans are postponed by operators",
        ),
        (
            "request.operation == 'UPDATE' && object.metadata.?labels == oldObject.metadata.?labels && "
            "object.metadata.?annotations == oldObject.metadata.?annotations && "
            + " && ".join(f"object.spec.?{name} == oldObject.spec.?{name}" for name in same),
            "only its time may be changed, by: landbridge maintenance postpone",
        ),
        (
            "size(object.spec.?postponed.orValue([])) == size(oldObject.spec.?postponed.orValue([])) + 1 && "
            "oldObject.spec.?postponed.orValue([]).all(one, one in object.spec.postponed)",
            "its earlier moves stay, and one is added",
        ),
        (
            f"{move}.by == request.userInfo.username && {_later('start', by)} && {_later('end', by)} && "
            "has(object.spec.deadline) == has(oldObject.spec.deadline) && "
            f"(!has(object.spec.deadline) || {_later('deadline', by)})",
            "start and end move by the minutes that are written, under the name of who moves them",
        ),
        (f"size({minutes}) <= {told.times}", f"it was postponed {told.times} times already"),
        (
            f"{minutes}.sum() <= {int(told.hours * 60)}",
            f"it may be postponed by {told.hours:g} hours in all",
        ),
        (f"object.spec.source in [{ours}]", "its time is the cloud's to choose"),
        (
            f"{nodes}.all(name, {nodes}[name].phase in ['told', 'closed'])",
            "it has begun",
        ),
        (
            f"{nodes}.exists(name, {nodes}[name].?teams.orValue([]).exists(team, {theirs}))",
            "your team has no work there",
        ),
    )
    validations: list[dict[str, Any]] = [
        {"expression": expression, "message": message, "reason": "Forbidden"} for expression, message in checks
    ]
    people = f"!authorizer.group('{maintenance.GROUP}').resource('{maintenance.PLURAL}').check('delete').allowed()"
    rule = {
        "apiGroups": [maintenance.GROUP],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": [maintenance.PLURAL],
    }
    return [
        {
            "apiVersion": ADMISSION,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": meta(POLICY, ADDON, ""),
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [rule]},
                "matchConditions": [{"name": "people", "expression": people}],
                "validations": validations,
            },
        },
        {
            "apiVersion": ADMISSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": meta(POLICY, ADDON, ""),
            "spec": {"policyName": POLICY, "validationActions": ["Deny"]},
        },
    ]


def _later(name: str, by: str) -> str:
    """A policy sees times as texts."""
    return f"timestamp(object.spec.{name}) == timestamp(oldObject.spec.{name}) + {by}"
