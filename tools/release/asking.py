"""Asks the databases of weaknesses: OSV by pip-audit for Python's packages, Go's own by govulncheck for programs.

A database that does not answer is no clean bill: SilentSourceError says so, and the command ends with its status.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import ReleaseError, SilentSourceError
from .programs import Program
from .weaknesses import Weakness

SECONDS = 1800


def of_packages(pip_audit: Path, lock: Path, where: str, url: str | None) -> list[Weakness]:
    """What OSV knows of a lock's packages, as far as they are for this system. Raises SilentSourceError."""
    command = [str(pip_audit), "--requirement", str(lock), "--disable-pip", "--require-hashes", "--strict"]
    command += ["--vulnerability-service", "osv", *(["--osv-url", url] if url else [])]
    command += ["--format", "json", "--progress-spinner", "off", "--desc", "on", "--aliases", "on"]
    done = _run(command, "pip-audit")
    try:
        told = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        # Weaknesses that are found end it with the same status as a database that is silent.
        raise SilentSourceError(
            f"pip-audit did not get an answer about {where}: {_last(done.stderr)}. Nothing is known of its packages"
        ) from None
    return [_of_package(where, one, weakness) for one in told for weakness in one.get("vulns", [])]


def _of_package(where: str, one: dict[str, Any], weakness: dict[str, Any]) -> Weakness:
    names = (weakness["id"], *sorted(weakness.get("aliases", [])))
    summary = " ".join(str(weakness.get("description") or "").split())[:200]
    return Weakness(where, one["name"], one["version"], names, ", ".join(weakness.get("fix_versions", [])), summary)


def of_program(govulncheck: Path, program: Program, url: str | None) -> list[Weakness]:
    """What Go's database knows of what a program calls; of one without symbols, of all that it may call.

    Raises SilentSourceError.
    """
    command = [str(govulncheck), *(["-db", url] if url else []), "-mode=binary", "-format=json", str(program.file)]
    done = _run(command, "govulncheck")
    if done.returncode != 0:
        raise SilentSourceError(
            f"govulncheck did not get an answer about {program.name}: {_last(done.stderr)}. Nothing is known of it"
        )
    messages = list(_messages(done.stdout))
    known = {one["osv"]["id"]: one["osv"] for one in messages if "osv" in one}
    return sorted({_of_finding(program.name, one["finding"], known) for one in messages if _called(one)})


def _called(message: dict[str, Any]) -> bool:
    """The same weakness comes first for its module and its package, which the program may not call at all."""
    return "finding" in message and "function" in message["finding"]["trace"][0]


def _of_finding(where: str, finding: dict[str, Any], known: dict[str, dict[str, Any]]) -> Weakness:
    osv, first = known[finding["osv"]], finding["trace"][0]
    names = (osv["id"], *sorted(osv.get("aliases", [])))
    summary = str(osv.get("summary", ""))
    return Weakness(where, first["module"], first.get("version", ""), names, finding.get("fixed_version", ""), summary)


def _messages(text: str) -> Iterator[dict[str, Any]]:
    """JSON documents one behind the other."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        message, at = decoder.raw_decode(text, at)
        yield message


def _run(command: list[str], name: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise SilentSourceError(f"{name} had no answer within {SECONDS // 60} minutes") from None
    except OSError as error:
        raise ReleaseError(f"{name} can't be run: {error.strerror}") from None


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "it says nothing"
