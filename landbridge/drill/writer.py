"""Steady writes to an API, each with its number, and a record of those that were acknowledged."""

import http.client
import json
import os
import ssl
import threading
import time
from collections import deque
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from landbridge.cluster.info import ClusterInfo
from landbridge.cluster.kubeconfig import Credential
from landbridge.errors import LandbridgeError
from landbridge.waiting import NotYet, until

WORKERS, PACE_SECONDS = 3, 0.15
# One try, and all tries of one write together: a client that gives up sooner would not outlive a restore.
TRY_SECONDS, WRITE_SECONDS = 4.0, 600.0
MANAGER = "landbridge-drill"
LABEL = "landbridge.dev/drill"


class Write(NamedTuple):
    """One acknowledged write: when, at which revision of etcd, and what it took."""

    number: int
    at: float
    revision: int
    waited: float
    tries: int


class Refused(LandbridgeError):
    """The API did not answer a question of the drill's own."""


class Api:
    """The API over HTTPS as one user, through the balancer or at one `host`. A connection breaks with its error."""

    def __init__(self, info: ClusterInfo, credential: Credential, host: str = "") -> None:
        parts = urlsplit(info.endpoint)
        self.host, self.port = host or str(parts.hostname), parts.port or 443
        self.context = ssl.create_default_context(cadata=info.authority)
        # OpenSSL reads keys from files alone: these lie in memory.
        crt, key = memory(credential.crt), memory(credential.key)
        try:
            self.context.load_cert_chain(f"/proc/self/fd/{crt}", f"/proc/self/fd/{key}")
        finally:
            os.close(crt)
            os.close(key)
        self.connection: http.client.HTTPSConnection | None = None

    def call(self, method: str, path: str, body: object = None, seconds: float = TRY_SECONDS) -> tuple[int, Any]:
        """The answer's code and document. Raises OSError and HTTPException."""
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(self.host, self.port, timeout=seconds, context=self.context)
        try:
            data = json.dumps(body) if body is not None else None
            self.connection.request(method, path, data, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith(b"{") else text.decode(errors="replace")
        except BaseException:
            self.close()
            raise

    def surely(self, method: str, path: str, body: object = None, seconds: float = 60) -> Any:
        """The document, tried until it comes. Raises Refused."""

        def answered() -> tuple[Any]:
            try:
                code, response = self.call(method, path, body, min(30, seconds))
            except (OSError, http.client.HTTPException) as error:
                raise NotYet(str(error) or type(error).__name__) from None
            if code < 300 or (method == "POST" and code == 409):
                return (response,)
            raise NotYet(reason(code, response))

        late = f"{method} {path} was not answered within {seconds:.0f} s"
        return until(answered, seconds, 0.3, lambda why: Refused(f"{late}: {why}"))[0]

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def memory(text: str) -> int:
    descriptor = os.memfd_create("credential")
    os.write(descriptor, text.encode())
    return descriptor


def reason(code: int, response: Any) -> str:
    return f"{code} {response.get('message', '') if isinstance(response, dict) else response}"[:300]


class Writer:
    """Writes until it is stopped; a write that fails is tried again, as a client of Kubernetes' own would."""

    def __init__(self, info: ClusterInfo, credential: Credential, namespace: str, run: str) -> None:
        self.info, self.credential, self.namespace, self.run = info, credential, namespace, run
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.next, self.retries = 0, 0
        self.acknowledged: list[Write] = []
        self.failed: list[int] = []
        self.refusals: deque[tuple[float, str]] = deque(maxlen=200)
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(WORKERS)]

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps"

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        """Ends after the writes that are under way. Raises Refused when one hangs."""
        self.ended.set()
        for thread in self.threads:
            thread.join(TRY_SECONDS * 4)

    def work(self) -> None:
        api = Api(self.info, self.credential)
        while not self.ended.is_set():
            begun = time.monotonic()
            with self.lock:
                number, self.next = self.next, self.next + 1
            self.write(api, number, begun)
            self.ended.wait(max(0.0, PACE_SECONDS - (time.monotonic() - begun)))
        api.close()

    def write(self, api: Api, number: int, begun: float) -> None:
        name, tries, pause = f"{self.run}-{number}", 0, 0.05
        labels = {LABEL: self.run}
        body = {"metadata": {"name": name, "labels": labels}, "data": {"number": str(number)}}
        while True:
            tries += 1
            try:
                code, response = api.call("POST", f"{self.path}?fieldManager={MANAGER}", body)
                if code == 409 and tries > 1:  # an earlier try got there, and only its answer was lost
                    code, response = api.call("GET", f"{self.path}/{name}")
                if code in (200, 201):
                    waited, revision = time.monotonic() - begun, int(response["metadata"]["resourceVersion"])
                    with self.lock:
                        self.acknowledged.append(Write(number, time.time(), revision, waited, tries))
                    return
                why = reason(code, response)
            except (OSError, http.client.HTTPException) as error:
                why = str(error) or type(error).__name__
            with self.lock:
                self.retries += 1
                self.refusals.append((time.monotonic(), why))
            if self.ended.is_set() and tries > 3:
                return  # it was never acknowledged: nothing was promised
            if time.monotonic() - begun > WRITE_SECONDS:
                with self.lock:
                    self.failed.append(number)
                return
            time.sleep(pause)
            pause = min(pause * 2, 1.0)

    def more(self, count: int, seconds: float) -> None:
        """Waits until so many writes more, all begun after now, are acknowledged. Raises Refused."""
        with self.lock:
            first = self.next

        def late(_: str) -> Refused:
            why = self.refusals[-1][1] if self.refusals else "no answer"
            return Refused(f"The API takes no writes within {seconds:.0f} s: {why}")

        until(lambda: sum(one.number >= first for one in list(self.acknowledged)) >= count, seconds, 0.05, late)

    def at(self, host: str, name: str, seconds: float) -> None:
        """One write more, at one API server. Raises Refused."""
        self.ask("POST", self.path, {"metadata": {"name": f"{self.run}-{name}"}}, host, seconds)

    def ask(self, method: str, path: str, body: object = None, host: str = "", seconds: float = 60) -> Any:
        """What the API answers to the same user. Raises Refused."""
        api = Api(self.info, self.credential, host)
        try:
            return api.surely(method, path, body, seconds)
        finally:
            api.close()

    def refused(self, words: str, since: float, seconds: float) -> str:
        """Waits until a write is refused with these words; gives them whole. Raises Refused."""

        def found() -> str:
            return next((why for at, why in list(self.refusals) if at >= since and words in why), "")

        late = Refused(f"No write was refused with `{words}` within {seconds:.0f} s.")
        return until(found, seconds, 0.05, lambda _: late)

    def present(self) -> set[int]:
        """The numbers of the writes that are there, by a read that asks etcd's majority."""
        response = self.ask("GET", f"{self.path}?labelSelector={quote(f'{LABEL}={self.run}')}")
        return {int(one["data"]["number"]) for one in response["items"]}
