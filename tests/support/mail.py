"""A server of mail as a site has one: it speaks TLS alone, and asks for passwords or does not. RFC 5321, 3207, 4954."""

import base64
import contextlib
import socketserver
import ssl
import threading
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from tests.support.apiserver import HERE, Authority


class Mails(socketserver.ThreadingTCPServer):
    """`taken` are sender, receiver and letter; `wanted` is who may send and by which password. With None everybody may,
    and no password is right: it offers to take one all the same, as relays within a site do.
    """

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext, wanted: tuple[str, str] | None) -> None:
        self.context, self.wanted = context, wanted
        self.taken = list[tuple[str, str, EmailMessage]]()
        super().__init__((HERE, 0), Talk)

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class Talk(socketserver.StreamRequestHandler):
    server: Mails

    def handle(self) -> None:
        self.said, self.safe, self.known = dict[str, str](), False, self.server.wanted is None
        self.tell("220 ready")
        with contextlib.suppress(OSError, ssl.SSLError):
            while line := self.rfile.readline().decode().strip():
                word, _, rest = line.partition(" ")
                if getattr(self, f"on_{word.lower()}", self.on_other)(rest):
                    return

    def tell(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())

    def on_ehlo(self, _: str) -> None:
        self.tell("250-mail.example.com", "250 AUTH PLAIN" if self.safe else "250 STARTTLS")

    def on_starttls(self, _: str) -> None:
        self.tell("220 go on")
        self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.safe = True

    def on_auth(self, rest: str) -> None:
        _, name, password = base64.b64decode(rest.split()[1]).decode().split("\0")
        self.known = (name, password) == self.server.wanted
        self.tell("235 well" if self.known else "535 who is that")

    def on_mail(self, rest: str) -> None:
        self.envelope("from", rest)

    def on_rcpt(self, rest: str) -> None:
        self.envelope("to", rest)

    def envelope(self, which: str, rest: str) -> None:
        self.said[which] = rest[rest.index("<") + 1 : rest.index(">")]
        self.tell("250 well" if self.safe and self.known else "530 not so")

    def on_data(self, _: str) -> None:
        self.tell("354 until a point")
        lines = b"".join(iter(self.rfile.readline, b".\r\n"))
        letter = message_from_bytes(lines, policy=policy.default)
        assert isinstance(letter, EmailMessage)
        self.server.taken.append((self.said["from"], self.said["to"], letter))
        self.tell("250 taken")

    def on_quit(self, _: str) -> bool:
        self.tell("221 well")
        return True

    def on_other(self, _: str) -> None:
        self.tell("502 no such thing")


@contextlib.contextmanager
def mails(folder: Path, wanted: tuple[str, str] | None = None) -> Iterator[Mails]:
    """Who trusts `folder`'s file `authority.pem` trusts it."""
    authority = Authority()
    (folder / "authority.pem").write_text(authority.pem)
    (folder / "mail.pem").write_text("".join(authority.leaf("mail")))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "mail.pem")
    with Mails(context, wanted) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
