"""A local cloud with a small fleet of machines in Azure, and how tests ask their instance metadata."""

import base64
import json
from pathlib import Path
from typing import Any

from components.boot.user_data import public_key, user_data

from ..inside import KEY, Inside

ASK = """
import json, sys, urllib.request, urllib.error
url, *headers = sys.argv[1:]
sent = dict(one.split("=", 1) for one in headers)
try:
    answer = urllib.request.urlopen(urllib.request.Request(url, headers=sent), timeout=10)
    print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""
INSTANCE, TOKEN = "instance?api-version=2021-02-01", "identity/oauth2/token?api-version=2018-02-01&resource="
STORAGE = "https://storage.azure.com/"


def meta(azure: Inside, name: str, path: str, **headers: str) -> tuple[int, Any]:
    """Status and body of instance metadata's answer on a machine."""
    sent = [f"{key.replace('_', '-')}={value}" for key, value in ({"Metadata": "true"} | headers).items() if value]
    url = f"http://169.254.169.254/metadata/{path}"
    status, _, text = azure.run(name, "python3", "-c", ASK, url, *sent).stdout.partition(" ")
    return int(status), json.loads(text) if text.startswith("{") else text.strip()


def encoded(script: str) -> str:
    return base64.b64encode(script.encode()).decode()


def stub(name: str) -> str:
    return user_data("southcentralus", "azureletfleet", f"azurelet/{name}", public_key(KEY), "azurelet-vault")


# Says its machine's name, and how often it ran.
SCRIPT = '#!/bin/sh\nmkdir -p /srv; hostname > /srv/name\necho "$(hostname) was here" >> /var/lib/starts\n'


def azurelet(home: Path) -> Inside:
    """One machine by its signed bundle, `one`, with an identity and a disk."""
    made = Inside(home)
    try:
        made((Path(__file__).parent / "fleetlet.py").read_text())
        made("from components.boot.user_data import sign\nsigned_by = lambda text: sign(pem, text)", pem=KEY)
        made("subnets = found(); publish('one', signed_by); one_id = identity('one'); data = disk('data')")
        made("one_nic = nic('one', subnets['a'], '10.1.1.10')")
        code = (
            "machine('one', [one_nic], script, [one_id], [attached(data, 7)], {'landbridge:fleet': 'test', 'a': 'b'})"
        )
        made(code, script=encoded(stub("one")))
    except BaseException:
        made.close()
        raise
    return made


def running(azure: Inside, name: str) -> bool:
    return bool(azure.machine(name)["state"] == "running")
