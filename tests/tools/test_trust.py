"""Behind an authority that the system's store alone knows, pip, uv and Go fetch without a setting; a user's own file wins.

A real index over TLS on loopback, signed by an authority of the test's own, which stands in for the system's store in a
mount namespace.
"""

import base64
import datetime
import hashlib
import http.server
import io
import ipaddress
import os
import shutil
import ssl
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import running  # noqa: E402
import trust  # noqa: E402

WHEEL = "tiny-1.0-py3-none-any.whl"
MODULE = "example.com/tiny"


def wheel() -> bytes:
    files = {
        "tiny.py": "",
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{name},sha256={digest(text)},{len(text)}" for name, text in files.items()]
    return zipped({**files, "tiny-1.0.dist-info/RECORD": "\n".join([*record, "tiny-1.0.dist-info/RECORD,,", ""])})


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def zipped(files: Mapping[str, str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made.getvalue()


MOD = f"module {MODULE}\n\ngo 1.21\n"
SERVED = {
    "/simple/tiny/": f'<a href="/files/{WHEEL}">{WHEEL}</a>'.encode(),
    f"/files/{WHEEL}": wheel(),
    f"/go/{MODULE}/@v/v1.0.0.info": b'{"Version": "v1.0.0"}',
    f"/go/{MODULE}/@v/v1.0.0.mod": MOD.encode(),
    f"/go/{MODULE}/@v/v1.0.0.zip": zipped({f"{MODULE}@v1.0.0/go.mod": MOD}),
}


class Index(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = SERVED.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_: object) -> None:
        pass


def signed(folder: Path, name: str, by: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None) -> x509.Certificate:
    """Writes NAME.crt and NAME.key; an authority where nobody signs it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by[0].subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if by:
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(by[1].public_key())
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        builder = builder.add_extension(issuer, critical=False)
    certificate = builder.sign(by[1] if by else key, hashes.SHA256())
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / f"{name}.key").write_bytes(key.private_bytes(*plain))
    return certificate


class Company(NamedTuple):
    """`authority` has signed the index; `other` has signed nothing."""

    url: str
    authority: Path
    other: Path


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    folder = tmp_path_factory.mktemp("company")
    authority = signed(folder, "authority", None)
    key = serialization.load_pem_private_key((folder / "authority.key").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    signed(folder, "index", (authority, key))
    signed(folder, "other", None)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "index.crt", folder / "index.key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Company(f"https://localhost:{server.server_address[1]}", folder / "authority.crt", folder / "other.crt")
    server.shutdown()
    server.server_close()


INSTALL = ["install", "--no-deps", "tiny==1.0", "--target"]
PROGRAMS = {
    "pip": [sys.executable, "-m", "pip", *INSTALL],
    "uv": [str(Path(sys.executable).with_name("uv")), "pip", *INSTALL],
    "go": ["go", "mod", "download", f"{MODULE}@v1.0.0"],
}
# Runs what follows as set-up does, or as it is.
RUN = f"""
import subprocess, sys
from pathlib import Path
sys.path.insert(0, {str(TOOLS)!r})
import running
log, how, *command = sys.argv[1:]
if how == "as it is":
    sys.exit(subprocess.run(command).returncode)
try:
    running.run(command, Path(log), cwd=Path(log).parent)
except running.SetupError as error:
    sys.exit(str(error))
"""
MOUNTED = 'mount --bind "$1" "$2"; shift 2; exec "$@"'


def fetched(
    program: str, company: Company, folder: Path, *, store: Path, how: str = "as set-up", **more: str
) -> tuple[bool, str]:
    """Whether it came, and what was said, where the system's store holds no more than one file."""
    system = next((Path(place) for place in trust.STORES if Path(place).exists()), None)
    if system is None:
        pytest.skip("this system has no store of authorities that could be stood in for")
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*namespace, "true"], check=False).returncode != 0:
        pytest.skip("mount namespaces can't be made here")
    certificates, target = folder / "system", folder / "target"
    certificates.mkdir()
    target.mkdir()
    shutil.copy(store, certificates / system.name)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "NO_PROXY": "localhost",
        "PIP_INDEX_URL": f"{company.url}/simple",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_RETRIES": "0",
        "UV_DEFAULT_INDEX": f"{company.url}/simple",
        "UV_NO_CONFIG": "1",
        "UV_NO_CACHE": "1",
        "UV_HTTP_RETRIES": "0",
        "GOPROXY": f"{company.url}/go",
        "GONOSUMDB": "*",
        "GOFLAGS": "-modcacherw",
        "GOTOOLCHAIN": "local",
        **more,
    }
    command = [*PROGRAMS[program], *([str(target)] if program != "go" else [])]
    inside = [sys.executable, "-c", RUN, str(folder / "log"), how, *command]
    full = [*namespace, "sh", "-ec", MOUNTED, "sh", str(certificates), str(system.parent), *inside]
    done = subprocess.run(full, env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    came = list(target.glob("tiny*")) or list(folder.glob(f"go/pkg/mod/cache/download/{MODULE}/@v/*.zip"))
    assert bool(came) == (done.returncode == 0), done.stdout + done.stderr
    return bool(came), done.stdout + done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_system_s_store_suffices(program: str, company: Company, tmp_path: Path) -> None:
    if program == "go" and shutil.which("go") is None:
        pytest.skip("no Go on the PATH")
    came, said = fetched(program, company, tmp_path, store=company.authority)
    assert came, said


def test_uv_alone_would_not_take_it(company: Company, tmp_path: Path) -> None:
    came, said = fetched("uv", company, tmp_path, store=company.authority, how="as it is")
    assert not came
    assert "UnknownIssuer" in said


@pytest.mark.parametrize("program", ["pip", "uv"])
def test_a_user_s_own_file_wins(program: str, company: Company, tmp_path: Path) -> None:
    for place in ("right", "wrong"):
        (tmp_path / place).mkdir()
    right = fetched(program, company, tmp_path / "right", store=company.other, SSL_CERT_FILE=str(company.authority))
    assert right[0], right[1]
    came, said = fetched(
        program, company, tmp_path / "wrong", store=company.authority, SSL_CERT_FILE=str(company.other)
    )
    assert not came
    assert "a company's authority signs what comes over the network" in said


def test_whom_a_user_trusts_is_left_alone(tmp_path: Path) -> None:
    store = tmp_path / "store.crt"
    assert trust.trusting({"A": "b"}, [str(store)]) == {"A": "b"}, "without a store they keep their own lists"
    store.touch()
    system = {"UV_SYSTEM_CERTS": "true", "REQUESTS_CA_BUNDLE": str(store)}
    assert trust.trusting({}, [str(store)]) == system
    assert trust.trusting({"SSL_CERT_FILE": "own"}, [str(store)]) == {
        "SSL_CERT_FILE": "own",
        "REQUESTS_CA_BUNDLE": "own",
    }
    for name, more in {"UV_NATIVE_TLS": "REQUESTS_CA_BUNDLE", "PIP_CERT": "UV_SYSTEM_CERTS"}.items():
        assert trust.trusting({name: "x"}, [str(store)]) == {name: "x", more: system[more]}


def test_what_fails_for_want_of_trust_says_what_to_do(tmp_path: Path) -> None:
    for text in (
        "UnknownIssuer",
        "CERTIFICATE_VERIFY_FAILED: certificate verify failed",
        "signed by unknown authority",
    ):
        with pytest.raises(running.SetupError, match=r"update-ca-certificates.*SSL_CERT_FILE"):
            running.run(["sh", "-c", f"echo '{text}'; exit 1"], tmp_path / "log")
