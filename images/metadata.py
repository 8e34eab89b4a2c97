"""A stand-in for EC2's metadata for guests: answers one request on stdin and stdout, as QEMU's guestfwd asks it.

`python -m images.metadata FOLDER`: the folder's files are what is told, `instance-id` and `user-data`.
EC2 user guide, "Use IMDSv2": a token first, or 401.
"""

import hmac
import sys
from http.client import responses
from pathlib import Path

TOKEN = "a-guest-s-token"  # noqa: S105 - it guards nothing: the guest is its only client
PATHS = {"/latest/meta-data/instance-id": "instance-id", "/latest/user-data": "user-data"}


def answer(request: str, folder: Path) -> tuple[int, str]:
    """Status and body for a request's head."""
    first, *lines = request.splitlines()
    method, path, *_ = f"{first} ".split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if (method, path) == ("PUT", "/latest/api/token"):
        return 200, TOKEN
    if not hmac.compare_digest(headers.get("x-aws-ec2-metadata-token", ""), TOKEN):
        return 401, ""
    file = folder / PATHS[path] if path in PATHS else None
    return (200, file.read_text()) if file and file.exists() else (404, "")


def main() -> int:
    lines = []
    for line in sys.stdin.buffer:
        if not line.strip():
            break
        lines.append(line.decode())
    status, body = answer("".join(lines), Path(sys.argv[1])) if lines else (400, "")
    content = body.encode()
    head = f"HTTP/1.1 {status} {responses[status]}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    sys.stdout.buffer.write(head.encode() + content)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
