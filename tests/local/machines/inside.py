"""A whole local cloud for tests, and a process in it that calls AWS and runs what tests give it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from components.boot.user_data import public_key, user_data
from tests.local.machines.host import ask
from tests.support import waiting

REPOSITORY = Path(__file__).resolve().parents[3]
REGION = "us-west-2"


class Inside:
    """The local cloud of a folder. Calling it runs code in there, with `client(service)`, and gives its `result`."""

    def __init__(self, home: Path) -> None:
        from local import client
        from local.environment import scrubbed

        self.home = home
        self.cloud = client.ensure(home)
        argv = client.enter_command(self.cloud, [sys.executable, str(Path(__file__).resolve())], REPOSITORY)
        environment = {**scrubbed(os.environ), "PYTHONPATH": str(REPOSITORY)}
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=REPOSITORY
        )

    def __call__(self, code: str, **given: Any) -> Any:
        return ask(self.process, code, given)

    def machines(self) -> list[dict[str, Any]]:
        from local import client

        return client.machines(self.cloud)

    def machine(self, name: str) -> dict[str, Any]:
        from local import client

        return client.machine(self.cloud, name)

    def run(self, name: str, *argv: str) -> subprocess.CompletedProcess[str]:
        """In a machine."""
        from local import client
        from local.environment import scrubbed

        command = client.machine_command(self.cloud, name, argv)
        return subprocess.run(
            command, env=scrubbed(os.environ), capture_output=True, text=True, check=False, timeout=60
        )

    def sh(self, name: str, script: str) -> str:
        done = self.run(name, "sh", "-c", script)
        return done.stdout + done.stderr

    def close(self) -> None:
        from local import client

        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)
        client.stop(self.home)


KEY = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def fleetlet(home: Path) -> Inside:
    """A local cloud with two machines that boot signed bundles, `one` and `two`, in zone a."""
    made = Inside(home)
    try:
        made((Path(__file__).parent / "fleetlet.py").read_text())
        made("from components.boot.user_data import sign\nsigned_by = lambda text: sign(pem, text)", pem=KEY)
        made("world = found()")
        for name, address in (("one", "10.128.0.10"), ("two", "10.128.0.11")):
            made("publish(name, signed_by)", name=name)
            made("machine(name, world, address, data)", address=address, data=stub(name))
    except BaseException:
        made.close()
        raise
    return made


def stub(name: str) -> str:
    return user_data(REGION, "fleetlet", f"fleetlet/{name}", public_key(KEY))


def up(cloud: Inside, name: str) -> bool:
    return cloud.machine(name)["state"] == "running" and "active" in cloud.sh(name, "systemctl is-active web").split()


def eventually(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """What the condition gives as soon as that is true; it may fail until then."""
    return waiting.eventually(condition, seconds, (Exception,))


def serve(lines: Sequence[str]) -> None:
    """Inside: one request a line."""
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError

    def client(service: str, region: str = REGION, **more: Any) -> Any:
        config = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
        return boto3.client(service, region_name=region, config=config, **more)

    known: dict[str, Any] = {"client": client, "ClientError": ClientError, "json": json}
    for line in lines:
        request = json.loads(line)
        known.update(request["given"], result=None)
        try:
            exec(request["code"], known)
            answer = {"result": known["result"]}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer, default=str) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.stdin)  # type: ignore[arg-type]
