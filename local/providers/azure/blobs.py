"""Blobs. ARM does not know them: they go to the storage account itself, signed with its first key.

As the real provider does it, pkg/resources/customresources/custom_storage_azidentity.go: an account that refuses shared
keys takes no blob from it (pulumi-azure-native issue 2015).
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..codec import Properties
from ..servicer import ProviderError
from .arm import Refused, patiently
from .engine import Engine
from .transport import Answer

BLOB = "azure-native:storage:Blob"
KEYS_VERSION, VERSION, SUFFIX = "2024-01-01", "2024-08-04", "blob.core.windows.net"
# Largest body of one Put Blob; larger ones need blocks.
LARGEST_BYTES = 5000 * 1024 * 1024
# What a signature covers of a request's plain headers, in this order.
SIGNED = (
    *("content-encoding", "content-language", "content-length", "content-md5", "content-type", "date"),
    *("if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"),
)
HEADERS = {"contentType": "x-ms-blob-content-type", "contentMd5": "x-ms-blob-content-md5"}


class Blobs(Engine):
    """One storage account's blobs."""

    def create(self, inputs: Properties) -> tuple[str, Properties]:
        id_, kind = self.id_of(inputs), str(inputs.get("type") or "Block")
        if self._found(id_, inputs):
            raise ProviderError(f"cannot create already existing resource '{id_}'")
        data = content(inputs.get("source"))
        if kind == "Append" and inputs.get("source") is not None:
            raise ProviderError("a source cannot be specified for an Append blob")
        self._write(id_, inputs, data, {"x-ms-blob-type": f"{kind}Blob"})
        self._tier(id_, inputs)
        return id_, self._now(id_, inputs)

    def read(self, id_: str, inputs: Properties, state: Properties) -> tuple[Properties, Properties] | None:
        found = self._found(id_, inputs)
        if found is None:
            return None
        from .drift import drifted
        from .shapes import as_inputs

        if not inputs:
            return {**as_inputs(found, self._takes()), **self.path_values(id_)}, found
        return drifted(inputs, as_inputs(state, self._takes()), as_inputs(found, self._takes())), found

    def update(self, id_: str, olds: Properties, news: Properties, state: Properties) -> Properties:
        if news.get("contentType"):
            headers = {"x-ms-blob-content-type": news["contentType"]}
            if md5 := state.get("contentMd5"):  # what is not said again is cleared
                headers["x-ms-blob-content-md5"] = md5
            self._checked(self._ask("PUT", id_, {"comp": "properties"}, headers), id_)
        if (news.get("metadata") or {}) != (olds.get("metadata") or {}):
            self._checked(self._ask("PUT", id_, {"comp": "metadata"}, metadata(news)), id_)
        self._tier(id_, news)
        return self._now(id_, news)

    def delete(self, id_: str, state: Properties) -> None:  # noqa: ARG002
        try:
            answer = self._ask("DELETE", id_, {}, {"x-ms-delete-snapshots": "include"})
        except Refused as refused:
            if refused.status == 404:  # the account is gone, and all that was in it
                return
            raise
        if answer.status != 404:
            self._checked(answer, id_)

    def _write(self, id_: str, inputs: Properties, data: bytes, headers: Mapping[str, str]) -> None:
        if len(data) > LARGEST_BYTES:
            raise ProviderError(f"{id_} has {len(data)} bytes: the local cloud takes no more than {LARGEST_BYTES}")
        content_headers = {header: inputs[name] for name, header in HEADERS.items() if inputs.get(name)}
        self._checked(self._ask("PUT", id_, {}, {**headers, **content_headers, **metadata(inputs)}, data), id_)

    def _tier(self, id_: str, inputs: Properties) -> None:
        if inputs.get("accessTier"):
            self._checked(self._ask("PUT", id_, {"comp": "tier"}, {"x-ms-access-tier": inputs["accessTier"]}), id_)

    def _now(self, id_: str, inputs: Properties) -> Properties:
        found = self._found(id_, inputs)
        if found is None:
            raise ProviderError(f"{id_} was written and is not there")
        return found

    def _found(self, id_: str, inputs: Properties) -> Properties | None:  # noqa: ARG002
        values = self.path_values(id_)
        try:
            answer = self._ask("HEAD", id_, {}, {})
        except Refused as refused:
            if refused.status == 404:
                return None
            raise
        if answer.status == 404:
            return None
        headers = self._checked(answer, id_).headers
        found = {
            "name": values["blobName"],
            "contentMd5": headers.get("content-md5"),
            "contentType": headers.get("content-type"),
            "metadata": {
                key.removeprefix("x-ms-meta-"): v for key, v in headers.items() if key.startswith("x-ms-meta-")
            },
            "type": headers.get("x-ms-blob-type", "BlockBlob").removesuffix("Blob"),
            "url": f"https://{values['accountName']}.{SUFFIX}/{values['containerName']}/{values['blobName']}",
            "accessTier": headers.get("x-ms-access-tier"),
        }
        return {name: value for name, value in found.items() if value is not None}

    def _ask(
        self, method: str, id_: str, query: Mapping[str, str], headers: Mapping[str, str], data: bytes | None = None
    ) -> Answer:
        values = self.path_values(id_)
        account, host = values["accountName"], f"{values['accountName']}.{SUFFIX}"
        path = quote(f"/{values['containerName']}/{values['blobName']}")
        key = base64.b64decode(self._key(id_))
        if data is None and method == "PUT":
            data = b""

        def once() -> Answer:
            signed = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": VERSION, **headers}
            if data is not None:
                signed |= {"Content-Length": str(len(data)), "Content-Type": "application/octet-stream"}
            signed["Authorization"] = f"SharedKey {account}:{signature(method, account, path, query, signed, key)}"
            return self.arm.transport.ask(method, host, path, query=query, headers=signed, body=data)

        return patiently(once)

    def _key(self, id_: str) -> str:
        account = id_.partition("/blobServices/")[0].partition("/containers/")[0]
        return str(self.arm.post(f"{account}/listKeys", KEYS_VERSION)["keys"][0]["value"])

    def _checked(self, answer: Answer, id_: str) -> Answer:
        if answer.status in (200, 201, 202):
            return answer
        code = answer.headers.get("x-ms-error-code", "Unknown")
        match = re.search(r"<Message>([^<]*)", answer.data.decode(errors="replace"))
        message = match[1].partition("\n")[0] if match else f"the account answered {answer.status}"
        raise Refused(answer.status, code, f"{message} ({id_})")


def signature(
    method: str, account: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], key: bytes
) -> str:
    """Shared Key, as "Authorize with Shared Key" of Azure Storage's REST reference has it since 2015-02-21."""
    plain = {name.lower(): value for name, value in headers.items()}
    lines = [method, *("" if (n, plain.get(n)) == ("content-length", "0") else plain.get(n, "") for n in SIGNED)]
    own = sorted((name, value.strip()) for name, value in plain.items() if name.startswith("x-ms-"))
    lines += [f"{name}:{value}" for name, value in own]
    lines += [f"/{account}{path}", *(f"{name.lower()}:{value}" for name, value in sorted(query.items()))]
    return base64.b64encode(hmac.new(key, "\n".join(lines).encode(), hashlib.sha256).digest()).decode()


def metadata(inputs: Properties) -> dict[str, str]:
    return {f"x-ms-meta-{name}": str(value) for name, value in (inputs.get("metadata") or {}).items()}


def content(asset: Any) -> bytes:
    """Of an asset as the engine passes it. Raises ProviderError for one that is elsewhere: nothing leads there."""
    if asset is None:
        return b""
    if "text" in asset:
        return str(asset["text"]).encode()
    if "path" in asset:
        return Path(asset["path"]).read_bytes()
    raise ProviderError("source must be a StringAsset or a FileAsset: the local cloud fetches nothing from a URL")
