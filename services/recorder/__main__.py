"""`python3 -m services.recorder`: keeps what ends in the cluster, and why, until it is told to end."""

import argparse
import gc
import os
import secrets
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evidence.observation import Json, Observation
from fleet import records
from kube_http import follow
from services.azure.identity import identity_option, replaced
from services.kube import ACCOUNT, as_account
from services.pages import watched

from . import metrics, seeing, settings, store
from .audit_log import AuditLog
from .book import Book
from .contact import Contact, Heard
from .errors import CloudError, SettingsError, StoreError
from .happenings import Happenings
from .last_lines import LastLines
from .machines import Machines
from .merging import Merging
from .parts import Span, gap
from .settings import Settings
from .things import Things
from .where import Where
from .writing import Writing

LOOK_SECONDS, AUDIT_SECONDS = 60.0, 20.0
# So that pods' records have their nodes' pools.
NODES_FIRST_SECONDS = 30.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="services.recorder", description=__doc__)
    parser.add_argument("--settings", type=Path, required=True, help="JSON, as the add-on's stack writes it")
    parser.add_argument("--replica", required=True, metavar="NAME", help="the pod's own: it is in the names of parts")
    parser.add_argument("--account", type=Path, default=ACCOUNT, metavar="FOLDER", help="of the pod's token")
    parser.add_argument("--metrics", default=":8089", help="for /metrics and /healthz; %(default)s")
    parser.add_argument(
        "--write-seconds", type=float, default=60.0, metavar="N", help="how often what was seen is written; %(default)s"
    )
    parser.add_argument(
        "--settle-seconds",
        type=float,
        default=10.0,
        metavar="N",
        help="how long after an end, which somebody may ask about soon; %(default)s",
    )
    identity_option(parser)
    given = parser.parse_args()
    try:
        told = settings.read(given.settings)
        # A container that is started again has its pod's name, and must write over none of its parts.
        replica = f"{given.replica}.{secrets.token_hex(3)}"
        recorder = Recorder(told, replica, given.account, time.time())
        pages = watched(given.metrics)
    except (SettingsError, ValueError, OSError) as error:
        say(str(error))
        return 1
    over = threading.Event()

    def end(*_: object) -> None:
        over.set()
        recorder.book.urgent.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    recorder.start()
    gc.freeze()
    while not over.is_set() and not replaced(given.identity):
        if recorder.book.urgent.wait(given.write_seconds):
            over.wait(given.settle_seconds)
        if not over.is_set():
            recorder.writing.step(time.time())
    recorder.writing.step(time.time(), last=True)
    pages.shutdown()
    return 0


class Recorder:
    """All its parts. Raises ValueError for a bucket of no known form."""

    def __init__(self, told: Settings, replica: str, account: Path, now: float) -> None:
        self.told, self.book, self.contact, self.where = told, Book(), Contact(), Where()
        self.kube = as_account(Heard, account)
        self.kube.contact = self.contact
        self.lines = LastLines(self.kube, self.book, say)
        folders = [records.folder(told.cluster, team) for team in ("", *told.teams)]
        # Clients of clouds are one thread's each.
        self.writing = Writing(self.book, self.contact, store.opened(told.into), told, replica, self.where.spaces, now)
        self.audit = AuditLog(store.opened(told.into), self.book, told.audit, now)
        self.machines = Machines(self.book, told.machines)
        self.merging = Merging(store.opened(told.into), folders)
        self.nodes_listed = threading.Event()
        self.replica, self.listed = replica, Counter[str]()

    def start(self) -> None:
        self.lines.start()
        for kind in seeing.kinds(queues=self.told.queues):
            things = self._things(kind)
            self._thread(kind.path, self._follow, kind.path, things.keep, things.listed, things.changed)
        happenings = Happenings(self.book)
        self._thread(seeing.EVENTS, self._follow, seeing.EVENTS, happenings.keep, happenings.listed, happenings.changed)
        self._thread("audit", self._regularly, self.audit.step, AUDIT_SECONDS)
        self._thread("machines", self._regularly, self.machines.step)
        self._thread("merging", self._regularly, self.merging.step)

    def _things(self, kind: seeing.Kind) -> Things:
        if kind is seeing.NODE:
            return Things(kind, self.book, also=self._node, left=self._node_left)
        if kind is not seeing.POD:
            return Things(kind, self.book)
        return Things(kind, self.book, self.where.of_pod, self._pod, self.where.pod_left, self._unseen)

    def _node(self, node: Json, fresh: list[Observation]) -> None:
        self.where.node(node)
        self.machines.node(node, fresh)

    def _node_left(self, node: Json) -> None:
        self.where.node_left(node)
        self.machines.left(node)

    def _pod(self, pod: Json, fresh: list[Observation]) -> None:
        self.where.pod(pod)
        self.lines.of(pod, fresh)

    def _unseen(self, pod: Json) -> None:
        self.audit.fill(pod, self.contact.again(seeing.PODS), time.time())

    def _thread(self, name: str, target: Callable[..., None], *args: Any) -> None:
        """Without one of them it would seem to see all: it ends with it, and its node starts it anew."""

        def run() -> None:
            try:
                target(*args)
            except BaseException:
                traceback.print_exc()
                os._exit(1)

        threading.Thread(target=run, name=name, daemon=True).start()

    def _follow(
        self,
        path: str,
        keep: Callable[[Any], str],
        listed: Callable[[list[str]], None],
        changed: Callable[[str, Any], None],
    ) -> None:
        """For ever. What has another form than is known is passed over, and counted."""
        self.contact.begins(path)
        if path == seeing.PODS:
            self.nodes_listed.wait(NODES_FIRST_SECONDS)

        def all_listed(found: list[str]) -> None:
            listed(found)
            if self.listed[path] and (since := self.contact.missed(path)):
                span = Span(since, time.time())
                self.book.add(gap(span, self.replica, f"the API server has forgotten what became of {path}"))
            self.listed[path] += 1
            self.contact.heard(path)
            if path == seeing.NODES:
                self.nodes_listed.set()

        def broke(why: str) -> None:
            self.contact.broke(path)
            say(why)

        follow(self.kube, path, understood(path, keep, ""), all_listed, understood(path, changed, None), broke)

    def _regularly(self, step: Callable[[float], None], seconds: float = LOOK_SECONDS) -> None:
        said = ""
        while True:
            why = ""
            try:
                step(time.time())
            except (StoreError, CloudError) as error:
                why = str(error)
            if why and why != said:
                say(why)
            said = why
            time.sleep(seconds)


def understood(path: str, take: Callable[..., Any], instead: Any) -> Callable[..., Any]:
    """`instead` is the answer for what can't be understood, so that one object ends no thread."""

    def taken(*args: Any) -> Any:
        try:
            return take(*args)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            metrics.not_understood.labels(path.rpartition("/")[2]).inc()
            say(f"something in {path} has a form that is not known: {type(error).__name__}: {error}")
            return instead

    return taken


def say(why: str) -> None:
    sys.stderr.write(f"recorder: {why}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    code = main()
    # Threads that watch are cut off.
    os._exit(code)
