#!/usr/bin/python3
# Fetches this machine's bundle, checks it against its signature, writes it and starts it.
import base64, hashlib, hmac, os, subprocess, sys, time
from json import dumps, loads
from urllib import request

AT = ""
PLACE = {}
META = "http://169.254.169.254/latest/"
TOKEN = "X-aws-ec2-metadata-token"


def step(name):
    global AT
    AT = name
    line = time.strftime("%FT%TZ boot: ", time.gmtime()) + name
    print(line, file=sys.stderr)
    with open("/var/log/landbridge-boot.log", "a") as log:
        log.write(line + "\n")


def ask(url, **more):
    return request.urlopen(request.Request(url, **more), timeout=20).read().decode()


def meta(path):
    token = ask(META + "api/token", headers={TOKEN + "-ttl-seconds": "60"}, method="PUT")
    return ask(META + "meta-data/iam/security-credentials/" + path, headers={TOKEN: token})


def signed(service, path, body=b"", **sent):
    host, now = f"{service}.{PLACE['region']}.amazonaws.com", time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    digest = hashlib.sha256(body).hexdigest()
    sent |= {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now, "x-amz-security-token": role["Token"]}
    names, scope = ";".join(sorted(sent)), f"{now[:8]}/{PLACE['region']}/{service}/aws4_request"
    lines = "".join(f"{name}:{sent[name]}\n" for name in sorted(sent))
    asked = "\n".join(["POST" if body else "GET", path, "", lines, names, digest])
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n" + hashlib.sha256(asked.encode()).hexdigest()
    key = ("AWS4" + role["SecretAccessKey"]).encode()
    for part in [*scope.split("/"), text]:
        key = hmac.digest(key, part.encode(), "sha256")
    sent["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={role['AccessKeyId']}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
    )
    return loads(ask(f"https://{host}{path}", data=body or None, headers=sent))


def run(command, wrong):
    if subprocess.run(command.split()).returncode:
        raise ValueError(wrong)


def verify(text, mark):
    os.chdir("/run")
    write("boot.data", text)
    for name, content in ("mark", mark), ("key", PLACE["key"]):
        open("boot." + name, "wb").write(base64.b64decode(content))
    how = "openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey boot.key -in boot.data -sigfile boot.mark"
    run(how, "not signed by our key")


def check(told, given):
    for path in told:
        if os.path.abspath(path) != path:
            raise ValueError(path + " is no whole path")
        if hashlib.sha256(given.get(path, "\0").encode()).hexdigest() != told[path]["sha256"]:
            raise ValueError(path + " is missing or changed")


def write(path, text, mode="644"):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        os.chmod(path, int(mode, 8))
        file.write(text)


def boot():
    global role
    step("credentials")
    role = loads(meta(meta("")))
    step("manifest")
    home = f"/{PLACE['bucket']}/{PLACE['prefix']}/"
    sealed = signed("s3", home + "manifest.json")
    text = sealed["manifest"]
    step("signature")
    verify(text, sealed["signature"])
    told = loads(text)
    if told["prefix"] != PLACE["prefix"]:
        raise ValueError("it is of " + told["prefix"])
    step("files")
    files = signed("s3", f"{home}{told['version']}.json")
    check(told["files"], files)
    step("keys")
    body = dumps({"SecretId": PLACE["prefix"], "VersionId": told["secret_version"]}).encode()
    kind = {"x-amz-target": "secretsmanager.GetSecretValue", "content-type": "application/x-amz-json-1.1"}
    keys = told["keys"] and loads(signed("secretsmanager", "/", body, **kind)["SecretString"])
    check(told["keys"], keys)
    # Nothing is written before all is checked; the manifest comes last, as the sign that all is there.
    step("writing")
    for part, given in (told["files"], files), (told["keys"], keys):
        for path in part:
            write(path, given[path], part[path]["mode"])
    write("/etc/landbridge/manifest.json", text)
    step("starting")
    for verb in "daemon-reload", "enable landbridge.target", "start --no-block landbridge.target":
        run("systemctl " + verb, verb)


while AT != "done":
    try:
        boot()
        step("done")
    # What is not there may come yet.
    except OSError as problem:
        step(f"waits at {AT}: {problem}")
        time.sleep(5)
    except Exception as problem:
        sys.exit(step(f"stopped at {AT}: {problem!r}") or 1)
