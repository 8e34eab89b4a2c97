"""Cases of mount and automount units."""

from .writing import ONCE, WRITES_A, Case, service, shell

MOUNT = {"srv-m.mount": "[Mount]\nWhat=/var/volume\nWhere=/srv/m\nType=ext4\nOptions=ro,noexec\n"}
REMOTE = {
    "srv-m.mount": "[Mount]\nWhat=s.example.com:/m\nWhere=/srv/m\nType=nfs\nOptions=hard,_netdev\nTimeoutSec=20\n"
}
AUTOMOUNT = MOUNT | {"srv-m.automount": "[Automount]\nWhere=/srv/m\nTimeoutIdleSec=600\n"}
AT = "/etc/systemd/system"
PREPARE = "mkdir -p /var/volume; echo data > /var/volume/f; systemctl start srv-m.mount; "

MOUNTS = (
    Case(
        "RequiresMountsFor",
        {**MOUNT, "a.service": service(ONCE, shell("cat /srv/m/f > /tmp/t/log"), unit="RequiresMountsFor=/srv/m/deep")},
        "mkdir -p /var/volume; echo data > /var/volume/f; systemctl start a; cat /tmp/t/log",
        "data",
    ),
    Case(
        "RequiresMountsFor",
        {**MOUNT, "a.service": service(*WRITES_A, unit="RequiresMountsFor=/srv/m")},
        "rm -rf /var/volume; systemctl start a 2>/tmp/t/err; echo $?; systemctl is-active a srv-m.mount; ls /tmp/t",
        "1\ninactive\nfailed\nerr",
    ),
    Case("What", MOUNT, f"{PREPARE} cat /srv/m/f", "data"),
    Case("Where", MOUNT, f"{PREPARE} systemctl is-active srv-m.mount; systemctl stop srv-m.mount; ls /srv/m", "active"),
    Case(
        "Type",
        MOUNT,
        f"{PREPARE} sed s/ext4/zfs/ -i /etc/systemd/system/srv-m.mount; systemctl daemon-reload 2>&1",
        ".*Type=zfs.*",
    ),
    Case(
        "Type", REMOTE, "systemctl start srv-m.mount 2>&1; cat /var/log/units/srv-m.mount.log", "(?s).*mount no nfs.*"
    ),
    Case(
        "TimeoutSec", REMOTE, f"sed s/20/soon/ -i {AT}/srv-m.mount; systemctl daemon-reload 2>&1", ".*=soon: .*span.*"
    ),
    Case(
        "Where",
        AUTOMOUNT,
        f"{PREPARE} systemctl stop srv-m.mount; systemctl start srv-m.automount; systemctl is-active srv-m.automount; "
        f"cat /var/log/units/srv-m.automount.log; ls -A /srv/m",
        "(?s)failed\n.*no autofs",
    ),
    Case(
        "TimeoutIdleSec",
        AUTOMOUNT,
        f"sed s/600/soon/ -i {AT}/srv-m.automount; systemctl daemon-reload 2>&1",
        ".*=soon: .*span.*",
    ),
    Case(
        "Options",
        MOUNT,
        f"{PREPARE} touch /srv/m/g 2>&1; grep -c '/srv/m.*noexec' /proc/mounts",
        ".*Read-only file system\n1",
    ),
)
