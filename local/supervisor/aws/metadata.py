"""Instance metadata, version 2, for each machine by its address (EC2 user guide: "Use the Instance Metadata Service").

Version 1, without a token, is refused as for instances that require tokens: no machine of ours may need it.
"""

import base64
import json
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from ..cloud import CloudError
from ..metadata import Handler
from .cloud import Aws

TTL, TOKEN = "X-aws-ec2-metadata-token-ttl-seconds", "X-aws-ec2-metadata-token"
LONGEST = 21_600
# Credentials are new well before they expire: "at least five minutes prior to the expiration of the old ones".
RENEW_SECONDS = 3600
LASTING = 6 * 3600
# What "/latest/" and those before it lead to.
VERSIONS = ("latest", "2021-03-23")
# Of scheduled events, and of all else.
EVENT_TIME, TIME = "%-d %b %Y %H:%M:%S GMT", "%Y-%m-%dT%H:%M:%SZ"


class Tokens:
    """Session tokens: whose, and until when."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def make(self, instance: str, seconds: int) -> str:
        token, now = secrets.token_urlsafe(42), time.monotonic()
        with self._lock:
            self._known = {name: entry for name, entry in self._known.items() if entry[1] > now}
            self._known[token] = (instance, now + seconds)
        return token

    def good(self, token: str, instance: str) -> bool:
        with self._lock:
            owner, until = self._known.get(token, ("", 0.0))
        return owner == instance and time.monotonic() < until


class Credentials:
    """Each machine's, asked for when they are needed and kept for a while."""

    def __init__(self, aws: Aws) -> None:
        self._aws = aws
        self._known: dict[tuple[str, str | None], tuple[dict[str, str], float]] = {}
        self._lock = threading.Lock()

    def of(self, instance: str, role: str | None) -> dict[str, str]:
        """As metadata shows them; its code tells why there are none."""
        now = time.time()
        with self._lock:
            made, until = self._known.get((instance, role), ({}, 0.0))
            if now > until:
                try:
                    made, until = {"Code": "Success", **self._aws.credentials(instance)}, now + LASTING - RENEW_SECONDS
                except CloudError as error:
                    made, until = {"Code": str(error).removeprefix("credentials: ")}, now
                envelope = {"LastUpdated": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)), "Type": "AWS-HMAC"}
                made = {**made, **envelope}
                self._known[(instance, role)] = made, until
            return made


def tree(machine: dict[str, Any], credentials: Credentials) -> dict[str, str | Callable[[], str]]:
    """Every path below /latest/ that the machine has, and what is there."""
    name = f"ip-{machine['address'].replace('.', '-')}.{machine['region']}.compute.internal"
    document = {
        "accountId": machine["account"],
        "architecture": "x86_64",
        "availabilityZone": machine["zone"],
        "imageId": machine["image"],
        "instanceId": machine["id"],
        "instanceType": machine["type"],
        "pendingTime": machine["launched"],
        "privateIp": machine["address"],
        "region": machine["region"],
        "version": "2017-09-30",
    }
    found: dict[str, str | Callable[[], str]] = {
        "meta-data/ami-id": machine["image"],
        "meta-data/hostname": name,
        "meta-data/instance-id": machine["id"],
        "meta-data/instance-type": machine["type"],
        "meta-data/local-hostname": name,
        "meta-data/local-ipv4": machine["address"],
        "meta-data/placement/availability-zone": machine["zone"],
        "meta-data/placement/region": machine["region"],
        "meta-data/services/domain": "amazonaws.com",
        "dynamic/instance-identity/document": json.dumps(document, indent=2),
    }
    if role := machine["role"]:
        info = {"Code": "Success", "InstanceProfileArn": machine["profile"], "InstanceProfileId": role}
        found["meta-data/iam/info"] = json.dumps(info, indent=2)
        found[f"meta-data/iam/security-credentials/{role}"] = lambda: json.dumps(
            credentials.of(machine["id"], role), indent=2
        )
    found |= announced(machine.get("announced") or [])
    for key, value in (machine["tags"] or {}).items():
        found[f"meta-data/tags/instance/{key}"] = value
    return found


def announced(told: list[dict[str, Any]]) -> dict[str, str | Callable[[], str]]:
    """EC2 user guide: "Scheduled events", "Spot Instance interruption notices", "rebalance recommendations"."""
    found: dict[str, str | Callable[[], str]] = {}
    scheduled = [
        {
            "NotBefore": time.strftime(EVENT_TIME, time.gmtime(one["at"])),
            "Code": one["code"],
            "Description": one["code"],
            "EventId": one["id"],
            "NotAfter": time.strftime(EVENT_TIME, time.gmtime(one["until"])),
            "State": one["state"],
        }
        for one in told
        if one["code"] not in ("spot", "rebalance")
    ]
    # Empty where nothing is scheduled; the other two are not there then.
    found["meta-data/events/maintenance/scheduled"] = json.dumps(scheduled, indent=2)
    for one in told:
        if one["code"] == "spot":
            at = time.strftime(TIME, time.gmtime(one["at"]))
            found["meta-data/spot/instance-action"] = json.dumps({"action": "terminate", "time": at})
            found["meta-data/spot/termination-time"] = at
        if one["code"] == "rebalance":
            noticed = {"noticeTime": time.strftime(TIME, time.gmtime(one["told"]))}
            found["meta-data/events/recommendations/rebalance"] = json.dumps(noticed)
    return found


class AwsMetadata:
    """What instances of the local AWS are answered."""

    def __init__(self, aws: Aws) -> None:
        self.tokens, self.credentials = Tokens(), Credentials(aws)

    def serve(self, handler: Handler, machine: dict[str, Any]) -> None:
        if not machine["metadata"]["enabled"]:
            handler.say(403, "Forbidden")
        elif handler.command == "PUT":
            self.put(handler, machine)
        elif handler.command in ("GET", "HEAD"):
            self.get(handler, machine)
        else:
            handler.say(405, "Method Not Allowed")

    def put(self, handler: Handler, machine: dict[str, Any]) -> None:
        if handler.path != "/latest/api/token":
            return handler.say(404, "Not Found")
        seconds = handler.headers.get(TTL, "")
        # "The PUT request … with an X-Forwarded-For header" is refused: it came through a proxy.
        if "X-Forwarded-For" in handler.headers:
            return handler.say(403, "Forbidden")
        if not seconds.isdecimal() or not 1 <= int(seconds) <= LONGEST:
            return handler.say(400, "Bad Request")
        # Between here and the machine is its network's router.
        handler.connection.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, machine["metadata"]["hops"] + 1)
        return handler.say(200, self.tokens.make(machine["id"], int(seconds)), headers={TTL: seconds})

    def get(self, handler: Handler, machine: dict[str, Any]) -> None:
        if not self.tokens.good(handler.headers.get(TOKEN, ""), machine["id"]):
            return handler.say(401, "Unauthorized")
        version, _, path = handler.path.lstrip("/").partition("/")
        if version not in VERSIONS:
            return handler.say(404, "Not Found")
        if path == "user-data":
            data = base64.b64decode(machine["user_data"]).decode(errors="replace")
            return handler.say(200, data, "application/octet-stream")
        known = tree(machine, self.credentials)
        if found := known.get(path):
            return handler.say(200, found if isinstance(found, str) else found())
        folder = path.rstrip("/") + "/" if path.strip("/") else ""
        below = {name.removeprefix(folder) for name in known if name.startswith(folder)}
        if not below:
            return handler.say(404, "Not Found")
        listed = sorted({name.partition("/")[0] + "/" * ("/" in name) for name in below})
        return handler.say(200, "\n".join(listed))
