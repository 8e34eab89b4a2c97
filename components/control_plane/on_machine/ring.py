"""One of this machine's two etcd members, through etcdctl and with the operator's certificate."""

import json
import subprocess
from typing import Any, NamedTuple

from machine import settings

PKI = "/etc/etcd/pki"


class Status(NamedTuple):
    """What this member says of itself."""

    member: int
    leader: int
    revision: int
    version: str
    size: int
    in_use: int


class RingError(Exception):
    """etcdctl failed; the text is its own."""


class Ring:
    def __init__(self, name: str) -> None:
        told: Any = settings("etcd")
        self.settings = told
        if name not in told["rings"]:
            raise SystemExit(f"expected a ring's name out of {', '.join(told['rings'])}, not {name}")
        self.name = name
        self.machine: str = told["machine"]
        self.port: int = told["rings"][name]["port"]
        self.hosts: list[str] = told["members"]

    def own(self) -> list[str]:
        return [f"https://127.0.0.1:{self.port}"]

    def all(self) -> list[str]:
        return [f"https://{host}:{self.port}" for host in self.hosts]

    def command(self, *words: str, endpoints: list[str] | None = None) -> list[str]:
        flags = [f"--cacert={PKI}/clients-ca.crt", f"--cert={PKI}/operator.crt", f"--key={PKI}/operator.key"]
        return ["/usr/local/bin/etcdctl", f"--endpoints={','.join(endpoints or self.own())}", *flags, *words]

    def ctl(self, *words: str, endpoints: list[str] | None = None) -> str:
        command = self.command(*words, endpoints=endpoints)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise RingError(f"etcdctl {' '.join(words)}: {said[-1] if said else f'status {done.returncode}'}")
        return done.stdout

    def status(self) -> Status:
        told = json.loads(self.ctl("endpoint", "status", "--write-out=json"))[0]["Status"]
        header = told["header"]
        return Status(
            member=header["member_id"],
            leader=told.get("leader", 0),
            revision=header["revision"],
            version=told["version"],
            size=told["dbSize"],
            in_use=told["dbSizeInUse"],
        )

    def voters(self) -> list[tuple[int, str]]:
        """Member numbers and names, less learners and those that never started."""
        told = json.loads(self.ctl("member", "list", "--write-out=json"))["members"]
        return [(member["ID"], member["name"]) for member in told if member.get("name") and not member.get("isLearner")]
