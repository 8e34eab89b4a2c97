"""Unit files are read as systemd documents it, and every error of a file is told with its place."""

import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.machines import commands, graph, moments, units, values
from local.machines.units import UnitError, parse

GOOD = "[Service]\nExecStart=/bin/true\n"


def errors(name: str, text: str) -> list[str]:
    with pytest.raises(UnitError) as caught:
        parse(name, text)
    return caught.value.errors


def test_all_errors_of_a_file_at_once_with_unit_line_and_directive() -> None:
    text = (
        "[Unit]\nDescription=x\nOnFailure=y.service\n[Service]\nExecStart=/bin/true\nRestartSec=soon\n"
        "MemoryMax=1G\nnonsense\n[Socket]\nListenStream=1\n"
    )
    assert errors("a.service", text) == [
        "a.service:3: [Unit] OnFailure= is not honoured on local machines",
        "a.service:6: RestartSec=soon: expected a time span such as 5, 100ms, 1min 30s or infinity",
        "a.service:7: [Service] MemoryMax= is not honoured on local machines",
        "a.service:8: expected Directive=value, not nonsense",
        "a.service:9: section [Socket] is not honoured in this kind of unit",
        "a.service:10: [Socket] ListenStream= is not honoured on local machines",
    ]


def test_a_section_of_another_kind_of_unit_is_an_error() -> None:
    assert errors("a.timer", "[Timer]\nOnBootSec=1\n[Service]\nExecStart=/bin/true\n")[0].startswith(
        "a.timer:3: section"
    )


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.socket", "", "only units that end with"),
        ("a@.service", GOOD, "templates"),
        ("a.service", "[Service]\nType=simple\n", "ExecStart= is missing"),
        ("a.service", GOOD + "ExecStart=/bin/true\n", "need Type=oneshot"),
        ("a.service", GOOD + "Type=oneshot\nRestart=always\n", "not allowed with Type=oneshot"),
        ("a.service", GOOD + "Type=forking\n", "expected one of simple, exec, notify, oneshot"),
        ("a.service", GOOD + "KillMode=none\n", "expected one of"),
        ("a.service", GOOD + "ExecStartPre=@/bin/true x\n", "prefix @"),
        ("a.service", GOOD + "ExecStartPre=bin/true\n", "absolute path"),
        ("a.service", GOOD + "ExecStartPre=/bin/a ; /bin/b\n", "several commands"),
        ("a.service", GOOD + "ExecStartPre=/bin/echo 'x\n", "not closed"),
        ("a.service", GOOD + "ExecStartPre=/bin/echo \\q\n", "unknown escape"),
        ("a.service", GOOD + "Environment=1A=x\n", "expected NAME=value"),
        ("a.service", GOOD + "User=%u\n", "specifier %u"),
        ("a.service", GOOD + "Nice=20\n", "from -20 to 19"),
        ("a.service", GOOD + "LimitNOFILE=9:5\n", "above the hard one"),
        ("a.service", GOOD + "StateDirectory=../x\n", "under /var/lib"),
        ("a.service", GOOD + "StandardOutput=socket\n", "expected one of journal"),
        ("a.service", GOOD + "StandardOutput=tty:/x\n", "expected journal"),
        ("a.service", GOOD + "KillSignal=SIGNOT\n", "expected a signal"),
        ("a.service", "[Unit]\nAfter=x\n" + GOOD, "unit's name"),
        ("a.mount", "[Mount]\nWhat=/a\nWhere=/b/c\n", "must be named b-c.mount"),
        ("b.mount", "[Mount]\nWhere=/b\n", "What= and Where="),
        ("b.mount", "[Mount]\nWhat=/a\nWhere=/b\nOptions=ro,fast\n", "not fast"),
        ("b.mount", "[Mount]\nWhat=s.example.com:/a\nWhere=/b\nType=ext4\n", "need Type=nfs or efs"),
        ("b.mount", "[Mount]\nWhat=/a\nWhere=/b\nOptions=hard\n", "need Type=nfs or efs"),
        ("b.automount", "[Automount]\nWhere=/a\n", "must be named a.automount"),
        ("b.automount", "[Unit]\nDescription=b\n", "Where= is needed"),
        ("a.timer", "[Timer]\nUnit=b.service\n", "a timer needs"),
        ("a.timer", "[Timer]\nOnCalendar=sometimes\n", "expected a moment"),
        ("a.service", "ExecStart=/bin/true\n", "expected a section"),
    ],
)
def test_wrong_values_are_told(name: str, text: str, told: str) -> None:
    assert told in "\n".join(errors(name, text))


def test_syntax_continuation_comments_and_resets() -> None:
    unit = parse(
        "a.service",
        "# comment\n; another\n\n[Service]\nExecStart=/bin/echo one \\\n# in between\n  two \\\n  'three four'\nType = oneshot\n"
        "ExecStartPre=/bin/no\nExecStartPre=\nExecStartPre=-+/bin/yes\nRestartSec=9\nRestartSec=\n[Service]\nNice=3\n",
        host="h",
    )
    assert unit["ExecStart"] == [commands.Command(("/bin/echo", "one", "two", "three four"))]
    assert unit["ExecStartPre"] == [commands.Command(("/bin/yes",), may_fail=True, privileged=True)]
    assert (unit["Type"], unit["RestartSec"], unit["Nice"]) == ("oneshot", 0.1, 3)


def test_names_of_units_keep_their_escapes() -> None:
    """As systemd reads them: the unit of /data-sets is data\\x2dsets.mount, and no other."""
    unit = parse("a.service", "[Unit]\nWants=data\\x2dsets.mount 'b.service'\n" + GOOD)
    assert unit["Wants"] == [r"data\x2dsets.mount", "b.service"]


def test_specifiers() -> None:
    unit = parse("a-b.service", GOOD + "Environment=N=%n S=%N P=%p H=%H C=100%%\n", host="main-etcd-1")
    expected = [("N", "a-b.service"), ("S", "a-b"), ("P", "a-b"), ("H", "main-etcd-1"), ("C", "100%")]
    assert unit["Environment"] == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a  b", ["a", "b"]),
        ("'a b' \"c d\"e", ["a b", "c de"]),
        (r"a\sb \x41\102 \"", ["a b", "AB", '"']),
        ("''", [""]),
        (r'"a\tb"', ["a\tb"]),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert values.words(text) == found


def test_variables_in_commands() -> None:
    line = commands.command("/bin/x $A ${A} pre${A}post $$A $NONE ${NONE} a$A")
    assert line.argv({"A": "1 '2 3'"}) == ["/bin/x", "1", "2 3", "1 '2 3'", "pre1 '2 3'post", "$A", "", "a$A"]


def test_environment_files() -> None:
    text = '# c\nA=1 2\n B = \'x y\' \nC="q\\"r"\nD=one\\\n two\nbad line\n;no=1\n'
    assert commands.environment_file(text) == {"A": "1 2", "B": "x y", "C": 'q"r', "D": "one two"}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5", 5.0), ("1min 30s", 90.0), ("100ms", 0.1), ("2h", 7200.0), ("1.5", 1.5), ("infinity", float("inf"))],
)
def test_time_spans(text: str, seconds: float) -> None:
    assert values.span(text) == pytest.approx(seconds)


MOMENTS = (
    "minutely",
    "hourly",
    "daily",
    "weekly",
    "monthly",
    "*:0/15",
    "*-*-* 04:30:00",
    "Mon..Fri 9..17:05,35",
    "*-02-29 00:00",
    "Sat *-*-1..7 18:00:00",
    "*:*:10/20",
    "2031-05-06",
)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize("text", MOMENTS)
def test_moments_are_those_of_systemd(text: str) -> None:
    now = datetime(2027, 3, 30, 23, 59, 50, tzinfo=UTC)
    done = subprocess.run(
        ["systemd-analyze", "calendar", f"--base-time={now:%Y-%m-%d %H:%M:%S} UTC", "--iterations=4", text],
        capture_output=True,
        text=True,
        check=True,
        env={"TZ": "UTC", "PATH": "/usr/bin:/bin"},
    )
    theirs = re.findall(r"(?:Next elapse|Iter. #\d+): \w+ ([\d-]+ [\d:]+) UTC", done.stdout)
    ours = []
    at: datetime | None = now
    while at and len(ours) < 4 and (at := moments.calendar(text).after(at)):
        ours.append(f"{at:%Y-%m-%d %H:%M:%S}")
    assert ours == theirs


@pytest.mark.parametrize("text", ["", "25:00", "*:0/0", "*-13-01", "Foo *:00", "17..9:00"])
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        moments.calendar(text)


@pytest.mark.skipif(not shutil.which("systemd-escape"), reason="systemd-escape is not installed")
@pytest.mark.parametrize("path", ["/", "/var/lib/etcd", "/srv/a-b", "/srv/.x/ü", "/.x"])
def test_mounts_are_named_as_systemd_names_them(path: str) -> None:
    done = subprocess.run(["systemd-escape", "--path", path], capture_output=True, text=True, check=True)
    assert units.escaped(path) == done.stdout.strip()


def test_drop_ins_add_to_their_unit_and_without_it_are_nobody_s(tmp_path: Path) -> None:
    for name, text in {
        "a.service": f"[Unit]\nAfter=b.service\n{GOOD}RestartSec=5\n",
        "a.service.d/10.conf": "[Unit]\nAfter=c.service\n[Service]\nRestartSec=7\n",
        "a.service.d/20.conf": "[Service]\nRestartSec=9\n",
        "a.service.d/notes.txt": "nonsense",
        "gone.service.d/more.conf": "[Unit]\nAfter=c.service\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    units = graph.load(tmp_path, "h")
    assert (units["a.service"]["After"], units["a.service"]["RestartSec"]) == (["b.service", "c.service"], 9)
    assert "gone.service" not in units
    (tmp_path / "a.service.d/20.conf").write_text("[Service]\nMemoryMax=1G\n[Timer]\n")
    with pytest.raises(UnitError) as caught:
        graph.load(tmp_path, "h")
    assert caught.value.errors == [
        "a.service.d/20.conf:2: [Service] MemoryMax= is not honoured on local machines",
        "a.service.d/20.conf:3: section [Timer] is not honoured in this kind of unit",
    ]
