"""Counts what a client asks of the API: a way to the server that notes each call, and passes it on as whom it speaks for."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from kube_http import Kube
from local.workers.api_proxy import ApiProxy, Handler
from tests.support.apiserver import Server


class Counting(Handler):
    server: "Asked"

    def do_GET(self) -> None:  # noqa: N802
        asked = urlsplit(self.path.removeprefix(self.server.secret))
        verb = "watch" if "watch" in parse_qs(asked.query) else self.command.lower()
        self.server.calls.append((verb, asked.path))
        return super().do_GET()


class Asked(ApiProxy):
    """`address` is for the client's kubeconfig; no credential is needed there."""

    def __init__(self, server: Server, folder: Path, user: str, groups: tuple[str, ...]) -> None:
        self.calls: list[tuple[str, str]] = []
        pair, authority = folder / "asked.pem", folder / "asked.crt"
        pair.write_text("".join(server.authority.leaf(user, groups)))
        authority.write_text(server.authority.pem)
        super().__init__(Kube(server.url, str(authority), pair=(pair,)), "")
        self.RequestHandlerClass = Counting

    def narrowed(self, path: str) -> str:
        return path

    def watched(self) -> set[str]:
        """Resources."""
        return {path.rpartition("/")[2] for verb, path in self.calls if verb == "watch"}
