#!/usr/bin/python3
# Fetches this machine's bundle, checks it against its signature, writes it and starts it.
import base64, hashlib, hmac, json, os, subprocess, sys, time
from urllib import error, request

AT = ""
POINTER = {}
META = "http://169.254.169.254/latest/"


def step(name):
    global AT
    AT = name
    line = time.strftime("%FT%TZ boot: ", time.gmtime()) + name
    print(line, file=sys.stderr)
    with open("/var/log/landbridge-boot.log", "a") as log:
        log.write(line + "\n")


def ask(url, body=None, headers={}, method=None):
    with request.urlopen(request.Request(url, body, headers, method=method), timeout=20) as answer:
        return answer.read()


def meta(path):
    token = ask(META + "api/token", None, {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "PUT").decode()
    return ask(META + "meta-data/iam/security-credentials/" + path, None, {"X-aws-ec2-metadata-token": token}).decode()


def signed(service, path, body=b"", **sent):
    host, now = f"{service}.{POINTER['region']}.amazonaws.com", time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    digest = hashlib.sha256(body).hexdigest()
    sent |= {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now, "x-amz-security-token": role["Token"]}
    names, scope = ";".join(sorted(sent)), f"{now[:8]}/{POINTER['region']}/{service}/aws4_request"
    lines = "".join(f"{name}:{sent[name]}\n" for name in sorted(sent))
    asked = "\n".join(["POST" if body else "GET", path, "", lines, names, digest])
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n" + hashlib.sha256(asked.encode()).hexdigest()
    key = ("AWS4" + role["SecretAccessKey"]).encode()
    for part in [*scope.split("/"), text]:
        key = hmac.digest(key, part.encode(), "sha256")
    who = f"AWS4-HMAC-SHA256 Credential={role['AccessKeyId']}/{scope}"
    sent["authorization"] = f"{who}, SignedHeaders={names}, Signature={key.hex()}"
    return ask(f"https://{host}{path}", body or None, sent)


def run(command):
    subprocess.run(command.split(), check=True)


def verified(data, signature):
    decode = base64.b64decode
    for name, content in ("data", data), ("mark", decode(signature)), ("key", decode(POINTER["key"])):
        open("/run/boot." + name, "wb").write(content)
    run(
        "openssl pkeyutl -verify -rawin -pubin -keyform DER -in /run/boot.data -sigfile /run/boot.mark -inkey /run/boot.key"
    )
    return json.loads(data)


def write(told, given):
    for path, want in told.items():
        if hashlib.sha256(given[path].encode()).hexdigest() != want["sha256"]:
            raise ValueError(path + " has another digest")
    for path, want in told.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            os.fchmod(file.fileno(), int(want["mode"], 8))
            file.write(given[path])


def boot():
    global role
    step("credentials")
    role = json.loads(meta(meta("")))
    step("manifest")
    home = f"/{POINTER['bucket']}/{POINTER['prefix']}/"
    data, mark = (signed("s3", home + name) for name in ("manifest.json", "manifest.json.sig"))
    step("signature")
    told = verified(data, mark)
    if told["prefix"] != POINTER["prefix"]:
        raise ValueError("it is " + told["prefix"])
    step("files")
    files = json.loads(signed("s3", f"{home}{told['version']}.json"))
    step("keys")
    body = json.dumps({"SecretId": POINTER["prefix"], "VersionId": told["secret_version"]}).encode()
    kind = {"x-amz-target": "secretsmanager.GetSecretValue", "content-type": "application/x-amz-json-1.1"}
    keys = json.loads(json.loads(signed("secretsmanager", "/", body, **kind))["SecretString"])
    step("writing")
    write(told["files"], files)
    write(told["keys"], keys)
    step("starting")
    for verb in "daemon-reload", "enable landbridge.target", "start --no-block landbridge.target":
        run("systemctl " + verb)


while AT != "done":
    try:
        boot()
        step("done")
    except error.URLError as problem:  # not there yet
        step(f"waits at {AT}: {problem}")
        time.sleep(5)
    except Exception as problem:
        sys.exit(step(f"stopped at {AT}: {problem!r}") or 1)
