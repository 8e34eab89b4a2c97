"""How init behaves beyond single directives: order, restarts, what it refuses, orphans, logs."""

import re

from .host import Box
from .writing import DAEMON, SLEEP, service, shell

TALKER = 'trap "echo stop-{n} >> /tmp/t/log; exit" TERM; echo start-{n} >> /tmp/t/log; while :; do sleep 0.02; done'


def talker(name: str, unit: str = "") -> str:
    # Started once it has said so, however slow the machine is.
    said = f"ExecStartPost=/bin/sh -c 'until grep -qs start-{name} /tmp/t/log; do sleep 0.02; done'"
    return service(shell(TALKER.format(n=name)), said, unit=unit, install="WantedBy=landbridge.target")


CHAIN = {
    "a.service": talker("a", "After=b.service\nRequires=b.service"),
    "b.service": talker("b", "After=c.service\nRequires=c.service"),
    "c.service": talker("c"),
}


def test_stops_run_in_reverse_order_and_restarts_take_dependents_along(box: Box) -> None:
    box.load(CHAIN)
    said = box.sh(
        "systemctl start landbridge.target; cat /tmp/t/log; rm /tmp/t/log; systemctl restart b; "
        # It comes back for all who stand on it, but is waited for alone.
        "wait_for 'grep -q start-a /tmp/t/log'; cat /tmp/t/log; rm /tmp/t/log; systemctl stop c; cat /tmp/t/log; systemctl is-active a b c"
    )
    started, restarted = "start-c start-b start-a", "stop-a stop-b start-b start-a"
    assert said.out.split() == f"{started} {restarted} stop-a stop-b stop-c inactive inactive inactive".split()


def test_one_bad_file_changes_nothing_and_all_errors_are_told(box: Box) -> None:
    box.load({"a.service": DAEMON})
    box.lay({"b.service": service(SLEEP, "Bad=1"), "c.service": service(SLEEP, "Worse=1"), "d.service": DAEMON})
    said = box.ctl("daemon-reload")
    assert said.code == 1
    assert said.err.splitlines() == [
        "b.service:3: [Service] Bad= is not honoured on local machines",
        "c.service:3: [Service] Worse= is not honoured on local machines",
    ]
    assert box.ctl("start", "d").err == "Unit d.service not found.\n"
    assert box.ctl("start", "a").code == 0


def test_units_ordered_in_a_circle_are_refused(box: Box) -> None:
    box.lay({f"{one}.service": service(SLEEP, unit=f"After={two}.service") for one, two in ("ab", "bc", "ca")})
    said = box.ctl("daemon-reload")
    assert said.code == 1
    assert re.search(r"in a circle: (\w\.service before ){3}\w\.service", said.err)


def test_what_is_required_must_be_there(box: Box) -> None:
    box.load({"a.service": service(SLEEP, unit="Requires=b.service")})
    assert box.ctl("start", "a").err == "a.service requires b.service, which is not there\n"


def test_a_service_stands_on_the_mount_below_its_folders(box: Box) -> None:
    box.load(
        {
            "a.service": service(
                "Type=oneshot", "StateDirectory=m/state", shell("touch here"), "WorkingDirectory=/var/lib/m"
            ),
            "var-lib-m.mount": "[Mount]\nWhat=/dev/landbridge/late\nWhere=/var/lib/m\n",
        }
    )
    said = box.sh(
        "(sleep 0.3; mkdir -p /dev/landbridge/late) & systemctl start a; ls /dev/landbridge/late; "
        "systemctl is-active var-lib-m.mount; systemctl stop var-lib-m.mount; rm -r /dev/landbridge/late"
    )
    assert said.out.split() == ["here", "state", "active"]


def test_orphans_are_reaped_and_end_with_their_unit(box: Box) -> None:
    # One leaves its parent, one its session too: what tells them apart from others is the unit's mark.
    script = '(sleep 1111 & setsid sleep 2222 & sh -c "sleep 0.01" & ) ; exec sleep 3333'
    box.load({"a.service": service(shell(script))})
    said = box.sh(
        "systemctl start a; wait_for '[ $(pgrep -fc ^sleep.....) = 3 ]'; pgrep -fc '^sleep .{4}'; systemctl stop a; "
        "pgrep -fc '^sleep'; wait_for '! ps -eo stat | grep -q Z'; ps -eo stat | grep -c Z"
    )
    assert said.out.split() == ["3", "0", "0"]


def test_only_the_main_process_is_heard(box: Box) -> None:
    speak = "import os,socket; socket.socket(1,2).sendto(b'READY=1', os.environ['NOTIFY_SOCKET'])"
    box.load(
        {
            "a.service": service(
                "Type=notify",
                "TimeoutStartSec=300ms",
                f'ExecStart=/bin/sh -c "python3 -c \\"{speak}\\"; exec sleep 1000"',
            )
        }
    )
    assert box.ctl("start", "a").code == 1


def test_a_service_that_ends_before_it_is_ready_has_failed(box: Box) -> None:
    box.load({"a.service": service("Type=notify", "ExecStart=/bin/true")})
    assert "protocol" in box.sh("systemctl start a; systemctl status a").out


def test_a_stop_ends_waiting_restarts_and_starts_under_way(box: Box) -> None:
    box.load(
        {
            "a.service": service("ExecStart=/bin/false", "Restart=always", "RestartSec=1h"),
            "b.service": service("Type=oneshot", "ExecStart=/bin/sleep 1000"),
        }
    )
    said = box.sh(
        "systemctl start a; sleep 0.05; systemctl --no-block start b; systemctl stop a b; systemctl is-active a b; pgrep -xc sleep"
    )
    assert said.out.split() == ["inactive", "inactive", "0"]


def test_reset_failed_lets_a_limited_unit_start_again(box: Box) -> None:
    box.load(
        {
            "a.service": service(
                "Type=oneshot", "ExecStart=/bin/true", unit="StartLimitBurst=1\nStartLimitIntervalSec=1h"
            )
        }
    )
    said = box.sh(
        "for i in 1 2; do systemctl start a; echo $?; done; systemctl reset-failed a; systemctl start a; echo $?"
    )
    assert said.out.split() == ["0", "1", "0"]


def test_a_program_that_is_missing_is_named_in_the_log(box: Box) -> None:
    box.load({"a.service": service("Type=exec", "ExecStart=/missing/program")})
    box.ctl("start", "a")
    assert "executing: [Errno 2] No such file or directory" in box.log("a.service")
    assert "ended with status 203" in box.log("a.service")


def test_logs_are_rotated(box: Box) -> None:
    box.load({"big.service": service("Type=oneshot", shell("head -c 11000000 /dev/zero; echo end"))})
    box.ctl("start", "big")
    sizes = [(box.disk / f"var/log/units/big.service.log{part}").stat().st_size for part in ("", ".1")]
    assert sizes[0] < 2_000_000 < 9_000_000 < sizes[1] <= 10_000_000
    assert "end" in box.log("big.service")


def test_what_systemctl_does_not_know_is_refused(box: Box) -> None:
    for words in (("mask", "a"), ("start",), ("start", "--force", "a"), ()):
        said = box.ctl(*words)
        assert (said.code, "Local machines honour" in said.err) == (2, True), words


def test_exit_statuses_are_those_of_systemctl(box: Box) -> None:
    box.load({"a.service": DAEMON})
    said = box.sh(
        "systemctl start a; for w in 'is-active a' 'is-active b' 'is-failed a' 'status a' 'status b' 'is-active -q a'; do "
        "systemctl $w >/dev/null 2>&1; echo $?; done; systemctl is-active -q a; systemctl enable a; "
        "readlink /etc/systemd/system/*.wants/a.service; systemctl list-units | grep -Ec 'a.service +active +running'"
    )
    assert said.out.split() == ["0", "3", "1", "0", "4", "0", "1"]


def test_disable_takes_links_away_and_with_now_ends_what_runs(box: Box) -> None:
    box.load({"a.service": service(SLEEP, install="WantedBy=landbridge.target")})
    box.sh("systemctl enable --now a")
    link = "readlink /etc/systemd/system/landbridge.target.wants/a.service; systemctl is-active a"
    assert box.sh(link).out.split() == ["/etc/systemd/system/a.service", "active"]
    assert box.sh("systemctl disable --now a").code == 0
    assert box.sh(link).out.split() == ["inactive"]
    assert box.sh("systemctl disable b").code == 0, "what is gone needs no unit any more"


def test_enable_lays_links(box: Box) -> None:
    box.load({"a.service": service(SLEEP, install="WantedBy=landbridge.target")})
    said = box.sh(
        "systemctl enable a; readlink /etc/systemd/system/landbridge.target.wants/a.service; systemctl daemon-reload; echo $?"
    )
    assert said.out.split() == ["/etc/systemd/system/a.service", "0"]
