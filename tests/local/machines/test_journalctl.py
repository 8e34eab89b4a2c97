"""The journal of local machines: what units print, from a place on, past rotation and half lines; and in a machine."""

import json
from pathlib import Path

import pytest

from components.control_plane.units import UNITS, scripts
from components.pools import journal
from local.machines import journalctl
from local.machines.journalctl import Place, begin, entries
from tests.support.waiting import eventually

from .host import Box
from .writing import service


def said(places: dict[str, Place], folder: Path) -> list[tuple[str, str]]:
    return [(one["_SYSTEMD_UNIT"], one["MESSAGE"]) for one in entries(places, folder)]


def test_units_lines_come_once_whole_and_past_rotation(tmp_path: Path) -> None:
    places = begin("{}")
    log = tmp_path / "kubelet.service.log"
    log.write_text("one\ntwo\nhal")
    (tmp_path / "a.mount.log").write_text("mounted\n")
    assert said(places, tmp_path) == [("a.mount", "mounted"), ("kubelet.service", "one"), ("kubelet.service", "two")]
    assert said(places, tmp_path) == []
    with log.open("a") as file:
        file.write("f\nlast of the old one\n")
    log.replace(f"{log}.1")
    log.write_text("new\n")
    assert [words for _, words in said(places, tmp_path)] == ["half", "last of the old one", "new"]
    assert said(places, tmp_path) == []


def test_a_cursor_leads_back_to_where_it_stood(tmp_path: Path) -> None:
    (tmp_path / "b.service.log").write_text("one\ntwo\nthree\n")
    first, second, third = entries({}, tmp_path)
    assert [one["MESSAGE"] for one in entries(begin(first["__CURSOR"]), tmp_path)] == ["two", "three"]
    assert [one["MESSAGE"] for one in entries(begin(second["__CURSOR"]), tmp_path)] == ["three"]
    assert not [*entries(begin(third["__CURSOR"]), tmp_path)]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["--unit=kubelet"], 2, "Local machines honour: journalctl"),
        (["--output=json"], 2, "Local machines honour: journalctl"),
        (["--output=json", "--follow", "--after-cursor=s=1"], 1, "the cursor is none of this machine's"),
        (["--output=json", "--follow", f"--after-cursor={json.dumps({'a': 1})}"], 1, "the cursor is none"),
    ],
)
def test_what_it_does_not_honour_it_refuses(
    words: list[str], code: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert journalctl.main(words) == code
    assert why in capsys.readouterr().err


def test_a_machine_lays_down_what_its_units_say_as_real_ones_do(box: Box) -> None:
    files = {**journal.files(), **scripts("machine")}
    for path, text in files.items():
        if not path.startswith(UNITS):
            (box.disk / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            (box.disk / path.lstrip("/")).write_text(text)
    says = service("Type=oneshot", "RemainAfterExit=yes", "ExecStart=/bin/echo the kubelet began")
    online = "[Unit]\nDescription=There is a network"
    units = {"said.service": says, "network-online.target": online}
    box.load(units | {journal.SERVICE: files[f"{UNITS}/{journal.SERVICE}"]})
    begun = box.ctl("start", "said", journal.SERVICE)
    assert begun.code == 0, begun
    log = box.disk / journal.FOLDER.lstrip("/") / "journal.log"
    eventually(lambda: log.exists() and "the kubelet began" in log.read_text(), 60)
    (line,) = [one for one in map(json.loads, log.read_text().splitlines()) if "the kubelet began" in one["msg"]]
    assert line["unit"] == "said"
    assert line["msg"] == f"{line['time']} said F the kubelet began"
