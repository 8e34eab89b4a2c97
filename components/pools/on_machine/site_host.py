"""A site's host and its bundle: takes only one that is signed, keeps the one before, and says what stands. As root.

`enrol`, `apply`, `back` and `report`. All but the last read JSON on stdin; answers are one line of JSON on stdout. It
runs with nothing but the host's Python: an enrolment has it from the bundle, `site apply` and `status` send their own.
"""

import base64
import binascii
import hashlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MANIFEST, KEY = Path("/etc/landbridge/manifest.json"), Path("/etc/landbridge/verify-key")
HOST, TOKEN = Path("/etc/landbridge/host.json"), Path("/etc/kubernetes/enrolment-token")
DISCOVERY = "/etc/kubernetes/discovery.kubeconfig"
KUBECONFIG, CERTIFICATE = Path("/var/lib/kubelet/kubeconfig"), Path("/var/lib/kubelet/pki/kubelet-client-current.pem")
# Whole bundles, as they came: what runs, and what ran before.
STATE = Path("/var/lib/landbridge")
CURRENT, PREVIOUS = STATE / "bundle.json", STATE / "bundle-before.json"
UNITS, TARGET, KUBELET = "/etc/systemd/system/", "landbridge.target", "kubelet.service"
PROGRAMS = {KUBELET: "/usr/local/bin/kubelet", "containerd.service": "/usr/local/bin/containerd"}
API_SECONDS, JOIN_SECONDS = 20.0, 180.0


class Refused(Exception):
    """Why nothing was done; for people."""


def main() -> None:
    given = {} if sys.argv[1] == "report" else json.load(sys.stdin)
    verb = {"enrol": enrol, "apply": apply, "back": back, "leave": leave, "report": report}[sys.argv[1]]
    try:
        told = verb(given)
    except (Refused, OSError, KeyError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}")
    print(json.dumps(told))


def enrol(given: Json) -> Json:
    """A new host gets everything; one that stands gets its token, and keeps its bundle until `apply`.

    A host of a cluster that is gone is new to the one that has its name now, and forgets what the first one gave it;
    so does one that `leaves` its pool for another, where that has no more work for it.
    """
    bundle, host = given["bundle"], given["host"]
    told = checked(bundle, given["key"])
    now = standing()
    moves = now is not None and pool_of(now) != pool_of(told)
    refuse(now, told, host, given.get("leaves") or {})
    if lacks := [PROGRAMS[u] for u in PROGRAMS if UNITS + u in bundle["files"] and not Path(PROGRAMS[u]).exists()]:
        raise Refused(f"{' and '.join(lacks)} missing: install the pool's image first. Nothing was changed")
    if given["token"]:
        ask(bundle["files"][DISCOVERY], given["token"])
    write(KEY, given["key"])
    write(HOST, json.dumps(host) + "\n")
    if given["token"]:
        write(TOKEN, given["token"], "0600")
    if moves or (given["token"] and CERTIFICATE.exists() and not known_to(bundle["files"][DISCOVERY])):
        forget()
    stands = now is not None and not moves and (valid() or not given["token"])
    if not stands:
        exchange(bundle, json.loads(CURRENT.read_text()) if now and CURRENT.exists() else bundle)
    systemctl("enable", TARGET)
    if stands:
        systemctl("start", "--no-block", TARGET)
    if given["token"]:
        wait_joined()
    has = now["version"] if now and stands else told["version"]
    return {"stands": stands, "current": has == told["version"], "version": has}


def apply(bundle: Json) -> Json:
    """Takes a bundle instead of the one that runs, which is kept for `back`."""
    told, now = checked(bundle, KEY.read_text()), standing()
    if not now or pool_of(now) != pool_of(told):
        raise Refused(f"this machine is of {pool_of(now) if now else 'nobody'}, not of {pool_of(told)}")
    for_it(told, json.loads(HOST.read_text())["host"])
    before = json.loads(CURRENT.read_text())
    keep(PREVIOUS, before)
    return exchange(bundle, before)


def back(given: Json) -> Json:
    """The bundle of before comes back, if the one of the given version was begun at all."""
    current = json.loads(CURRENT.read_text())
    if version(current) != given["version"]:
        return {"version": version(current), "at": 0.0}
    return exchange(json.loads(PREVIOUS.read_text()), current)


def leave(given: Json) -> Json:
    """Makes it the machine that it was before it was enrolled, if it is still of the pool that goes away. Tells what
    it goes on serving.

    One that serves something does so further on, unless that is to end, too.
    """
    now = standing()
    if not now or pool_of(now) != given["prefix"]:
        return {"serves": []}
    told = report({})
    serves = [unit for unit in told["serves"] if told["units"].get(unit) == "active"]
    if serves and not given["serving"]:
        return {"serves": serves}
    bundle = json.loads(CURRENT.read_text())
    systemctl("disable", TARGET)
    halt(bundle, {"files": {}})
    # The pods' processes outlive containerd, which ends alone.
    subprocess.run(["systemctl", "stop", "kubepods.slice"], check=False, capture_output=True)
    forget()
    for path in (*bundle["files"], HOST, KEY, TOKEN, CURRENT, PREVIOUS, MANIFEST):
        Path(path).unlink(missing_ok=True)
    systemctl("daemon-reload")
    return {"serves": []}


def exchange(new: Json, old: Json) -> Json:
    """Files and units of one bundle instead of another's. Containers live on: containerd's unit ends itself alone."""
    keep(CURRENT, new)
    halt(old, new)
    for path in old["files"]:
        if path not in new["files"]:
            Path(path).unlink(missing_ok=True)
    put(new)
    systemctl("daemon-reload")
    at = time.time()
    # The kubelet says that it is up when it has joined, however long the API is away: nobody waits for that here.
    systemctl("start", "--no-block", TARGET)
    # What the new kubelet tells the API it tells after this moment of this machine's clock.
    return {"version": version(new), "at": at}


def halt(old: Json, new: Json) -> None:
    """Ends the services of a bundle, all units that the next one lacks, and the system's own that either one sets up.

    Those, such as the NFS server, run with what they read at their start.
    """
    gone = sorted(set(units(old)) - set(units(new)))
    words = sorted({*adopted(old), *adopted(new)}), [*gone, *(one for one in units(old) if one.endswith(".service"))]
    for names in words:
        # What is unknown fails the whole call, and need not end.
        if names:
            subprocess.run(["systemctl", "stop", *dict.fromkeys(names)], check=False, capture_output=True)


def skipped(name: str) -> bool:
    """Whether a unit's condition keeps it from being started here."""
    file = Path(UNITS) / name
    lines = file.read_text().splitlines() if file.exists() else []
    needs = [one.partition("=")[2] for one in lines if one.startswith("ConditionPathExists=/")]
    return not all(Path(one).exists() for one in needs)


def report(_: Json) -> Json:
    """What stands: digests of the files that the manifest names, states of units. No file's content.

    `wants` are the units that the target starts, `serves` those that a target of its own starts there.
    """
    now = standing()
    if not now:
        nothing: Json = {"wants": [], "serves": [], "units": {}, "joined": False, "certificate": ""}
        return {"version": "", "prefix": "", "host": "", "drifted": [], "files": {}, **nothing}
    found = {path: digest(Path(path)) for path in now["files"]}
    names = [*units(now), *adopted(now)]
    wants = [name for name in wanted(TARGET) if not skipped(name)]
    states = subprocess.run(["systemctl", "is-active", *names], capture_output=True, text=True, check=False).stdout
    host = json.loads(HOST.read_text()) if HOST.exists() else {}
    drifted = [path for path, one in now["files"].items() if found[path] != one["sha256"]]
    return {
        "version": now["version"],
        "prefix": now["prefix"],
        "host": host.get("host", ""),
        "files": found,
        "drifted": drifted,
        "units": dict(zip(names, states.split(), strict=True)),
        "wants": [name for name in wants if not name.endswith(".target")],
        "serves": [name for more in wants if more.endswith(".target") for name in wanted(more)],
        "joined": valid(),
        "certificate": shown(),
    }


def checked(bundle: Json, key: str) -> Json:
    """The manifest, once its signature and every file's digest are right."""
    with tempfile.TemporaryDirectory() as folder:
        parts = {"data": str(bundle["manifest"]).encode()}
        try:
            parts |= {"mark": base64.b64decode(bundle["signature"]), "key": base64.b64decode(key)}
        except binascii.Error:
            raise Refused("the bundle's signature is no base64. Nothing was changed") from None
        for name, data in parts.items():
            Path(folder, name).write_bytes(data)
        how = "openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey key -in data -sigfile mark"
        if subprocess.run(how.split(), cwd=folder, capture_output=True, check=False).returncode:
            raise Refused("the bundle is not signed by the key of this host's pool. Nothing was changed")
    told: Json = json.loads(bundle["manifest"])
    for path, one in told["files"].items():
        text = bundle["files"].get(path)
        if (
            os.path.normpath(path) != path
            or not path.startswith("/")
            or text is None
            or hashed(text.encode()) != one["sha256"]
        ):
            raise Refused(f"the bundle's {path} is missing or changed. Nothing was changed here")
    if set(bundle["files"]) != set(told["files"]):
        raise Refused("the bundle has files that nobody has signed for. Nothing was changed")
    return told


def ours(address: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        try:
            one.bind((address, 0))
        except OSError:
            return False
    return True


def ask(discovery: str, token: str) -> None:
    """Whether the API answers, and takes the token: before anything is written."""
    cluster = json.loads(discovery)["clusters"][0]["cluster"]
    trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    call = urllib.request.Request(cluster["server"] + "/api", headers={"authorization": f"Bearer {token}"})
    try:
        urllib.request.urlopen(call, timeout=API_SECONDS, context=trust).close()
    except urllib.error.HTTPError as error:
        if error.code != 401:
            raise Refused(f"{cluster['server']} answers {error.code}. Nothing was changed") from None
        why = "does not take this token, which has expired or was replaced by a later one: enrol again"
        raise Refused(f"{cluster['server']} {why}. Nothing was changed") from None
    except OSError as error:
        why = f"can't be reached: {error}. Do this site's link, its DNS and its clock work?"
        raise Refused(f"{cluster['server']} {why} Nothing was changed") from None


def valid() -> bool:
    """Whether the kubelet has a certificate that is good now."""
    look = ["openssl", "x509", "-noout", "-checkend", "0", "-in", str(CERTIFICATE)]
    return KUBECONFIG.exists() and subprocess.run(look, capture_output=True, check=False).returncode == 0


def known_to(discovery: str) -> bool:
    """Whether the kubelet's certificate is of an authority of the cluster that a bundle leads to."""
    cluster = json.loads(discovery)["clusters"][0]["cluster"]
    with tempfile.NamedTemporaryFile() as authorities:
        authorities.write(base64.b64decode(cluster["certificate-authority-data"]))
        authorities.flush()
        look = ["openssl", "verify", "-no_check_time", "-CAfile", authorities.name, str(CERTIFICATE)]
        return subprocess.run(look, capture_output=True, check=False).returncode == 0


def refuse(now: "Json | None", told: Json, host: Json, leaves: Json) -> None:
    """Raises Refused for a bundle that this machine may not take."""
    if now and pool_of(now) != pool_of(told) and not may_leave(pool_of(now), leaves):
        raise Refused(
            f"this machine is of {pool_of(now)}, not of {pool_of(told)}, and who made this command could not see what "
            f"it does there: drain it there, then `systemctl disable --now {TARGET} {KUBELET}` and remove {MANIFEST}, "
            f"{HOST} and {KUBECONFIG.parent} here. Nothing was changed"
        )
    if now and HOST.exists() and json.loads(HOST.read_text())["host"] != host["host"]:
        raise Refused(
            f"this machine is {json.loads(HOST.read_text())['host']}, not {host['host']}. Nothing was changed"
        )
    for_it(told, host["host"])
    if host.get("address") and not ours(host["address"]):
        raise Refused(f"this machine has no address {host['address']}, which the fleet file gives {host['host']}")


def may_leave(pool: str, leaves: Json) -> bool:
    """Whether who enrols has looked into the cluster of that pool, and found no work there."""
    fleet, cluster, _ = pool.split("/")
    return fleet == leaves.get("fleet") and cluster not in leaves.get("unasked", ())


def forget() -> None:
    """Who it was to another cluster or pool. Its pods end with that: the next one knows none of them."""
    subprocess.run(["systemctl", "stop", KUBELET], check=False, capture_output=True)
    KUBECONFIG.unlink(missing_ok=True)
    shutil.rmtree(CERTIFICATE.parent, ignore_errors=True)


def shown() -> str:
    """The kubelet's certificate, without its key; empty if there is none."""
    look = ["openssl", "x509", "-in", str(CERTIFICATE)]
    return subprocess.run(look, capture_output=True, text=True, check=False).stdout if KUBECONFIG.exists() else ""


def wait_joined() -> None:
    """Waits until the kubelet has its certificate."""
    deadline = time.monotonic() + JOIN_SECONDS
    while not valid():
        if time.monotonic() > deadline:
            hint = "`journalctl -u kubelet -u landbridge-node-facts` here says why"
            raise Refused(f"the bundle runs, and the kubelet has no certificate after {JOIN_SECONDS:.0f} s: {hint}")
        time.sleep(0.5)


def standing() -> "Json | None":
    """The manifest of what runs, or nothing."""
    return json.loads(MANIFEST.read_text()) if MANIFEST.exists() else None


def version(bundle: Json) -> str:
    return str(json.loads(bundle["manifest"])["version"])


def units(told: Json) -> list[str]:
    """Of a bundle or its manifest."""
    found = (path[len(UNITS) :] for path in told["files"] if path.startswith(UNITS))
    return sorted(name for name in found if "/" not in name)


def adopted(told: Json) -> list[str]:
    """Units of the system that a bundle sets up by files beside theirs."""
    found = (path[len(UNITS) :].partition(".d/") for path in told["files"] if path.startswith(UNITS))
    return sorted({name for name, slash, _ in found if slash})


def wanted(target: str) -> list[str]:
    """Units that a target here wants."""
    file = Path(UNITS, target)
    lines = file.read_text().splitlines() if file.exists() else []
    return [line.partition("=")[2] for line in lines if line.startswith("Wants=")]


def pool_of(told: Json) -> str:
    """FLEET/CLUSTER/POOL of a manifest; a bundle for one host alone has its name behind."""
    return "/".join(told["prefix"].split("/")[:3])


def for_it(told: Json, host: str) -> None:
    if told["prefix"].split("/")[3:] not in ([], [host]):
        raise Refused(f"the bundle of {told['prefix']} is not for {host}. Nothing was changed")


def put(new: Json) -> None:
    """Writes what differs from what is there. The manifest comes last, as the sign that all is there."""
    for path, one in json.loads(new["manifest"])["files"].items():
        if digest(Path(path)) != one["sha256"]:
            write(Path(path), new["files"][path], one["mode"])
    write(MANIFEST, new["manifest"])


def write(path: Path, text: str, mode: str = "0644") -> None:
    """In one step, and never readable to others for a moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
    draft.chmod(int(mode, 8))
    draft.replace(path)


def keep(path: Path, bundle: Json) -> None:
    STATE.mkdir(parents=True, exist_ok=True, mode=0o700)
    write(path, json.dumps(bundle), "0600")


def digest(path: Path) -> str:
    try:
        return hashed(path.read_bytes())
    except OSError:
        return ""


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def systemctl(*words: str) -> None:
    subprocess.run(["systemctl", *words], check=True, capture_output=True)


if __name__ == "__main__":
    main()
