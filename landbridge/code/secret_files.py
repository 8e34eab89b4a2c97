"""Files that look like secrets, by their names and by what they begin with.

Code lies in the team's part of a bucket and in each pod of a run, where a secret is nobody's any more. False alarms
cost a line in run.yaml; so the rules want more than a word that code about secrets has, too.
"""

import re

HEAD_BYTES = 64 * 1024
# How examples of such files are called, which are meant to be shared.
EXAMPLES = ("example", "sample", "template", "dist")
NAMES = {
    ".netrc": "passwords for servers",
    "_netrc": "passwords for servers",
    ".pgpass": "passwords of PostgreSQL",
    ".git-credentials": "passwords of git",
    "kubeconfig": "access to a cluster",
}
ENDS = {
    ".p12": "a private key with its certificate",
    ".pfx": "a private key with its certificate",
    ".ovpn": "access to a VPN",
    ".kubeconfig": "access to a cluster",
    "kubeconfig.yaml": "access to a cluster",
    "kubeconfig.yml": "access to a cluster",
}
PATHS = {
    ".aws/credentials": "access to AWS",
    ".kube/config": "access to a cluster",
}
SSH_KEY = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?")
# With the beginning of a key behind it: its header alone stands in many a source file.
PRIVATE_KEY = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rb"(?:\s|\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment): [^\n]*)*[A-Za-z0-9+/=]{32}"
)
AWS_ID = re.compile(rb"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])")
AWS_SECRET = re.compile(rb"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
HEXADECIMAL = re.compile(rb"[0-9a-f]+|[0-9A-F]+")
SERVICE_ACCOUNT = re.compile(rb'"type"\s*:\s*"service_account"')
CLUSTER = re.compile(rb"^kind:\s*Config\s*$", re.MULTILINE)
CLUSTER_SECRET = re.compile(rb"^\s+(?:client-key-data|token|password):\s*\S", re.MULTILINE)


def by_name(path: str) -> str:
    """What kind of secret a file is by its path; empty if none."""
    name = path.rpartition("/")[2].lower()
    if name.startswith(".env") and name.rpartition(".")[2] not in EXAMPLES:
        return "settings of an environment, which mostly hold passwords"
    if SSH_KEY.fullmatch(name):
        return "a private key of SSH"
    for end, what in ENDS.items():
        if name.endswith(end):
            return what
    for end, what in PATHS.items():
        if f"/{path}".endswith(f"/{end}"):
            return what
    return NAMES.get(name, "")


def by_content(head: bytes) -> str:
    """The same by a file's first HEAD_BYTES."""
    if b"PRIVATE KEY" in head and PRIVATE_KEY.search(head):
        return "a private key"
    if SERVICE_ACCOUNT.search(head) and b'"private_key"' in head:
        return "the key of a service account"
    if any(not found.endswith(b"EXAMPLE") for found in AWS_ID.findall(head)) and any(
        not HEXADECIMAL.fullmatch(found)  # digests of git have forty letters, too
        for found in AWS_SECRET.findall(head)
    ):
        return "an access key of AWS with its secret"
    if CLUSTER.search(head) and CLUSTER_SECRET.search(head):
        return "access to a cluster"
    return ""
