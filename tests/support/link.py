"""The way between machines and the API, which can be cut as a broken tunnel cuts it: bytes vanish, and nobody is told."""

import os
import signal
import subprocess
import sys

from local.providers.host import free_port

# Of a program of its own: all that comes from one end goes to the other.
POUR = """
async def pour(source, sink):
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except OSError:
        pass
    sink.close()
"""
# Listens on the loopback's first port and passes to the second, both ways.
FORWARD = f"""
import asyncio, sys
here, there = int(sys.argv[1]), int(sys.argv[2])
{POUR}
async def passed(reader, writer):
    try:
        back, out = await asyncio.open_connection("127.0.0.1", there)
    except OSError:
        return writer.close()
    await asyncio.gather(pour(reader, out), pour(back, writer))

async def main():
    async with await asyncio.start_server(passed, "127.0.0.1", here) as server:
        print("open", flush=True)
        await server.serve_forever()

asyncio.run(main())
"""


class Link:
    def __init__(self, to: int) -> None:
        """`to` is a port of the loopback, as `port` is, at which it can be reached through the link."""
        self.port = free_port()
        words = [sys.executable, "-S", "-E", "-c", FORWARD, str(self.port), str(to)]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"open\n"

    def cut(self) -> None:
        """Lines that are open stay so, and are silent; new ones are never answered."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def mend(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
