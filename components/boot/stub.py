#!/usr/bin/python3
# Fetches this machine's bundle, checks it against its signature, writes it and starts it.
import base64, hashlib, hmac, os, sys, time
from json import dumps, loads
from urllib import request

AT = ""
PLACE = {}


def step(name):
    global AT
    AT = name
    line = time.strftime("%FT%TZ boot: ", time.gmtime()) + name
    print(line, file=sys.stderr)
    open("/var/log/landbridge-boot.log", "a").write(line + "\n")


def ask(url, **more):
    return request.urlopen(request.Request(url, **more), timeout=20).read().decode()


# CLOUD: what follows here is one of the files stub_*.py.


def run(command, wrong):
    if os.system(command):
        raise ValueError(wrong)


def verify(text, mark):
    os.chdir("/run")
    write("boot.d", text)
    for name, content in ("m", mark), ("k", PLACE["key"]):
        open("boot." + name, "wb").write(base64.b64decode(content))
    how = "openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey boot.k -in boot.d -sigfile boot.m"
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
    role = login()
    step("manifest")
    sealed = stored("manifest")
    text = sealed["manifest"]
    step("signature")
    verify(text, sealed["signature"])
    told = loads(text)
    if told["prefix"] != PLACE["prefix"]:
        raise ValueError("it is of " + told["prefix"])
    step("files")
    files = stored(told["version"])
    check(told["files"], files)
    step("keys")
    keys = told["keys"] and secret(told["secret_version"])
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
