"""Health checks of targets, as network load balancers make them (NLB user guide: "Health checks for target groups")."""

import asyncio
import contextlib
import re
import ssl
import time
from collections.abc import Callable
from typing import Any

# A target that has just come is looked at often, so that it serves as soon as it can; AWS takes as long as it takes.
FIRST_SECONDS = 0.3
INITIAL = ("initial", "Elb.RegistrationInProgress", "Target registration is in progress")
HEALTHY = ("healthy", None, None)
Status = tuple[str, str | None, str | None]


class Check:
    """Looks at one target of one group until it is cancelled; `turned` hears every change."""

    def __init__(
        self, settings: dict[str, Any], target: dict[str, Any], source: str, turned: Callable[[], None]
    ) -> None:
        self.settings, self.target, self.source, self.turned = settings, target, source, turned
        self.status: Status = INITIAL
        self.task = asyncio.get_running_loop().create_task(self.live())

    @property
    def healthy(self) -> bool:
        return self.status[0] == "healthy"

    async def live(self) -> None:
        settings, began = self.settings, time.monotonic()
        good = bad = 0
        patience = settings["interval"] * settings["down"]
        while True:
            problem = await self.probe()
            good, bad = (0, bad + 1) if problem else (good + 1, 0)
            before = self.status
            # "A target must pass one health check to be considered healthy" at first; later as many as the group says.
            if self.status[0] == "initial":
                if not problem:
                    self.status = HEALTHY
                elif time.monotonic() - began >= patience:
                    self.status = ("unhealthy", problem[0], problem[1])
            elif self.healthy and bad >= settings["down"]:
                assert problem
                self.status = ("unhealthy", problem[0], problem[1])
            elif not self.healthy and good >= settings["up"]:
                self.status = HEALTHY
            if self.status != before:
                self.turned()
            await asyncio.sleep(FIRST_SECONDS if self.status[0] == "initial" else settings["interval"])

    async def probe(self) -> tuple[str, str] | None:
        """None when all is well, else the reason's code and words."""
        try:
            async with asyncio.timeout(self.settings["seconds"]):
                return await self.ask()
        except TimeoutError:
            return "Target.Timeout", "Request timed out"
        except (OSError, ssl.SSLError, EOFError, ValueError):
            return "Target.FailedHealthChecks", "Health checks failed"

    async def ask(self) -> tuple[str, str] | None:
        settings = self.settings
        port = self.target["port"] if settings["port"] == "traffic-port" else int(settings["port"])
        secure = _context() if settings["protocol"] == "HTTPS" else None
        reader, writer = await asyncio.open_connection(
            self.target["address"], port, ssl=secure, local_addr=(self.source, 0)
        )
        try:
            if settings["protocol"] not in ("HTTP", "HTTPS"):
                return None
            host = f"{self.target['address']}:{port}"
            writer.write(f"GET {settings['path']} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            await writer.drain()
            words = (await reader.readline()).split()
            if len(words) < 2 or not accepted(settings["codes"], int(words[1])):
                code = words[1].decode() if len(words) > 1 else "none"
                return "Target.ResponseCodeMismatch", f"Health checks failed with these codes: [{code}]"
            return None
        finally:
            writer.transport.abort()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()


def accepted(codes: str, code: int) -> bool:
    """Whether a matcher such as "200,301-399" has the code."""
    return any(int(low) <= code <= int(high or low) for low, high in re.findall(r"(\d+)(?:-(\d+))?", codes))


def _context() -> ssl.SSLContext:
    """Balancers do not verify their targets' certificates."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
