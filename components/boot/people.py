"""Who may log in to a machine by SSH: bundle files from people's entries in the fleet file.

Nothing is taken from the machine: keys lie in a folder of root's, nobody has a password, nobody else is let in.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from components.control_plane.units import SCRIPTS, UNITS, cloud_files, script, service, settings
from fleet import logins as logins_of
from fleet.buckets import bucket_arn, bucket_name
from fleet.logins import by_certificate
from fleet.model import Cloud, Fleet
from fleet.shares import HOMES, home_path

KEYS = "/etc/ssh/authorized_keys"
SYSUSERS = "/etc/sysusers.d/landbridge-people.conf"
# First of all drop-ins: sshd takes the first value that it finds (sshd_config(5)).
SSHD = "/etc/ssh/sshd_config.d/00-landbridge.conf"
SUDOERS = "/etc/sudoers.d/landbridge"
# The authority whose certificates let people in, and those that count no more, which `people_revoked` keeps. sshd lets
# nobody in while the second is missing (sshd_config(5)), so it is made empty before sshd hears of it.
AUTHORITY, REVOKED = "/etc/ssh/landbridge-people.pub", "/var/lib/landbridge/ssh-revoked"
USERS_UNIT, SSHD_UNIT = "landbridge-people.service", "landbridge-sshd.service"
REVOKED_UNIT = "landbridge-people-revoked.service"
# What the machine shows to clients. The key comes with the keys of its bundle, and no other one is shown.
HOST_KEY, HOST_CERTIFICATE = "/etc/ssh/landbridge_host", "/etc/ssh/landbridge_host-cert.pub"
OWN_SCRIPTS = Path(__file__).with_name("on_machine")
FETCH_SECONDS = 20
PORT = 22
# On machines of a control plane: what people leave on such a machine ends with it.
NO_HOME = "/"
# Bundle files that are not for everybody's eyes: sudo's own mode for its rules (sudoers(5)).
MODES = {SUDOERS: "0440"}


class Authority(NamedTuple):
    """Whose certificates let people in: the public line of its key, and the bucket that has its list of revoked ones.

    Without a bucket a machine has no way to the list: a certificate counts there until it ends.
    """

    line: str
    region: str = ""
    bucket: str = ""
    cloud: Cloud = "aws"


class Login(NamedTuple):
    """A person on machines. `keys` are lines of public keys without their comments; `home` is /, or in the share."""

    name: str
    uid: int
    team: str
    gid: int
    keys: tuple[str, ...]
    home: str = NO_HOME


def logins(fleet: Fleet, team: str, *, homes: bool = False) -> tuple[Login, ...]:
    """The people of a team who can have a way in, by name: a key, or certificates for whatever key they have.

    With `homes` they have their own, if the fleet has such a share.
    """
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
        if one.team == team and (one.keys or by_certificate(fleet))
    )


def shows(fleet: Fleet, people: Sequence[Login]) -> bool:
    """Whether machines that these people log in to show certificates: who takes them, shows them."""
    return bool(people) and by_certificate(fleet)


def authority(fleet: Fleet, region: str, line: str) -> Authority | None:
    """Of a region with the public line that it publishes; None where keys let people in."""
    if not by_certificate(fleet):
        return None
    return Authority(line, region, bucket_name(fleet, region), fleet.regions[region].cloud)


def reading(fleet: Fleet, region: str) -> list[dict[str, str]]:
    """What a machine's role must hold besides, as statements: to read the list of revoked certificates."""
    if not by_certificate(fleet):
        return []
    place = f"{bucket_arn(fleet, region)}/{logins_of.REVOKED}"
    return [{"Sid": "PeopleRevoked", "Effect": "Allow", "Action": "s3:GetObject", "Resource": place}]


def files(
    people: Sequence[Login], *, root: bool, authority: Authority | None = None, certificate: str = ""
) -> dict[str, str]:
    """Path → content; nothing for nobody. With `root` they are root by `sudo -n`. See `MODES` for modes.

    With an `authority` its certificates let people in, and keys by themselves nobody. With a `certificate` for its
    HOST_KEY the machine is known to whoever knows who signed that; without one it makes itself a key.
    """
    if not people:
        return {}
    made = _vouched(authority) if authority else {f"{KEYS}/{one.name}": _keys(one) for one in people}
    made |= {
        SYSUSERS: _users(people),
        SSHD: _sshd(people, certificates=authority is not None, known=bool(certificate)),
        f"{UNITS}/{USERS_UNIT}": USERS_TEXT,
        f"{UNITS}/{SSHD_UNIT}": SSHD_TEXT.replace(CHECK, FIRST_LIST + CHECK) if authority else SSHD_TEXT,
    }
    if certificate:
        made[HOST_CERTIFICATE] = certificate
    if root:
        made[SUDOERS] = "".join(f"{one.name} ALL=(root) NOPASSWD: ALL\n" for one in people)
    return made


def _vouched(authority: Authority) -> dict[str, str]:
    """The authority, and what keeps its list of revoked certificates where there is a way to it."""
    made = {AUTHORITY: authority.line.strip() + "\n"}
    if not authority.bucket:
        return made
    config = {
        "line": authority.line,
        "region": authority.region,
        "bucket": authority.bucket,
        "object": logins_of.REVOKED,
        "every_seconds": FETCH_SECONDS,
        "authority": AUTHORITY,
        "revoked": REVOKED,
    }
    return {
        **made,
        **cloud_files(authority.cloud),
        f"{SCRIPTS}/people_revoked.py": (OWN_SCRIPTS / "people_revoked.py").read_text(),
        **settings("people", config),
        f"{UNITS}/{REVOKED_UNIT}": service(
            "Keeps the list of people's revoked certificates", script("people_revoked"), kind="exec"
        ),
    }


def _keys(one: Login) -> str:
    """A terminal and commands, and nothing else that SSH can do; the name shows in logs beside the key."""
    return "".join(f"restrict,pty {key} {one.name}\n" for key in one.keys)


def _users(people: Sequence[Login]) -> str:
    """sysusers.d(5): no password. It makes no home: a share's is there when it is mounted."""
    groups = sorted({(one.team, one.gid) for one in people})
    lines = [f"g {team} {gid}" for team, gid in groups]
    lines += [f'u {one.name} {one.uid}:{one.gid} "{one.name} of {one.team}" {one.home} /bin/bash' for one in people]
    return "\n".join(lines) + "\n"


def _sshd(people: Sequence[Login], *, certificates: bool, known: bool) -> str:
    options = {
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
        # Logs which key or certificate let somebody in.
        "LogLevel": "VERBOSE",
    }
    options |= BY_CERTIFICATE if certificates else {}
    options |= {"HostKey": HOST_KEY, "HostCertificate": HOST_CERTIFICATE} if known else {}
    return "".join(f"{name} {value}\n" for name, value in options.items())


# The principal of a certificate has to be the user's own name, and nothing else says who somebody is.
BY_CERTIFICATE = {
    "AuthorizedKeysFile": "none",
    "TrustedUserCAKeys": AUTHORITY,
    "AuthorizedPrincipalsCommand": "none",
    "RevokedKeys": REVOKED,
}
CHECK = "ExecStart=/usr/sbin/sshd -t\n"
FIRST_LIST = f"StateDirectory=landbridge\nExecStart=/usr/bin/touch {REVOKED}\n"
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
{CHECK}ExecStart=/usr/bin/systemctl try-reload-or-restart ssh.service
"""
