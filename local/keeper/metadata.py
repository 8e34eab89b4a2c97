"""Instance metadata, version 2, for each machine by its address (EC2 user guide: "Use the Instance Metadata Service").

Version 1, without a token, is refused as for instances that require tokens: no machine of ours may need it.
"""

import base64
import http.server
import json
import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from typing import Any

from .aws import Aws, AwsError

ADDRESS, PORT = "169.254.169.254", 80
IP_FREEBIND = 15
TTL, TOKEN = "X-aws-ec2-metadata-token-ttl-seconds", "X-aws-ec2-metadata-token"
LONGEST = 21_600
# Credentials are new well before they expire: "at least five minutes prior to the expiration of the old ones".
RENEW_SECONDS = 3600
LASTING = 6 * 3600
# What "/latest/" and those before it lead to.
VERSIONS = ("latest", "2021-03-23")

Find = Callable[[str], dict[str, Any] | None]


class Tokens:
    """Session tokens: whose, and until when."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, float]] = {}
        self._lock = threading.Lock()

    def make(self, instance: str, seconds: int) -> str:
        token, now = secrets.token_urlsafe(42), time.monotonic()
        with self._lock:
            self._known = {name: kept for name, kept in self._known.items() if kept[1] > now}
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
                except AwsError as error:
                    made, until = {"Code": str(error).removeprefix("credentials: ")}, now
                told = {"LastUpdated": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)), "Type": "AWS-HMAC"}
                made = {**made, **told}
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
    for key, value in (machine["tags"] or {}).items():
        found[f"meta-data/tags/instance/{key}"] = value
    return found


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Answers at the metadata's address, which need not be there yet."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, find: Find, aws: Aws) -> None:
        self.find, self.tokens, self.credentials = find, Tokens(), Credentials(aws)
        super().__init__((ADDRESS, PORT), Handler)

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.SOL_IP, IP_FREEBIND, 1)
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, PORT


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    server_version, sys_version = "EC2ws", ""
    timeout = 20

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Not a line a call."""

    def machine(self) -> dict[str, Any] | None:
        """Who asks; answers for those who get nothing."""
        found = self.server.find(self.client_address[0])
        if found is None:
            self.say(404, f"No instance has the address {self.client_address[0]}")
        elif not found["metadata"]["enabled"]:
            self.say(403, "Forbidden")
            return None
        return found

    def say(self, status: int, text: str = "", kind: str = "text/plain") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_PUT(self) -> None:
        machine = self.machine()
        if machine is None:
            return None
        if self.path != "/latest/api/token":
            return self.say(404, "Not Found")
        seconds = self.headers.get(TTL, "")
        # "The PUT request … with an X-Forwarded-For header" is refused: it came through a proxy.
        if "X-Forwarded-For" in self.headers:
            return self.say(403, "Forbidden")
        if not seconds.isdecimal() or not 1 <= int(seconds) <= LONGEST:
            return self.say(400, "Bad Request")
        # Between here and the machine is its network's router.
        self.connection.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, machine["metadata"]["hops"] + 1)
        token = self.server.tokens.make(machine["id"], int(seconds))
        body = token.encode()
        self.send_response(200)
        for name, value in ((TTL, seconds), ("Content-Type", "text/plain"), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return None

    def do_GET(self) -> None:
        machine = self.machine()
        if machine is None:
            return None
        if not self.server.tokens.good(self.headers.get(TOKEN, ""), machine["id"]):
            return self.say(401, "Unauthorized")
        version, _, path = self.path.lstrip("/").partition("/")
        if version not in VERSIONS:
            return self.say(404, "Not Found")
        if path == "user-data":
            return self.say(
                200, base64.b64decode(machine["user_data"]).decode(errors="replace"), "application/octet-stream"
            )
        known = tree(machine, self.server.credentials)
        if found := known.get(path):
            return self.say(200, found if isinstance(found, str) else found())
        folder = path.rstrip("/") + "/" if path.strip("/") else ""
        below = {name.removeprefix(folder) for name in known if name.startswith(folder)}
        if not below:
            return self.say(404, "Not Found")
        listed = sorted({name.partition("/")[0] + "/" * ("/" in name) for name in below})
        return self.say(200, "\n".join(listed))

    def do_HEAD(self) -> None:
        self.do_GET()
