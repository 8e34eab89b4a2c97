"""The real user-data on a local machine: what it boots, what it refuses, what it waits for."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from components.boot.user_data import public_key, signed_object, user_data
from local import namespace
from local.providers import tls
from tests.local.machines.host import Box, Host, Said
from tests.support.aws import machine as aws_machine

PREFIX, NAME = "example/main/main-api-1", "bucket"
UNIT = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"
FILES = {
    "/etc/systemd/system/one.service": UNIT,
    "/etc/systemd/system/landbridge.target": "[Unit]\nWants=one.service\n[Install]\nWantedBy=multi-user.target\n",
    "/etc/kubernetes/über": "ünï\n",
}
KEYS = {"/etc/kubernetes/pki/ca.key": "secret\n"}
Change = Callable[[dict[str, Any]], None]


def key() -> str:
    return str(tls._private_key({"algorithm": "ED25519", "ecdsaCurve": "P224", "rsaBits": 2048})[1]["privateKeyPem"])


OURS, OTHER = key(), key()


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    folder = tmp_path_factory.mktemp("boot")
    host = Host(folder, ["unshare", *namespace.usable_mode().make])
    made = host.machine(
        "one",
        "10.132.0.5/20",
        hosts=aws_machine.HOSTS,
        files={
            **aws_machine.trust(folder),
            "/srv/user-data": user_data("us-west-2", NAME, PREFIX, public_key(OURS)),
        },
    )
    host("from tests.support.aws import machine as aws\naws.serve(folder, {})", folder=str(folder))
    yield made
    host.close()


def digests(files: dict[str, str], mode: str) -> dict[str, dict[str, str]]:
    return {path: {"sha256": hashlib.sha256(text.encode()).hexdigest(), "mode": mode} for path, text in files.items()}


def publish(box: Box, change: Change = lambda told: None) -> None:
    """Puts a bundle where the machine looks; `change` may change all of it before."""
    told: dict[str, Any] = {
        "files": dict(FILES),
        "keys": dict(KEYS),
        "signer": OURS,
        "manifest": {
            "prefix": PREFIX,
            "version": "v1",
            "secret_version": "s1",
            "files": digests(FILES, "0644"),
            "keys": digests(KEYS, "0600"),
        },
    }
    change(told)
    text = json.dumps(told["manifest"])
    envelope = told.get("envelope", signed_object(told["signer"], text))
    home = box.host.folder / "bucket" / NAME / PREFIX
    home.mkdir(parents=True, exist_ok=True)
    (home / "manifest.json").write_text(envelope)
    (home / "v1.json").write_text(json.dumps(told["files"]))
    box.host(
        "from tests.support.aws import machine as aws\naws.STATE.secrets = secrets",
        secrets={f"{PREFIX}@s1": json.dumps(told["keys"])},
    )


def boot(box: Box) -> Said:
    box.sh("systemctl stop landbridge.target one; rm -rf /etc/systemd/system/* /etc/kubernetes /etc/landbridge /up")
    return box.sh("chmod +x /srv/user-data; exec timeout 60 /srv/user-data")


def written(box: Box) -> list[str]:
    return box.sh("find /etc/systemd/system /etc/kubernetes /etc/landbridge /up -type f 2>/dev/null").out.split()


def test_a_bundle_is_written_with_its_modes_and_started(box: Box) -> None:
    publish(box)
    said = boot(box)
    assert said.code == 0, said.err
    steps = [line.partition("boot: ")[2] for line in said.err.splitlines() if "boot: " in line]
    assert steps == ["credentials", "manifest", "signature", "files", "keys", "writing", "starting", "done"]
    assert sorted(written(box)) == sorted([*FILES, *KEYS, "/etc/landbridge/manifest.json"])
    assert box.sh("cat /etc/kubernetes/über").out == "ünï\n"
    assert box.sh("stat -c %a /etc/kubernetes/pki/ca.key /etc/kubernetes/über").out.split() == ["600", "644"]
    assert json.loads(box.sh("cat /etc/landbridge/manifest.json").out)["version"] == "v1"
    assert box.sh("wait_for 'systemctl is-active -q one'; systemctl is-active one").out == "active\n"
    assert "boot: done" in box.sh("tail -n1 /var/log/landbridge-boot.log").out


def other_signer(told: dict[str, Any]) -> None:
    told["signer"] = OTHER


def changed_after_signing(told: dict[str, Any]) -> None:
    envelope = json.loads(signed_object(OURS, json.dumps(told["manifest"])))
    told["manifest"]["version"] = "v2"
    told["envelope"] = json.dumps({**envelope, "manifest": json.dumps(told["manifest"])})


def of_another_machine(told: dict[str, Any]) -> None:
    told["manifest"]["prefix"] = "example/main/main-api-2"


def changed_file(told: dict[str, Any]) -> None:
    told["files"]["/etc/systemd/system/one.service"] += "User=root\n"


def missing_file(told: dict[str, Any]) -> None:
    del told["files"]["/etc/kubernetes/über"]


def changed_key(told: dict[str, Any]) -> None:
    told["keys"]["/etc/kubernetes/pki/ca.key"] = "another\n"


def missing_key(told: dict[str, Any]) -> None:
    told["keys"] = {}


def path(text: str) -> Change:
    def change(told: dict[str, Any]) -> None:
        told["files"][text] = "x"
        told["manifest"]["files"][text] = digests({text: "x"}, "0644")[text]

    change.__name__ = text
    return change


@pytest.mark.parametrize(
    ("change", "step", "reason"),
    [
        (other_signer, "signature", "not signed by our key"),
        (changed_after_signing, "signature", "not signed by our key"),
        (of_another_machine, "signature", "it is of example/main/main-api-2"),
        (changed_file, "files", "/etc/systemd/system/one.service is missing or changed"),
        (missing_file, "files", "/etc/kubernetes/über is missing or changed"),
        (changed_key, "keys", "/etc/kubernetes/pki/ca.key is missing or changed"),
        (missing_key, "keys", "/etc/kubernetes/pki/ca.key is missing or changed"),
        (path("up/x"), "files", "up/x is no whole path"),
        (path("/etc/../up/x"), "files", "/etc/../up/x is no whole path"),
        (path("/up/"), "files", "/up/ is no whole path"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_whatever_is_wrong_with_a_bundle_stops_it_before_a_file_is_written(
    box: Box, change: Change, step: str, reason: str
) -> None:
    publish(box, change)
    said = boot(box)
    assert said.code == 1
    last = said.err.splitlines()[-1]
    assert f"boot: stopped at {step}: " in last
    assert reason in last
    assert reason in box.sh("tail -n1 /var/log/landbridge-boot.log").out
    assert written(box) == []


def test_a_bundle_without_keys_asks_for_no_secret(box: Box) -> None:
    """A pool's: its machines may read none."""

    def none(told: dict[str, Any]) -> None:
        told["keys"] = told["manifest"]["keys"] = {}
        told["manifest"]["secret_version"] = ""

    publish(box, none)
    box.host(
        "from tests.support.aws import machine as aws\naws.STATE.secrets.clear()\n"
        "aws.STATE.broken = {'secretsmanager': 403}"
    )
    said = boot(box)
    box.host("from tests.support.aws import machine as aws\naws.STATE.broken.clear()")
    assert said.code == 0, said.err
    assert "waits" not in said.err
    assert sorted(written(box)) == sorted([*FILES, "/etc/landbridge/manifest.json"])


# A thread of the host's, which serves meanwhile: once the service was asked in vain it answers again.
MEND = """
import threading, time
from tests.support.aws import machine as aws

def mend(service=service, before=len(aws.STATE.calls), calls=aws.STATE.calls, broken=aws.STATE.broken, sleep=time.sleep):
    while not any(call.startswith(service) for call in calls[before:]):
        sleep(0.05)
    sleep(0.2)
    broken.clear()

threading.Thread(target=mend, daemon=True).start()
"""


@pytest.mark.parametrize("service", ["s3", "secretsmanager"])
def test_it_waits_for_what_is_not_there_yet_and_says_so(box: Box, service: str) -> None:
    publish(box)
    breaking = "from tests.support.aws import machine as aws\naws.STATE.broken = broken"
    box.host(breaking, broken={service: 503})
    box.host(MEND, service=service)
    began = time.monotonic()
    said = boot(box)
    assert said.code == 0, said.err
    step = {"s3": "manifest", "secretsmanager": "keys"}[service]
    assert f"boot: waits at {step}: HTTP Error 503" in said.err
    assert time.monotonic() - began < 30
    assert len(written(box)) == len(FILES) + len(KEYS) + 1
