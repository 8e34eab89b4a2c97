"""For each directive that is honoured, units and a script whose output shows that it is."""

import os
from dataclasses import dataclass

from local.machines.spawn import mapped


@dataclass(frozen=True, eq=False)
class Case:
    directive: str
    units: dict[str, str]
    script: str
    says: str  # a regular expression for the script's whole output


def service(*lines: str, unit: str = "", install: str = "") -> str:
    body = "\n".join(lines)
    heads = f"[Unit]\n{unit}\n" if unit else ""
    tail = f"[Install]\n{install}\n" if install else ""
    return f"{heads}[Service]\n{body}\n{tail}"


def shell(script: str) -> str:
    return f"ExecStart=/bin/sh -c '{script}'"


SLEEP = "ExecStart=/bin/sleep 1000"
DAEMON = service(SLEEP)
ONCE = "Type=oneshot"
SLOW_B = service(ONCE, shell("sleep 0.2; echo b >> /tmp/t/log"), install="WantedBy=landbridge.target")
WRITES_A = [ONCE, shell("echo a >> /tmp/t/log")]
BAD = service(ONCE, "ExecStart=/bin/false")
STATE = "echo $(systemctl is-active a.service)"
# Prints `ready` to the notify socket after a while.
NOTIFIER = (
    'ExecStart=/usr/bin/env python3 -c "import os,socket,time; time.sleep(0.2); s=socket.socket(1,2); '
    "open('/tmp/t/log','w').write('ready'); s.connect(os.environ['NOTIFY_SOCKET']); s.send(b'READY=1\\\\nSTATUS=fine'); "
    'time.sleep(1000)"'
)
# A process with a child that says which signals it got; the pause lets the traps be set.
FAMILY = (
    'ExecStart=/bin/sh -c \'(trap "echo child >> /tmp/t/log; exit" TERM; touch /tmp/t/r1; while :; do sleep 0.02; done) & '
    'trap "echo main >> /tmp/t/log; exit" TERM; touch /tmp/t/r2; while :; do sleep 0.02; done\''
)
FAMILY_SCRIPT = "systemctl start a; wait_for 'ls /tmp/t/r1 /tmp/t/r2 >/dev/null 2>&1'; systemctl stop a; sort /tmp/t/log; pgrep -fc 'echo chil[d]'"
OTHERS = mapped(65534)
PRIVILEGED = os.geteuid() == 0


def once(directive: str, *lines: str, script: str, says: str, unit: str = "") -> Case:
    return Case(directive, {"a.service": service(*lines, unit=unit)}, f"systemctl start a; {script}", says)


def timer(directive: str, *lines: str, script: str, says: str, name: str = "a") -> Case:
    body = "\n".join(lines)
    units = {"a.timer": f"[Timer]\n{body}\n", f"{name}.service": service(ONCE, shell("echo x >> /tmp/t/log"))}
    return Case(directive, units, script, says)


COUNT = "grep -sc x /tmp/t/log"
RAN = "wait_for '[ -e /tmp/t/log ]'"
MOUNT = {"srv-m.mount": "[Mount]\nWhat=/var/volume\nWhere=/srv/m\nType=ext4\nOptions=ro,noexec\n"}
PREPARE = "mkdir -p /var/volume; echo data > /var/volume/f; systemctl start srv-m.mount; "

CASES = (
    once(
        "Description",
        SLEEP,
        unit="Description=It sleeps",
        script="systemctl status a | head -1",
        says="● a.service - It sleeps",
    ),
    once(
        "Documentation",
        SLEEP,
        unit="Documentation=https://example.com/a",
        script="systemctl status a | grep -c https://example.com/a",
        says="1",
    ),
    Case(
        "After",
        {"a.service": service(*WRITES_A, unit="After=b.service\nWants=b.service"), "b.service": SLOW_B},
        "systemctl start a; cat /tmp/t/log",
        "b\na",
    ),
    Case(
        "Before",
        {
            "a.service": service(*WRITES_A, install="WantedBy=landbridge.target"),
            "b.service": "[Unit]\nBefore=a.service\n" + SLOW_B,
        },
        "systemctl start landbridge.target; cat /tmp/t/log",
        "b\na",
    ),
    Case(
        "Requires",
        {"a.service": service(*WRITES_A, unit="After=b.service\nRequires=b.service"), "b.service": BAD},
        "systemctl start a 2>/tmp/t/err; echo $?; ls /tmp/t; systemctl is-failed b; cat /tmp/t/err",
        r"(?s)1\nerr\nfailed\nJob for a.service start came out as: dependency.*",
    ),
    Case(
        "Wants",
        {
            "a.service": service(SLEEP, unit="Wants=b.service c.service missing.service"),
            "b.service": DAEMON,
            "c.service": BAD,
        },
        "systemctl start a; systemctl is-active a b; systemctl is-failed c",
        "active\nactive\nfailed",
    ),
    Case(
        "PartOf",
        {"a.service": service(SLEEP, unit="PartOf=b.service"), "b.service": DAEMON},
        "systemctl start b a; systemctl stop b; systemctl is-active a",
        "inactive",
    ),
    Case(
        "BindsTo",
        {
            "a.service": service(SLEEP, unit="BindsTo=b.service\nAfter=b.service"),
            "b.service": service(shell("until [ -e /tmp/t/go ]; do sleep 0.02; done")),
        },
        'systemctl start a; systemctl is-active a b; touch /tmp/t/go; wait_for "! systemctl -q is-active b"; systemctl is-active a b',
        "active\nactive\ninactive\ninactive",
    ),
    Case(
        "ConditionPathExists",
        {
            "a.service": service(*WRITES_A, unit="ConditionPathExists=/tmp/t/no"),
            "b.service": service(ONCE, shell("echo b >> /tmp/t/log"), unit="ConditionPathExists=!/tmp/t/no"),
        },
        "systemctl start a b; echo $?; cat /tmp/t/log",
        "0\nb",
    ),
    once(
        "StartLimitBurst",
        shell("echo x >> /tmp/t/log; exit 1"),
        "Restart=always",
        "RestartSec=10ms",
        unit="StartLimitBurst=3",
        script=f"wait_for 'systemctl status a | grep -o start-limit-hit'; {COUNT}; systemctl is-failed a",
        says="start-limit-hit\n3\nfailed",
    ),
    once(
        "StartLimitIntervalSec",
        shell("echo x >> /tmp/t/log; exit 1"),
        "Restart=always",
        "RestartSec=40ms",
        unit="StartLimitBurst=3\nStartLimitIntervalSec=100ms",
        script=f"wait_for '[ $({COUNT}) -gt 5 ]'; echo on",
        says="on",
    ),
    Case(
        "Type",
        {
            "a.service": service("Type=notify", NOTIFIER),
            "b.service": service("Type=simple", "ExecStart=/missing"),
            "c.service": service("Type=exec", "ExecStart=/missing"),
            "d.service": service("Type=oneshot", shell("sleep 0.2; echo d >> /tmp/t/d")),
        },
        "systemctl start a; cat /tmp/t/log; echo; systemctl status a | grep -o 'Says: fine'; "
        "for u in b c d; do systemctl start $u 2>/dev/null; echo $?; done; cat /tmp/t/d",
        "ready\nSays: fine\n0\n1\n0\nd",
    ),
    once(
        "ExecStartPre",
        "ExecStartPre=-/bin/false",
        "ExecStartPre=/bin/sh -c 'echo pre >> /tmp/t/log'",
        "ExecStartPre=/bin/false",
        SLEEP,
        script=f"cat /tmp/t/log; systemctl is-failed a; pgrep -c '^sleep$'; {STATE}",
        says="pre\nfailed\n0\nfailed",
    ),
    once(
        "ExecStart",
        ONCE,
        shell("echo 1 >> /tmp/t/log"),
        shell("echo 2 >> /tmp/t/log"),
        script="cat /tmp/t/log",
        says="1\n2",
    ),
    once(
        "ExecStartPost",
        "ExecStartPost=/bin/sh -c 'echo post $MAINPID >> /tmp/t/log'",
        SLEEP,
        script='[ "post $(pgrep -x sleep)" = "$(cat /tmp/t/log)" ] && echo same',
        says="same",
    ),
    Case(
        "Restart",
        {
            f"{name}.service": service(
                shell(f"echo {name} >> /tmp/t/log; exit {status}"), f"Restart={kind}", "RestartSec=20ms"
            )
            for name, kind, status in (
                ("a", "always", 0),
                ("b", "on-failure", 1),
                ("c", "on-failure", 0),
                ("d", "no", 1),
            )
        },
        "systemctl start a b c d; wait_for '[ $(grep -c [ab] /tmp/t/log) = 10 ]'; sleep 0.1; for u in a b c d; do grep -c $u /tmp/t/log; done",
        "5\n5\n1\n1",
    ),
    once(
        "RestartSec",
        shell("date +%%s%%N >> /tmp/t/log; exit 1"),
        "Restart=on-failure",
        "RestartSec=400ms",
        unit="StartLimitBurst=2",
        script="systemctl is-active a; wait_for '[ $(wc -l < /tmp/t/log) = 2 ]'; "
        "echo $(( ($(tail -1 /tmp/t/log) - $(head -1 /tmp/t/log)) / 400000000 ))",
        says="activating\n[1-9]",
    ),
    once(
        "RemainAfterExit",
        ONCE,
        "RemainAfterExit=yes",
        "ExecStart=/bin/true",
        script="systemctl is-active a",
        says="active",
    ),
    once(
        "User",
        ONCE,
        "User=builder",
        shell("id -un; echo $HOME"),
        "ExecStart=+/bin/sh -c 'id -un'",
        "StandardOutput=append:/tmp/t/log",
        script="cat /tmp/t/log",
        says="builder\n/var/lib/builder\nroot" if OTHERS else "root\n/var/lib/builder\nroot",
    ),
    once(
        "Group",
        ONCE,
        "Group=crew",
        shell("id -gn"),
        "StandardOutput=append:/tmp/t/log",
        script="cat /tmp/t/log",
        says="crew" if OTHERS else "root",
    ),
    once(
        "Environment",
        ONCE,
        'Environment=A=1 "B=two words"',
        "Environment=C=$3 D=three",
        shell("(printenv C; echo $$A $$B ${D} $$PATH) > /tmp/t/log"),
        script="cat /tmp/t/log",
        says=r"\$3\n1 two words three /usr/local/sbin:.*",
    ),
    once(
        "EnvironmentFile",
        ONCE,
        "Environment=A=1",
        "ExecStartPre=/bin/true",
        "EnvironmentFile=/etc/hostname-is",
        "EnvironmentFile=-/missing",
        "ExecStart=/usr/bin/printf %%s- $WORDS ${WORDS}",
        "StandardOutput=append:/tmp/t/log",
        script="echo \"WORDS='x y'\" > /etc/hostname-is; systemctl start a; cat /tmp/t/log",
        says="x-y-x y-",
    ),
    once(
        "LimitNOFILE",
        ONCE,
        "LimitNOFILE=100:200",
        shell("ulimit -Sn; ulimit -Hn"),
        "StandardOutput=append:/tmp/t/log",
        script="cat /tmp/t/log",
        says="100\n200",
    ),
    once(
        "LimitMEMLOCK",
        ONCE,
        "LimitMEMLOCK=64K",
        shell("ulimit -l"),
        "StandardOutput=append:/tmp/t/log",
        script="cat /tmp/t/log",
        says="64",
    ),
    once(
        "TimeoutStartSec",
        "Type=notify",
        "TimeoutStartSec=200ms",
        SLEEP,
        script="systemctl status a | grep -o 'failed (failed) (Result: timeout)'; pgrep -c '^sleep$'",
        says=r"failed \(failed\) \(Result: timeout\)\n0",
    ),
    once(
        "TimeoutStopSec",
        shell('trap "" TERM; touch /tmp/t/r; while :; do sleep 0.05; done'),
        "TimeoutStopSec=200ms",
        script="wait_for '[ -e /tmp/t/r ]'; timeout 20 systemctl stop a; echo $?; pgrep -c '^sleep$'",
        says="0\n0",
    ),
    once("KillMode", FAMILY, "KillMode=mixed", script=FAMILY_SCRIPT, says="main\n0"),
    once("KillMode", FAMILY, "KillMode=control-group", script=FAMILY_SCRIPT, says="child\nmain\n0"),
    once("KillMode", FAMILY, "KillMode=process", script=f"{FAMILY_SCRIPT}; pkill -f 'echo chil[d]'", says="main\n1"),
    once(
        "KillSignal",
        shell('trap "echo int > /tmp/t/log; exit" INT; touch /tmp/t/r; while :; do sleep 0.02; done'),
        "KillSignal=SIGINT",
        script="wait_for '[ -e /tmp/t/r ]'; systemctl stop a; cat /tmp/t/log",
        says="int",
    ),
    once(
        "StateDirectory",
        ONCE,
        "StateDirectory=one two/three",
        "User=builder",
        shell("echo $$STATE_DIRECTORY > /var/lib/two/three/f"),
        script="cat /var/lib/two/three/f; stat -c %U /var/lib/one",
        says="/var/lib/one:/var/lib/two/three\n" + ("builder" if OTHERS else "root"),
    ),
    once(
        "Nice",
        ONCE,
        "Nice=7",
        "ExecStart=/usr/bin/nice",
        "StandardOutput=append:/tmp/t/log",
        script="cat /tmp/t/log",
        says="7",
    ),
    once(
        "OOMScoreAdjust",
        ONCE,
        "OOMScoreAdjust=500",
        "ExecStart=/bin/cat /proc/self/oom_score_adj",
        "StandardOutput=append:/tmp/t/log",
        script="cat /tmp/t/log",
        says="500",
    ),
    once(
        "WorkingDirectory",
        ONCE,
        "WorkingDirectory=/var/lib",
        shell("pwd > /tmp/t/log"),
        script="cat /tmp/t/log",
        says="/var/lib",
    ),
    once(
        "StandardOutput",
        ONCE,
        "StandardOutput=null",
        "StandardError=journal",
        shell("echo nothing; echo something >&2"),
        script="tail -1 /var/log/units/a.service.log",
        says="something",
    ),
    once(
        "StandardError",
        ONCE,
        "StandardError=file:/tmp/t/log",
        shell("echo out; echo err >&2"),
        script="cat /tmp/t/log; tail -1 /var/log/units/a.service.log",
        says="err\nout",
    ),
    once(
        "SuccessExitStatus",
        ONCE,
        "SuccessExitStatus=7 SIGKILL",
        shell("exit 7"),
        shell("kill -KILL $$$$"),
        script="systemctl is-failed a",
        says="inactive",
    ),
    Case("What", MOUNT, f"{PREPARE} cat /srv/m/f", "data"),
    Case("Where", MOUNT, f"{PREPARE} systemctl is-active srv-m.mount; systemctl stop srv-m.mount; ls /srv/m", "active"),
    Case(
        "Type",
        MOUNT,
        f"{PREPARE} sed s/ext4/nfs/ -i /etc/systemd/system/srv-m.mount; systemctl daemon-reload 2>&1",
        ".*Type=nfs.*",
    ),
    Case(
        "Options",
        MOUNT,
        f"{PREPARE} touch /srv/m/g 2>&1; grep -c '/srv/m.*noexec' /proc/mounts",
        ".*Read-only file system\n1",
    ),
    timer("OnBootSec", "OnBootSec=0", script=f"systemctl start a.timer; {RAN}; {COUNT}", says="1"),
    timer(
        "OnBootSec",
        "OnBootSec=1h",
        script=f"systemctl start a.timer; sleep 0.2; {COUNT}; systemctl is-active a.timer",
        says="active",
    ),
    timer(
        "OnUnitActiveSec",
        "OnBootSec=0",
        "OnUnitActiveSec=100ms",
        script=f"systemctl start a.timer; wait_for '[ $({COUNT}) -ge 4 ]'; echo often",
        says="often",
    ),
    timer(
        "OnCalendar",
        "OnCalendar=*:*:*",
        script=f"systemctl start a.timer; {RAN}; {COUNT}",
        says="1|2",
    ),
    timer(
        "Persistent",
        "OnCalendar=monthly",
        "Persistent=yes",
        script="mkdir -p /var/lib/systemd/timers; touch -d '40 days ago' /var/lib/systemd/timers/stamp-a.timer; "
        f"systemctl start a.timer; {RAN}; {COUNT}; systemctl stop a.timer; systemctl start a.timer; sleep 0.1; {COUNT}",
        says="1\n1",
    ),
    timer(
        "Unit",
        "OnBootSec=0",
        "Unit=b.service",
        script=f"systemctl start a.timer; {RAN}; {COUNT}",
        says="1",
        name="b",
    ),
    timer(
        "RandomizedDelaySec",
        "OnBootSec=0",
        "RandomizedDelaySec=100d",
        script=f"systemctl start a.timer; sleep 0.2; {COUNT}; systemctl status a.timer | grep -Ec 'a.service in [0-9]{{3,}} s'",
        says="1",
    ),
    Case(
        "WantedBy",
        {"a.service": service(SLEEP, install="WantedBy=landbridge.target"), "b.service": DAEMON},
        "systemctl start landbridge.target; systemctl is-active a b",
        "active\ninactive",
    ),
    Case(
        "RequiredBy",
        {"a.service": service(ONCE, "ExecStart=/bin/false", install="RequiredBy=landbridge.target")},
        "systemctl start landbridge.target 2>/dev/null; echo $?",
        "1",
    ),
)
