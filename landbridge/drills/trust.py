"""Drills of what must be refused: an expired certificate, and a bundle that somebody changed."""

import json
import time

from ..cluster import kubeconfig
from ..cluster.kube import Kube
from ..cluster.kubeconfig import Credential
from ..pki_diagnosis import diagnose
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
    said = json.loads(new.done("auth", "whoami", "--output=json"))
    if said["status"]["userInfo"]["username"] != "landbridge-drill":
        raise DrillError(f"the new certificate is taken for {said}")
    return Outcome(time.monotonic() - begun, {"refused": refused.why, "diagnosis": why})


def signed(bench: Bench, days: int) -> Credential:
    """A client certificate, signed on an API machine."""
    script = SIGN.replace("PKI", PKI).replace("DAYS", str(days))
    out = bench.hands.sh(bench.info.api[0].name, "signing a certificate", script)
    crt, _, key = out.partition("\n\n")
    return Credential("landbridge-drill", crt.strip() + "\n", key.strip() + "\n")


def bundle_tampered(bench: Bench) -> Outcome:
    """A machine's bundle is changed in the bucket: the successor refuses to boot and says why; repaired, it boots."""
    s3, name = bench.session.of("s3"), bench.follower("main").name
    where = {"Bucket": bench.info.bucket, "Key": f"{bench.info.prefix}/{name}/{version(bench, name)}.json"}
    good = s3.get_object(**where)["Body"].read()
    files = json.loads(good)
    path = "/etc/etcd/main.json"
    files[path] = files[path].replace('"new"', '"existing"')
    s3.put_object(**where, Body=json.dumps(files).encode())
    bench.tell(f"changed {path} in s3://{where['Bucket']}/{where['Key']}")
    try:
        old = bench.terminate(name)
        refused = bench.successor(name, old)
        line = bench.until(lambda: stopped(bench.boot_log(name)), f"{name} does not refuse to boot")
        bench.tell(f"{name}: {line}")
        if f"{path} is missing or changed" not in line:
            raise DrillError(f"{name} stopped for another reason: {line}")
        units = bench.hands.ask(name, "test", "-e", path).code
        if units == 0 or bench.hands.active(name, "etcd-main.service"):
            raise DrillError(f"{name} wrote or started something of a bundle that it refused")
    finally:
        s3.put_object(**where, Body=good)
    begun = time.monotonic()
    bench.terminate(name)
    new = bench.successor(name, refused)
    for ring in ("main", "events"):
        bench.healthy(ring)
    return Outcome(time.monotonic() - begun, {"machine": name, "said": line, "refused": refused, "new": new})


def version(bench: Bench, machine: str) -> str:
    key = f"{bench.info.prefix}/{machine}/manifest.json"
    sealed = bench.session.of("s3").get_object(Bucket=bench.info.bucket, Key=key)["Body"].read()
    return str(json.loads(json.loads(sealed)["manifest"])["version"])


def stopped(log: str) -> str:
    return next((line for line in log.splitlines() if "stopped at" in line), "")
