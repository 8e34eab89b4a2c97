"""AWS for this machine's scripts: its role's credentials, signed requests, EC2's queries, uploads to S3."""

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib import request
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

from machine import EARLY_SECONDS, SECONDS, UNCHANGED, Body, Refused, Slice, Text, patiently, send

META = "http://169.254.169.254/latest/"
HEADER = "X-aws-ec2-metadata-token"
EC2_VERSION = "2016-11-15"
# S3 takes 5 GiB in one piece and 10,000 parts; etcd's quota of 8 GiB is more than one piece.
PART_BYTES = 256 << 20
XML = "application/x-www-form-urlencoded; charset=utf-8"


def metadata(path: str) -> str:
    """Of this instance, by IMDSv2."""
    asked = request.Request(META + "api/token", method="PUT", headers={HEADER + "-ttl-seconds": "60"})
    with request.urlopen(asked, timeout=SECONDS) as answer:
        token = answer.read().decode()
    with request.urlopen(request.Request(META + "meta-data/" + path, headers={HEADER: token}), timeout=SECONDS) as told:
        text: str = told.read().decode()
    return text


class Aws:
    """One region's services, spoken to as this machine's role."""

    def __init__(self, region: str) -> None:
        self.region = region
        self.role: dict[str, str] = {}
        # Of the last answer.
        self.headers: dict[str, str] = {}

    def credentials(self) -> dict[str, str]:
        ends = self.role.get("Expiration", "")
        if not ends or datetime.fromisoformat(ends).timestamp() < time.time() + EARLY_SECONDS:
            self.role = self.given()
        return self.role

    def given(self) -> dict[str, Any]:
        """Keys of its role, with their end, in metadata's names."""
        place = "iam/security-credentials/"
        found: dict[str, Any] = json.loads(metadata(place + metadata(place).strip()))
        return found

    def ask(
        self,
        method: str,
        service: str,
        path: str = "/",
        query: Mapping[str, str] | None = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """The answer's body. Asks again when AWS fails or does not answer. Raises Refused or OSError."""
        sent = body or Text(b"")
        digest = sent.digest()
        return patiently(
            lambda: self.once(method, service, path, query or {}, sent, digest, headers or {}),
            lambda refused: refused.status >= 500,
        )

    def newer(self, bucket: str, key: str, etag: str) -> str | None:
        """An object's text unless it is still the one of this mark; `headers` have its mark then. Raises as `ask`."""
        try:
            return self.ask("GET", "s3", f"/{bucket}/{key}", headers={"if-none-match": etag} if etag else {}).decode()
        except Refused as refused:
            if refused.status == UNCHANGED and etag:
                return None
            raise

    def once(
        self,
        method: str,
        service: str,
        path: str,
        query: Mapping[str, str],
        body: Body,
        digest: str,
        headers: Mapping[str, str],
    ) -> bytes:
        host = f"{service}.{self.region}.amazonaws.com"
        place, asked = quote(path, safe="/-_.~"), urlencode(sorted(query.items()), quote_via=quote, safe="-_.~")
        given = self.signed(method, service, place, asked, digest, {**headers, "host": host})
        url = f"https://{host}{place}" + (f"?{asked}" if asked else "")
        data, self.headers = send(method, url, given, body)
        return data

    def signed(
        self, method: str, service: str, path: str, query: str, digest: str, headers: Mapping[str, str]
    ) -> dict[str, str]:
        """Signature version 4 over all of `headers`."""
        role, now = self.credentials(), datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        given = {name.lower(): value.strip() for name, value in headers.items()}
        given |= {"x-amz-content-sha256": digest, "x-amz-date": now}
        if role["Token"]:  # a person's own key has none
            given["x-amz-security-token"] = role["Token"]
        names, scope = ";".join(sorted(given)), f"{now[:8]}/{self.region}/{service}/aws4_request"
        lines = "".join(f"{name}:{given[name]}\n" for name in sorted(given))
        asked = "\n".join([method, path, query, lines, names, digest])
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(asked.encode()).hexdigest()}"
        key = ("AWS4" + role["SecretAccessKey"]).encode()
        for part in (*scope.split("/"), text):
            key = hmac.digest(key, part.encode(), "sha256")
        who = f"Credential={role['AccessKeyId']}/{scope}"
        given["authorization"] = f"AWS4-HMAC-SHA256 {who}, SignedHeaders={names}, Signature={key.hex()}"
        return given

    def ec2(self, action: str, **parameters: str) -> ElementTree.Element:
        """The answer of an EC2 action; names with dots have two underscores for each."""
        told = {name.replace("__", "."): value for name, value in parameters.items()}
        form = urlencode({"Action": action, "Version": EC2_VERSION, **told}).encode()
        answer = self.ask("POST", "ec2", body=Text(form), headers={"content-type": XML})
        return ElementTree.fromstring(answer)  # noqa: S314  (AWS itself)

    def url(self, bucket: str, key: str) -> str:
        """For people."""
        return f"s3://{bucket}/{key}"

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self.ask("PUT", "s3", f"/{bucket}/{key}", body=Text(data))

    def upload(self, bucket: str, key: str, path: Path, about: Mapping[str, str]) -> None:
        """Puts a file into a bucket; `about` becomes the object's metadata."""
        size, place = path.stat().st_size, f"/{bucket}/{key}"
        meta = {f"x-amz-meta-{name}": value for name, value in about.items()}
        if size <= PART_BYTES:
            self.ask("PUT", "s3", place, body=Slice(path, 0, size), headers=meta)
            return
        begun = ElementTree.fromstring(self.ask("POST", "s3", place, {"uploads": ""}, headers=meta))  # noqa: S314
        upload = begun.findtext("{*}UploadId") or ""
        try:
            tags = []
            for number, offset in enumerate(range(0, size, PART_BYTES), 1):
                part = Slice(path, offset, min(PART_BYTES, size - offset))
                self.ask("PUT", "s3", place, {"partNumber": str(number), "uploadId": upload}, part)
                tags.append(self.headers["ETag"])
            done = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>{t}</ETag></Part>" for n, t in enumerate(tags, 1))
            text = f"<CompleteMultipartUpload>{done}</CompleteMultipartUpload>".encode()
            answer = self.ask("POST", "s3", place, {"uploadId": upload}, Text(text))
            # S3 answers 200 before it knows; an error then stands in the body.
            if b"<Error>" in answer:
                raise Refused(500, f"{place}: {answer[:500].decode(errors='replace')}")
        except BaseException:
            self.ask("DELETE", "s3", place, {"uploadId": upload})
            raise

    def keys(self, bucket: str, prefix: str, after: str) -> list[str]:
        """Of objects below `prefix`, those that stand behind `after` in the alphabet; at most a thousand."""
        query = {"list-type": "2", "prefix": prefix, "start-after": after}
        answer = ElementTree.fromstring(self.ask("GET", "s3", f"/{bucket}", query))  # noqa: S314
        return [found.text or "" for found in answer.iterfind("{*}Contents/{*}Key")]
