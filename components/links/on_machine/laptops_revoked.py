"""Keeps the list of revoked certificates as the fleet bucket has it, and ends sessions of those that are on it.

OpenVPN reads the list at each handshake, of which a session has one an hour: who is there already has to be sent away.
"""

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

from cloud import Cloud, cloud
from laptops_sessions import Sessions
from machine import Refused, say, settings, write

ABSENT = (403, 404)
SERIAL = re.compile(r"Serial Number: ([0-9A-F]+)")
NUMBER = re.compile(r"crlNumber=(?:0x)?([0-9A-F]+)")
# Where the health check finds when the bucket was last heard.
HEARD = "heard.json"


class BadList(Exception):
    """What lies in the bucket is no list of the authority's, or an older one than we have."""


def openssl(text: str, *words: str) -> str:
    """What `openssl crl` says. Raises BadList."""
    done = subprocess.run(["openssl", "crl", *words], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadList(done.stderr.strip().partition("\n")[0][:200])
    return done.stdout + done.stderr


def number(text: str) -> int:
    found = NUMBER.search(openssl(text, "-noout", "-crlnumber"))
    return int(found[1], 16) if found else 0


def check(text: str, authority: str, present: str) -> None:
    """Raises BadList."""
    # Its exit status says nothing of this before OpenSSL 3.2.
    if "verify OK" not in openssl(text, "-noout", "-CAfile", authority):
        raise BadList("it is not signed by the authority")
    if present and number(text) < number(present):
        raise BadList(f"its number {number(text)} is lower than that of the list that is here")


def serials(text: str) -> set[str]:
    """Of revoked certificates, as they stand in common names."""
    return {found.lower() for found in SERIAL.findall(openssl(text, "-noout", "-text"))}


class RevocationList:
    """`refresh` does once what is to be done every twenty seconds."""

    def __init__(self, told: Any, home: Cloud) -> None:
        self.settings, self.home = told, home
        self.file = Path(told["revoked"])
        self.etag, self.reported, self.text = "", "", ""
        self.revoked: set[str] = set()

    def refresh(self) -> None:
        try:
            self.fetch()
            self.note("")
        except BadList as problem:
            self.note(f"the list in the bucket is not taken: {problem}")
        except Refused as refused:
            missing = "it is not there: the first `landbridge vpn add` makes it" if refused.status in ABSENT else ""
            self.note(f"the list can't be fetched: {missing or refused}")
        except OSError as problem:
            self.note(f"the list can't be fetched: {problem}")
        try:
            self.send_away()
        except OSError as problem:
            say(f"sessions can't be looked at: {problem}")

    def note(self, problem: str) -> None:
        """Says what is wrong, once. Without a problem the bucket was heard just now."""
        if problem and problem != self.reported:
            say(f"ERROR: {problem}")
        if self.reported and not problem:
            say("the list is fetched again")
        self.reported = problem
        if not problem:
            write(self.file.with_name(HEARD), json.dumps({"at": time.time()}))

    def fetch(self) -> None:
        """Raises BadList, Refused, OSError."""
        text = self.home.newer(self.settings["bucket"], self.settings["object"], self.etag)
        if text is None:
            return
        etag = self.home.headers.get("ETag", "")
        present = self.file.read_text() if self.file.exists() else ""
        check(text, self.settings["authority"], present)
        if text != present:
            self.install(text)
        self.revoked, self.etag = serials(text), etag

    def install(self, text: str) -> None:
        """In one step, for OpenVPN may read it at any moment."""
        write(self.file, text)
        say(f"list {number(text)} is in place: {len(serials(text))} certificates are revoked")

    def send_away(self) -> None:
        """At each refresh: a session may have begun with an old list."""
        if not self.revoked or not Path(self.settings["management"]).exists():
            return
        with Sessions(self.settings["management"]) as sessions:
            for name in sessions.names():
                if name.rpartition(".")[2] in self.revoked:
                    say(f"{name} is revoked: {sessions.end(name)} session ended")


def main() -> None:
    told: Any = settings("laptops")
    revoked_list = RevocationList(told, cloud(str(told["region"])))
    revoked_list.file.parent.mkdir(parents=True, exist_ok=True)
    if revoked_list.file.exists():  # before the bucket is heard, what was known counts
        revoked_list.revoked = serials(revoked_list.file.read_text())
    while True:
        revoked_list.refresh()
        time.sleep(float(told["every_seconds"]))


if __name__ == "__main__":
    main()
