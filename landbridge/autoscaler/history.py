"""What the autoscaler did in the last hours: decisions in the order of time, with what pods waited for."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from . import notes as day_notes
from .notes import Json, Notes

# Decision → what people are told; the fields are those that services/autoscaler writes with it.
WORDS: dict[str, str] = {
    "grow": "asks for {machines} machines",
    "no-grow": "does not ask for {machines}: {why}",
    "refused": "{machines} refused ({code}): {why}",
    "backoff": "is asked again later ({code})",
    "shrink": "gives up {machines} that have not come",
    "cleared": "takes {ids} away, which never were machines, or are none any more",
    "end": "ends {ids}",
    "no-end": "does not end {ids}: {why}",
    "region-problem": "does not answer: {why}",
    "region-well": "answers again",
    "wait": "{pods} pods of {owner} wait: {why}",
}
FEW = 3
# Of these a cloud's first sentence says all.
PLAIN = ("capacity", "quota", "spot")


class Line(NamedTuple):
    """`about` is a scaling group, a region, or a namespace of pods that wait; `details` are as the notes have it."""

    at: datetime
    what: str
    about: str
    text: str
    details: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"at": self.at, "decision": self.what, "about": self.about, "text": self.text, **self.details}


def lines(notes: Notes, now: datetime, hours: float) -> list[Line]:
    """Of the last hours, oldest first."""
    found = [line(one) for one in notes.decisions] + [_waited(one) for one in notes.waits]
    return sorted((one for one in found if one.at >= now - timedelta(hours=hours)), key=lambda one: one.at)


def line(record: Json) -> Line:
    fields = {name: _short(value) for name, value in record.items()}
    if "code" in record and "why" in record:
        fields["why"] = brief(str(record["code"]), str(record["why"]))
    what = str(record["decision"])
    # A newer pod's word that this command line does not know.
    text = WORDS.get(
        what, " ".join(f"{name}={value}" for name, value in fields.items() if name not in ("at", "decision"))
    )
    sentence = text.format_map(Fields(fields)) + (" (a dry run: nothing was done)" if record.get("dry_run") else "")
    about = str(record.get("group") or record.get("region") or "")
    more = {name: value for name, value in record.items() if name not in ("at", "decision")}
    return Line(day_notes.moment(str(record["at"])), what, about, sentence, more)


def _waited(record: Json) -> Line:
    codes = sorted({str(one["code"]) for time in record["times"] for one in time["causes"]})
    fields = {
        "pods": len(record["pods"]),
        "owner": record["owner"] or "nobody",
        "why": ", ".join(codes) or "nobody knows",
    }
    names = ("namespace", "owner", "requests", "selector")
    more: dict[str, Any] = {name: record[name] for name in names} | {"until": day_notes.at(record["to"])}
    more |= {"codes": codes, "pods": sorted(record["pods"])}
    return Line(day_notes.at(record["from"]), "wait", str(record["namespace"]), WORDS["wait"].format_map(fields), more)


def brief(code: str, sentence: str) -> str:
    return sentence.partition(". ")[0] if code in PLAIN else sentence


class Fields(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "?"


def _short(value: object) -> object:
    """Of many machines the first few."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        more = f" and {len(value) - FEW} more" if len(value) > FEW else ""
        return ", ".join(str(one) for one in value[:FEW]) + more
    return value
