"""Who may log in to a machine by SSH: bundle files from people's entries in the fleet file.

Nothing is taken from the machine: keys lie in a folder of root's, nobody has a password, nobody else is let in.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fleet.model import Fleet
from fleet.shares import HOMES, home_path

KEYS = "/etc/ssh/authorized_keys"
SYSUSERS = "/etc/sysusers.d/landbridge-people.conf"
# First of all drop-ins: sshd takes the first value that it finds (sshd_config(5)).
SSHD = "/etc/ssh/sshd_config.d/00-landbridge.conf"
SUDOERS = "/etc/sudoers.d/landbridge"
UNITS = "/etc/systemd/system"
USERS_UNIT, SSHD_UNIT = "landbridge-people.service", "landbridge-sshd.service"
PORT = 22
# On machines of a control plane: what people leave on such a machine ends with it.
NO_HOME = "/"
# Bundle files that are not for everybody's eyes: sudo's own mode for its rules (sudoers(5)).
MODES = {SUDOERS: "0440"}


class Login(NamedTuple):
    """A person on machines. `keys` are lines of public keys without their comments; `home` is /, or in the share."""

    name: str
    uid: int
    team: str
    gid: int
    keys: tuple[str, ...]
    home: str = NO_HOME


def logins(fleet: Fleet, team: str, *, homes: bool = False) -> tuple[Login, ...]:
    """The people of a team who have a key, by name. With `homes` they have their own, if the fleet has such a share."""
    shared = homes and HOMES in fleet.storage.shares
    return tuple(
        Login(
            name,
            one.uid,
            team,
            fleet.teams[team].gid,
            tuple(" ".join(key.split()[:2]) for key in one.keys),
            home_path(fleet, name) if shared else NO_HOME,
        )
        for name, one in sorted(fleet.people.items())
        if one.team == team and one.keys
    )


def files(people: Sequence[Login], *, root: bool) -> dict[str, str]:
    """Path → content; nothing for nobody. With `root` they are root by `sudo -n`. See `MODES` for modes."""
    if not people:
        return {}
    made = {f"{KEYS}/{one.name}": _keys(one) for one in people}
    made |= {
        SYSUSERS: _users(people),
        SSHD: _sshd(people),
        f"{UNITS}/{USERS_UNIT}": USERS_TEXT,
        f"{UNITS}/{SSHD_UNIT}": SSHD_TEXT,
    }
    if root:
        made[SUDOERS] = "".join(f"{one.name} ALL=(root) NOPASSWD: ALL\n" for one in people)
    return made


def _keys(one: Login) -> str:
    """A terminal and commands, and nothing else that SSH can do; the name shows in logs beside the key."""
    return "".join(f"restrict,pty {key} {one.name}\n" for key in one.keys)


def _users(people: Sequence[Login]) -> str:
    """sysusers.d(5): no password. It makes no home: a share's is there when it is mounted."""
    groups = sorted({(one.team, one.gid) for one in people})
    lines = [f"g {team} {gid}" for team, gid in groups]
    lines += [f'u {one.name} {one.uid}:{one.gid} "{one.name} of {one.team}" {one.home} /bin/bash' for one in people]
    return "\n".join(lines) + "\n"


def _sshd(people: Sequence[Login]) -> str:
    settings = {
        "AllowUsers": " ".join(one.name for one in people),
        "PermitRootLogin": "no",
        "AuthenticationMethods": "publickey",
        "PubkeyAuthentication": "yes",
        "AuthorizedKeysFile": f"{KEYS}/%u",
        # Nothing else may vouch for a key: no program, no certificate, no other host.
        "AuthorizedKeysCommand": "none",
        "AuthorizedPrincipalsFile": "none",
        "TrustedUserCAKeys": "none",
        "HostbasedAuthentication": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitEmptyPasswords": "no",
        # Without PAM sshd takes an account without a password for a locked one.
        "UsePAM": "yes",
        # It would look into people's homes before it lets them in (safe_path in OpenSSH's misc.c), and a share may be
        # away. What it guards is here a folder of root's.
        "StrictModes": "yes" if all(one.home == NO_HOME for one in people) else "no",
        "DisableForwarding": "yes",
        "PermitTunnel": "no",
        "PermitUserEnvironment": "no",
        "PermitUserRC": "no",
        "LoginGraceTime": "30",
        "MaxAuthTries": "6",
        # Logs which key let somebody in.
        "LogLevel": "VERBOSE",
    }
    return "".join(f"{name} {value}\n" for name, value in settings.items())


USERS_TEXT = f"""\
[Unit]
Description=People who may log in

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/systemd-sysusers {SYSUSERS}
"""
# Where the image has no sshd, as on the local cloud, there is nobody to tell. After a mistake it goes on as before.
SSHD_TEXT = f"""\
[Unit]
Description=Makes sshd let these people in and nobody else
ConditionPathExists=/etc/ssh/sshd_config
Requires={USERS_UNIT}
After={USERS_UNIT}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/sshd -t
ExecStart=/usr/bin/systemctl try-reload-or-restart ssh.service
"""
