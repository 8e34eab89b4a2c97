"""Instance metadata of Azure's machines (Azure docs, "Azure Instance Metadata Service" and "How to use managed
identities … to acquire an access token").

Every call bears `Metadata: true` and did not come through a proxy; its refusals are Azure's words.
"""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ..cloud import OK
from ..metadata import Handler
from .cloud import Azure

VERSIONS = (
    *("2017-03-01", "2017-04-02", "2017-08-01", "2017-12-01", "2018-02-01", "2018-04-02", "2018-10-01", "2019-02-01"),
    *("2019-03-11", "2019-04-30", "2019-06-01", "2019-06-04", "2019-08-01", "2019-08-15", "2019-11-01", "2020-06-01"),
    *("2020-07-15", "2020-09-01", "2020-10-01", "2020-12-01", "2021-01-01", "2021-02-01", "2021-03-01", "2021-05-01"),
    *("2021-10-01", "2021-11-01", "2021-11-15", "2021-12-13", "2023-07-01", "2023-11-15"),
)
# Scheduled events have their own.
EVENTS = ("2017-08-01", "2017-11-01", "2019-01-01", "2019-04-01", "2019-08-01", "2020-07-01")
NEWEST = 3  # so many are named to who asks for one that is not there
# Which of several identities a token is for: at most one of these.
CHOICES = {"client_id": "client_id", "object_id": "object_id", "msi_res_id": "msi_res_id", "mi_res_id": "msi_res_id"}
JSON = "application/json; charset=utf-8"
NO_HEADER, FORWARDED = "Required metadata header not specified", "X-Forwarded-For header is not allowed"


class AzureMetadata:
    """What machines of the local Azure are answered."""

    def __init__(self, azure: Azure) -> None:
        self.azure = azure
        self.calls = {
            ("identity/oauth2/token", "GET"): self.token,
            ("attested/document", "GET"): self.attested,
            ("scheduledevents", "GET"): self.events,
            ("scheduledevents", "POST"): self.start_events,
            ("versions", "GET"): versions,
        }

    def serve(self, asked: Handler, machine: dict[str, Any]) -> None:
        told = urlsplit(asked.path)
        root, _, path = told.path.strip("/").partition("/")
        query = {name: values[-1] for name, values in parse_qs(told.query, keep_blank_values=True).items()}
        if root != "metadata":
            return tell(asked, 404, {"error": "Not found"})
        if why := refused(asked):
            # The identity endpoint says it in OAuth's form.
            whose = {"error": "invalid_request", "error_description": why}
            return tell(asked, 400, whose if path.startswith("identity") else {"error": f"Bad request. {why}"})
        method = "GET" if asked.command == "HEAD" else asked.command
        if call := self.calls.get((path, method)):
            return call(asked, machine, query)
        if method != "GET":
            return tell(asked, 405, {"error": f"The method {method} is not allowed"})
        if path.partition("/")[0] != "instance":
            return tell(asked, 404, {"error": "Not found"})
        return instance(asked, machine, path.partition("/")[2], query)

    def token(self, asked: Handler, machine: dict[str, Any], query: dict[str, str]) -> None:
        if not query.get("api-version"):
            return tell(asked, 400, invalid("Required query variable 'api-version' is missing"))
        if query["api-version"] not in VERSIONS:
            return tell(asked, 400, invalid(f"The api-version {query['api-version']} is not supported"))
        if not query.get("resource"):
            return tell(asked, 400, invalid("Required query variable 'resource' is missing"))
        chosen = {CHOICES[name]: value for name, value in query.items() if name in CHOICES and value}
        if len(chosen) > 1:
            return tell(asked, 400, invalid(f"Only one of {', '.join(sorted(chosen))} may be specified"))
        return tell(asked, *self.azure.token(machine["resource"], query["resource"], chosen))

    def attested(self, asked: Handler, machine: dict[str, Any], query: dict[str, str]) -> None:
        if problem := version_refused(query):
            return tell(asked, 400, problem)
        status, told = self.azure.attested(machine["resource"], query.get("nonce", ""))
        # Its own errors have one member.
        return tell(asked, status, told if status == OK else {"error": f"Bad request. {told['error_description']}"})

    def events(self, asked: Handler, machine: dict[str, Any], query: dict[str, str]) -> None:
        if problem := version_refused(query, EVENTS):
            return tell(asked, 400, problem)
        return tell(asked, *self.azure.events(machine["resource"]))

    def start_events(self, asked: Handler, machine: dict[str, Any], query: dict[str, str]) -> None:
        if problem := version_refused(query, EVENTS):
            return tell(asked, 400, problem)
        try:
            told = json.loads(asked.body())
        except ValueError:
            return tell(asked, 400, {"error": "Bad request. The body is no JSON"})
        status, said = self.azure.start_events(machine["resource"], told)
        return tell(asked, status, {} if status == OK else {"error": f"Bad request. {said}"})


def refused(asked: Handler) -> str:
    """Why a call is none of a program of the machine's own; empty if it is one."""
    if asked.headers.get("Metadata", "").lower() != "true":
        return NO_HEADER
    return FORWARDED if "X-Forwarded-For" in asked.headers else ""


def invalid(why: str) -> dict[str, str]:
    return {"error": "invalid_request", "error_description": why}


def versions(asked: Handler, _: dict[str, Any], __: dict[str, str]) -> None:
    tell(asked, 200, {"apiVersions": list(VERSIONS)})


def version_refused(query: dict[str, str], known: Sequence[str] = VERSIONS) -> dict[str, Any] | None:
    """The answer to a call without a version that there is."""
    told = query.get("api-version")
    if told in known:
        return None
    what = "api-version is invalid" if told else "api-version was not specified in the request"
    return {
        "error": f"Bad request. {what}. For more information refer to aka.ms/azureimds",
        "newest-versions": list(known[: -NEWEST - 1 : -1]),
    }


def instance(asked: Handler, machine: dict[str, Any], path: str, query: dict[str, str]) -> None:
    """The whole tree, a branch as JSON, or, with format=text, a leaf or a branch's names."""
    if problem := version_refused(query):
        return tell(asked, 400, problem)
    found: Any = machine["metadata"]
    for name in filter(None, path.split("/")):
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            return tell(asked, 404, {"error": "Not found"})
    if query.get("format", "json") == "text":
        return asked.say(200, text(found), "text/plain; charset=utf-8")
    if isinstance(found, str):
        message = f"Bad request. The requested element /{path} is a leaf: it is given with format=text only"
        return tell(asked, 400, {"error": message})
    return tell(asked, 200, found)


def text(found: Any) -> str:
    if isinstance(found, str):
        return found
    names = [str(n) for n in range(len(found))] if isinstance(found, list) else list(found)
    below = [found[int(name)] if isinstance(found, list) else found[name] for name in names]
    return "\n".join(name + "/" * (not isinstance(one, str)) for name, one in zip(names, below, strict=True))


def tell(asked: Handler, status: int, told: Any) -> None:
    asked.say(status, json.dumps(told), JSON)
