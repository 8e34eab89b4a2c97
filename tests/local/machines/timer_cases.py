"""Cases of timers."""

from .writing import timer

COUNT = "grep -sc x /tmp/t/log"
RAN = "wait_for '[ -e /tmp/t/log ]'"

TIMERS = (
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
)
