"""Drills of what must be refused: an expired certificate, and a bundle that somebody changed."""

import hashlib
import json
import time

from landbridge.cluster import kubeconfig
from landbridge.cluster.kube import Kube
from landbridge.cluster.kubeconfig import Credential
from landbridge.pki.diagnosis import diagnose

from .bench import Bench, DrillError, Outcome

PKI = "/etc/kubernetes/pki"
# The authority's key stays on its machine; a certificate of no days has expired a second later.
SIGN = """\
umask 077; cd $(mktemp -d); trap 'rm -rf "$PWD"' EXIT
openssl ecparam -name prime256v1 -genkey -noout -out key
openssl req -new -key key -subj /CN=landbridge-drill -out csr
printf 'extendedKeyUsage=clientAuth' > ext
crt=PKI/ca-signing.crt; [ -e $crt ] || crt=PKI/ca.crt
openssl x509 -req -in csr -CA $crt -CAkey PKI/ca.key -days DAYS -extfile ext -out signed 2>/dev/null
cat signed; echo; cat key
"""


def certificate_expired(bench: Bench) -> Outcome:
    """A client's certificate has expired: it is refused, with a named diagnosis, and a new one is let in."""
    old = signed(bench, 0)
    time.sleep(1.5)
    refused = Kube(kubeconfig.kubeconfig(bench.info, old), bench.session.around).run("get", "--raw", "/version")
    if refused.code == 0:
        raise DrillError("the API took an expired certificate")
    begun = time.monotonic()
    why = diagnose(refused.err, old.crt) or ""
    if "landbridge-drill expired on" not in why:
        raise DrillError(f"the diagnosis of `{refused.why}` is not that it has expired: {why or 'none'}")
    bench.tell(why)
    new = Kube(kubeconfig.kubeconfig(bench.info, signed(bench, 1)), bench.session.around)
    # Nobody has bound it to anything: to be known is all it may.
    review = json.loads(new.done("auth", "whoami", "--output=json"))
    if review["status"]["userInfo"]["username"] != "landbridge-drill":
        raise DrillError(f"the new certificate is taken for {review}")
    return Outcome(time.monotonic() - begun, {"refused": refused.why, "diagnosis": why})


def signed(bench: Bench, days: int) -> Credential:
    """A client certificate, signed on an API machine."""
    script = SIGN.replace("PKI", PKI).replace("DAYS", str(days))
    out = bench.steps.sh(bench.info.api[0].name, "signing a certificate", script)
    crt, _, key = out.partition("\n\n")
    return Credential("landbridge-drill", crt.strip() + "\n", key.strip() + "\n")


def bundle_tampered(bench: Bench) -> Outcome:
    """A machine's bundle is changed in the bucket: the successor refuses to boot and says why; repaired, it boots."""
    name, path = bench.follower("main").name, "/etc/etcd/main.json"
    sealed_key = f"{bench.info.prefix}/{name}/manifest.json"
    published = json.loads(text(bench, sealed_key))
    manifest = json.loads(published["manifest"])
    key = f"{bench.info.prefix}/{name}/{manifest['version']}.json"
    good = {key: text(bench, key), sealed_key: json.dumps(published)}
    bench.mark.add(objects=good)
    files = json.loads(good[key])
    files[path] = files[path].replace('"new"', '"existing"')
    try:
        put(bench, key, json.dumps(files))
        bench.tell(f"changed {path} in {bench.session.bucket.where(key)}")
        message = refusal(bench, name, path, f"stopped at files: ValueError('{path} is missing or changed')")
        # Whoever can change a file can change what the manifest says of it, but can't sign it.
        manifest["files"][path]["sha256"] = hashlib.sha256(files[path].encode()).hexdigest()
        put(bench, sealed_key, json.dumps({**published, "manifest": json.dumps(manifest)}))
        bench.tell("changed its digest in the manifest, too")
        unsigned = refusal(bench, name, path, "stopped at signature: ValueError('not signed by our key')")
    finally:
        for where, what in good.items():
            put(bench, where, what)
    begun = time.monotonic()
    new = bench.successor(name, bench.terminate(name))
    for ring in ("main", "events"):
        bench.healthy(ring)
    return Outcome(time.monotonic() - begun, {"machine": name, "said": message, "unsigned": unsigned, "new": new})


def refusal(bench: Bench, name: str, path: str, words: str) -> str:
    """What the machine's successor says when it refuses its bundle. Raises DrillError if it does not, as it should."""
    bench.successor(name, bench.terminate(name))
    line = str(bench.until(lambda: ended(bench.boot_log(name)), f"{name} neither boots nor refuses to"))
    bench.tell(f"{name}: {line}")
    if line.endswith("boot: done"):
        raise DrillError(f"{name} has booted a bundle that was tampered with")
    if words not in line:
        raise DrillError(f"{name} stopped for another reason than `{words}`: {line}")
    if bench.steps.exists(name, path) or bench.steps.active(name, "etcd-main.service"):
        raise DrillError(f"{name} wrote or started something of a bundle that it refused")
    return line


def text(bench: Bench, key: str) -> str:
    found = bench.session.bucket.read(key)
    if found is None:
        raise DrillError(f"{bench.session.bucket.where(key)} is not there")
    return found.decode()


def put(bench: Bench, key: str, what: str) -> None:
    bench.session.bucket.put(key, what.encode())


def ended(log: str) -> str:
    """How a boot ended; empty while it goes on."""
    last = (log.splitlines() or [""])[-1]
    return last if "stopped at" in last or last.endswith("boot: done") else ""
