"""What a registry says of an image: a real one, with all three ways of asking who one is."""

import base64
import datetime
import http.server
import json
import os
import shutil
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from landbridge.experiments import registry
from landbridge.experiments.registry import AbsentError, Named, SilentError
from tests.support.apiserver import free_port
from tests.support.waiting import eventually

PROGRAM = shutil.which("docker-registry")
LOGIN = base64.b64encode(b"bob:sesame").decode()
# The same password, by bcrypt.
HASH = "$2b$04$h07VblQPTRb8sNl40cNurefgX5S52injzEGK4NBudu23IJj4Yx6sG"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
real = pytest.mark.skipif(PROGRAM is None, reason="docker-registry is missing: `make test` installs it as root")


@pytest.mark.parametrize(
    ("image", "where"),
    [
        ("ubuntu", Named("docker.io", "library/ubuntu", "latest")),
        ("pytorch/pytorch:2.8.0", Named("docker.io", "pytorch/pytorch", "2.8.0")),
        ("registry.example.com:5000/a/b:1", Named("registry.example.com:5000", "a/b", "1")),
        ("localhost/a@sha256:00", Named("localhost", "a", "sha256:00")),
        ("example.com/a:1@sha256:00", Named("example.com", "a", "sha256:00")),
    ],
)
def test_names_are_taken_apart_as_runtimes_do(image: str, where: Named) -> None:
    assert registry.named(image) == where


def test_docker_hub_has_another_name_for_its_api() -> None:
    assert registry.named("ubuntu:24.04").url == "https://registry-1.docker.io/v2/library/ubuntu/manifests/24.04"
    assert registry.named("localhost:5000/a:1").url == "http://localhost:5000/v2/a/manifests/1"


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts a registry with an `auth` of its configuration; gives its name."""
    running = []

    def started(auth: dict[str, Any] | None = None) -> str:
        port = free_port()
        assert PROGRAM
        config = {
            "version": 0.1,
            "storage": {"filesystem": {"rootdirectory": str(tmp_path / "store")}},
            "http": {"addr": f"127.0.0.1:{port}"},
            **({"auth": auth} if auth else {}),
        }
        file = tmp_path / f"{port}.yml"
        file.write_text(json.dumps(config))
        log = (tmp_path / f"{port}.log").open("w")
        running.append(subprocess.Popen([PROGRAM, "serve", str(file)], stdout=log, stderr=log))
        eventually(lambda: answers(port))
        return f"127.0.0.1:{port}"

    yield started
    for one in running:
        one.terminate()
        one.wait()


def answers(port: int) -> bool:
    try:
        registry._asked(f"http://127.0.0.1:{port}/v2/", {})
    except OSError:
        return False
    return True


def put(url: str, data: bytes, kind: str, method: str = "PUT") -> Any:
    request = urllib.request.Request(url, data, {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers


def pushed(name: str) -> str:
    """An image `lab/train:1` with nothing in it; its digest, as the registry says it."""
    empty = b"{}"
    where = put(f"http://{name}/v2/lab/train/blobs/uploads/", b"", "text/plain", "POST")["Location"]
    told = hashes.Hash(hashes.SHA256())
    told.update(empty)
    blob = f"sha256:{told.finalize().hex()}"
    put(f"{where}&digest={blob}", empty, "application/octet-stream")
    config = {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": blob, "size": len(empty)}
    made = {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": []}
    return str(
        put(f"http://{name}/v2/lab/train/manifests/1", json.dumps(made).encode(), MANIFEST)["Docker-Content-Digest"]
    )


@real
def test_what_is_there_has_a_digest_and_what_is_not_is_known_not_to_be(serve: Callable[..., str]) -> None:
    name = serve()
    digest = pushed(name)
    assert digest.startswith("sha256:")
    assert registry.digest(f"{name}/lab/train:1") == digest
    assert registry.digest(f"{name}/lab/train:2@{digest}") == digest
    with pytest.raises(AbsentError, match=r"has no lab/train with the tag 2$"):
        registry.digest(f"{name}/lab/train:2")
    with pytest.raises(AbsentError, match="with the digest sha256:0000"):
        registry.digest(f"{name}/lab/train@sha256:{64 * '0'}")


@real
def test_the_login_of_docker_is_used_and_without_it_nobody_says(
    serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    digest = pushed(serve())
    (tmp_path / "htpasswd").write_text(f"bob:{HASH}\n")
    name = serve({"htpasswd": {"realm": "lab", "path": str(tmp_path / "htpasswd")}})
    with pytest.raises(SilentError, match="does not let everybody see lab/train"):
        registry.digest(f"{name}/lab/train:1")
    (tmp_path / "config.json").write_text(json.dumps({"auths": {name: {"auth": LOGIN}}}))
    assert registry.digest(f"{name}/lab/train:1") == digest


# Once as the registry's own program, once as the one for all.
@real
@pytest.mark.parametrize("config", [lambda name: {"credHelpers": {name: "lab"}}, lambda _: {"credsStore": "lab"}])
def test_a_program_that_keeps_logins_is_asked(
    serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Callable[[str], Any]
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    digest = pushed(serve())
    (tmp_path / "htpasswd").write_text(f"bob:{HASH}\n")
    name = serve({"htpasswd": {"realm": "lab", "path": str(tmp_path / "htpasswd")}})
    (tmp_path / "config.json").write_text(json.dumps(config(name)))
    with pytest.raises(SilentError, match="does not let everybody see lab/train"):
        registry.digest(f"{name}/lab/train:1")
    program = tmp_path / "docker-credential-lab"
    answer = json.dumps({"ServerURL": name, "Username": "bob", "Secret": "sesame"})
    program.write_text(f"""#!/bin/sh\n[ "$1 $(cat)" = "get {name}" ] && echo '{answer}'\n""")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert registry.digest(f"{name}/lab/train:1") == digest
    program.write_text("#!/bin/sh\necho credentials not found in native keychain; exit 1\n")
    with pytest.raises(SilentError, match="does not let everybody see lab/train"):
        registry.digest(f"{name}/lab/train:1")


@real
def test_a_token_is_fetched_where_the_registry_says(
    serve: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    digest = pushed(serve())
    key = rsa.generate_private_key(65537, 2048)
    crt = certificate(key)
    (tmp_path / "crt.pem").write_bytes(crt.public_bytes(serialization.Encoding.PEM))
    asked: list[dict[str, list[str]]] = []

    class Tokens(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(parse_qs(urlsplit(self.path).query))
            body = json.dumps({"token": token(key, crt, asked[-1]["scope"][0])}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tokens) as tokens:
        threading.Thread(target=tokens.serve_forever, daemon=True).start()
        realm = f"http://127.0.0.1:{tokens.server_port}/token"
        told = {"realm": realm, "service": "registry", "issuer": "lab", "rootcertbundle": str(tmp_path / "crt.pem")}
        name = serve({"token": told})
        assert registry.digest(f"{name}/lab/train:1") == digest
        tokens.shutdown()
    assert asked == [{"service": ["registry"], "scope": ["repository:lab/train:pull"]}]
    with pytest.raises(SilentError, match=r"does not answer \(.*refused"):
        registry.digest(f"{name}/lab/train:1")


def certificate(key: rsa.RSAPrivateKey) -> x509.Certificate:
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lab")])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder(
        who, who, key.public_key(), x509.random_serial_number(), now, now.replace(year=now.year + 1)
    )
    return made.sign(key, hashes.SHA256())


def token(key: rsa.RSAPrivateKey, crt: x509.Certificate, scope: str) -> str:
    """As https://distribution.github.io/distribution/spec/auth/jwt/ has it."""

    def part(told: dict[str, Any] | bytes) -> str:
        data = told if isinstance(told, bytes) else json.dumps(told).encode()
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    kind, repository, actions = scope.split(":")
    now = int(time.time())
    chain = base64.b64encode(crt.public_bytes(serialization.Encoding.DER)).decode()
    access = [{"type": kind, "name": repository, "actions": actions.split(",")}]
    claims = {
        "iss": "lab",
        "sub": "",
        "aud": "registry",
        "exp": now + 60,
        "nbf": now - 60,
        "iat": now,
        "access": access,
    }
    signed = f"{part({'typ': 'JWT', 'alg': 'RS256', 'x5c': [chain]})}.{part({**claims, 'jti': 'one'})}"
    return f"{signed}.{part(key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def test_nobody_s_password_goes_where_all_can_read_it() -> None:
    one = registry.named("registry.example.com/a:1")
    with pytest.raises(ValueError, match="anybody could read it"):
        registry._login(one, 'Bearer realm="http://registry.example.com/token",service="a"')


def test_a_registry_that_is_not_there_does_not_say() -> None:
    with pytest.raises(SilentError, match=r"^127\.0\.0\.1:\d+ does not answer \("):
        registry.digest(f"127.0.0.1:{free_port()}/a:1")
