"""The pools whose machines may join: a ConfigMap of the cluster's, so that a new pool rolls no control plane machine.

Only people who are administrators may write it; the add-ons do.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from join_rules import pools_of
from machine import say

from kube_http import Answer, Kube

PATH, KEY = "/api/v1/namespaces/kube-system/configmaps/landbridge-pools", "pools.json"
LOOK_SECONDS = 5.0
# Before the add-ons come there is neither the table nor the right to read it.
NOT_YET = 403, 404


def read(kube: Kube) -> str:
    """Its text; empty as long as nobody has written it. Raises Answer, OSError."""
    try:
        found = kube.ask("GET", PATH)
    except Answer as answer:
        if answer.status in NOT_YET:
            return ""
        raise
    return str((found.get("data") or {}).get(KEY, ""))


def understood(text: str) -> dict[str, Any]:
    """What it says. Raises ValueError for JSON that is no table, too: nobody may act on half of one."""
    told = json.loads(text)
    try:
        for part in ("regions", "roles", "lans"):
            dict(told[part])
        pools_of(told)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"it is no table of pools: {type(error).__name__}: {error}") from None
    return dict(told)


def follow(kube: Kube, learn: Callable[[Any], bool], seconds: float = LOOK_SECONDS) -> None:
    """Until `learn` returns True: it gets the table, and each other one that takes its place."""
    before = told = ""
    while True:
        try:
            text = read(kube)
            problem = "" if text else "there are no pools yet"
            if text not in ("", before):
                table = understood(text)
                before = text
                if learn(table):
                    return
        except (Answer, OSError, ValueError) as error:
            # What is known stays: an API that is away, or a slip of the pen, shuts nobody out.
            problem = f"cannot read the pools: {error}"
        if problem and problem != told:
            say(problem)
        told = problem
        time.sleep(seconds)
