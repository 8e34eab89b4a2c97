"""AWS as machines see it, for tests: instance metadata, S3, EC2's volumes and Secrets Manager, under their own names.

Lives in a host's namespace (tests.local.machines.host). Every signature is checked by botocore's own signer. Objects
are files below `bucket`, so that tests see them; what they are told about lies beside, in `.meta` files.
"""

import datetime
import hashlib
import http.server
import json
import os
import re
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# The home region, and the one where copies go.
ADDRESS, REGIONS = "169.254.169.254", ("us-west-2", "us-east-1")
ROLE = {"AccessKeyId": "AKIDMACHINE", "SecretAccessKey": "of-the-machine", "Token": "the-session"}
SERVICES = ("s3", "ec2", "secretsmanager")
HOSTS = f"{ADDRESS} {' '.join(f'{name}.{region}.amazonaws.com' for region in REGIONS for name in SERVICES)}\n"
XMLNS = 'xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"'


class State:
    """`volumes`: {"id", "tags", "holder", "state"}; `calls`: what was asked.

    `broken`: service, or service.region → the status it answers.
    """

    def __init__(self) -> None:
        self.bucket = Path()
        self.secrets: dict[str, str] = {}
        self.volumes: list[dict[str, Any]] = []
        self.instances: dict[str, str] = {}
        self.broken: dict[str, int] = {}
        self.calls: list[str] = []
        self.uploads: dict[str, dict[int, bytes]] = {}


STATE = State()


def serve(folder: str, instances: dict[str, str]) -> None:
    """Called in the host; `instances` are ids by address."""
    STATE.bucket = Path(folder) / "bucket"
    STATE.instances = instances
    subprocess.run(["ip", "addr", "add", f"{ADDRESS}/32", "dev", "lo"], check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(folder) / "aws.pem")
    for port in (80, 443):
        server = http.server.ThreadingHTTPServer((ADDRESS, port), Handler)
        if port == 443:
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()


def trust(folder: Path) -> dict[str, str]:
    """Makes an authority and the server's certificate in `folder`; files for machines, so that they trust it."""
    (folder / "bucket").mkdir(exist_ok=True)
    now, key = datetime.datetime.now(datetime.UTC), ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stand-in of AWS")])
    names = [x509.DNSName(f"*.{region}.amazonaws.com") for region in REGIONS]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public = made.public_bytes(serialization.Encoding.PEM).decode()
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    (folder / "aws.pem").write_text(secret + public)
    asked = ["openssl", "x509", "-noout", "-hash"]
    digest = subprocess.run(asked, input=public, capture_output=True, text=True, check=True).stdout.strip()
    return {f"/etc/ssl/certs/{digest}.0": public, "/etc/ssl/certs/ca-certificates.crt": public}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        host = self.headers["host"].split(":")[0]
        try:
            if host == ADDRESS:
                return self.metadata()
            service, region = host.split(".")[:2]
            parts = urlsplit(self.path)
            STATE.calls.append(f"{service} {self.command} {unquote(self.path)}")
            if status := STATE.broken.get(service) or STATE.broken.get(f"{service}.{region}"):
                return self.say(status, b"broken on purpose")
            self.verify(service, region, body)
            return getattr(self, service)(unquote(parts.path), dict(parse_qsl(parts.query, True)), body)
        except Exception as error:
            STATE.calls.append(f"refused: {type(error).__name__}: {error}")
            return self.say(400, STATE.calls[-1].encode())

    do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815  (the library calls them so)

    def say(self, status: int, data: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def metadata(self) -> None:
        path = self.path.removeprefix("/latest/")
        if self.command == "PUT":
            assert self.headers["X-aws-ec2-metadata-token-ttl-seconds"]
            return self.say(200, b"token")
        if self.headers["X-aws-ec2-metadata-token"] != "token":
            return self.say(401)
        ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=6)
        told = {
            "meta-data/iam/security-credentials/": "machine",
            "meta-data/iam/security-credentials/machine": json.dumps({**ROLE, "Expiration": f"{ends:%FT%TZ}"}),
            "meta-data/instance-id": STATE.instances.get(self.client_address[0], ""),
        }
        return self.say(200, told[path].encode()) if path in told else self.say(404)

    def verify(self, service: str, region: str, body: bytes) -> None:
        found = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=(\S+)", self.headers["authorization"]
        )
        assert found, "no signature"
        names = found[2].split(";")
        assert {"host", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"} <= set(names)
        assert all(name.lower() in names for name in self.headers if name.lower().startswith("x-amz-"))
        assert self.headers["x-amz-content-sha256"] == hashlib.sha256(body).hexdigest(), "another body"
        assert self.headers["x-amz-security-token"] == ROLE["Token"]
        url = f"https://{self.headers['host']}{self.path}"
        asked = AWSRequest(self.command, url, {name: self.headers[name] for name in names}, body)
        asked.context["timestamp"] = self.headers["x-amz-date"]
        signer = S3SigV4Auth(Credentials(ROLE["AccessKeyId"], ROLE["SecretAccessKey"], ROLE["Token"]), service, region)
        text = signer.string_to_sign(asked, signer.canonical_request(asked))
        assert signer.signature(text, asked) == found[3], "another signature than botocore's"

    def s3(self, path: str, query: dict[str, str], body: bytes) -> None:
        file = STATE.bucket / path.lstrip("/")
        if "list-type" in query:
            keys = sorted(str(found.relative_to(file)) for found in file.rglob("*") if found.is_file())
            wanted = [k for k in keys if k.startswith(query["prefix"]) and k > query.get("start-after", "")]
            text = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in wanted if not key.endswith(".meta"))
            return self.say(200, f"<ListBucketResult {XMLNS}>{text}</ListBucketResult>".encode())
        if "uploads" in query:
            STATE.uploads[path] = {}
            self.meta(file)
            return self.say(200, f"<Result {XMLNS}><UploadId>{quote(path, safe='')}</UploadId></Result>".encode())
        if "uploadId" in query and self.command == "PUT":
            STATE.uploads[path][int(query["partNumber"])] = body
            return self.say(200, ETag=f'"{hashlib.md5(body).hexdigest()}"')
        if "uploadId" in query and self.command == "POST":
            parts = STATE.uploads.pop(path)
            tags = re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>([^<]+)</ETag>", body.decode())
            assert [f'"{hashlib.md5(parts[int(n)]).hexdigest()}"' for n, _ in tags] == [tag for _, tag in tags]
            self.keep(file, b"".join(parts[int(n)] for n, _ in tags))
            return self.say(200, b"<Result/>")
        if self.command == "PUT":
            self.meta(file)
            self.keep(file, body)
            return self.say(200)
        if not file.is_file():
            return self.say(404, b"NoSuchKey")
        if found := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["range"] or ""):
            return self.say(206, file.read_bytes()[int(found[1]) : int(found[2]) + 1])
        etag = f'"{hashlib.md5(file.read_bytes()).hexdigest()}"'
        if self.headers["if-none-match"] == etag:
            return self.say(304, ETag=etag)
        return self.say(200, file.read_bytes(), ETag=etag)

    def keep(self, file: Path, data: bytes) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{os.getpid()}-{file.name}.meta")
        draft.write_bytes(data)
        draft.replace(file)

    def meta(self, file: Path) -> None:
        told = {k.lower()[11:]: v for k, v in self.headers.items() if k.lower().startswith("x-amz-meta-")}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.with_name(file.name + ".meta").write_text(json.dumps(told))

    def secretsmanager(self, _path: str, _query: dict[str, str], body: bytes) -> None:
        assert self.headers["x-amz-target"] == "secretsmanager.GetSecretValue"
        asked = json.loads(body)
        text = STATE.secrets.get(f"{asked['SecretId']}@{asked['VersionId']}")
        return (
            self.say(400, b"ResourceNotFound")
            if text is None
            else self.say(200, json.dumps({"SecretString": text}).encode())
        )

    def ec2(self, _path: str, _query: dict[str, str], body: bytes) -> None:
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        STATE.calls.append(f"ec2 {form['Action']} {form.get('VolumeId', '')}".rstrip())
        if form["Action"] == "AttachVolume":
            volume = next(v for v in STATE.volumes if v["id"] == form["VolumeId"])
            assert volume["state"] == "available", f"VolumeInUse: {volume}"
            volume |= {"holder": form["InstanceId"], "state": "attached", "device": form["Device"]}
            return self.say(200, f"<AttachVolumeResponse {XMLNS}/>".encode())
        assert form["Action"] == "DescribeVolumes"
        wanted = {}
        for name, value in form.items():
            if match := re.fullmatch(r"Filter\.(\d+)\.Name", name):
                wanted[value.removeprefix("tag:")] = form[f"Filter.{match[1]}.Value.1"]
        found = [v for v in STATE.volumes if wanted.items() <= v["tags"].items()]
        items = "".join(
            f"<item><volumeId>{v['id']}</volumeId><status>{'in-use' if v['holder'] else v['state']}</status><attachmentSet>"
            + (
                f"<item><instanceId>{v['holder']}</instanceId><status>{v['state']}</status></item>"
                if v["holder"]
                else ""
            )
            + "</attachmentSet></item>"
            for v in found
        )
        return self.say(200, f"<Response {XMLNS}><volumeSet>{items}</volumeSet></Response>".encode())

    def log_message(self, *_: object) -> None:
        pass
