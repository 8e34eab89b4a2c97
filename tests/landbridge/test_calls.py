"""What `-v` tells: real programs and real requests, with their times and how they ended, and nothing that is secret."""

import http.client
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
import pytest

from landbridge import calls, redaction

SECRET = "dGhpcy1pcy1hLXNlY3JldC1vZi1zb21lYm9keS0xMjM0NTY3ODkw"


class Answering(BaseHTTPRequestHandler):
    """Says yes, and no below /no."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(404 if self.path.startswith("/no") else 200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_GET  # noqa: N815  (the server's names)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def lines(text: list[str]) -> list[str]:
    """Without the clock's time."""
    return [re.sub(r"^\d\d:\d\d:\d\d ", "", line).rstrip("\n") for line in text]


def test_programs_are_told_with_seconds_and_how_they_end() -> None:
    text = list[str]()
    with calls.told(calls.CALLS, text.append):
        subprocess.run(["sleep", "0.2"], check=True)
        subprocess.run([sys.executable, "-c", "raise SystemExit(3)"], check=False)
        with pytest.raises(FileNotFoundError):
            subprocess.run(["/nowhere/program", "x"], check=False)
        ended = subprocess.Popen(["sleep", "60"])
        ended.terminate()
        assert ended.wait() == -15
        assert ended.returncode == -15
    slept, failed, missing, stopped = lines(text)
    assert re.fullmatch(r" +0\.[2-9]\d s  sleep 0\.2", slept) or re.fullmatch(r" +[1-9]\d*\.\d\d s  sleep 0\.2", slept)
    assert failed.endswith("-c raise SystemExit(3): exit code 3")
    assert missing.endswith("/nowhere/program x: No such file or directory")
    assert stopped.endswith("sleep 60: ended by signal 15")


def test_requests_are_told_with_seconds_and_their_status(address: str) -> None:
    text, down = list[str](), "127.0.0.1:1"
    with calls.told(calls.CALLS, text.append):
        urllib.request.urlopen(f"http://{address}/api/v1/nodes?sig={SECRET}").read()
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://{address}/no")
        with pytest.raises(ConnectionRefusedError):
            http.client.HTTPConnection(down).request("GET", "/")
    found, absent, refused = lines(text)
    assert re.fullmatch(rf" +\d+\.\d\d s  GET http://{address}/api/v1/nodes\?…: 200", found)
    assert absent.endswith(f"GET http://{address}/no: 404")
    assert refused.endswith(f"GET http://{down}/: Connection refused")


def test_of_aws_the_call_is_told_and_neither_who_asks_nor_with_what(address: str) -> None:
    text = list[str]()
    secrets = boto3.client(
        "secretsmanager",
        region_name="us-west-2",
        endpoint_url=f"http://{address}",
        aws_access_key_id="AKIAEXAMPLEEXAMPLE00",
        aws_secret_access_key=SECRET,
    )
    with calls.told(calls.CALLS, text.append):
        secrets.put_secret_value(SecretId="main", SecretString=SECRET)
    (line,) = lines(text)
    assert f"POST http://{address}/ " in line
    assert {*line.partition("/ ")[2].split()} == {"PutSecretValue", "us-west-2", "secretsmanager:", "200"} or {
        *line.partition("/ ")[2].split()
    } == {"PutSecretValue:", "us-west-2", "secretsmanager", "200"}


def test_of_calls_by_forms_the_action_is_told(address: str) -> None:
    text = list[str]()
    with calls.told(calls.CALLS, text.append):
        form = f"Action=CreateUser&Password={SECRET}".encode()
        urllib.request.urlopen(f"http://{address}/", data=form).read()
    assert lines(text)[0].endswith("/ CreateUser: 200")
    assert SECRET not in text[0]


def test_more_tells_of_beginnings_and_of_what_the_engine_prints() -> None:
    more, less = list[str](), list[str]()
    for level, text in ((calls.DETAIL, more), (calls.CALLS, less), (0, less)):
        with calls.told(level, text.append):
            calls.detail("us-west-2", f"Updating with token={SECRET}")
            subprocess.run(["true"], check=True)
    assert lines(more)[:2] == ["  us-west-2  Updating with …", "  begins  true"]
    assert len(more) == 3
    assert len(less) == 1


BECOMES = """
import os
from landbridge import calls
with calls.told(calls.CALLS):
    os.execvpe("true", ["true", "--token", "short"], os.environ)
"""


def test_the_program_that_a_command_becomes_is_told_once() -> None:
    done = subprocess.run([sys.executable, "-c", BECOMES], capture_output=True, text=True, check=True)
    assert lines(done.stderr.splitlines()) == [" becomes  true --token …"]


def test_it_ends_with_the_command_and_leaves_python_as_it_was() -> None:
    before = [vars(owner).get(name) for owner, name, _ in hooks()]
    process = None
    with calls.told(calls.CALLS, lambda _: None), calls.told(calls.DETAIL, lambda _: pytest.fail("told twice")):
        process = subprocess.Popen(["sleep", "0.1"])
    assert [vars(owner).get(name) for owner, name, _ in hooks()] == before
    assert process.wait() == 0
    assert process.returncode == 0


def hooks() -> list[calls.Hook]:
    teller = calls.Teller(calls.CALLS, lambda _: None)
    return [*calls.programs(teller), *calls.requests(teller)]


SECRETS = [
    ["kubectl", "--token", SECRET, "get", "nodes"],
    ["kubectl", f"--token={SECRET}", "get"],
    ["env", f"PULUMI_CONFIG_PASSPHRASE={SECRET}", "pulumi", "up"],
    ["env", "AWS_SECRET_ACCESS_KEY=short", "aws"],
    ["git", "clone", "https://me:short@git.example.com/x.git"],
    ["curl", "https://store.example.com/a?sig=short&se=2030"],
    ["curl", "-H", "Authorization: Bearer short"],
    ["sh", "-c", f"printf %s {SECRET} | base64 -d | sh"],
    ["sh", "-c", "echo '-----BEGIN PRIVATE KEY-----\nshort\n-----END PRIVATE KEY-----'"],
    ["docker", "login", "--password", "short", "registry.example.com"],
    ["x", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzaG9ydCJ9.c2hvcnQ"],
    ["x", "AKIAEXAMPLEEXAMPLE00"],
]


@pytest.mark.parametrize("argv", SECRETS, ids=lambda argv: " ".join(argv)[:30])
def test_what_could_be_a_secret_is_not_shown(argv: list[str]) -> None:
    shown = redaction.words(argv)
    assert redaction.HIDDEN in shown
    for secret in (SECRET, "short", "c2hvcnQ", "AKIAEXAMPLEEXAMPLE00"):
        assert secret not in shown
    assert shown.startswith(argv[0])


@pytest.mark.parametrize(
    "line",
    [
        "kubectl get pods --namespace=team-vision --output=json",
        "/opt/landbridge/.landbridge/bin/pulumi --non-interactive stack ls --json",
        "tail -n +1 -F /home/me/fleets/team-vision-2026/.landbridge/local/cloud.log",
        "nsenter --target=4711 --net --mount -- sh -c true",
    ],
)
def test_plain_words_are_shown_as_they_are(line: str) -> None:
    assert redaction.words(line.split()) == line


def test_long_words_are_cut() -> None:
    assert redaction.words(["sh", "-c", "one\ntwo"]) == "sh -c one…"
    assert redaction.words(["x" * 100]) == "x" * redaction.MOST + "…"
