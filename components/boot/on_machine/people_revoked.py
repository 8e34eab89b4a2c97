"""Keeps the list of people's revoked certificates as the fleet bucket has it, in the form that sshd reads.

The bucket's list is signed by the authority. sshd asks the list at each login, so nothing has to be told.
"""

import json
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from cloud import Cloud, cloud
from machine import Refused, say, settings

ABSENT = (403, 404)
SIGNER, NAMESPACE = "authority", "landbridge-revoked"
BEGIN = "-----BEGIN SSH SIGNATURE-----"
NUMBER = re.compile(r"# list (\d+)\n")


class BadList(Exception):
    """What lies in the bucket is no list of the authority's, or an older one than we have."""


def keygen(*words: str, text: str = "") -> None:
    """Raises BadList."""
    done = subprocess.run(["ssh-keygen", *words], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BadList((done.stderr + done.stdout).strip().partition("\n")[0][:200])


class RevocationList:
    """`refresh` does once what is to be done every twenty seconds."""

    def __init__(self, told: Any, home: Cloud) -> None:
        self.settings, self.home = told, home
        self.file = Path(told["revoked"])
        # Beside the list itself: the number that it bears.
        self.number_file = self.file.with_name(self.file.name + ".json")
        self.etag, self.reported = "", ""

    def refresh(self) -> None:
        problem = ""
        try:
            self.fetch()
        except BadList as bad:
            problem = f"the list in the bucket is not taken: {bad}"
        except Refused as refused:
            missing = refused.status in ABSENT
            problem = "" if missing and not self.etag else f"the list can't be fetched: {refused}"
        except OSError as error:
            problem = f"the list can't be fetched: {error}"
        if problem and problem != self.reported:
            say(f"ERROR: {problem}")
        if self.reported and not problem:
            say("the list is fetched again")
        self.reported = problem

    def fetch(self) -> None:
        """Raises BadList, Refused, OSError."""
        text = self.home.newer(self.settings["bucket"], self.settings["object"], self.etag)
        if text is None:
            return
        etag = self.home.headers.get("ETag", "")
        self.take(text)
        self.etag = etag

    def take(self, text: str) -> None:
        """Raises BadList."""
        body, _, _ = text.partition(BEGIN)
        authority = Path(self.settings["authority"])
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "signers").write_text(f"{SIGNER} {authority.read_text()}")
            (folder / "signature").write_text(text[len(body) :])
            words = ("-f", str(folder / "signers"), "-I", SIGNER, "-n", NAMESPACE, "-s", str(folder / "signature"))
            keygen("-Y", "verify", *words, text=body)
            number = self.newer(body)
            (folder / "serials").write_text(body)
            draft = self.file.with_name(self.file.name + ".new")
            keygen("-k", "-f", str(draft), "-s", str(authority), "-z", str(number), str(folder / "serials"))
            draft.replace(self.file)
        self.number_file.write_text(json.dumps({"number": number}))
        say(f"list {number} is in place: {body.count('serial:')} certificates are revoked")

    def newer(self, body: str) -> int:
        """The list's number. Raises BadList where it is lower than that of the one that is here."""
        found = NUMBER.match(body)
        if not found:
            raise BadList("it bears no number")
        present = json.loads(self.number_file.read_text())["number"] if self.number_file.exists() else 0
        if int(found[1]) < present:
            raise BadList(f"its number {found[1]} is lower than {present}, that of the list that is here")
        return int(found[1])


def main() -> None:
    told: Any = settings("people")
    revoked_list = RevocationList(told, cloud(str(told["region"])))
    revoked_list.file.parent.mkdir(parents=True, exist_ok=True)
    while True:
        revoked_list.refresh()
        time.sleep(float(told["every_seconds"]))


if __name__ == "__main__":
    main()
