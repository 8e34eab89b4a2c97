"""`landbridge image publish | promote | rollback | list --published | gc | verify`, with the example fleet."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest

from images import channels
from images.errors import ImageError
from images.stores.site import index as site_index
from images.stores.site.store import Site
from landbridge.cluster import session as sessions
from landbridge.commands.image import image
from landbridge.errors import ConsentError, UsageError
from tests.support import example

from . import commands_bed
from . import store_bed as bed
from .commands_bed import LOCAL, ROOT, Commands

Said = Callable[..., Any]


@pytest.fixture
def said(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Said:
    """Runs a command in the local AWS on loopback; its JSON document."""
    commands_bed.in_aws(endpoint, tmp_path, monkeypatch)
    return Commands(example.in_aws(tmp_path)).told


def test_old_images_go_only_when_somebody_agrees(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images = [bed.bake(tmp_path / "images", mark)[1] for mark in ("four", "five", "six")]
    for one in images:
        said("publish", one.name, "--region", "eu-west-1")
        # EC2 tells when an image was made in whole seconds, and the newest stays.
        time.sleep(1.0)
    with pytest.raises(ConsentError, match="To agree: --yes"):
        said("gc", "--keep", "1", "--region", "eu-west-1")
    before = {one["name"]: one["state"] for one in said("list", "--published", "--region", "eu-west-1")["images"]}
    assert set(before.values()) == {"available"}
    told = said("gc", "--keep", "1", "--yes", "--region", "eu-west-1")
    assert {one["image"] for one in told["done"]} >= {images[0].name, images[1].name}
    assert {one["image"] for one in told["plan"] if one["action"] == "keep"} >= {images[2].name}
    monkeypatch.setenv("COLUMNS", "160")
    for words, shown in ((["list", "--published"], "deprecated"), (["gc", "--keep", "1"], "disable in 14 days")):
        image.main([*words, "--region", "eu-west-1", "--fleet", str(ROOT / "fleet.yaml")], standalone_mode=False)
        text = capsys.readouterr().out
        assert images[0].name in text
        assert shown in text


def test_a_site_s_folder(said: Said, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, made = bed.bake(tmp_path / "images", "site")
    key, public, folder = tmp_path / "key.pem", tmp_path / "public.pem", tmp_path / "served"
    for command in (
        ["openssl", "genpkey", "-algorithm", "ed25519", "-out", key],
        ["openssl", "pkey", "-in", key, "-pubout", "-out", public],
    ):
        subprocess.run(command, check=True)
    key.chmod(0o600)
    at = ["--site", "lab", "--folder", str(folder), "--key", str(key)]
    assert said("publish", made.name, *at)["places"] == ["lab"]
    said("promote", made.name, *at)
    (listed,) = said("list", "--published", *at)["images"]
    assert listed["channels"] == ["candidate", "stable"]
    code = image.main(
        ["verify", str(folder), "cpu/1.36.2/stable", "--key", str(public), "--json"], standalone_mode=False
    )
    told = json.loads(capsys.readouterr().out)
    assert (code, told["site"], [one["name"] for one in told["images"]]) == (0, "lab", [made.name])
    last, verify = told["number"], ["verify", str(folder), "--key", str(public), "--at-least"]
    assert image.main([*verify, str(last)], standalone_mode=False) == 0
    with pytest.raises(ImageError, match=rf"has index {last} of .*, and {last + 1} or a later one was asked for"):
        image.main([*verify, str(last + 1)], standalone_mode=False)


def test_a_run_that_takes_many_at_once_wants_its_own_consent(said: Said, tmp_path: Path) -> None:
    key, folder = tmp_path / "key.pem", tmp_path / "served"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
    key.chmod(0o600)
    store = Site("lab", folder, site_index.private_key(key))
    for number in range(7):
        channels.publish(store, *bed.bake(tmp_path / "images", f"many {number}"), "alice", bed.told)
    at = ["--keep", "1", "--yes", "--site", "lab", "--folder", str(folder), "--key", str(key)]
    with pytest.raises(ConsentError, match=r"6 of 7 images in lab would go a step.*To agree: --many"):
        said("gc", *at)
    assert {one.state for one in store.published("lab")} == {"available"}
    assert len(said("gc", *at, "--many")["done"]) == 6


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["publish", "x", "--region", "mars"], "has no region mars. Name one of: us-west-2"),
        (["publish", "x", "--site", "lab"], "--site wants --folder DIR.*--key FILE"),
        (["promote", "x", "--site", "lab", "--region", "us-west-2"], "name one of them"),
        (["promote", "x", "--folder", "y"], "--folder and --key go with --site"),
        (["rollback", "--site", "mars", "--folder", "y", "--key", "z"], "has no site mars. Its sites: "),
        (["list", "--local"], "--published alone"),
    ],
)
def test_mistakes_on_the_command_line(said: Said, words: list[str], why: str, tmp_path: Path) -> None:
    bed.bake(tmp_path / "images", "x")[0].rename(tmp_path / "images/x")
    with pytest.raises(UsageError, match=why):
        said(*words)


class Expired(BaseHTTPRequestHandler):
    """What AWS' services say of a session that is over."""

    def do_POST(self) -> None:
        text = (
            b"<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code>"
            b"<Message>The security token included in the request is expired</Message></Error></ErrorResponse>"
        )
        self.send_response(403)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """To nobody."""


@pytest.fixture(scope="module")
def expired() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Expired)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        (
            None,
            r"^us-west-2: GetCallerIdentity was refused \(ExpiredToken\): The security token .* is expired\. Nothing",
        ),
        (
            "nobody",
            r"^us-west-2 can't be reached: The config profile \(nobody\) could not be found.*get-caller-identity",
        ),
    ],
)
def test_credentials_that_are_over_or_missing_are_one_clear_error(
    profile: str | None, why: str, expired: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "the_place", lambda *_, **__: LOCAL)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", expired)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "played")
    if profile:
        monkeypatch.setenv("AWS_PROFILE", profile)
    with pytest.raises(ImageError, match=why):
        image.main(["gc", "--region", "us-west-2", "--fleet", str(ROOT / "fleet.yaml")], standalone_mode=False)


def test_a_disk_that_is_kept_has_a_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name its image or channel"):
        image.main(["verify", str(tmp_path), "--key", "y", "--output", "z"], standalone_mode=False)
