"""What a machine of Azure shows when it joins: a document that Azure's host has signed, judged by Azure's chain.

attest_azure.py makes the token. That the machine stands in a scale set of the pool is not in it: the rules compare the
machine's number with what Azure's Resource Manager says of that set (instances_azure.py).
"""

import base64
import binascii
import json
import re
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from attest_azure import PREFIX, WINDOW, nonce
from join_token import BadToken, Machine, decoded_once, shown

MOST_CHARACTERS, MOST_ISSUERS, MOST_ISSUER_BYTES = 24 << 10, 3, 4096
# A node's name is its computer's: the scale set's, a hyphen, and six signs of a number in base 36.
NODE = re.compile(r"([a-z0-9][a-z0-9-]{0,56})-[0-9a-z]{6}", re.ASCII)
VM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
# Whose certificate signs documents in Azure's public cloud; it may be a region's, below that.
SIGNER = "metadata.azure.com"
STAMP = "%m/%d/%y %H:%M:%S %z"
SECONDS = 10


class Shown(NamedTuple):
    """`document` is PKCS #7 in DER; `issuers` are certificates that may lead from its signer to whom we trust.

    `region` is the pool's.
    """

    pool: str
    region: str
    node: str
    document: bytes
    issuers: tuple[bytes, ...]


def is_ours(token: str) -> bool:
    return token.startswith(PREFIX)


def read(token: str, pools: Mapping[str, str]) -> Shown:
    """`pools` are those in Azure, pool → region. Raises BadToken."""
    if len(token) > MOST_CHARACTERS:
        raise BadToken(f"{len(token)} characters are more than {MOST_CHARACTERS}")
    told = decoded_once(token.removeprefix(PREFIX))
    if told.keys() != {"pool", "node", "document", "issuers"}:
        raise BadToken("it is not just a pool, a node, a document and issuers")
    pool, node, issuers = told["pool"], told["node"], told["issuers"]
    if not isinstance(pool, str) or pool not in pools:
        raise BadToken(f"its pool {shown(pool)} is none of the cluster's in Azure")
    if not isinstance(node, str) or not NODE.fullmatch(node):
        raise BadToken(f"its node {shown(node)} is named like no machine of a scale set")
    if not isinstance(issuers, list) or len(issuers) > MOST_ISSUERS:
        raise BadToken(f"its issuers are no list of at most {MOST_ISSUERS}")
    found = tuple(_decoded(one) for one in issuers)
    if any(len(one) > MOST_ISSUER_BYTES for one in found):
        raise BadToken(f"an issuer has more than {MOST_ISSUER_BYTES} bytes")
    return Shown(pool, pools[pool], node, _decoded(told["document"]), found)


def _decoded(text: object) -> bytes:
    try:
        if isinstance(text, str):
            return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise BadToken("its document or an issuer is no base64")


def verified(told: Shown, trust: ssl.DefaultVerifyPaths | None = None) -> Any:
    """What Azure has signed. `trust` is where the world's authorities are, the system's by default. Raises BadToken."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "document").write_bytes(told.document)
        (folder / "issuers").write_text("".join(map(ssl.DER_cert_to_PEM_cert, told.issuers)))
        paths = {name: str(folder / name) for name in ("document", "content", "issuers", "signer")}
        # Two steps: the first by itself takes no issuers along, and looks for certificates for mail.
        words = ["cms", "-verify", "-noverify", "-inform", "DER", "-in", paths["document"], "-out", paths["content"]]
        if why := _fails([*words, "-signer", paths["signer"]]):
            raise BadToken(f"its document is not what was signed: {why}")
        if (folder / "signer").read_text().count("BEGIN CERTIFICATE") != 1:
            raise BadToken("its document is not signed by one")
        issuers = ["-untrusted", paths["issuers"]] if told.issuers else []
        if why := _fails(["verify", *issuers, *_trusted(trust), paths["signer"]]):
            raise BadToken(f"its document is not signed by anybody whom this machine trusts: {why}")
        for host in (SIGNER, f"{told.region}.{SIGNER}"):
            # It says so in words, and no version by its exit code alone.
            look = ["x509", "-noout", "-in", paths["signer"], "-checkhost", host]
            if "does match" in _run(look).stdout.decode(errors="replace"):
                break
        else:
            raise BadToken(f"its document is signed by somebody who is not {SIGNER}")
        try:
            return json.loads((folder / "content").read_bytes())
        except (RecursionError, ValueError):
            raise BadToken("its document is no JSON") from None


def _trusted(paths: ssl.DefaultVerifyPaths | None) -> list[str]:
    known = paths or ssl.get_default_verify_paths()
    file = ["-CAfile", known.cafile] if known.cafile else ["-no-CAfile"]
    return [*file, *(["-CApath", known.capath] if known.capath else ["-no-CApath"])]


def _run(words: list[str]) -> "subprocess.CompletedProcess[bytes]":
    try:
        return subprocess.run(["openssl", *words], capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise BadToken(f"openssl {words[0]} has not ended after {SECONDS} s") from None


def _fails(words: list[str]) -> str:
    """Why, as openssl has it, made safe for a log; empty where it holds."""
    done = _run(words)
    return shown(done.stderr.decode(errors="replace")[-100:]) if done.returncode else ""


def who(content: Any, told: Shown, cluster: str, subscription: str, now: datetime) -> Machine:
    """`content` is the document's. Raises BadToken."""
    if not isinstance(content, dict):
        raise BadToken("its document is no table")
    number = content.get("nonce")
    if number not in [nonce(cluster, now, ago) for ago in (-1, 0, 1)]:
        raise BadToken(f"its number {shown(number)} is not one of now for {cluster}")
    if str(content.get("subscriptionId")).lower() != subscription.lower():
        raise BadToken(f"it is of subscription {shown(content.get('subscriptionId'))}, not of the fleet's")
    ends = (content.get("timeStamp") or {}).get("expiresOn") if isinstance(content.get("timeStamp"), dict) else None
    if _moment(ends) < now:
        raise BadToken(f"its document ended at {shown(ends)}")
    vm = str(content.get("vmId")).lower()
    if not VM.fullmatch(vm):
        raise BadToken(f"its machine's number {shown(content.get('vmId'))} is none")
    return Machine(told.pool, told.node, vm)


def ends(now: datetime) -> datetime:
    """Until when what is proved now may be remembered."""
    return datetime.fromtimestamp((now.timestamp() // WINDOW.total_seconds() + 1) * WINDOW.total_seconds(), UTC)


def _moment(text: object) -> datetime:
    try:
        return datetime.strptime(str(text), STAMP)
    except ValueError:
        raise BadToken(f"its document's end is {shown(text)}, and no moment") from None
