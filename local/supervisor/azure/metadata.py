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

    def serve(self, handler: Handler, machine: dict[str, Any]) -> None:
        url = urlsplit(handler.path)
        root, _, path = url.path.strip("/").partition("/")
        query = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        if root != "metadata":
            return tell(handler, 404, {"error": "Not found"})
        if why := refused(handler):
            # The identity endpoint says it in OAuth's form.
            whose = {"error": "invalid_request", "error_description": why}
            return tell(handler, 400, whose if path.startswith("identity") else {"error": f"Bad request. {why}"})
        method = "GET" if handler.command == "HEAD" else handler.command
        if call := self.calls.get((path, method)):
            return call(handler, machine, query)
        if method != "GET":
            return tell(handler, 405, {"error": f"The method {method} is not allowed"})
        if path.partition("/")[0] != "instance":
            return tell(handler, 404, {"error": "Not found"})
        return instance(handler, machine, path.partition("/")[2], query)

    def token(self, handler: Handler, machine: dict[str, Any], query: dict[str, str]) -> None:
        if not query.get("api-version"):
            return tell(handler, 400, invalid("Required query variable 'api-version' is missing"))
        if query["api-version"] not in VERSIONS:
            return tell(handler, 400, invalid(f"The api-version {query['api-version']} is not supported"))
        if not query.get("resource"):
            return tell(handler, 400, invalid("Required query variable 'resource' is missing"))
        chosen = {CHOICES[name]: value for name, value in query.items() if name in CHOICES and value}
        if len(chosen) > 1:
            return tell(handler, 400, invalid(f"Only one of {', '.join(sorted(chosen))} may be specified"))
        return tell(handler, *self.azure.token(machine["resource"], query["resource"], chosen))

    def attested(self, handler: Handler, machine: dict[str, Any], query: dict[str, str]) -> None:
        if problem := version_refused(query):
            return tell(handler, 400, problem)
        status, answer = self.azure.attested(machine["resource"], query.get("nonce", ""))
        # Its own errors have one member.
        return tell(
            handler, status, answer if status == OK else {"error": f"Bad request. {answer['error_description']}"}
        )

    def events(self, handler: Handler, machine: dict[str, Any], query: dict[str, str]) -> None:
        if problem := version_refused(query, EVENTS):
            return tell(handler, 400, problem)
        return tell(handler, *self.azure.events(machine["resource"]))

    def start_events(self, handler: Handler, machine: dict[str, Any], query: dict[str, str]) -> None:
        if problem := version_refused(query, EVENTS):
            return tell(handler, 400, problem)
        try:
            body = json.loads(handler.body())
        except ValueError:
            return tell(handler, 400, {"error": "Bad request. The body is no JSON"})
        status, answer = self.azure.start_events(machine["resource"], body)
        return tell(handler, status, {} if status == OK else {"error": f"Bad request. {answer}"})


def refused(handler: Handler) -> str:
    """Why a call is none of a program of the machine's own; empty if it is one."""
    if handler.headers.get("Metadata", "").lower() != "true":
        return NO_HEADER
    return FORWARDED if "X-Forwarded-For" in handler.headers else ""


def invalid(why: str) -> dict[str, str]:
    return {"error": "invalid_request", "error_description": why}


def versions(handler: Handler, _: dict[str, Any], __: dict[str, str]) -> None:
    tell(handler, 200, {"apiVersions": list(VERSIONS)})


def version_refused(query: dict[str, str], known: Sequence[str] = VERSIONS) -> dict[str, Any] | None:
    """The answer to a call without a version that there is."""
    version = query.get("api-version")
    if version in known:
        return None
    what = "api-version is invalid" if version else "api-version was not specified in the request"
    return {
        "error": f"Bad request. {what}. For more information refer to aka.ms/azureimds",
        "newest-versions": list(known[: -NEWEST - 1 : -1]),
    }


def instance(handler: Handler, machine: dict[str, Any], path: str, query: dict[str, str]) -> None:
    """The whole tree, a branch as JSON, or, with format=text, a leaf or a branch's names."""
    if problem := version_refused(query):
        return tell(handler, 400, problem)
    found: Any = machine["metadata"]
    for name in filter(None, path.split("/")):
        if isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict) and name in found:
            found = found[name]
        else:
            return tell(handler, 404, {"error": "Not found"})
    if query.get("format", "json") == "text":
        return handler.say(200, text(found), "text/plain; charset=utf-8")
    if isinstance(found, str):
        message = f"Bad request. The requested element /{path} is a leaf: it is given with format=text only"
        return tell(handler, 400, {"error": message})
    return tell(handler, 200, found)


def text(found: Any) -> str:
    if isinstance(found, str):
        return found
    names = [str(n) for n in range(len(found))] if isinstance(found, list) else list(found)
    below = [found[int(name)] if isinstance(found, list) else found[name] for name in names]
    return "\n".join(name + "/" * (not isinstance(one, str)) for name, one in zip(names, below, strict=True))


def tell(handler: Handler, status: int, body: Any) -> None:
    handler.say(status, json.dumps(body), JSON)
