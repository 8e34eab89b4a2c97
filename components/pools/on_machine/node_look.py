"""Looks whether this machine is fit for work: each minute, and when a run is to begin on it, whose pod it answers.

What is wrong becomes a condition of the Node, as the node itself: no new work comes to it then, until a later look
finds nothing. docs/decisions/0066-fit-hosts.md says why.
"""

import json
import os
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from machine import say
from node_fitness import Fitness
from own_node import client

from kube_http import STRATEGIC, Answer, Json, Kube

# fleet/fitness.py has the same: a test compares.
PORT, CONDITION = 8098, "HostUnfit"
FIT, UNFIT = "HostIsFit", "HostIsUnfit"
WELL = "nothing is wrong with it"
# Pods of one run come to a machine at once, and are answered by one look.
FRESH_SECONDS = 5.0
# While nothing is wrong, and while something is; and how soon the API is tried again.
EACH_SECONDS, AGAIN_SECONDS, RETRY_SECONDS = 60.0, 30.0, 5.0
MOST_SIGNS = 1000


class Look:
    """`said` is what the Node has: None while that is not known."""

    def __init__(self, kube: Kube, node: str, fitness: Fitness) -> None:
        self.kube, self.node, self.fitness = kube, node, fitness
        self.lock, self.writing = threading.Lock(), threading.Lock()
        self.wrong: list[str] = []
        self.seconds, self.at = 0.0, float("-inf")
        self.said: str | None = None
        # When it began to be unfit, as the Node has it; empty while it is fit.
        self.since = ""

    @property
    def message(self) -> str:
        return "; ".join(self.wrong)[:MOST_SIGNS]

    def now(self) -> Json:
        """What a pod hears. The Node has it before, so that the pod's run does not come here again."""
        with self.lock:
            if time.monotonic() - self.at > FRESH_SECONDS:
                begun = time.monotonic()
                self.wrong = self.fitness.look()
                self.at = time.monotonic()
                self.seconds = round(self.at - begun, 3)
            found = {"fit": not self.wrong, "wrong": self.wrong, "seconds": self.seconds}
        self.say()
        return found

    def say(self) -> None:
        with self.writing:
            message = self.message
            if message == self.said:
                return
            try:
                if self.said is None:
                    self.since = self._since()
                    if not message and not self.since:
                        self.said = ""
                        return
                # Other words for what has been wrong all the time are no other maintenance.
                since = self.since if message and self.since else stamp()
                body = {"status": {"conditions": [condition(message, since)]}}
                self.kube.ask("PATCH", f"/api/v1/nodes/{self.node}/status", body, STRATEGIC)
            except (OSError, Answer) as error:
                say(f"{CONDITION} is not reported yet: {error}")
                return
            self.said, self.since = message, since if message else ""
            say(f"{CONDITION}: {message or WELL}")

    def _since(self) -> str:
        """Of an earlier start; empty where the Node says nothing, or that it is fit."""
        found = self.kube.ask("GET", f"/api/v1/nodes/{self.node}")
        conditions = (found.get("status") or {}).get("conditions") or []
        mine = (one for one in conditions if one["type"] == CONDITION and one["status"] == "True")
        return next((str(one["lastTransitionTime"]) for one in mine), "")

    def follow(self) -> None:
        """For ever. What is well costs the API nothing."""
        while True:
            self.now()
            time.sleep(self.pause())

    def pause(self) -> float:
        if self.said != self.message:
            return RETRY_SECONDS
        return AGAIN_SECONDS if self.wrong else EACH_SECONDS


def stamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def condition(message: str, since: str) -> Json:
    return {
        "type": CONDITION,
        "status": "True" if message else "False",
        "reason": UNFIT if message else FIT,
        "message": message or WELL,
        "lastTransitionTime": since,
        "lastHeartbeatTime": stamp(),
    }


def handler(look: Look) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/look":
                self.send_error(HTTPStatus.NOT_FOUND)
                return
            body = json.dumps(look.now()).encode()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *_: object) -> None:  # noqa: A002
            """Nothing: each run would be a line."""

    return Handler


def main() -> None:
    look = Look(client(), os.environ["NODE_NAME"], Fitness())
    threading.Thread(target=look.follow, daemon=True).start()
    ThreadingHTTPServer((os.environ["NODE_ADDRESS"], PORT), handler(look)).serve_forever()


if __name__ == "__main__":
    main()
