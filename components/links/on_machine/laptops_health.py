"""Whether laptops are served, and their list and certificate hold for long yet: a unit that fails when not."""

import datetime
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from health import Measured, report
from laptops_revoked import HEARD
from laptops_sessions import Sessions
from machine import settings

METRICS = Path("/var/lib/landbridge/metrics/laptops.prom")
DAY_SECONDS = 86_400.0
FORM = "%b %d %H:%M:%S %Y %Z"
NAMES = {
    "landbridge_laptops_served": "1 if OpenVPN answers",
    "landbridge_laptops_connected": "Laptops that are connected",
    "landbridge_laptops_heard_seconds": "Time since the bucket last said which certificates are revoked",
    "landbridge_laptops_list_ends_seconds": "Time until the list of revoked certificates ends, and nobody is let in",
    "landbridge_laptops_certificate_ends_seconds": "Time until the server's certificate ends",
}


def measured(told: Any, now: float) -> Iterator[Measured]:
    try:
        with Sessions(told["management"]) as sessions:
            names, why = sessions.names(), ""
    except OSError as problem:
        names, why = [], f"laptops are not served: {problem}"
    yield Measured("landbridge_laptops_served", float(not why), why)
    yield Measured("landbridge_laptops_connected", float(len(names)))
    yield _heard(told, now)
    what = {"list": ("crl", "revoked", "-nextupdate"), "certificate": ("x509", "certificate", "-enddate")}
    for name, (kind, file, field) in what.items():
        yield _ends(name, kind, Path(told[file]), field, now, float(told["warning_days"]))


def _heard(told: Any, now: float) -> Measured:
    try:
        at = float(json.loads(Path(told["revoked"]).with_name(HEARD).read_text())["at"])
    except (OSError, ValueError, KeyError):
        return Measured("landbridge_laptops_heard_seconds", float("inf"), "the bucket was never heard")
    silent = now - at
    late = f"the bucket was last heard {silent:.0f} s ago: a revoked certificate still counts here"
    return Measured("landbridge_laptops_heard_seconds", silent, late if silent > told["silent_seconds"] else "")


def _ends(name: str, kind: str, file: Path, field: str, now: float, warning_days: float) -> Measured:
    metric = f"landbridge_laptops_{name}_ends_seconds"
    asked = ["openssl", kind, "-in", str(file), "-noout", field]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    try:
        end = datetime.datetime.strptime(said.partition("=")[2], FORM).replace(tzinfo=datetime.UTC)
    except ValueError:
        return Measured(metric, 0.0, f"{file} can't be read")
    left = end.timestamp() - now
    remedy = {"list": "`landbridge vpn sign`", "certificate": "`landbridge up --refresh`, and a new machine"}[name]
    soon = f"the {name} ends in {left / DAY_SECONDS:.0f} days: {remedy} renews it"
    return Measured(metric, left, soon if left < warning_days * DAY_SECONDS else "")


def main() -> None:
    report(METRICS, NAMES, measured(settings("laptops"), time.time()))


if __name__ == "__main__":
    main()
