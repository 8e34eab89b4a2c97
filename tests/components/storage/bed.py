"""A site's NFS server on plain folders: its scripts, and a bucket that the stand-in of AWS keeps."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib import request

import api_aws
import nfs_backup
import pytest
import site_identity

from tests.support.aws import machine as aws_machine

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
BUCKET, PREFIX, REGION = "example-us-west-2-123456789012", "nfs/lab", "us-west-2"


class Server:
    """`told` are the scripts' settings; `bucket` is where objects lie as files."""

    def __init__(self, folder: Path, uid: int, gid: int) -> None:
        self.folder, self.root, self.bucket = folder, folder / "srv", folder / "bucket" / BUCKET
        share = {"uid": uid, "gid": gid, "mode": "0755", "project": None, "quota_gib": None}
        self.told: dict[str, Any] = {
            "site": "lab",
            "root": str(self.root),
            "snapshots": str(self.root / ".snapshots"),
            "shares": [
                {"name": "data", "path": "/data", "backup": True, **share},
                {"name": "scratch", "path": "/scratch", "backup": False, **share},
            ],
            "homes": [],
            "backup": {"region": REGION, "bucket": BUCKET, "prefix": PREFIX},
            "identity": None,
            "plain_copies": True,  # no file system here can clone
        }
        self.data = self.root / "data"
        self.state = aws_machine.State()
        for made in ("data", "scratch", ".snapshots/data", ".snapshots/scratch"):
            (self.root / made).mkdir(parents=True)

    def objects(self, below: str = "") -> list[str]:
        found = [path for path in self.bucket.rglob("*") if path.is_file() and not path.name.endswith(".meta")]
        return sorted(name for path in found if (name := str(path.relative_to(self.bucket))).startswith(below))


@contextmanager
def cloud(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[aws_machine.State]:
    """S3 as machines see it, on a port of its own; every signature is checked by botocore's own signer."""
    (folder / "bucket").mkdir()
    state = aws_machine.State()
    state.bucket = folder / "bucket"
    patch.setattr(aws_machine, "STATE", state)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), aws_machine.Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    real = request.urlopen

    def there(asked: Any, timeout: float) -> Any:
        """The same request, to the stand-in, under the name that was signed."""
        name, _, path = asked.full_url.removeprefix("https://").partition("/")
        sent = request.Request(
            f"http://127.0.0.1:{server.server_port}/{path}",
            method=asked.get_method(),
            data=asked.data,
            headers={**dict(asked.header_items()), "Host": name},
        )
        return real(sent, timeout=timeout)

    patch.setattr(api_aws.request, "urlopen", there)
    patch.setattr(api_aws.time, "sleep", lambda _: None)
    for name, variable in site_identity.OPERATOR.items():
        patch.setenv(variable, aws_machine.ROLE[name])
    patch.setattr(nfs_backup, "STATE", folder / "state")
    patch.setattr(nfs_backup, "REPORT", folder / "state/backup.json")
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
