"""What keeps a server's list of revoked certificates: what it takes and refuses, and whose sessions it ends."""

import datetime
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.links.laptops.authority import Authority, Revoked, common_name, issue, revocations
from components.links.laptops.machine import script_settings
from fleet.world import current

from . import bed as _bed  # for the path of scripts
from .laptops_bed import authority, material, spec_of

import health  # isort: skip
import laptops_health  # isort: skip
import laptops_ready  # isort: skip
import laptops_revoked  # isort: skip
from api_aws import Aws  # isort: skip
from machine import Refused  # isort: skip
from laptops_sessions import Sessions  # isort: skip

ROOT = _bed.ROOT
NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)


class Bucket(Aws):
    """Stands in for S3: what it holds, and what was asked of it."""

    def __init__(self) -> None:
        super().__init__("us-west-2")
        self.text, self.status, self.asked = "", 0, list[dict[str, str]]()

    def ask(self, method: str, service: str, path: str, headers: dict[str, str]) -> bytes:  # type: ignore[override]
        assert (method, service, path) == ("GET", "s3", "/example-us-west-2-123456789012/laptops/revoked.pem")
        self.asked.append(headers)
        etag = f'"{hash(self.text)}"'
        if self.status or not self.text:
            raise Refused(self.status or 403, "no")
        if headers.get("if-none-match") == etag:
            raise Refused(304, "the same")
        self.headers = {"ETag": etag}
        return self.text.encode()


class Server:
    """An OpenVPN's management socket, as far as sessions are asked for; the real one is in tests/lab."""

    def __init__(self, path: Path, names: list[str]) -> None:
        self.names, self.socket = names, socket.socket(socket.AF_UNIX)
        path.parent.mkdir(parents=True)
        self.socket.bind(str(path))
        self.socket.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            try:
                one, _ = self.socket.accept()
            except OSError:
                return
            with one, one.makefile("rw", newline="\n") as file:
                file.write(">INFO:OpenVPN Management Interface Version 5\n")
                file.flush()
                for line in file:
                    self.answer(line.strip(), file)
                    file.flush()

    def answer(self, line: str, file: Any) -> None:
        if line == "status 2":
            rows = [
                f"CLIENT_LIST,{name},192.0.2.1:5000,10.132.64.2,,1,1,now,0,UNDEF,0,0,AES-256-GCM" for name in self.names
            ]
            file.write("\r\n".join(["TITLE,OpenVPN", *rows, "END", ""]))
        elif (name := line.removeprefix("kill ")) in self.names:
            self.names.remove(name)
            file.write(f"SUCCESS: common name '{name}' found, 1 client(s) killed\n")
        else:
            file.write(f"ERROR: common name '{name}' not found\n")


@pytest.fixture(scope="module")
def made() -> Authority:
    return authority()


@pytest.fixture
def settings(tmp_path: Path, made: Authority) -> dict[str, Any]:
    """As rendered, with its paths in a folder of the test's own."""
    found = script_settings(spec_of(current(ROOT / "fleet.yaml")))
    places = ("authority", "certificate", "revoked", "management")
    found |= {name: str(tmp_path / str(found[name]).lstrip("/")) for name in places}
    for name, text in (("authority", made.certificate), ("revoked", "")):
        Path(str(found[name])).parent.mkdir(parents=True, exist_ok=True)
        if text:
            Path(str(found[name])).write_text(text)
    return dict(found)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []
    for module in (laptops_revoked, laptops_ready):
        monkeypatch.setattr(module, "say", heard.append)
    return heard


@pytest.fixture
def revoked_list(settings: dict[str, Any]) -> laptops_revoked.RevocationList:
    return laptops_revoked.RevocationList(settings, Bucket())


def lists(made: Authority) -> Iterator[tuple[str, str]]:
    """A serial, and the list in which it and those before it are revoked."""
    revoked: list[Revoked] = []
    for number in range(1, 9):
        one = issue(made, "alice", 90, NOW)
        revoked.append(Revoked(one.serial, NOW, one.until))
        yield one.serial, revocations(made, revoked, number, NOW)


def test_a_list_is_put_in_place_and_then_only_asked_about(revoked_list: Any, made: Authority, said: list[str]) -> None:
    serial, text = next(lists(made))
    revoked_list.home.text = text
    for _ in range(3):
        revoked_list.refresh()
    assert revoked_list.file.read_text() == text
    assert revoked_list.file.stat().st_mode & 0o777 == 0o644, "OpenVPN reads it as nobody"
    assert revoked_list.revoked == {serial}
    assert [sorted(headers) for headers in revoked_list.home.asked] == [[], ["if-none-match"], ["if-none-match"]]
    assert said == ["list 1 is in place: 1 certificates are revoked"]


def test_what_is_not_the_authority_s_or_is_older_is_not_taken(
    revoked_list: Any, made: Authority, said: list[str]
) -> None:
    (_, first), (_, second) = list(lists(made))[:2]
    revoked_list.home.text = second
    revoked_list.refresh()
    for text, why in (
        (first, "its number 1 is lower than that of the list that is here"),
        (revocations(authority(), [], 9, NOW), "it is not signed by the authority"),
        ("no list at all", "Could not read CRL"),
    ):
        revoked_list.home.text = text
        revoked_list.refresh()
        revoked_list.refresh()
        assert sum(why in line for line in said) == 1, said
        assert revoked_list.file.read_text() == second
        assert revoked_list.revoked


def test_a_bucket_that_does_not_answer_is_told_of_once_and_again_when_it_does(
    revoked_list: Any, made: Authority, said: list[str]
) -> None:
    _, revoked_list.home.text = next(lists(made))
    revoked_list.home.status = 500
    revoked_list.refresh()
    revoked_list.refresh()
    revoked_list.home.status = 0
    revoked_list.refresh()
    assert said == [
        "ERROR: the list can't be fetched: no",
        "list 1 is in place: 1 certificates are revoked",
        "the list is fetched again",
    ]


def test_without_a_list_it_says_what_makes_the_first(revoked_list: Any, said: list[str]) -> None:
    revoked_list.refresh()  # S3 says 403 of what is not there to whoever may not list
    assert said == ["ERROR: the list can't be fetched: it is not there: the first `landbridge vpn add` makes it"]


def test_sessions_of_revoked_certificates_are_ended_and_no_others(
    revoked_list: Any, settings: dict[str, Any], made: Authority, said: list[str]
) -> None:
    serial, revoked_list.home.text = next(lists(made))
    other = issue(made, "alice", 90, NOW).serial
    mine, hers = common_name("alice", serial), common_name("alice", other)
    server = Server(Path(settings["management"]), [mine, hers, "UNDEF"])
    revoked_list.refresh()
    assert server.names == [hers, "UNDEF"]
    assert said[-1] == f"{mine} is revoked: 1 session ended"
    # One that comes back with an old list is sent away at the next refresh.
    server.names.append(mine)
    revoked_list.refresh()
    assert server.names == [hers, "UNDEF"]


def test_one_that_has_gone_by_itself_is_no_error(settings: dict[str, Any]) -> None:
    Server(Path(settings["management"]), ["a"])
    with Sessions(settings["management"]) as sessions:
        assert [sessions.end("b"), sessions.end("a"), sessions.end("a")] == [0, 1, 0]


def test_a_server_that_is_away_stops_nothing(
    revoked_list: Any, settings: dict[str, Any], made: Authority, said: list[str]
) -> None:
    _, revoked_list.home.text = next(lists(made))
    Path(settings["management"]).parent.mkdir(parents=True)
    Path(settings["management"]).touch()  # no socket
    revoked_list.refresh()
    assert revoked_list.file.exists()
    assert "sessions can't be looked at" in said[-1]


def test_what_openvpn_lacks_is_named(settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "openvpn"
    monkeypatch.setattr(laptops_ready, "PROGRAM", program)
    monkeypatch.setattr(laptops_ready, "TUN", tmp_path / "tun")
    words = ["no package openvpn", "this machine can't have tunnels", "no list of revoked certificates yet"]
    assert [word in line for word, line in zip(words, laptops_ready.missing(settings), strict=True)] == [True] * 3
    program.write_text("#!/bin/sh\necho 'OpenVPN 2.5.1 x86_64-pc-linux-gnu'\n")
    program.chmod(0o755)
    (tmp_path / "tun").touch()
    Path(settings["revoked"]).touch()
    assert list(laptops_ready.missing(settings)) == ["OpenVPN 2.5 is too old: the image must have 2.6"]
    program.write_text("#!/bin/sh\necho 'OpenVPN 2.6.14 x86_64-pc-linux-gnu'; exit 1\n")
    assert not list(laptops_ready.missing(settings))


def wrong(settings: dict[str, Any], now: float | None = None) -> list[str]:
    return [one.wrong for one in laptops_health.measured(settings, now or time.time()) if one.wrong]


def test_health_names_what_is_wrong_and_what_soon_will_be(
    revoked_list: Any, settings: dict[str, Any], made: Authority
) -> None:
    assert [line.split(":")[0] for line in wrong(settings)][:2] == [
        "laptops are not served",
        "the bucket was never heard",
    ]
    spec = spec_of(current(ROOT / "fleet.yaml"))
    Path(settings["certificate"]).write_text(material(made, spec.servers[0]).certificate)
    Server(Path(settings["management"]), ["alice.1", "bob.2"])
    _, revoked_list.home.text = next(lists(made))
    revoked_list.refresh()
    assert wrong(settings) == []
    text = health.text(laptops_health.NAMES, laptops_health.measured(settings, time.time()))
    assert "\nlandbridge_laptops_connected 2\n" in text
    for days, words in (
        (0.01, ["last heard"]),
        (155, ["last heard", "list ends in 2"]),
        (340, ["last", "list", "certificate"]),
    ):
        found = wrong(settings, time.time() + days * 86_400)
        assert len(found) == len(words), found
        assert all(word in line for word, line in zip(words, found, strict=True)), found
    assert json.loads(revoked_list.file.with_name(laptops_revoked.HEARD).read_text())["at"] <= time.time()
