"""A real SSH server that lets in whom a bundle's files let in: `python -m tests.support.sshd ADDRESS HOST_KEY`.

It runs inside a local machine, as root, in the place of OpenSSH's and sudo, which few test machines have. What it takes
from OpenSSH's settings is AllowUsers and AuthorizedKeysFile; from sudo's rules, who may be root without a password.
"""

import asyncio
import pwd
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import asyncssh

from components.boot.people import PORT, SSHD, SUDOERS


def settings() -> dict[str, str]:
    return dict(line.split(" ", 1) for line in Path(SSHD).read_text().splitlines())


class Server(asyncssh.SSHServer):
    def connection_made(self, connection: Any) -> None:
        self.connection = connection

    def begin_auth(self, username: str) -> bool:
        told = settings()
        known = [user.pw_name for user in pwd.getpwall()]
        if username in told["AllowUsers"].split() and username in known:
            self.connection.set_authorized_keys(told["AuthorizedKeysFile"].replace("%u", username))
        return True


async def handle(process: Any) -> None:
    """One command, which must be one that sudo would let the user run."""
    words, user = shlex.split(process.command or ""), process.get_extra_info("username")
    if words[:3] != ["sudo", "-n", "--"] or f"{user} ALL=(root) NOPASSWD: ALL" not in Path(SUDOERS).read_text():
        process.stderr.write(b"sudo: a password is required\n")
        process.exit(1)
        return
    pipe = subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*words[3:], stdin=pipe, stdout=pipe, stderr=pipe)
    await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
    process.exit(await child.wait())


async def serve(address: str, key: str) -> None:
    more = {"process_factory": handle, "encoding": None, "allow_pty": False}
    await asyncssh.listen(address, PORT, server_factory=Server, server_host_keys=[key], **more)
    sys.stdout.write("listens\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
