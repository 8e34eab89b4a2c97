"""Puts a gateway's folder onto this machine, as root: whole, or as it was before.

Run again it does nothing. A kernel or a program that is missing is said before anything is touched. Where a daemon
refuses its new files, or a tunnel that was up is not up a minute later, the files of before come back.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import gateway_state
from gateway_state import LIST

# This script lies in FOLDER/usr/local/lib/landbridge.
FOLDER = Path(__file__).resolve().parents[4]
BEFORE = "var/lib/landbridge/gateway-before"
UP_SECONDS, POLL_SECONDS, COMMAND_SECONDS = 60.0, 2.0, 120.0
SECRET = "landbridge-keys.conf"  # noqa: S105
DEVICE = "etc/systemd/network/50-"
# What only a gateway of a pair has.
PAIR, UNIT = "etc/keepalived/landbridge.conf", "landbridge-pair"


class Failed(Exception):
    """Why nothing was done, or everything undone."""


class Action(NamedTuple):
    """What makes a changed file count: in this order. `{}` stands for the file."""

    begins: str
    command: tuple[str, ...]


ACTIONS = (
    Action("etc/sysctl.d/", ("sysctl", "--quiet", "--load", "{}")),
    Action("etc/systemd/network/", ("networkctl", "reload")),
    Action("etc/nftables.d/", ("nft", "--file", "{}")),
    Action("etc/strongswan.d/", ("systemctl", "restart", "strongswan")),
    Action("etc/swanctl/", ("swanctl", "--load-all", "--noprompt")),
    Action("etc/frr/daemons", ("systemctl", "restart", "frr")),
    Action("etc/frr/frr.conf", ("systemctl", "reload", "frr")),
    Action("etc/systemd/system/", ("systemctl", "daemon-reload")),
    Action("etc/systemd/system/", ("systemctl", "restart", "landbridge-watchdog")),
    Action("etc/landbridge/", ("systemctl", "restart", "landbridge-watchdog")),
    Action("usr/local/lib/landbridge/", ("systemctl", "restart", "landbridge-watchdog")),
    Action(PAIR, ("systemctl", "restart", UNIT)),
)
ALWAYS = (("systemctl", "enable", "--now", "strongswan", "frr", "systemd-networkd", "landbridge.target"),)
# Program → the package that has it.
PROGRAMS = {
    "swanctl": "charon-systemd",
    "vtysh": "frr",
    "nft": "nftables",
    "networkctl": "systemd",
    "ip": "iproute2",
}
OF_PAIR = {"keepalived": "keepalived"}
# What the kernel must have → what is tried in a network of its own.
KERNEL = {
    "XFRM interfaces (CONFIG_XFRM_INTERFACE, Linux 4.19)": "ip link add probe type xfrm if_id 1",
    "ESP with AES-GCM (CONFIG_INET_ESP)": "ip xfrm state add src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x100 "
    f"mode tunnel aead 'rfc4106(gcm(aes))' 0x{'00' * 36} 128",
}

Run = Callable[[Sequence[str]], str]


def run(command: Sequence[str]) -> str:
    """Why a command failed; empty if it did not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip() or done.stdout.strip() or str(done.returncode))


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def fits(folder: Path, run: Run) -> None:
    """Raises Failed when the machine can't be this gateway, or a daemon would refuse its file."""
    paired = (folder / PAIR).exists()
    programs = PROGRAMS | (OF_PAIR if paired else {})
    lacking = [f"{name} (package {package})" for name, package in programs.items() if shutil.which(name) is None]
    if lacking:
        raise Failed(f"this machine has no {', '.join(lacking)}: install that first")
    for what, probe in KERNEL.items():
        if why := run(("unshare", "--net", "sh", "-c", probe)):
            raise Failed(f"this kernel has no {what}: {why.rstrip('.')}. Take one that has it, such as Debian's")
    checks = (("nft", "--check", "--file"), ("vtysh", "--dryrun", "--inputfile"))
    for check, path in zip(checks, ("etc/nftables.d/landbridge.nft", "etc/frr/frr.conf"), strict=True):
        if why := run((*check, str(folder / path))):
            raise Failed(f"{check[0]} refuses {path}: {why.splitlines()[0]}")
    if paired and (why := run((sys.executable, str(Path(__file__).with_name("gateway_lan.py")), str(folder)))):
        raise Failed(why)


def listed(root: Path) -> list[str]:
    """The files of the gateway that is installed below a root, its list among them; none where there is none."""
    try:
        return [*(path.lstrip("/") for path in json.loads((root / LIST).read_text())["files"]), LIST]
    except (OSError, ValueError, KeyError):
        return []


def changes(folder: Path, root: Path) -> tuple[list[str], list[str]]:
    """Files that are new or another, and those of ours that are no more."""
    wanted = listed(folder)
    if not wanted:
        raise Failed(f"{folder} holds no gateway: {LIST} is missing. Run `landbridge site gateway` again")
    differ = [path for path in wanted if _read(root / path) != _read(folder / path)]
    return differ, [path for path in listed(root) if path not in wanted and (root / path).exists()]


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def keep(root: Path, paths: Sequence[str]) -> None:
    """What is there now, for the way back; that of an earlier run goes."""
    shutil.rmtree(root / BEFORE, ignore_errors=True)
    (root / BEFORE).mkdir(parents=True, mode=0o700)
    for path in paths:
        if (root / path).exists():
            _put(root / path, root / BEFORE / path)


def _put(source: Path, target: Path) -> None:
    """As a whole, with the owner that the file had and root's eyes alone on keys."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.landbridge")
    draft.unlink(missing_ok=True)
    secret = target.name == SECRET
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644), "wb") as writing:
        writing.write(source.read_bytes())
    if target.exists() and not secret:
        was = target.stat()
        os.chown(draft, was.st_uid, was.st_gid)
        draft.chmod(was.st_mode & 0o777)
    draft.replace(target)


def act(root: Path, paths: Sequence[str], gone: Sequence[str], run: Run) -> Iterator[str]:
    """Makes files count; why not, for each that did not."""
    done = set()
    for begins, words in ACTIONS:
        touched = [path for path in (*paths, *gone) if path.startswith(begins)]
        present = [str(root / path) for path in touched if path in paths]
        # A unit that has left can't start again.
        for one in present if "{}" in words or begins == PAIR else [""] if touched else []:
            command = tuple(one if word == "{}" else word for word in words)
            if command not in done and (why := run(command)):
                yield f"`{' '.join(command)}`: {why}"
            done.add(command)
    if PAIR in gone:
        run(("systemctl", "stop", UNIT))
    for path in gone:
        if path.startswith(DEVICE) and path.endswith(".netdev"):
            run(("ip", "link", "delete", path.removeprefix(DEVICE).removesuffix(".netdev")))
    for command in ALWAYS:
        if why := run(command):
            yield f"`{' '.join(command)}`: {why}"


def back(root: Path, paths: Sequence[str], gone: Sequence[str], run: Run) -> None:
    """As it was before."""
    for path in (*paths, *gone):
        if (root / BEFORE / path).exists():
            _put(root / BEFORE / path, root / path)
        else:
            (root / path).unlink(missing_ok=True)
    there = [path for path in (*paths, *gone) if (root / path).exists()]
    for why in act(root, there, [path for path in paths if path not in there], run):
        say(f"on the way back: {why}")


def up(root: Path) -> set[str]:
    try:
        return {one.name for one in gateway_state.look(root).tunnels if one.up}
    except (OSError, ValueError, KeyError):
        return set()


def install(
    folder: Path, root: Path, run: Run, up: Callable[[Path], set[str]], seconds: float = UP_SECONDS
) -> list[str]:
    """What was changed; nothing if all is as it should be. Raises Failed, and then nothing is changed."""
    fits(folder, run)
    differ, gone = changes(folder, root)
    if not differ and not gone:
        return []
    before = up(root)
    try:
        keep(root, [*differ, *gone])
    except OSError as error:
        raise Failed(f"what is there now can't be kept, and nothing was changed: {error}") from None
    why = (
        _laid(folder, root, differ, gone)
        or next(act(root, differ, gone, run), "")
        or _tunnels_down(before, root, up, seconds)
    )
    if why:
        back(root, differ, gone, run)
        raise Failed(f"{why}. The files of before are back")
    return [*differ, *gone]


def _laid(folder: Path, root: Path, differ: Sequence[str], gone: Sequence[str]) -> str:
    """Why not all files could be laid; a full disk stops in the middle."""
    try:
        for path in differ:
            _put(folder / path, root / path)
        for path in gone:
            (root / path).unlink()
    except OSError as error:
        return str(error)
    return ""


def _tunnels_down(before: set[str], root: Path, up: Callable[[Path], set[str]], seconds: float) -> str:
    """Which tunnels were up and do not come back. One that has left the plan is not waited for."""
    wanted = before & {one["name"] for one in json.loads((root / gateway_state.SETTINGS).read_text())["tunnels"]}
    end = time.monotonic() + seconds
    while lost := wanted - up(root):
        if time.monotonic() > end:
            return f"after {seconds:.0f} s {', '.join(sorted(lost))} is not up, and was before"
        time.sleep(min(POLL_SECONDS, seconds))
    return ""


def main() -> int:
    if os.geteuid() != 0:
        sys.stderr.write("this needs root: sudo\n")
        return 2
    try:
        changed = install(FOLDER, Path("/"), run, up)
    except Failed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for path in changed:
        say(f"/{path}")
    say("changed" if changed else "nothing to do")
    return 0


if __name__ == "__main__":
    sys.exit(main())
