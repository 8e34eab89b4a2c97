"""Messages to the user, through the engine."""

import contextlib
import threading
from typing import Any

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

SECONDS = 5


class Log:
    """`status` lines last until the next one; a warning stays. Repeated ones are said once."""

    def __init__(self, address: str | None) -> None:
        self._address, self._lock = address, threading.Lock()
        self._stub: engine_pb2_grpc.EngineStub | None = None
        self._logged: dict[str, str] = {}
        self._warned: set[tuple[str, str]] = set()

    def status(self, urn: str, text: str) -> None:
        with self._lock:
            if self._logged.get(urn) == text:
                return
            self._logged[urn] = text
        self._send(urn, text, engine_pb2.INFO, ephemeral=True)

    def info(self, urn: str, text: str) -> None:
        self._send(urn, text, engine_pb2.INFO, ephemeral=False)

    def warn(self, urn: str, text: str) -> None:
        with self._lock:
            if (urn, text) in self._warned:
                return
            self._warned.add((urn, text))
        self._send(urn, text, engine_pb2.WARNING, ephemeral=False)

    def _send(self, urn: str, text: str, severity: Any, *, ephemeral: bool) -> None:
        if not self._address:
            return
        with self._lock:
            if self._stub is None:
                self._stub = engine_pb2_grpc.EngineStub(grpc.insecure_channel(self._address))
        request = engine_pb2.LogRequest(severity=severity, message=text, urn=urn, streamId=0, ephemeral=ephemeral)
        with contextlib.suppress(grpc.RpcError):  # nobody listens any more
            self._stub.Log(request, timeout=SECONDS)
